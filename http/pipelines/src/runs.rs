//! Runs of a repository and their jobs.

use std::{collections::BTreeMap, fmt, str::FromStr};

use actors::pipelines::{CancelRun, DeleteRun, How, RerunJobs, RerunLogs, RerunRun};
use domain::{
    Error, Timestamp,
    id::{JobId, RunId},
    pipelines::{
        job_not_found,
        run::{JobPlace, RunConclusion, RunStatus},
        trigger::RUN_EVENTS,
    },
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    owned::Owned,
    paging::PageQuery,
    permission::{GitRead, GitWrite},
    query::{Query, RequestQuery},
    repository::Repository,
    state::{AppState, State},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::pipelines::{EndedAttempt, JobStage, PlaceInQueue, RunList, RunPlan, StoredJob, StoredRun};
use utoipa::{IntoParams, ToSchema};

use super::{
    body::{JobBody, JobStepBody, RunAnswer, RunBody},
    runners::PLACES_MAX,
    why::waiting::{RunnersNow, held, waits},
};

/// The name of the list of runs in its cursors.
const LIST: &str = "runs";
/// Jobs that a re-run names, at most.
const RERUN_IDS_MAX: usize = 1_000;

/// Where a run stands in the list.
struct Position(RunId);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        text.parse().map(Self).map_err(|_| ())
    }
}

/// Which runs are listed.
#[derive(Deserialize, IntoParams)]
pub(crate) struct RunsQuery {
    /// Only those of this workflow file.
    file: Option<String>,
    /// Only those of this branch.
    branch: Option<String>,
    /// Only those that this started: `push`, `pull_request`, `schedule` or `workflow_dispatch`.
    event: Option<String>,
    /// Only those that are doing so: `queued`, `in_progress`, `waiting` or `completed`.
    status: Option<String>,
    /// Only those that ended so.
    conclusion: Option<String>,
    /// Only those of this person.
    actor: Option<String>,
    /// Only those of the pull request of this number.
    pull: Option<i64>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl RequestQuery for RunsQuery {
    fn check(&self, problems: &mut Problems) {
        PageQuery { cursor: None, limit: self.limit }.check(problems);
    }
}

/// The one of all that the text names, where there is a text; 400 that says which there are.
pub(super) fn one_of<T: Copy>(
    all: &[T],
    name: impl Fn(T) -> &'static str,
    (path, text): (&str, Option<&str>),
) -> domain::Result<Option<T>> {
    let Some(text) = text else { return Ok(None) };
    let found = all.iter().copied().find(|it| name(*it) == text);
    let names = || all.iter().map(|it| name(*it)).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| Error::invalid(path, format!("Use one of: {}.", names())))
}

/// A page of the runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunsAnswer {
    /// The newest first.
    runs: Vec<RunBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The runs of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs",
    responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn runs_list(
    repository: Repository<GitRead>,
    query: Query<RunsQuery>,
    state: State,
) -> Result<Json<RunsAnswer>> {
    let RunsQuery { file, branch, event, status, conclusion, actor, pull, cursor, limit } = query.0;
    let page = PageQuery { cursor, limit }.page::<Position>(LIST)?;
    let list = RunList {
        file,
        branch,
        event: one_of(&RUN_EVENTS, |it| it, ("event", event.as_deref()))?.map(str::to_owned),
        status: one_of(&RunStatus::ALL, RunStatus::name, ("status", status.as_deref()))?,
        conclusion: one_of(&RunConclusion::ALL, RunConclusion::name, ("conclusion", conclusion.as_deref()))?,
        actor,
        pull,
        sha: None,
        before: page.after.as_ref().map(|position| position.0),
        limit: page.read_limit(),
    };
    let found = state.store.runs(repository.stored.no, &list).await?;
    let (found, cursor) = page.cut(found, |run| Position(run.id));
    Ok(Json(RunsAnswer { runs: found.into_iter().map(RunBody::from).collect(), cursor }))
}

/// An attempt of a run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttemptBody {
    /// The attempt, from 1.
    attempt: u32,
    /// How it ended; null before the end.
    conclusion: Option<&'static str>,
    /// When its first job started.
    started_at: Option<i64>,
    /// When it was over.
    completed_at: Option<i64>,
}

impl From<EndedAttempt> for AttemptBody {
    fn from(it: EndedAttempt) -> Self {
        let conclusion = it.conclusion.map(RunConclusion::name);
        Self { attempt: it.attempt, conclusion, started_at: it.started_at, completed_at: it.completed_at }
    }
}

