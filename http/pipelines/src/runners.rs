//! The runners of an organization, and what waits for them.

use actors::pipelines::{ChangeRunner, DeleteRunner, MakeRegistration};
use domain::{
    Timestamp,
    id::RunnerId,
    pipelines::runner::{QUEUE_WINDOW, RUNNERS_MAX, label_missing, labels_check},
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::GitAdmin,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::pipelines::StoredRunner;
use utoipa::ToSchema;

use super::body::JobBody;

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
    /// The place in the queue, from 1.
    position: usize,
    /// Why it waits.
    reason: String,
}

/// What waits for runners.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueueAnswer {
    /// The jobs, with those first that wait longest; at most 200.
    jobs: Vec<QueuedJobBody>,
}

/// Why a job waits for a runner.
pub(super) fn reason(labels: &[String], runners: &[StoredRunner]) -> String {
    let open: Vec<&StoredRunner> = runners.iter().filter(|runner| !runner.is_paused).collect();
    if open.is_empty() {
        return "There is no runner.".to_owned();
    }
    if open.iter().any(|runner| label_missing(labels, &runner.labels).is_none()) {
        return "The runners that may take it haven't asked for a job yet.".to_owned();
    }
    let nobody_has =
        labels.iter().find(|label| open.iter().all(|it| label_missing(&[(*label).clone()], &it.labels).is_some()));
    match nobody_has {
        Some(label) => format!("No runner has `{label}`."),
        None => "No runner has all of its labels.".to_owned(),
    }
}

/// The jobs that wait for runners
///
/// Each with its place, and why it waits.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/queue")]
pub(crate) async fn queue_list(org: Org<GitAdmin>, state: State) -> Result<Json<QueueAnswer>> {
    let runners = state.store.runners(org.id(), RUNNERS_MAX).await?;
    let queued = state.store.queued_jobs(org.id(), QUEUE_WINDOW).await?;
    let jobs = queued.into_iter().enumerate().map(|(at, job)| {
        let reason = reason(&job.labels, &runners);
        QueuedJobBody { job: job.into(), position: at + 1, reason }
    });
    Ok(Json(QueueAnswer { jobs: jobs.collect() }))
}
