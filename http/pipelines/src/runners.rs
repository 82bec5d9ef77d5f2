//! The runners of an organization, and what waits for them.

use std::{fmt, str::FromStr};

use actors::pipelines::{ChangeRunner, DeleteRunner, MakeRegistration};
use domain::{
    Timestamp,
    id::RunnerId,
    pipelines::runner::{RUNNERS_MAX, labels_check},
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    paging::PageQuery,
    path::Path,
    permission::GitAdmin,
    query::Query,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::pipelines::{PlaceInQueue, StoredRunner};
use utoipa::ToSchema;

use super::{body::JobBody, why::waiting::RunnersNow};

/// The name of the queue in its cursors.
const QUEUE: &str = "runner-queue";
/// Places of a queue that are counted.
pub(super) const PLACES_MAX: u64 = 10_000;

/// A runner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "runnerId": "rnr_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "box-1", "labels": ["self-hosted", "linux", "x64"], "os": "linux",
    "arch": "x64", "version": "0.1.0", "ephemeral": false, "paused": false, "createdAt": 1_767_225_600_000_i64,
    "seenAt": 1_767_225_600_000_i64
}))]
pub(crate) struct RunnerBody {
    /// The runner's id.
    runner_id: String,
    /// What people call it.
    name: String,
    /// What jobs may ask for.
    labels: Vec<String>,
    /// The operating system.
    os: String,
    /// The processor.
    arch: String,
    /// The version of the program; empty before it asked for a job.
    version: String,
    /// Whether it takes one job and is gone.
    ephemeral: bool,
    /// Whether it is given no jobs.
    paused: bool,
    /// When it was registered.
    created_at: i64,
    /// When it last asked for a job.
    seen_at: Option<i64>,
}

impl From<StoredRunner> for RunnerBody {
    fn from(runner: StoredRunner) -> Self {
        Self {
            runner_id: runner.id.to_string(),
            name: runner.name,
            labels: runner.labels,
            os: runner.os,
            arch: runner.arch,
            version: runner.program,
            ephemeral: runner.is_ephemeral,
            paused: runner.is_paused,
            created_at: runner.created_at.as_millis(),
            seen_at: runner.seen_at.map(Timestamp::as_millis),
        }
    }
}

/// The runners of an organization.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunnersAnswer {
    /// The oldest first; at most 1,000.
    runners: Vec<RunnerBody>,
}

/// The runners of an organization
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/runners")]
pub(crate) async fn runners_list(org: Org<GitAdmin>, state: State) -> Result<Json<RunnersAnswer>> {
    let found = state.store.runners(org.id(), RUNNERS_MAX).await?;
    Ok(Json(RunnersAnswer { runners: found.into_iter().map(RunnerBody::from).collect() }))
}

/// What a registration gives its runner.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"labels": ["gpu"], "ephemeral": false}))]
pub(crate) struct RunnerTokenCreate {
    /// What jobs may ask for, beside what the runner says itself: up to 50 of 1 to 64 characters.
    #[serde(default)]
    labels: Vec<String>,
    /// Whether the runner takes one job and is gone.
    #[serde(default)]
    ephemeral: bool,
}

impl RequestBody for RunnerTokenCreate {}

/// What registers one runner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "token": "trp_t_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2", "expiresAt": 1_767_229_200_000_i64
}))]
pub(crate) struct RunnerTokenAnswer {
    /// The token, shown once.
    token: String,
    /// Until when it works: an hour.
    expires_at: i64,
}

/// Make a token that registers a runner
///
/// The token registers one runner, within an hour.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/pipelines/runners/token")]
pub(crate) async fn runner_token_create(
    org: Org<GitAdmin>,
    body: Body<RunnerTokenCreate>,
    state: State,
) -> Result<Created<RunnerTokenAnswer>> {
    let command = MakeRegistration { labels: labels_check(&body.labels)?, is_ephemeral: body.ephemeral };
    let made = state.actors.runner_pool.ask(&org.id(), command, org.context()).await?;
    let token = made.token.reveal().to_owned();
    Ok(Created(RunnerTokenAnswer { token, expires_at: made.expires_at.as_millis() }))
}

/// What is to be changed of a runner; what isn't named stays.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"paused": true}))]
pub(crate) struct RunnerPatch {
    /// All that jobs may ask for: up to 50 of 1 to 64 characters.
    labels: Option<Vec<String>>,
    /// Whether it is given no jobs.
    paused: Option<bool>,
}

impl RequestBody for RunnerPatch {}

/// One runner.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunnerAnswer {
    /// The runner as it is now.
    runner: RunnerBody,
}

/// Change a runner
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/pipelines/runners/{runnerId}")]
pub(crate) async fn runner_patch(
    org: Org<GitAdmin>,
    body: Body<RunnerPatch>,
    Path(id): Path<RunnerId>,
    state: State,
) -> Result<Json<RunnerAnswer>> {
    let labels = body.labels.as_deref().map(labels_check).transpose()?;
    let command = ChangeRunner { id, labels, is_paused: body.paused };
    let changed = state.actors.runner_pool.ask(&org.id(), command, org.context()).await?;
    Ok(Json(RunnerAnswer { runner: changed.into() }))
}

/// Delete a runner
///
/// The runner's secret opens nothing any more. A job that the runner has goes on.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/pipelines/runners/{runnerId}")]
pub(crate) async fn runner_delete(org: Org<GitAdmin>, Path(id): Path<RunnerId>, state: State) -> Result<NoContent> {
    state.actors.runner_pool.ask(&org.id(), DeleteRunner(id), org.context()).await?;
    Ok(NoContent)
}

/// A job that waits for a runner.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueuedJobBody {
    /// The job.
    job: JobBody,
    /// The place in the queue, from 1; null beyond the first 10,000.
    position: Option<u64>,
    /// Why the job waits.
    reason: String,
}

/// What waits for runners.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueueAnswer {
    /// The jobs, with those first that wait longest.
    jobs: Vec<QueuedJobBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// Where a job stands in the queue.
struct Position(PlaceInQueue);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.queued_at, self.0.id)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (queued_at, id) = text.split_once(' ').ok_or(())?;
        let queued_at = Timestamp(queued_at.parse().map_err(|_| ())?);
        Ok(Self(PlaceInQueue { queued_at, id: id.parse().map_err(|_| ())? }))
    }
}

/// The jobs that wait for runners
///
/// Each with its place, and why it waits.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/queue", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn queue_list(org: Org<GitAdmin>, query: Query<PageQuery>, state: State) -> Result<Json<QueueAnswer>> {
    let page = query.page::<Position>(QUEUE)?;
    let after = page.after.as_ref().map(|position| position.0);
    let found = state.store.queued_jobs_behind(org.id(), after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |job| Position(PlaceInQueue::of(job)));
    let before = match found.first() {
        Some(first) if after.is_some() => {
            state.store.queued_jobs_before(org.id(), PlaceInQueue::of(first), PLACES_MAX).await?
        }
        _ => Some(0),
    };
    let runners = RunnersNow::read(&state, org.id()).await?;
    let jobs = found.into_iter().zip(1_u64..).map(|(job, at)| {
        let position = before.map(|jobs| jobs + at).filter(|position| *position <= PLACES_MAX);
        QueuedJobBody { position, reason: runners.reason(&job.labels), job: job.into() }
    });
    Ok(Json(QueueAnswer { jobs: jobs.collect(), cursor }))
}
