//! Changes of many issues at once.

use actors::issues::{CancelBulk, StartBulk, UNDO_KEPT, bulk_seen, found_for_bulk, sight};
use domain::{
    Error,
    id::{IssueId, IssueJobId},
    issues::{
        bulk::{BULK_NAMED_MAX, BulkAct},
        jql::JQL_LEN_MAX,
        limits::ISSUE_NOT_FOUND,
    },
    problems::Problems,
};
use http_shell::{
    answer::{Accepted, Json},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    paging::PageQuery,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    query::Query,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::issues::IssueJobResult;
use utoipa::ToSchema;

use super::one::IssuePatchBody;

/// The name of the list of outcomes in its cursors.
const LIST: &str = "issue job results";

/// Where issues go.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IssueBulkMove {
    /// The other space: its key or id.
    space: String,
    /// A type of the other space; each issue's own where it isn't said.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// A status of the workflow there; each issue's own where it isn't said.
    status: Option<String>,
}

/// A change of many issues: which ones, and one thing that is done with each.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"jql": "labels = old", "edit": {"priority": "low"}}))]
pub(crate) struct IssueBulkBody {
    /// At most 1,000 issues, by their keys or ids; or say `jql`.
    issues: Option<Vec<String>>,
    /// A query that finds at most 10,000 issues.
    #[schema(max_length = 10_000)]
    jql: Option<String>,
    /// Fields that are changed.
    edit: Option<IssuePatchBody>,
    /// A status to which the issues go.
    transition: Option<String>,
    /// Another space to which the issues go.
    #[serde(rename = "move")]
    moves: Option<IssueBulkMove>,
    /// Whether the issues go into the trash.
    #[serde(default)]
    delete: bool,
    /// Whether you watch the issues.
    watch: Option<bool>,
}

impl RequestBody for IssueBulkBody {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.issues.is_some() != self.jql.is_some(), "issues", "Say either `issues` or `jql`.");
        let fits = self.issues.as_ref().is_none_or(|issues| (1..=BULK_NAMED_MAX).contains(&issues.len()));
        problems.require(fits, "issues", "Name 1 to 1000 issues.");
        let fits = self.jql.as_ref().is_none_or(|jql| jql.chars().count() <= JQL_LEN_MAX);
        problems.require(fits, "jql", "Use at most 10000 characters.");
        let said =
            [self.edit.is_some(), self.transition.is_some(), self.moves.is_some(), self.delete, self.watch.is_some()];
        let is_one = said.into_iter().filter(|said| *said).count() == 1;
        problems.require(is_one, "edit", "Say one of `edit`, `transition`, `move`, `delete` and `watch`.");
    }
}

impl IssueBulkBody {
    fn act(&self) -> domain::Result<BulkAct> {
        if let Some(edit) = &self.edit {
            let fields = edit.fields();
            if fields.is_empty() {
                return Err(Error::invalid("edit", "Say what is to be changed."));
            }
            let fields = serde_json::to_value(fields).map_err(Error::internal)?;
            return Ok(BulkAct::Edit { fields });
        }
        if let Some(IssueBulkMove { space, kind, status }) = &self.moves {
            return Ok(BulkAct::Move { space: space.clone(), to_type: kind.clone(), to_status: status.clone() });
        }
        Ok(match (&self.transition, self.watch) {
            (Some(to), _) => BulkAct::Transition { to: to.clone() },
            (None, Some(on)) => BulkAct::Watch { on },
            (None, None) => BulkAct::Delete,
        })
    }
}

/// A change of many issues that is under way.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueBulkAccepted {
    job_id: String,
    /// How many issues it is about.
    total: usize,
}

/// What became of an issue.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueBulkResult {
    key: String,
    /// Whether all was done.
    ok: bool,
    /// Why nothing was done, or not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// How a change of many issues ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueBulkCancelled {
    /// `cancelled`, or `done` where it had ended before.
    state: &'static str,
}

/// How far a change of many issues is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueBulkState {
    job_id: String,
    /// `running`, `done` or `cancelled`.
    state: &'static str,
    /// Of how many issues is known what became of them.
    done: i64,
    /// How many issues it is about.
    total: usize,
    /// A page of what became of them, in their order.
    results: Vec<IssueBulkResult>,
    /// Until when it can be undone, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo_until: Option<i64>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

impl From<IssueJobResult> for IssueBulkResult {
    fn from(result: IssueJobResult) -> Self {
        Self { key: result.key, ok: result.error.is_none(), error: result.error }
    }
}

