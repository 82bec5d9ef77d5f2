//! Requests: raising them, and following them.

use actors::issues::portal::RaiseRequest;
use domain::{
    id::UserId,
    issues::{
        approval::Approval,
        issue::Comment,
        limits::SUMMARY_LEN_MAX,
        portal::{REPLIES_SHOWN_MAX, REQUEST_DESCRIPTION_LEN_MAX, REQUEST_PRIORITY_LEN_MAX, REQUEST_TYPE_LEN},
        settings::Settings,
    },
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    paging::PageQuery,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::issues::{RequestPlace, RequestState, RequestsAsked};
use utoipa::{IntoParams, ToSchema};

use super::{
    argument::{HelpCenter, HelpRequest},
    attachments::HelpAttachmentBody,
    summary::{HelpRequestSummary, name_of},
};

/// The name of the list of requests in its cursors.
const LIST: &str = "help requests";

/// Which requests are listed.
#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HelpRequestState {
    /// Requests that aren't done.
    #[default]
    Open,
    /// Requests that are done.
    Closed,
    /// Both.
    All,
}

/// Which page of which requests.
#[derive(Deserialize, IntoParams)]
pub(crate) struct HelpRequestsQuery {
    /// `open` (where it isn't said), `closed` or `all`.
    #[serde(default)]
    #[param(value_type = String, example = "open")]
    status: HelpRequestState,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl HelpRequestsQuery {
    fn page(&self) -> PageQuery {
        PageQuery { cursor: self.cursor.clone(), limit: self.limit }
    }
}

impl RequestQuery for HelpRequestsQuery {
    fn check(&self, problems: &mut Problems) {
        self.page().check(problems);
    }
}

/// A page of your requests.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpRequestsAnswer {
    /// Requests of which something that you see changed last come first.
    requests: Vec<HelpRequestSummary>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// A request that is to be raised.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"requestType": "report_a_problem", "summary": "The printer is on fire", "priority": "high"}))]
pub(crate) struct HelpRequestCreate {
    /// What is asked for: the id of a request type.
    #[schema(min_length = 1, max_length = 40)]
    request_type: String,
    /// 1 to 255 characters.
    #[schema(min_length = 1, max_length = 255)]
    summary: String,
    /// Markdown, at most 32,000 characters.
    #[schema(max_length = 32_000)]
    description: Option<String>,
    /// How urgent it is, where the form asks for that: the id or the name of a priority.
    #[schema(max_length = 40)]
    priority: Option<String>,
}

impl RequestBody for HelpRequestCreate {
    fn check(&self, problems: &mut Problems) {
        let fits = REQUEST_TYPE_LEN.contains(&self.request_type.chars().count());
        problems.require(fits, "requestType", "Use 1 to 40 characters.");
        let fits = (1..=SUMMARY_LEN_MAX).contains(&self.summary.trim().chars().count());
        problems.require(fits, "summary", "Use 1 to 255 characters.");
        let length = |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count());
        let fits = length(&self.description) <= REQUEST_DESCRIPTION_LEN_MAX;
        problems.require(fits, "description", "Use at most 32000 characters.");
        let fits = length(&self.priority) <= REQUEST_PRIORITY_LEN_MAX;
        problems.require(fits, "priority", "Use at most 40 characters.");
    }
}

/// What a new request goes by.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpRequestCreated {
    /// The request's key.
    key: String,
}

/// A person who takes part in a request.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpParticipantBody {
    id: String,
    name: String,
}

/// An approval of a request.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpApprovalBody {
    id: String,
    /// The status in which it is asked for.
    status: String,
    /// `pending`, `approved` or `declined`.
    state: &'static str,
    /// `all` or `one`.
    needed: &'static str,
    /// How many have decided.
    decided: usize,
    /// The people who are asked.
    approvers: Vec<String>,
}

/// A request with what belongs to it.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpRequestDetail {
    #[serde(flatten)]
    summary: HelpRequestSummary,
    /// Markdown; may be empty.
    description: String,
    /// The person who raised the request.
    reporter: String,
    participants: Vec<HelpParticipantBody>,
    approvals: Vec<HelpApprovalBody>,
}

/// A comment of the conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpCommentBody {
    id: String,
    /// Markdown.
    body: String,
    /// The author.
    author: String,
    /// Whether that was you.
    mine: bool,
    /// When it was written.
    at: i64,
}

/// A request, its files and its conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpRequestAnswer {
    request: HelpRequestDetail,
    attachments: Vec<HelpAttachmentBody>,
    /// Up to 500, the oldest first.
    comments: Vec<HelpCommentBody>,
}

/// Everybody whose name the answer has.
fn people(of: &HelpRequest, comments: &[Comment]) -> Vec<UserId> {
    let issue = &of.request.stored.issue;
    let mut people: Vec<UserId> = issue.reporter_id.into_iter().collect();
    people.extend(issue.participants.iter().filter_map(|id| id.parse::<UserId>().ok()));
    people.extend(comments.iter().map(|comment| comment.author_id));
    people.extend(issue.approvals.iter().flat_map(|it| it.approvers.iter().copied()));
    people.sort();
    people.dedup();
    people
}

