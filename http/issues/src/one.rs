//! One issue: making, reading, changing and moving it (contract B 2.1, 4.1).

use std::collections::HashMap;

use actors::issues::{
    AddLink, ChangeIssue, CreateIssue, DeleteIssue, IssueFields, Moved, RemoveLink, Sight, TransitionIssue, sight,
    transitions_of,
};
use domain::{
    Error,
    id::{IssueId, IssueLinkId, SpaceId},
    issues::{
        access::{Permission, may, permissions_of},
        issue::Issue,
        limits::{CHOOSE_A_SPACE, SPACE_NOT_FOUND},
        workflow::Blocked,
    },
};
use http_shell::{
    answer::{Created, Json, NoContent, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    paging::PageQuery,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    query::Query,
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    argument::IssueOf,
    search::{IssueLinkBody, link_bodies},
};

/// The name of the list of an issue's changes in its cursors.
const HISTORY: &str = "issue history";

/// One issue.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueAnswer {
    /// The issue (contract B 2.1).
    #[schema(value_type = Object)]
    issue: Issue,
}

impl IssueAnswer {
    pub(super) fn new(issue: Issue) -> Self {
        Self { issue }
    }
}

/// An issue with what hangs on it.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueWholeAnswer {
    /// The issue (contract B 2.1).
    #[schema(value_type = Object)]
    issue: Issue,
    /// Markdown; may be empty.
    description: String,
    /// Links, from either end, to issues that you may browse.
    links: Vec<IssueLinkBody>,
    /// What you may do.
    #[schema(value_type = Vec<String>)]
    permissions: Vec<&'static str>,
}

