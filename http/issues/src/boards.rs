//! Boards of a space, what they show, and the ranks by which they show it.

use actors::issues::{
    Asked, BoardPatch, ChangeBoard, CreateBoard, RankIssues, RemoveBoard, Sight, search as search_issues, sight,
};
use domain::{
    Error,
    id::{BoardId, IssueId, SpaceId, SprintId},
    issues::{
        boards::{Board, BoardColumn, Sprint, SprintState},
        issue::Issue,
        jql::meaning::Fallback,
        limits::{BOARD_SHOWN_MAX, ISSUE_NOT_FOUND, RANKED_MAX, SPRINT_NOT_FOUND},
    },
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::issues::RankSide;
use utoipa::{IntoParams, ToSchema};

use super::argument::{BoardOf, SpaceOf};

/// A board of a space.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueBoardBody {
    board_id: String,
    space_id: String,
    name: String,
    /// The query whose issues it shows, in the order of their ranks.
    jql: String,
    /// From left to right.
    #[schema(value_type = Vec<Object>)]
    columns: Vec<BoardColumn>,
    /// Counts its changes.
    version: i64,
    created_at: i64,
}

impl From<Board> for IssueBoardBody {
    fn from(board: Board) -> Self {
        Self {
            board_id: board.id.to_string(),
            space_id: board.space_id.to_string(),
            name: board.name,
            jql: board.jql,
            columns: board.columns,
            version: board.version,
            created_at: board.created_at.as_millis(),
        }
    }
}

/// One board.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueBoardAnswer {
    /// The board.
    board: IssueBoardBody,
}

/// The boards of a space.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueBoardsAnswer {
    /// In the order of their making.
    boards: Vec<IssueBoardBody>,
}

/// A board that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "Bugs", "jql": "type = bug"}))]
pub(crate) struct IssueBoardCreate {
    /// 1 to 100 characters.
    name: String,
    /// The query whose issues it shows; all of the space where it isn't said. Its order is passed over.
    #[schema(max_length = 10_000)]
    jql: Option<String>,
    /// 1 to 20 columns: `{name, statusIds, min?, max?}`; one for each status of the space's workflow where they aren't said.
    #[schema(value_type = Option<Vec<Object>>)]
    columns: Option<Vec<BoardColumn>>,
}

impl RequestBody for IssueBoardCreate {}

/// What is to be changed of a board.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "Bugs", "version": 1}))]
pub(crate) struct IssueBoardPatchBody {
    /// 1 to 100 characters.
    name: Option<String>,
    /// The query whose issues it shows. Its order is passed over.
    #[schema(max_length = 10_000)]
    jql: Option<String>,
    /// 1 to 20 columns: `{name, statusIds, min?, max?}`.
    #[schema(value_type = Option<Vec<Object>>)]
    columns: Option<Vec<BoardColumn>>,
    /// The version that was seen.
    version: Option<i64>,
}

impl RequestBody for IssueBoardPatchBody {}

/// Which issues of a board.
#[derive(Deserialize, IntoParams)]
pub(crate) struct IssueBoardQuery {
    /// `active` for the sprint that is active, or the id of a sprint of the space; all issues of the board where it isn't said.
    #[param(example = "active")]
    sprint: Option<String>,
}

impl RequestQuery for IssueBoardQuery {}

impl IssueBoardQuery {
    /// The sprint that is asked for, among those of the space; none, too, where none is active.
    fn within(&self, sprints: &[Sprint]) -> domain::Result<Option<SprintId>> {
        match self.sprint.as_deref() {
            None => Ok(None),
            Some("active") => Ok(sprints.iter().find(|it| it.state == SprintState::Active).map(|it| it.id)),
            Some(text) => {
                let named = sprints.iter().find(|it| it.id.to_string() == text);
                named.map(|it| Some(it.id)).ok_or_else(|| Error::invalid("sprint", SPRINT_NOT_FOUND))
            }
        }
    }
}

/// A column with its issues.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueBoardColumnBody {
    name: String,
    status_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u32>,
    /// How many issues are in it.
    total: u64,
    /// Whether there are fewer than `min` or more than `max`.
    out_of_bounds: bool,
    /// The first 100 of them (contract B 2.1), in the order of their ranks.
    #[schema(value_type = Vec<Object>)]
    issues: Vec<Issue>,
}

/// What a board shows.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueBoardIssues {
    /// From left to right.
    columns: Vec<IssueBoardColumnBody>,
}