/// A run with its jobs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunDetail {
    /// The run as it is now.
    run: RunBody,
    /// The jobs of the attempt that is asked for, in the order of the file; one that ran in an earlier attempt only is that one's.
    jobs: Vec<JobBody>,
    /// All attempts, the first one first.
    attempts: Vec<AttemptBody>,
    /// What the run and each of its jobs wait for, in words.
    waiting_for: Vec<String>,
}

/// `?attempt=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct AttemptQuery {
    /// The attempt, from 1; the newest where it isn't said.
    #[param(minimum = 1)]
    attempt: Option<u32>,
}

impl RequestQuery for AttemptQuery {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.attempt != Some(0), "attempt", "Must be 1 or more.");
    }
}

/// The jobs of an attempt. Of an earlier one, each place has its newest job as of then.
async fn jobs_of(state: &AppState, run: &StoredRun, plan: Option<&RunPlan>, attempt: u32) -> Result<Vec<StoredJob>> {
    let rows = state.store.run_jobs(run.id, attempt).await?;
    let jobs: BTreeMap<JobPlace, StoredJob> = match plan {
        Some(plan) if attempt == run.attempt => plan.rows_of(run, rows),
        // Later attempts come later.
        _ => rows.into_iter().map(|row| (row.place, row)).collect(),
    };
    Ok(jobs.into_values().collect())
}

/// A run
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}")]
pub(crate) async fn run_get(
    _: Repository<GitRead>,
    query: Query<AttemptQuery>,
    Owned(run): Owned<StoredRun>,
    state: State,
) -> Result<Json<RunDetail>> {
    let attempt = query.attempt.unwrap_or(run.attempt).min(run.attempt);
    let plan = state.store.run_plan(run.id).await?;
    let jobs = jobs_of(&state, &run, plan.as_ref(), attempt).await?;
    let waiting_for = waits(&state, (&run, plan.as_ref()), &jobs).await?;
    let before = plan.map(|plan| plan.attempts).unwrap_or_default();
    let mut attempts: Vec<_> = before.into_iter().map(AttemptBody::from).collect();
    attempts.push(AttemptBody {
        attempt: run.attempt,
        conclusion: run.conclusion.map(RunConclusion::name),
        started_at: run.started_at.map(Timestamp::as_millis),
        completed_at: run.completed_at.map(Timestamp::as_millis),
    });
    let jobs = jobs.into_iter().map(JobBody::from).collect();
    Ok(Json(RunDetail { run: run.into(), jobs, attempts, waiting_for }))
}

/// How a run is cancelled.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"force": false}))]
pub(crate) struct RunCancel {
    /// Whether jobs end whose condition still holds, too.
    #[serde(default)]
    force: bool,
}

impl RequestBody for RunCancel {}

/// Cancel a run
///
/// Jobs whose condition still holds (`always()`, `cancelled()`) go on, unless `force` says otherwise.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/cancel", responses(
    (status = 409, description = "This run is over.\n\nThis repository is deleted. Restore it first.")))]
pub(crate) async fn run_cancel(
    repository: Repository<GitWrite>,
    body: Body<RunCancel>,
    Owned(run): Owned<StoredRun>,
    state: State,
) -> Result<Json<RunAnswer>> {
    let how = if body.force { How::ByForce } else { How::Orderly };
    let run = state.actors.run.ask(&run.id, CancelRun(how), repository.context()).await?;
    Ok(Json(RunAnswer { run: run.into() }))
}

/// Which jobs run again: `all`, `failed`, or their ids.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum RerunWanted {
    /// `all` or `failed`.
    Named(String),
    /// The jobs' ids.
    Ids(Vec<String>),
}

/// Which jobs of a run run again.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"jobs": "failed", "debug": true}))]
pub(crate) struct RunRerun {
    /// `all`, `failed`, or up to 1,000 ids. Jobs that need one of them run again, too.
    jobs: RerunWanted,
    /// Whether the jobs also log what is for whoever looks for mistakes (`::debug::`).
    #[serde(default)]
    debug: bool,
}

impl RequestBody for RunRerun {}

impl RunRerun {
    fn read(&self) -> Result<RerunJobs> {
        Ok(match &self.jobs {
            RerunWanted::Named(name) if name == "all" => RerunJobs::All,
            RerunWanted::Named(name) if name == "failed" => RerunJobs::Failed,
            RerunWanted::Ids(ids) if (1..=RERUN_IDS_MAX).contains(&ids.len()) => {
                let ids = ids.iter().map(|id| id.parse::<JobId>().map_err(|_| job_not_found()));
                RerunJobs::These(ids.collect::<domain::Result<_>>()?)
            }
            RerunWanted::Named(_) | RerunWanted::Ids(_) => {
                return Err(Error::invalid("jobs", "Use all, failed, or 1 to 1000 ids of jobs.").into());
            }
        })
    }
}

