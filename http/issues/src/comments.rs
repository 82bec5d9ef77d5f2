//! Comments on an issue.

use actors::issues::{AddComment, DeleteComment, EditComment};
use domain::{
    id::{IssueCommentId, UserId},
    issues::issue::Comment,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    paging::PageQuery,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    query::Query,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::issues::MailComment;
use utoipa::ToSchema;

use super::argument::IssueOf;

/// The name of the list of comments in its cursors.
const LIST: &str = "issue comments";

/// A comment on an issue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueCommentBody {
    comment_id: String,
    /// The author; left out where the comment came by mail from somebody without an account, or whom nobody vouches for.
    #[serde(skip_serializing_if = "Option::is_none")]
    author_id: Option<String>,
    /// The address that the comment came from by mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    author_email: Option<String>,
    /// True where anybody could have written the mail in its sender's name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unverified: bool,
    /// The part of the mail below the line above which answers are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    quoted: Option<String>,
    /// Markdown.
    body: String,
    /// Whether those who raised the request read it too.
    public: bool,
    /// Counts its changes.
    version: i64,
    created_at: i64,
    updated_at: i64,
}

impl From<Comment> for IssueCommentBody {
    fn from(comment: Comment) -> Self {
        Self {
            comment_id: comment.comment_id.to_string(),
            author_id: Some(comment.author_id).filter(|author| *author != UserId::NIL).map(|author| author.to_string()),
            author_email: None,
            unverified: false,
            quoted: None,
            body: comment.body,
            public: comment.public,
            version: comment.version,
            created_at: comment.created_at.as_millis(),
            updated_at: comment.updated_at.as_millis(),
        }
    }
}

impl IssueCommentBody {
    /// The same with what is known of the mail that the comment came by.
    fn with_mail(self, mail: Option<MailComment>) -> Self {
        let Some(MailComment { email, unverified, quoted, .. }) = mail else { return self };
        Self { author_email: Some(email), unverified, quoted, ..self }
    }
}

/// One comment.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueCommentAnswer {
    /// The comment.
    comment: IssueCommentBody,
}

/// A page of the comments.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueCommentsAnswer {
    /// The first one first.
    comments: Vec<IssueCommentBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// What a comment says.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"body": "It is out."}))]
pub(crate) struct IssueCommentWrite {
    /// Markdown, 1 to 32,000 characters. Members whom it mentions anew, as `<@usr_…>`, are told so.
    body: String,
}

impl RequestBody for IssueCommentWrite {}

/// A comment that is to be written.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"body": "It is out.", "public": true}))]
pub(crate) struct IssueCommentCreate {
    /// Markdown, 1 to 32,000 characters. Members whom it mentions, as `<@usr_…>`, are told so.
    body: String,
    /// Whether those who raised the request shall read it; that needs `serviceAgent`, in a space with a desk.
    #[serde(default)]
    public: bool,
}

impl RequestBody for IssueCommentCreate {}

/// The comments on an issue
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/{issueKey}/comments",
    responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn issue_comments_list(
    of: IssueOf<IssuesRead>,
    query: Query<PageQuery>,
    state: State,
) -> Result<Json<IssueCommentsAnswer>> {
    let page = query.page::<IssueCommentId>(LIST)?;
    let comments = state.store.issue_comments(of.stored.issue.issue_id, page.after, page.read_limit()).await?;
    let (comments, cursor) = page.cut(comments, |comment| comment.comment_id);
    let mut mails = state.store.issue_mail_comments(of.stored.issue.issue_id).await?;
    let body = |comment: Comment| {
        let mail = mails.remove(&comment.comment_id);
        IssueCommentBody::from(comment).with_mail(mail)
    };
    Ok(Json(IssueCommentsAnswer { comments: comments.into_iter().map(body).collect(), cursor }))
}

/// Comment on an issue
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/comments", responses(
    (status = 400, description = "Public comments need a space with a desk."),
    (status = 403, description = "You can't answer requests in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_comment_create(
    of: IssueOf<IssuesWrite>,
    body: Body<IssueCommentCreate>,
    state: State,
) -> Result<Created<IssueCommentAnswer>> {
    let IssueCommentCreate { body, public } = body.into_inner();
    let command = AddComment { org_id: of.org_id(), body, public };
    let comment = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Created(IssueCommentAnswer { comment: comment.into() }))
}

/// Change a comment on an issue
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/{issueKey}/comments/{issueCommentId}", responses(
    (status = 403, description = "You can't edit others' comments in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_comment_patch(
    of: IssueOf<IssuesWrite>,
    body: Body<IssueCommentWrite>,
    Path(id): Path<IssueCommentId>,
    state: State,
) -> Result<Json<IssueCommentAnswer>> {
    let command = EditComment { org_id: of.org_id(), id, body: body.into_inner().body };
    let comment = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    let mail = state.store.issue_mail_comments(comment.issue_id).await?.remove(&id);
    Ok(Json(IssueCommentAnswer { comment: IssueCommentBody::from(comment).with_mail(mail) }))
}

/// Delete a comment on an issue
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/{issueKey}/comments/{issueCommentId}", responses(
    (status = 403, description = "You can't delete others' comments in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_comment_delete(
    of: IssueOf<IssuesWrite>,
    Path(id): Path<IssueCommentId>,
    state: State,
) -> Result<NoContent> {
    let command = DeleteComment { org_id: of.org_id(), id };
    state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(NoContent)
}
