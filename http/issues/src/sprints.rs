//! Sprints of a space.

use actors::issues::{ChangeSprint, CompleteSprint, CreateSprint, RemoveSprint, SprintPatch, StartSprint};
use domain::{Timestamp, id::SprintId, issues::boards::Sprint};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::argument::SpaceOf;

/// A sprint of a space.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueSprintBody {
    sprint_id: String,
    space_id: String,
    name: String,
    /// What is to come of it.
    goal: String,
    /// `future`, `active` or `closed`.
    state: &'static str,
    /// When it begins, or began.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_at: Option<i64>,
    /// When it is to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_at: Option<i64>,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at: Option<i64>,
    /// Counts its changes.
    version: i64,
    created_at: i64,
}

impl From<Sprint> for IssueSprintBody {
    fn from(sprint: Sprint) -> Self {
        Self {
            sprint_id: sprint.id.to_string(),
            space_id: sprint.space_id.to_string(),
            name: sprint.name,
            goal: sprint.goal,
            state: sprint.state.as_str(),
            start_at: sprint.start_at.map(Timestamp::as_millis),
            end_at: sprint.end_at.map(Timestamp::as_millis),
            closed_at: sprint.closed_at.map(Timestamp::as_millis),
            version: sprint.version,
            created_at: sprint.created_at.as_millis(),
        }
    }
}

/// One sprint.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueSprintAnswer {
    /// The sprint.
    sprint: IssueSprintBody,
}

/// The sprints of a space.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueSprintsAnswer {
    /// In the order of their making.
    sprints: Vec<IssueSprintBody>,
}

/// What a sprint came to.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueSprintReport {
    /// The sprint.
    sprint: IssueSprintBody,
    /// Issues that were done.
    completed: i64,
    /// Issues that go on.
    unfinished: i64,
}

/// A sprint that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "Sprint 1", "goal": "Checkout works"}))]
pub(crate) struct IssueSprintCreate {
    /// 1 to 100 characters.
    name: String,
    /// What is to come of it: at most 1,000 characters.
    goal: Option<String>,
    /// When it begins, in milliseconds since 1970.
    start_at: Option<i64>,
    /// When it ends.
    end_at: Option<i64>,
}

impl RequestBody for IssueSprintCreate {}

/// What is to be changed of a sprint; null clears.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"goal": "Checkout works", "version": 1}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct IssueSprintPatchBody {
    /// 1 to 100 characters.
    name: Option<String>,
    /// What is to come of it: at most 1,000 characters.
    goal: Option<String>,
    /// When it begins, in milliseconds since 1970.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>)]
    start_at: Option<Option<i64>>,
    /// When it ends.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>)]
    end_at: Option<Option<i64>>,
    /// The version that was seen.
    version: Option<i64>,
}

impl RequestBody for IssueSprintPatchBody {}

impl IssueSprintPatchBody {
    fn patch(self) -> SprintPatch {
        let Self { name, goal, start_at, end_at, version } = self;
        let moment = |at: Option<i64>| at.map(Timestamp);
        SprintPatch { name, goal, start_at: start_at.map(moment), end_at: end_at.map(moment), version }
    }
}

/// How a sprint is closed.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"moveTo": null}))]
pub(crate) struct IssueSprintComplete {
    /// A sprint that hasn't begun, to which goes what isn't done; to the backlog where there is none.
    #[schema(value_type = Option<String>)]
    move_to: Option<SprintId>,
}

impl RequestBody for IssueSprintComplete {}

/// The sprints of a space of issues
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints")]
pub(crate) async fn issue_sprints_list(of: SpaceOf<IssuesRead>, state: State) -> Result<Json<IssueSprintsAnswer>> {
    let found = state.store.issue_sprints(of.org.id(), Some(of.space.space_id)).await?;
    Ok(Json(IssueSprintsAnswer { sprints: found.into_iter().map(IssueSprintBody::from).collect() }))
}

/// Make a sprint of a space of issues
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints", responses(
    (status = 400, description = "A space has at most 1000 sprints."),
    (status = 403, description = "You can't plan sprints in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_sprint_create(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueSprintCreate>,
    state: State,
) -> Result<Created<IssueSprintAnswer>> {
    let IssueSprintCreate { name, goal, start_at, end_at } = body.into_inner();
    let moment = |at: Option<i64>| at.map(|at| Some(Timestamp(at)));
    let (start_at, end_at) = (moment(start_at), moment(end_at));
    let patch = SprintPatch { name: Some(name), goal, start_at, end_at, version: None };
    let command = CreateSprint { org_id: of.org.id(), patch };
    let made = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Created(IssueSprintAnswer { sprint: made.into() }))
}

/// Change a sprint of a space of issues
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints/{sprintId}", responses(
    (status = 403, description = "You can't plan sprints in this space."),
    (status = 409, description = "The sprint changed. Load it again.\n\nThis sprint is closed.\n\nThis space is archived."),
))]
pub(crate) async fn issue_sprint_patch(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueSprintPatchBody>,
    Path(id): Path<SprintId>,
    state: State,
) -> Result<Json<IssueSprintAnswer>> {
    let command = ChangeSprint { org_id: of.org.id(), id, patch: body.into_inner().patch() };
    let changed = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Json(IssueSprintAnswer { sprint: changed.into() }))
}

/// Start a sprint of a space of issues
///
/// The sprint begins now where no other start is said. A space has one active sprint at a time.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints/{sprintId}/start", responses(
    (status = 403, description = "You can't plan sprints in this space."),
    (status = 409, description = "Another sprint of the space is active.\n\nThis sprint is closed.\n\n\
     The sprint changed. Load it again.\n\nThis space is archived."),
))]
pub(crate) async fn issue_sprint_start(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueSprintPatchBody>,
    Path(id): Path<SprintId>,
    state: State,
) -> Result<Json<IssueSprintAnswer>> {
    let command = StartSprint { org_id: of.org.id(), id, patch: body.into_inner().patch() };
    let started = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Json(IssueSprintAnswer { sprint: started.into() }))
}

/// Close the active sprint of a space of issues
///
/// Issues leave it within moments of the answer: what isn't done goes on, and each remembers the sprint in `closedSprintIds`.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints/{sprintId}/complete", responses(
    (status = 403, description = "You can't plan sprints in this space."),
    (status = 409, description = "Only the sprint that is active can be closed.\n\nThis space is archived."),
))]
pub(crate) async fn issue_sprint_complete(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueSprintComplete>,
    Path(id): Path<SprintId>,
    state: State,
) -> Result<Json<IssueSprintReport>> {
    let command = CompleteSprint { org_id: of.org.id(), id, move_to: body.move_to };
    let report = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    let (completed, unfinished) = (report.completed, report.unfinished);
    Ok(Json(IssueSprintReport { sprint: report.sprint.into(), completed, unfinished }))
}

/// Delete a sprint of a space of issues
///
/// Only one in which no issue is or was.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints/{sprintId}", responses(
    (status = 403, description = "You can't plan sprints in this space."),
    (status = 409, description = "\"Sprint 1\" is still used.\n\nThis space is archived."),
))]
pub(crate) async fn issue_sprint_delete(
    of: SpaceOf<IssuesWrite>,
    Path(id): Path<SprintId>,
    state: State,
) -> Result<NoContent> {
    let command = RemoveSprint { org_id: of.org.id(), id };
    state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(NoContent)
}