macro_rules! issue_body {
    ($(#[$attribute:meta])* $name:ident { $($(#[$extra:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        $(#[$attribute])*
        pub(crate) struct $name {
            $($(#[$extra])* $field: $type,)*
            /// A type of the space: its id or name.
            #[serde(rename = "type")]
            #[schema(max_length = 80)]
            kind: Option<String>,
            /// 1 to 255 characters.
            summary: Option<String>,
            /// Markdown, at most 65,536 characters. Members whom it mentions anew, as `<@usr_…>`, are told so.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            description: Option<Option<String>>,
            /// A priority: its id or name.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            priority: Option<Option<String>>,
            /// A resolution: its id or name.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            resolution: Option<Option<String>>,
            /// The assignee: an id or an e-mail address.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            assignee: Option<Option<String>>,
            /// The reporter: an id or an e-mail address.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            reporter: Option<Option<String>>,
            /// At most 30 labels of at most 64 characters, without spaces.
            labels: Option<Vec<String>>,
            /// At most 50 components of the space.
            components: Option<Vec<String>>,
            /// At most 50 versions of the space in which it is fixed.
            fix_versions: Option<Vec<String>>,
            /// At most 50 versions of the space that it affects.
            affects_versions: Option<Vec<String>>,
            /// `YYYY-MM-DD`.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            due_date: Option<Option<String>>,
            /// `YYYY-MM-DD`.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            start_date: Option<Option<String>>,
            /// A number that isn't negative.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<f64>)]
            story_points: Option<Option<f64>>,
            /// Seconds.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<f64>)]
            original_estimate: Option<Option<f64>>,
            /// Seconds.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<f64>)]
            remaining_estimate: Option<Option<f64>>,
            /// At most 32,000 characters.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            environment: Option<Option<String>>,
            /// A sprint of the space that isn't closed: its id or name.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            sprint: Option<Option<String>>,
            /// The issue that it stands below: its key or id.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            parent: Option<Option<String>>,
            /// A request type of the space's desk: its id or name. An issue that has one is a request, which its reporter follows
            /// in the help center.
            #[serde(default, deserialize_with = "nullable")]
            #[schema(value_type = Option<String>)]
            request_type: Option<Option<String>>,
        }

        impl $name {
            pub(super) fn fields(&self) -> IssueFields {
                IssueFields {
                    kind: self.kind.clone(),
                    summary: self.summary.clone(),
                    description: self.description.clone(),
                    priority: self.priority.clone(),
                    resolution: self.resolution.clone(),
                    assignee: self.assignee.clone(),
                    reporter: self.reporter.clone(),
                    labels: self.labels.clone(),
                    components: self.components.clone(),
                    fix_versions: self.fix_versions.clone(),
                    affects_versions: self.affects_versions.clone(),
                    sprint: self.sprint.clone(),
                    due_date: self.due_date.clone(),
                    start_date: self.start_date.clone(),
                    story_points: self.story_points,
                    original_estimate: self.original_estimate,
                    remaining_estimate: self.remaining_estimate,
                    environment: self.environment.clone(),
                    parent: self.parent.clone(),
                    request_type: self.request_type.clone(),
                    version: None,
                }
            }
        }

        impl RequestBody for $name {}
    };
}

issue_body! {
    /// An issue that is to be made.
    #[schema(example = json!({"space": "WEB", "summary": "The printer is on fire", "labels": ["urgent"]}))]
    IssueCreate {
        /// The space: its key or id. It must be said where the caller may make issues in several.
        space: Option<String>,
    }
}

issue_body! {
    /// What is to be changed of an issue; null clears.
    #[schema(example = json!({"summary": "The printer was on fire", "assignee": null, "version": 3}))]
    IssuePatchBody {
        /// The version that was seen; what others changed since stays where it isn't said.
        version: Option<i64>,
    }
}

impl IssueCreate {
    /// The space that is meant, among those that the caller sees.
    fn space(&self, seen: &Sight) -> domain::Result<SpaceId> {
        if let Some(text) = &self.space {
            let named = seen.named(text);
            return named.map(|space| space.space_id).ok_or_else(|| Error::invalid("space", SPACE_NOT_FOUND));
        }
        let open = seen.spaces.iter().filter(|(space, role)| !space.archived && may(Some(*role), Permission::Create));
        let open: Vec<SpaceId> = open.map(|(space, _)| space.space_id).collect();
        match open[..] {
            [one] => Ok(one),
            _ => Err(Error::invalid("space", CHOOSE_A_SPACE)),
        }
    }
}

/// Make an issue
///
/// Type, priority and status are the space's defaults where they aren't said.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues", responses(
    (status = 403, description = "You can't create issues in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_create(
    org: Org<IssuesWrite>,
    body: Body<IssueCreate>,
    state: State,
) -> Result<Created<IssueAnswer>> {
    let space_id = body.space(&sight(&state.store, org.authority()).await?)?;
    let command = CreateIssue { org_id: org.id(), fields: body.fields() };
    let made = state.actors.issue_space.ask(&space_id, command, org.context()).await?;
    Ok(Created(IssueAnswer { issue: made.issue }))
}

/// The links of an issue to those that the caller sees.
async fn links_of(of: &IssueOf<IssuesRead>, state: &State) -> Result<Vec<IssueLinkBody>> {
    let (store, org_id) = (&state.store, of.org_id());
    let seen = sight(store, of.org.authority()).await?;
    let links = store.issue_links(org_id, of.stored.issue.issue_id).await?;
    let ids: Vec<String> = links.iter().flat_map(|it| [it.from.to_string(), it.to.to_string()]).collect();
    let named = store.issues_named(org_id, &ids).await?;
    let issues = named.into_values().map(|it| it.issue).filter(|it| seen.space(it.space_id).is_some());
    let keys: HashMap<IssueId, String> = issues.map(|it| (it.issue_id, it.key)).collect();
    let settings = store.issue_catalog(org_id).await?.settings;
    Ok(link_bodies(&settings, links, &keys))
}

/// An issue
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/{issueKey}")]
pub(crate) async fn issue_get(of: IssueOf<IssuesRead>, state: State) -> Result<Object<IssueWholeAnswer>> {
    let links = links_of(&of, &state).await?;
    let permissions = permissions_of(Some(of.role));
    let (issue, description) = (of.stored.issue, of.stored.description);
    Ok(Object(IssueWholeAnswer { issue, description, links, permissions }))
}

/// Change an issue
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/{issueKey}", responses(
    (status = 403, description = "You can't edit issues in this space."),
    (status = 409, description = "The issue changed. Load it again.\n\nThis space is archived."),
))]
pub(crate) async fn issue_patch(
    of: IssueOf<IssuesWrite>,
    body: Body<IssuePatchBody>,
    state: State,
) -> Result<Json<IssueAnswer>> {
    let fields = IssueFields { version: body.version, ..body.fields() };
    let command = ChangeIssue { org_id: of.org_id(), fields };
    let changed = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Json(IssueAnswer { issue: changed.issue }))
}

/// Delete an issue
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/{issueKey}", responses(
    (status = 403, description = "You can't delete issues in this space."),
    (status = 409, description = "Other issues stand below this one.\n\nThis space is archived."),
))]
pub(crate) async fn issue_delete(of: IssueOf<IssuesWrite>, state: State) -> Result<NoContent> {
    let command = DeleteIssue { org_id: of.org_id() };
    state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(NoContent)
}

/// A transition of an issue.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueTransitionBody {
    id: String,
    name: String,
    /// The status that it leads to.
    to: String,
    /// Fields to ask for.
    fields: Vec<String>,
    /// What stands in its way.
    #[schema(value_type = Vec<Object>)]
    blocked: Vec<Blocked>,
}

/// The transitions of an issue.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueTransitionsAnswer {
    /// Transitions that something stands in the way of are there, too.
    transitions: Vec<IssueTransitionBody>,
}

/// The transitions of an issue
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/{issueKey}/transitions")]
pub(crate) async fn issue_transitions_list(of: IssueOf<IssuesRead>) -> Result<Json<IssueTransitionsAnswer>> {
    let all = transitions_of(of.org.authority(), (&of.space, of.role), &of.stored.issue);
    let transitions = all.into_iter().map(|it| IssueTransitionBody {
        id: it.transition.id,
        name: it.transition.name,
        to: it.transition.to,
        fields: it.transition.fields,
        blocked: it.blocked,
    });
    Ok(Json(IssueTransitionsAnswer { transitions: transitions.collect() }))
}