type Names = std::collections::HashMap<UserId, String>;

fn approval(approval: &Approval, names: &Names, settings: &Settings) -> HelpApprovalBody {
    let status = &approval.status_id;
    HelpApprovalBody {
        id: approval.id.to_string(),
        status: settings.status(status).map_or_else(|| status.clone(), |status| status.name.clone()),
        state: approval.state.as_str(),
        needed: approval.needed.as_str(),
        decided: approval.decisions.len(),
        approvers: approval.approvers.iter().map(|id| name_of(names, *id)).collect(),
    }
}

fn detail(of: &HelpRequest, names: &Names) -> HelpRequestDetail {
    let issue = &of.request.stored.issue;
    let participant = |id: &String| HelpParticipantBody {
        id: id.clone(),
        name: id.parse().map_or_else(|_| id.clone(), |person| name_of(names, person)),
    };
    HelpRequestDetail {
        summary: HelpRequestSummary::new(&of.center, &of.request),
        description: of.request.stored.description.clone(),
        reporter: match issue.reporter_id {
            Some(id) => name_of(names, id),
            None => issue.requester_email.clone().unwrap_or_default(),
        },
        participants: issue.participants.iter().chain(&issue.email_participants).map(participant).collect(),
        approvals: issue.approvals.iter().map(|it| approval(it, names, &of.center.settings)).collect(),
    }
}

/// Your requests in a help center
///
/// Requests that you raised, and requests in which you take part.
#[utoipa::path(get, path = "/v1/portal/issues/{org}/{spaceKey}/requests",
    responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn help_requests_list(
    center: HelpCenter,
    query: Query<HelpRequestsQuery>,
    state: State,
) -> Result<Json<HelpRequestsAnswer>> {
    let page = query.page().page::<RequestPlace>(LIST)?;
    let asked = RequestsAsked {
        org_id: center.org_id(),
        space_id: center.space.space_id,
        person: center.user_id(),
        state: match query.status {
            HelpRequestState::Open => RequestState::Open,
            HelpRequestState::Closed => RequestState::Closed,
            HelpRequestState::All => RequestState::All,
        },
        after: page.after,
        limit: page.read_limit(),
    };
    let found = state.store.issue_requests(&asked).await?;
    let place = |it: &store::issues::PortalRequest| RequestPlace { at: it.public_at, id: it.stored.issue.issue_id };
    let (found, cursor) = page.cut(found, place);
    let requests = found.iter().map(|request| HelpRequestSummary::new(&center, request)).collect();
    Ok(Json(HelpRequestsAnswer { requests, cursor }))
}

/// Raise a request
///
/// At most 30 an hour.
#[utoipa::path(post, path = "/v1/portal/issues/{org}/{spaceKey}/requests", responses(
    (status = 400, description = "Request type not found."),
    (status = 429, description = "That's as many requests as an hour allows. Try again later."),
))]
pub(crate) async fn help_request_create(
    center: HelpCenter,
    body: Body<HelpRequestCreate>,
    state: State,
) -> Result<Created<HelpRequestCreated>> {
    let HelpRequestCreate { request_type, summary, description, priority } = body.into_inner();
    let description = description.unwrap_or_default();
    let command = RaiseRequest { org_id: center.org_id(), request_type, summary, description, priority };
    let key = state.actors.issue_space.ask(&center.space.space_id, command, center.context()).await?;
    Ok(Created(HelpRequestCreated { key }))
}

/// A request, its files and its conversation
#[utoipa::path(get, path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}")]
pub(crate) async fn help_request_get(of: HelpRequest, state: State) -> Result<Json<HelpRequestAnswer>> {
    let store = &state.store;
    let comments = store.issue_comments_public(of.issue_id(), REPLIES_SHOWN_MAX).await?;
    let attachments = store.issue_attachments_public(of.issue_id()).await?;
    let names = store.people_names(&people(&of, &comments)).await?;
    let me = of.center.user_id();
    let mut mails = store.issue_mail_comments(of.issue_id()).await?;
    // Whoever wrote by mail and has no account is known by their address.
    let mut author = |comment: &Comment| match mails.remove(&comment.comment_id) {
        Some(mail) if comment.author_id == UserId::NIL => mail.email,
        _ => name_of(&names, comment.author_id),
    };
    let comment = |comment: Comment| HelpCommentBody {
        id: comment.comment_id.to_string(),
        author: author(&comment),
        mine: comment.author_id == me,
        at: comment.created_at.as_millis(),
        body: comment.body,
    };
    Ok(Json(HelpRequestAnswer {
        request: detail(&of, &names),
        attachments: attachments.into_iter().map(HelpAttachmentBody::from).collect(),
        comments: comments.into_iter().map(comment).collect(),
    }))
}