/// Run a run again
///
/// The same commit and file, for 30 days and up to 50 attempts. Jobs that don't run again keep how they ended.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/rerun", responses(
    (status = 404, description = "Job not found"),
    (status = 409, description = "This run isn't over.\n\nA run has at most 50 attempts.\n\nA run can be run again for 30 days.\n\n\
     No job of this run would run again.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn run_rerun(
    repository: Repository<GitWrite>,
    body: Body<RunRerun>,
    Owned(run): Owned<StoredRun>,
    state: State,
) -> Result<Created<RunAnswer>> {
    let logs = if body.debug { RerunLogs::Debug } else { RerunLogs::Usual };
    let command = RerunRun { jobs: body.read()?, logs };
    let run = state.actors.run.ask(&run.id, command, repository.context()).await?;
    Ok(Created(RunAnswer { run: run.into() }))
}

/// Delete a run
///
/// With its jobs, once it is over.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}", responses(
    (status = 409, description = "This run isn't over.\n\nThis repository is deleted. Restore it first.")))]
pub(crate) async fn run_delete(
    repository: Repository<GitWrite>,
    Owned(run): Owned<StoredRun>,
    state: State,
) -> Result<NoContent> {
    state.actors.run.ask(&run.id, DeleteRun, repository.context()).await?;
    Ok(NoContent)
}

/// What a job waits for.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueuePlace {
    /// The place in the queue of runners, from 1; null beyond the first 10,000, and where something else holds the job back.
    position: Option<u64>,
    /// Why the job waits.
    reason: String,
}

impl QueuePlace {
    /// Where a job stands that waits, and why.
    async fn of(state: &AppState, run: &StoredRun, job: &StoredJob) -> Result<Option<Self>> {
        Ok(match job.stage {
            JobStage::Queued => {
                let place = PlaceInQueue::of(job);
                let before = state.store.queued_jobs_before(job.org_id, place, PLACES_MAX - 1).await?;
                let reason = RunnersNow::read(state, job.org_id).await?.general_reason(&job.labels);
                Some(Self { position: before.map(|jobs| jobs + 1), reason })
            }
            JobStage::Held => {
                let what = held(state, run, job).await?;
                what.map(|what| Self { position: None, reason: format!("The job waits for {what}") })
            }
            _ => None,
        })
    }
}

/// A job, with what its runner said of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct JobDetail {
    /// The job.
    job: JobBody,
    /// The steps, as of the last report.
    steps: Vec<JobStepBody>,
    /// Remarks on lines of files.
    #[schema(value_type = Vec<Object>)]
    annotations: Box<RawValue>,
    /// What the job says of itself, as Markdown; may be empty.
    summary: String,
    /// Why the job couldn't be run; may be empty.
    error: String,
    /// What the job waits for, and where it stands in the queue of runners; null where it waits for nothing.
    queue: Option<QueuePlace>,
}

/// The job that the path names, of the run that it names.
pub(crate) struct JobOfRun {
    run: StoredRun,
    job: StoredJob,
}

impl Argument for JobOfRun {
    fn describe(facts: &mut Facts) {
        Owned::<StoredRun>::describe(facts);
        Owned::<StoredJob>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Owned(run) = Owned::<StoredRun>::take(call).await?;
        let Owned(job) = Owned::<StoredJob>::take(call).await?;
        if job.run_id == run.id { Ok(Self { run, job }) } else { Err(job_not_found().into()) }
    }
}

/// A job of a run
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}")]
pub(crate) async fn run_job_get(
    repository: Repository<GitRead>,
    JobOfRun { run, job }: JobOfRun,
    state: State,
) -> Result<Json<JobDetail>> {
    let report = state.store.job_report(repository.stored.no, job.id).await?;
    let queue = QueuePlace::of(&state, &run, &job).await?;
    let (steps, annotations, summary, error) = match report {
        Some(report) => (report.steps, report.annotations, report.summary, report.error),
        None => {
            (Vec::new(), RawValue::from_string("[]".to_owned()).map_err(Error::internal)?, String::new(), String::new())
        }
    };
    let steps = steps.into_iter().map(JobStepBody::from).collect();
    Ok(Json(JobDetail { job: job.into(), steps, annotations, summary, error, queue }))
}
