//! What operators see of the writer: its own numbers, and the same as metrics.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use super::group::Outcome;
use crate::CommitError;

/// What the writer has done since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterStats {
    /// Changes that wait for a lane now.
    pub waiting: usize,
    /// Groups that ended, well or not.
    pub groups: u64,
    /// Changes that were committed.
    pub committed: u64,
    /// Changes that were decided on a state that was no longer there, or would have made a duplicate.
    pub stale: u64,
    /// Changes that failed otherwise.
    pub failed: u64,
    /// Groups that ran again with a savepoint around each change.
    pub reruns: u64,
    /// Groups whose changes ran one by one because other transactions were in their way.
    pub collisions: u64,
}

#[derive(Default)]
pub(super) struct Tally {
    groups: AtomicU64,
    committed: AtomicU64,
    stale: AtomicU64,
    failed: AtomicU64,
    reruns: AtomicU64,
    collisions: AtomicU64,
}

#[expect(clippy::cast_precision_loss, reason = "counts of what waits in memory are far below 2^52")]
impl Tally {
    /// A lane took a group, and left `waiting` changes behind.
    pub fn taken(waiting: usize) {
        metrics::gauge!("troupe_store_queue_depth").set(waiting as f64);
    }

    /// A group ended so, after `span`.
    pub fn committed(&self, outcomes: &[Outcome], span: Duration) {
        metrics::histogram!("troupe_store_group_changes").record(outcomes.len() as f64);
        metrics::histogram!("troupe_store_commit_seconds").record(span.as_secs_f64());
        self.groups.fetch_add(1, Relaxed);
        let (mut committed, mut stale, mut failed) = (0, 0, 0);
        for outcome in outcomes {
            match outcome {
                Ok(()) => committed += 1,
                Err(CommitError::Stale | CommitError::Duplicate { .. }) => stale += 1,
                Err(_) => failed += 1,
            }
        }
        for (outcome, count, total) in
            [("committed", committed, &self.committed), ("stale", stale, &self.stale), ("failed", failed, &self.failed)]
        {
            if count > 0 {
                total.fetch_add(count, Relaxed);
                metrics::counter!("troupe_store_commits_total", "outcome" => outcome).increment(count);
            }
        }
    }

    /// A group ran again with savepoints.
    pub fn rerun(&self) {
        self.reruns.fetch_add(1, Relaxed);
        metrics::counter!("troupe_store_reruns_total").increment(1);
    }

    /// A group's changes ran one by one.
    pub fn collided(&self) {
        self.collisions.fetch_add(1, Relaxed);
        metrics::counter!("troupe_store_collisions_total").increment(1);
    }

    pub fn stats(&self, waiting: usize) -> WriterStats {
        WriterStats {
            waiting,
            groups: self.groups.load(Relaxed),
            committed: self.committed.load(Relaxed),
            stale: self.stale.load(Relaxed),
            failed: self.failed.load(Relaxed),
            reruns: self.reruns.load(Relaxed),
            collisions: self.collisions.load(Relaxed),
        }
    }
}