/// A transition that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"transitionId": "done"}))]
pub(crate) struct IssueTransitionMake {
    /// Which one; or say `to`.
    transition_id: Option<String>,
    /// The status that it leads to.
    to: Option<String>,
    /// What else is to be changed.
    fields: Option<IssuePatchBody>,
    /// The version that was seen.
    version: Option<i64>,
}

impl RequestBody for IssueTransitionMake {}

impl IssueTransitionMake {
    fn moved(&self) -> domain::Result<Moved> {
        match (&self.transition_id, &self.to) {
            (Some(id), None) => Ok(Moved::By(id.clone())),
            (None, Some(to)) => Ok(Moved::To(to.clone())),
            _ => Err(Error::invalid("transitionId", "Say either `transitionId` or `to`.")),
        }
    }
}

/// Make a transition of an issue
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/transitions", responses(
    (status = 403, description = "You can't change the status of issues in this space."),
    (status = 409, description = "This transition doesn't leave the issue's status.\n\nSomething stands in the way.\n\n\
     The issue changed. Load it again.\n\nThis space is archived."),
))]
pub(crate) async fn issue_transition(
    of: IssueOf<IssuesWrite>,
    body: Body<IssueTransitionMake>,
    state: State,
) -> Result<Json<IssueAnswer>> {
    let fields = body.fields.as_ref().map(IssuePatchBody::fields).unwrap_or_default();
    let fields = IssueFields { version: body.version, ..fields };
    let command = TransitionIssue { org_id: of.org_id(), moved: body.moved()?, fields };
    let changed = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Json(IssueAnswer { issue: changed.issue }))
}

/// A change of a field.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueChangeBody {
    /// When.
    at: i64,
    /// By whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Which field, as queries name it.
    field: String,
    /// What it held: ids, or what was written; longer texts aren't told.
    from: Vec<String>,
    /// What it holds since.
    to: Vec<String>,
    /// `person`, `key`, `automation` for what follows of an approval, or `bulk` for a change of many; `commit` or `pull`, where a
    /// commit or a pull request says that it closes the issue.
    cause: String,
}

/// A page of an issue's history.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueHistoryAnswer {
    /// The last change first.
    changes: Vec<IssueChangeBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The history of an issue
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/{issueKey}/history",
    responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn issue_history(
    of: IssueOf<IssuesRead>,
    query: Query<PageQuery>,
    state: State,
) -> Result<Json<IssueHistoryAnswer>> {
    let page = query.page::<i64>(HISTORY)?;
    let rows = state.store.issue_history(of.stored.issue.issue_id, page.after, page.read_limit()).await?;
    let (rows, cursor) = page.cut(rows, |row| row.n);
    // What may have been hidden meanwhile (another issue, another space) is told as its id only.
    let changes = rows.into_iter().map(|row| IssueChangeBody {
        at: row.at.as_millis(),
        by: row.by.map(|id| id.to_string()),
        field: row.field,
        from: row.from,
        to: row.to,
        cause: row.cause,
    });
    Ok(Json(IssueHistoryAnswer { changes: changes.collect(), cursor }))
}

/// A link that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"type": "is blocked by", "to": "WEB-7"}))]
pub(crate) struct IssueLinkCreate {
    /// The kind: its id or name, or what it is called from either end.
    #[serde(rename = "type")]
    kind: String,
    /// The other issue: its key or id.
    to: String,
}

impl RequestBody for IssueLinkCreate {}

/// One link.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueLinkAnswer {
    /// The link.
    link: Option<IssueLinkBody>,
}

/// Link an issue to another one
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/links", responses(
    (status = 403, description = "You can't link issues in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_link_create(
    of: IssueOf<IssuesWrite>,
    body: Body<IssueLinkCreate>,
    state: State,
) -> Result<Created<IssueLinkAnswer>> {
    let IssueLinkCreate { kind, to } = body.into_inner();
    let command = AddLink { org_id: of.org_id(), kind, to };
    let link = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    let ends = [link.from.to_string(), link.to.to_string()];
    let named = state.store.issues_named(of.org_id(), &ends).await?;
    let keys = named.into_values().map(|it| (it.issue.issue_id, it.issue.key)).collect();
    let settings = state.store.issue_catalog(of.org_id()).await?.settings;
    Ok(Created(IssueLinkAnswer { link: link_bodies(&settings, vec![link], &keys).pop() }))
}

/// Take a link of an issue away
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/{issueKey}/links/{linkId}", responses(
    (status = 403, description = "You can't link issues in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_link_delete(
    of: IssueOf<IssuesWrite>,
    Path(id): Path<IssueLinkId>,
    state: State,
) -> Result<NoContent> {
    let command = RemoveLink { org_id: of.org_id(), id };
    state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(NoContent)
}
