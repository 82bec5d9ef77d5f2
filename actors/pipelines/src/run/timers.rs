//! The timers of a run's jobs: a lease that the runner renews, and the time that a job may take.

use std::time::Duration;

use domain::{Timestamp, id::JobId};
use kernel::Resource as _;
use store::{
    Change,
    pipelines::{StoredJob, StoredRun},
};

use super::Run;

/// How long a runner may be silent before its job is taken for lost.
pub const LEASE: Duration = Duration::from_mins(1);
/// How much longer than it may a job runs before the server ends it.
pub const TIMEOUT_GRACE: Duration = Duration::from_mins(5);

const LEASE_TIMER: &str = "lease:";
const TIMEOUT_TIMER: &str = "timeout:";

/// What a timer of a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobTimer {
    /// The runner was silent, unless it said something since.
    Lease(JobId),
    /// The job takes too long.
    Timeout(JobId),
}

impl JobTimer {
    pub fn read(name: &str) -> Option<Self> {
        let lease = name.strip_prefix(LEASE_TIMER).and_then(|id| id.parse().ok()).map(Self::Lease);
        lease.or_else(|| name.strip_prefix(TIMEOUT_TIMER).and_then(|id| id.parse().ok()).map(Self::Timeout))
    }
}

/// When a job's time is over, so that the server ends it.
fn ends_at(job: &StoredJob, started: Timestamp) -> Timestamp {
    started.after(Duration::from_secs(u64::from(job.timeout_minutes) * 60) + TIMEOUT_GRACE)
}

/// Sets the timers of a job that starts.
pub(super) fn start(change: &mut Change, run: &StoredRun, job: &StoredJob, now: Timestamp) {
    renew(change, run, job.id, now);
    let name = format!("{TIMEOUT_TIMER}{}", job.id);
    change.timer_set_for(run.org_id, Run::KIND, &run.id.to_string(), &name, ends_at(job, now));
}

/// Has the lease of a job last from `seen` on.
pub(super) fn renew(change: &mut Change, run: &StoredRun, id: JobId, seen: Timestamp) {
    let name = format!("{LEASE_TIMER}{id}");
    change.timer_set_for(run.org_id, Run::KIND, &run.id.to_string(), &name, seen.after(LEASE));
}

/// Cancels the timers of a job.
pub(super) fn cancel_all(change: &mut Change, run: &StoredRun, id: JobId) {
    for beginning in [LEASE_TIMER, TIMEOUT_TIMER] {
        change.timer_cancel(Run::KIND, &run.id.to_string(), &format!("{beginning}{id}"));
    }
}
