//! The timers of a run's jobs: a lease that the runner renews, the time that a job may take, and how long it waits for its
//! environment and for a reviewer.

use std::time::Duration;

use domain::{Timestamp, id::JobId, pipelines::environments::APPROVAL_LASTS};
use kernel::Resource as _;
use store::{
    Change,
    pipelines::{StoredApproval, StoredJob, StoredRun},
};

use super::Run;

/// How long a runner may be silent before its job is taken for lost.
pub const LEASE: Duration = Duration::from_mins(1);
/// How often it is written down that a job's runner was heard of, at most; as often as it says how the job stands.
pub(crate) const SEEN_EVERY: Duration = Duration::from_secs(10);
/// How much longer than it may a job runs before the server ends it.
pub const TIMEOUT_GRACE: Duration = Duration::from_mins(5);

/// How long a job waits for a runner before it ends.
pub const QUEUED_MAX: Duration = Duration::from_hours(24);

const LEASE_TIMER: &str = "lease:";
const TIMEOUT_TIMER: &str = "timeout:";
const WAIT_TIMER: &str = "wait:";
const APPROVAL_TIMER: &str = "approval:";
const QUEUE_TIMER: &str = "queue:";

/// What a timer of a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobTimer {
    /// The runner was silent, unless it said something since.
    Lease(JobId),
    /// The job takes too long.
    Timeout(JobId),
    /// The environment's timer has run out.
    Wait(JobId),
    /// No reviewer said anything.
    Approval(JobId),
    /// No runner took the job.
    Queue(JobId),
}

impl JobTimer {
    pub fn read(name: &str) -> Option<Self> {
        let (kind, id) = name.split_at(name.find(':')? + 1);
        let id = id.parse().ok()?;
        match kind {
            LEASE_TIMER => Some(Self::Lease(id)),
            TIMEOUT_TIMER => Some(Self::Timeout(id)),
            WAIT_TIMER => Some(Self::Wait(id)),
            APPROVAL_TIMER => Some(Self::Approval(id)),
            QUEUE_TIMER => Some(Self::Queue(id)),
            _ => None,
        }
    }
}

/// When a job that started then has taken as long as it may.
fn time_is_over_at(job: &StoredJob, started: Timestamp) -> Timestamp {
    started.after(Duration::from_secs(u64::from(job.timeout_minutes) * 60))
}

/// Whether a job has taken as long as it may.
pub(super) fn is_time_over(job: &StoredJob, now: Timestamp) -> bool {
    job.started_at.is_some_and(|started| time_is_over_at(job, started) <= now)
}

/// Sets the timers of a job that starts.
pub(super) fn start(change: &mut Change, run: &StoredRun, job: &StoredJob, now: Timestamp) {
    change.timer_cancel(Run::KIND, &run.id.to_string(), &format!("{QUEUE_TIMER}{}", job.id));
    renew(change, run, job.id, now);
    let name = format!("{TIMEOUT_TIMER}{}", job.id);
    let ends_at = time_is_over_at(job, now).after(TIMEOUT_GRACE);
    change.timer_set_for(run.org_id, Run::KIND, &run.id.to_string(), &name, ends_at);
}

/// Sets the timer of a job that waits for a runner since `queued`.
pub(super) fn wait_for_runner(change: &mut Change, run: &StoredRun, id: JobId, queued: Timestamp) {
    look_at_queued(change, run, id, queued.after(QUEUED_MAX));
}

/// Has it be looked at `at` whether a runner took the job.
pub(super) fn look_at_queued(change: &mut Change, run: &StoredRun, id: JobId, at: Timestamp) {
    change.timer_set_for(run.org_id, Run::KIND, &run.id.to_string(), &format!("{QUEUE_TIMER}{id}"), at);
}

/// Has the lease of a job last from `seen` on.
pub(super) fn renew(change: &mut Change, run: &StoredRun, id: JobId, seen: Timestamp) {
    let name = format!("{LEASE_TIMER}{id}");
    change.timer_set_for(run.org_id, Run::KIND, &run.id.to_string(), &name, seen.after(LEASE));
}

/// Sets the timers of a job that waits for its environment.
pub(super) fn wait(change: &mut Change, run: &StoredRun, approval: &StoredApproval) {
    let mut set = |beginning: &str, due| {
        let name = format!("{beginning}{}", approval.job_id);
        change.timer_set_for(run.org_id, Run::KIND, &run.id.to_string(), &name, due);
    };
    if let Some(until) = approval.waits_until {
        set(WAIT_TIMER, until);
    }
    if approval.decision.is_none() {
        set(APPROVAL_TIMER, approval.asked_at.after(APPROVAL_LASTS));
    }
}

/// Cancels the timer of a job that was reviewed.
pub(super) fn reviewed(change: &mut Change, run: &StoredRun, id: JobId) {
    change.timer_cancel(Run::KIND, &run.id.to_string(), &format!("{APPROVAL_TIMER}{id}"));
}

/// Cancels the timers of a job.
pub(super) fn cancel_all(change: &mut Change, run: &StoredRun, id: JobId) {
    for beginning in [LEASE_TIMER, TIMEOUT_TIMER, WAIT_TIMER, APPROVAL_TIMER, QUEUE_TIMER] {
        change.timer_cancel(Run::KIND, &run.id.to_string(), &format!("{beginning}{id}"));
    }
}