/// Change many issues
///
/// A job does it, with the rights that you have on each issue then, and keeps what became of it. Nobody is notified.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/bulk",
    responses((status = 400, description = "Issue not found.\n\nAt most 10000 issues can be changed at once.")))]
pub(crate) async fn issue_bulk(
    org: Org<IssuesWrite>,
    body: Body<IssueBulkBody>,
    state: State,
) -> Result<Accepted<IssueBulkAccepted>> {
    let body = body.into_inner();
    let act = body.act()?;
    let issues = match &body.issues {
        Some(texts) => named(&org, &state, texts).await?,
        None => found_for_bulk(&state.store, org.authority(), body.jql.as_deref().unwrap_or_default()).await?,
    };
    let total = issues.len();
    let id = state.actors.issue_catalog.ask(&org.id(), StartBulk { act, issues }, org.context()).await?;
    Ok(Accepted(IssueBulkAccepted { job_id: id.to_string(), total }))
}

/// The issues that are named, each once, which the caller must see.
async fn named(org: &Org<IssuesWrite>, state: &State, texts: &[String]) -> Result<Vec<(IssueId, String)>> {
    let seen = sight(&state.store, org.authority()).await?;
    let found = state.store.issues_named(org.id(), texts).await?;
    let mut problems = Problems::new();
    let mut issues: Vec<(IssueId, String)> = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        match found.get(text).map(|it| &it.issue).filter(|it| seen.space(it.space_id).is_some()) {
            None => problems.add(format!("issues.{at}"), ISSUE_NOT_FOUND),
            Some(issue) if issues.iter().any(|(id, _)| *id == issue.issue_id) => {}
            Some(issue) => issues.push((issue.issue_id, issue.key.clone())),
        }
    }
    problems.into_result()?;
    Ok(issues)
}

/// How far a change of many issues is
///
/// With what became of each issue so far. Its maker sees it, and who administers issues.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/jobs/{issueJobId}",
    responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn issue_job_get(
    org: Org<IssuesRead>,
    query: Query<PageQuery>,
    Path(id): Path<IssueJobId>,
    state: State,
) -> Result<Json<IssueBulkState>> {
    let page = query.page::<i64>(LIST)?;
    let job = bulk_seen(&state.store, org.authority(), id).await?;
    let results = state.store.issue_job_results(id, page.after, page.read_limit()).await?;
    let (results, cursor) = page.cut(results, |result| result.n);
    let is_undo = matches!(job.act, BulkAct::Undo { .. });
    Ok(Json(IssueBulkState {
        job_id: id.to_string(),
        state: job.state.as_str(),
        done: state.store.issue_job_done(id).await?,
        total: job.issues.len(),
        results: results.into_iter().map(IssueBulkResult::from).collect(),
        undo_until: job.finished_at.filter(|_| !is_undo).map(|at| at.after(UNDO_KEPT).as_millis()),
        cursor,
    }))
}

/// Cancel a change of many issues
///
/// What was done with issues stays, and can be undone.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/jobs/{issueJobId}/cancel")]
pub(crate) async fn issue_job_cancel(
    org: Org<IssuesWrite>,
    Path(id): Path<IssueJobId>,
    state: State,
) -> Result<Json<IssueBulkCancelled>> {
    state.actors.issue_catalog.ask(&org.id(), CancelBulk { id }, org.context()).await?;
    let job = bulk_seen(&state.store, org.authority(), id).await?;
    Ok(Json(IssueBulkCancelled { state: job.state.as_str() }))
}

/// Undo a change of many issues
///
/// For 30 days: each field goes back where nobody has changed it since; the rest is told with the issue. It is a job, too.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/jobs/{issueJobId}/undo",
    responses((status = 409, description = "This job is still running.\n\nWhat was undone can't be undone.")))]
pub(crate) async fn issue_job_undo(
    org: Org<IssuesWrite>,
    Path(id): Path<IssueJobId>,
    state: State,
) -> Result<Accepted<IssueBulkAccepted>> {
    let issues = bulk_seen(&state.store, org.authority(), id).await?.issues;
    let total = issues.len();
    let command = StartBulk { act: BulkAct::Undo { job_id: id }, issues };
    let id = state.actors.issue_catalog.ask(&org.id(), command, org.context()).await?;
    Ok(Accepted(IssueBulkAccepted { job_id: id.to_string(), total }))
}