/// A part of what is planned.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueBacklogPart {
    /// The sprint; none is the backlog.
    #[serde(skip_serializing_if = "Option::is_none")]
    sprint_id: Option<String>,
    /// How many issues there are.
    total: u64,
    /// The first 100 of them (contract B 2.1), in the order of their ranks.
    #[schema(value_type = Vec<Object>)]
    issues: Vec<Issue>,
}

/// What is planned.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueBacklogAnswer {
    /// Sprints that aren't closed, the first 20 in the order of their making, and behind them what is in none of them.
    parts: Vec<IssueBacklogPart>,
}

/// Issues that are to be put before or behind another one.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"issues": ["WEB-3", "WEB-4"], "before": "WEB-1"}))]
pub(crate) struct IssueRankPut {
    /// 1 to 50 issues of a space, by their keys or ids, in the order that they are to have.
    issues: Vec<String>,
    /// The issue before which they go; or say `after`.
    before: Option<String>,
    /// The issue behind which they go.
    after: Option<String>,
}

impl RequestBody for IssueRankPut {
    fn check(&self, problems: &mut Problems) {
        problems.require((1..=RANKED_MAX).contains(&self.issues.len()), "issues", "Name 1 to 50 issues.");
        problems.require(self.before.is_some() != self.after.is_some(), "before", "Say either `before` or `after`.");
    }
}

/// How many issues were ranked.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueRanked {
    ranked: usize,
}

/// Sprints that the backlog lists.
const SPRINTS_LISTED: usize = 20;

/// The boards of a space of issues
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards")]
pub(crate) async fn issue_boards_list(of: SpaceOf<IssuesRead>, state: State) -> Result<Json<IssueBoardsAnswer>> {
    let found = state.store.issue_boards(of.org.id(), of.space.space_id).await?;
    Ok(Json(IssueBoardsAnswer { boards: found.into_iter().map(IssueBoardBody::from).collect() }))
}

/// Make a board of a space of issues
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards", responses(
    (status = 400, description = "A space has at most 20 boards."),
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_board_create(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueBoardCreate>,
    state: State,
) -> Result<Created<IssueBoardAnswer>> {
    let IssueBoardCreate { name, jql, columns } = body.into_inner();
    let patch = BoardPatch { name: Some(name), jql, columns, version: None };
    let command = CreateBoard { org_id: of.org.id(), patch };
    let made = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Created(IssueBoardAnswer { board: made.into() }))
}

/// Change a board of a space of issues
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards/{boardId}", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "The board changed. Load it again.\n\nThis space is archived."),
))]
pub(crate) async fn issue_board_patch(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueBoardPatchBody>,
    Path(id): Path<BoardId>,
    state: State,
) -> Result<Json<IssueBoardAnswer>> {
    let IssueBoardPatchBody { name, jql, columns, version } = body.into_inner();
    let command = ChangeBoard { org_id: of.org.id(), id, patch: BoardPatch { name, jql, columns, version } };
    let changed = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Json(IssueBoardAnswer { board: changed.into() }))
}

/// Delete a board of a space of issues
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards/{boardId}", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_board_delete(
    of: SpaceOf<IssuesWrite>,
    Path(id): Path<BoardId>,
    state: State,
) -> Result<NoContent> {
    let command = RemoveBoard { org_id: of.org.id(), id };
    state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(NoContent)
}

async fn shown(of: &SpaceOf<IssuesRead>, state: &State, jql: &str) -> Result<(Vec<Issue>, u64)> {
    let asked = Asked { jql, fallback: Fallback::Rank, start: 0, limit: BOARD_SHOWN_MAX };
    let found = search_issues(&state.store, of.org.authority(), &asked).await?;
    Ok((found.issues, found.total))
}

/// The issues of a board
///
/// By its columns, in the order of their ranks. What you may not browse is neither shown nor counted.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards/{boardId}/issues",
    responses((status = 400, description = "Sprint not found.")))]
