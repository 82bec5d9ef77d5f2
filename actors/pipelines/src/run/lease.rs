//! The lease of a job, which its runner renews by whatever it asks for.

use std::time::{Duration, Instant};

use domain::{Context, Origin, Result, Timestamp, id::RunId};
use kernel::{Command, Handle, Registry, Turn};
use store::{Change, pipelines::StoredJob};

use super::{Run, Speaker, timers::SEEN_EVERY};

/// How long it may take to note that a runner was heard of.
const TURN_MAX: Duration = Duration::from_secs(30);

/// Notes that a job's runner was heard of.
#[derive(Clone, Copy, Debug)]
pub struct RenewLease(Speaker);

impl Command for RenewLease {
    type Reply = ();

    const NAME: &'static str = "renew_lease";
}

/// The lease of a job that a runner has.
#[derive(Clone, Copy, Debug)]
pub struct Lease {
    run_id: RunId,
    speaker: Speaker,
    seen_at: Timestamp,
}

impl Lease {
    /// The lease of a job, by its row; none where no runner has the job.
    pub fn of(job: &StoredJob) -> Option<Self> {
        let seen_at = job.seen_at.or(job.started_at).filter(|_| job.stage.is_running())?;
        Some(Self { run_id: job.run_id, speaker: Speaker { job_id: job.id, token: job.token }, seen_at })
    }

    /// Has the lease last from now on. That is left to the run, unless it was so moments ago.
    pub fn renew(&mut self, runs: &Registry<Run>, now: Timestamp) {
        if now.since(self.seen_at) < SEEN_EVERY {
            return;
        }
        self.seen_at = now;
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        // What can't be queued is in the log, and a runner that is there asks again.
        drop(runs.tell(&self.run_id, RenewLease(self.speaker), context));
    }
}

impl Handle<RenewLease> for Run {
    async fn handle(&mut self, command: &RenewLease, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(loaded) = self.loaded.as_ref() else { return Ok(()) };
        let (RenewLease(Speaker { job_id, token }), now) = (*command, turn.now());
        // Several requests may have come at the same time, and the job may be another runner's by now.
        let is_due = |job: &StoredJob| {
            let is_old = job.seen_at.is_none_or(|at| now.since(at) >= SEEN_EVERY);
            job.stage.is_running() && job.token.is_some() && job.token == token && is_old
        };
        let found = turn.services().services.store.job(loaded.run.no, job_id).await?;
        if !found.as_ref().is_some_and(is_due) {
            return Ok(());
        }
        let mut change = Change::new();
        change.job_seen(job_id, now);
        turn.commit(change).await
    }
}
