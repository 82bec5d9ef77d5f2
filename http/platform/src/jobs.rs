//! Jobs: long work in steps, which operators watch and cancel.

use actors::{
    jobs::{topic, topics},
    platform::NO_JOB,
};
use domain::{Tenant, Timestamp, blank::blank_secrets};
use http_shell::{answer::Json, error::Result, path::Path, permission::PlatformInfra, state::State, wire::Done};
use serde::Serialize;
use serde_json::Value;
use store::Work;
use utoipa::ToSchema;

use super::{
    Operator,
    work_seq::{NumberedWork, WorkSeq},
};

/// Jobs that are shown at once.
const SHOWN_MAX: u32 = 100;

/// The jobs that wait or are under way.
#[derive(Serialize, ToSchema)]
pub(crate) struct JobsAnswer {
    /// How many there are.
    total: u64,
    /// The last ones, newest first, at most 100. Those that were given up are dead letters.
    jobs: Vec<JobView>,
}

/// A job.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobView {
    /// The job's number.
    seq: i64,
    /// What kind of job it is.
    topic: String,
    /// The organization or the person whose job it is; null for Troupe's own.
    tenant: Option<String>,
    /// `waiting`, `running` on a node, or `delayed`: until it is due, or tried again.
    state: &'static str,
    /// How often it was tried since its last step.
    attempts: u32,
    /// What it has done so far, as it counts; null before its first step.
    #[schema(value_type = Option<Object>)]
    progress: Option<Value>,
    /// When it was added.
    created_at: i64,
    /// When it is looked at next: when it is due, or when the node that works on it must have said that it still does.
    next_try: i64,
    /// What the last try met with; null where none failed.
    error: Option<String>,
    /// Whether it stops at its next step.
    cancelled: bool,
    /// Whether it can be cancelled.
    can_be_cancelled: bool,
}

impl JobView {
    fn new(work: Work, now: Timestamp) -> Option<Self> {
        let state = work.state(now)?;
        let may_end = topic(&work.topic).is_some_and(|topic| topic.goes_on_because.is_none());
        Some(Self {
            seq: work.seq,
            tenant: (work.tenant != Tenant::System).then(|| work.tenant.to_string()),
            state: state.as_str(),
            attempts: work.attempts,
            progress: work.progress.as_deref().and_then(|progress| serde_json::from_str(progress).ok()),
            created_at: work.created_at.as_millis(),
            next_try: work.wake_at?.as_millis(),
            error: work.last_error.as_deref().map(blank_secrets),
            cancelled: work.cancelled,
            can_be_cancelled: may_end && !work.cancelled,
            topic: work.topic,
        })
    }
}

/// Jobs, by their numbers.
pub(crate) enum JobWork {}

impl NumberedWork for JobWork {
    const NAME: &'static str = "jobSeq";
    const DESCRIPTION: &'static str = "The number of a job.";
    const NOT_FOUND: &'static str = NO_JOB;
}

/// See the jobs
///
/// Long work in steps that goes on after a crash: imports of pages, removals of what is left of deleted pages and
/// organizations, and housekeeping, which throws away what is over.
#[utoipa::path(get, path = "/v1/platform/jobs")]
pub(crate) async fn jobs_get(_operator: Operator<PlatformInfra>, state: State) -> Result<Json<JobsAnswer>> {
    let topics: Vec<_> = topics().map(|topic| topic.name).collect();
    let total = state.store.work_listed_len(&topics).await?;
    let (now, listed) = (state.store.now(), state.store.work_listed(&topics, SHOWN_MAX).await?);
    Ok(Json(JobsAnswer { total, jobs: listed.into_iter().filter_map(|work| JobView::new(work, now)).collect() }))
}

/// Cancel a job
///
/// The job stops at its next step. That is written into the audit trail of the platform's organization.
#[utoipa::path(post, path = "/v1/platform/jobs/{jobSeq}/cancel", responses((status = 409, description =
    "These pages are deleted; what is left of them can't be kept.\n\n\
     This organization is deleted; what is left of it can't be kept.")))]
pub(crate) async fn job_cancel(
    operator: Operator<PlatformInfra>,
    seq: Path<WorkSeq<JobWork>>,
    state: State,
) -> Result<Json<Done>> {
    state.actors.platform.job_cancel(seq.number(), operator.org_id(), operator.context()).await?;
    Ok(Json(Done::new()))
}