pub(crate) async fn issue_board_issues(
    BoardOf { of, board }: BoardOf<IssuesRead>,
    query: Query<IssueBoardQuery>,
    state: State,
) -> Result<Json<IssueBoardIssues>> {
    let sprints = state.store.issue_sprints(of.org.id(), Some(of.space.space_id)).await?;
    let within = query.within(&sprints)?;
    let has_no_sprint = query.sprint.is_some() && within.is_none();
    let mut columns = Vec::new();
    for BoardColumn { name, status_ids, min, max } in board.columns.clone() {
        let (issues, total) = if status_ids.is_empty() || has_no_sprint {
            (Vec::new(), 0)
        } else {
            let statuses: Vec<String> = status_ids.iter().map(|id| format!("\"{id}\"")).collect();
            let mut holds = format!("status in ({})", statuses.join(", "));
            if let Some(sprint) = within {
                holds.push_str(" AND sprint = ");
                holds.push_str(&sprint.to_string());
            }
            shown(&of, &state, &board.query(&holds)).await?
        };
        let column = BoardColumn { name, status_ids, min, max };
        let out_of_bounds = column.is_out_of_bounds(total);
        let BoardColumn { name, status_ids, min, max } = column;
        columns.push(IssueBoardColumnBody { name, status_ids, min, max, total, out_of_bounds, issues });
    }
    Ok(Json(IssueBoardIssues { columns }))
}

/// The backlog of a board
///
/// What is planned: issues of the board in sprints that aren't closed, and those that aren't done and are in none of them.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards/{boardId}/backlog")]
pub(crate) async fn issue_board_backlog(
    BoardOf { of, board }: BoardOf<IssuesRead>,
    state: State,
) -> Result<Json<IssueBacklogAnswer>> {
    let sprints = state.store.issue_sprints(of.org.id(), Some(of.space.space_id)).await?;
    let open = sprints.iter().filter(|it| it.state != SprintState::Closed);
    let open: Vec<SprintId> = open.map(|it| it.id).collect();
    let mut parts = Vec::new();
    for sprint in open.iter().take(SPRINTS_LISTED) {
        let (issues, total) = shown(&of, &state, &board.query(&format!("sprint = {sprint}"))).await?;
        parts.push(IssueBacklogPart { sprint_id: Some(sprint.to_string()), total, issues });
    }
    let mut holds = "statusCategory != Done".to_owned();
    if !open.is_empty() {
        let named: Vec<String> = open.iter().map(ToString::to_string).collect();
        holds = format!("{holds} AND (sprint is EMPTY OR sprint not in ({}))", named.join(", "));
    }
    let (issues, total) = shown(&of, &state, &board.query(&holds)).await?;
    parts.push(IssueBacklogPart { sprint_id: None, total, issues });
    Ok(Json(IssueBacklogAnswer { parts }))
}

/// Rank issues
///
/// Puts issues of a space before or behind another one of it. Nothing else of them changes, not even their version.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/issues/rank", responses(
    (status = 403, description = "You can't plan sprints in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_rank_put(
    org: Org<IssuesWrite>,
    body: Body<IssueRankPut>,
    state: State,
) -> Result<Json<IssueRanked>> {
    let seen = sight(&state.store, org.authority()).await?;
    let (command, space_id) = body.into_inner().command(&org, (&state, &seen)).await?;
    let ranked = command.issues.len();
    state.actors.issue_space.ask(&space_id, command, org.context()).await?;
    Ok(Json(IssueRanked { ranked }))
}

impl IssueRankPut {
    /// The issues that are named, each once, among those that the caller sees, and the space of the one beside which they go.
    async fn command(self, org: &Org<IssuesWrite>, (state, seen): (&State, &Sight)) -> Result<(RankIssues, SpaceId)> {
        let (side, path, named) = match (self.before, self.after) {
            (Some(named), _) => (RankSide::Before, "before", named),
            (None, named) => (RankSide::After, "after", named.unwrap_or_default()),
        };
        let texts: Vec<String> = self.issues.iter().chain([&named]).cloned().collect();
        let found = state.store.issues_named(org.id(), &texts).await?;
        let issue = |path: String, text: &String| {
            let issue = found.get(text).map(|it| &it.issue).filter(|it| seen.space(it.space_id).is_some());
            issue.ok_or_else(|| Error::invalid(path, ISSUE_NOT_FOUND))
        };
        let beside = issue(path.to_owned(), &named)?;
        let mut issues: Vec<IssueId> = Vec::new();
        for (at, text) in self.issues.iter().enumerate() {
            let id = issue(format!("issues.{at}"), text)?.issue_id;
            if issues.contains(&id) || id == beside.issue_id {
                return Err(Error::invalid(format!("issues.{at}"), "This issue stands here twice.").into());
            }
            issues.push(id);
        }
        let command = RankIssues { org_id: org.id(), issues, beside: beside.issue_id, side };
        Ok((command, beside.space_id))
    }
}
