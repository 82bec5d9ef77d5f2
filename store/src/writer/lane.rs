//! A lane: takes all that waits, commits it, answers.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::FutureExt;
use sea_orm::DatabaseConnection;

use super::{
    GROUP_STEPS_MAX, Job, Shared,
    disk::Disk,
    group::{self, Fault, Outcome},
    queue::Queue,
};
use crate::CommitError;

/// How long a group waits for a database that was away for the group before.
const AWAY_TIMEOUT: Duration = Duration::from_millis(500);
/// The pause before a group runs again because its connection broke.
const RECONNECT_PAUSE: Duration = Duration::from_millis(50);
/// How long a group may take before its callers are told that its outcome is unknown.
const GROUP_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Lane {
    connection: DatabaseConnection,
    queue: Arc<Queue>,
    shared: Arc<Shared>,
    connect_timeout: Duration,
    away: bool,
    disk: Disk,
}

impl Lane {
    pub fn new(
        connection: DatabaseConnection,
        queue: Arc<Queue>,
        shared: Arc<Shared>,
        connect_timeout: Duration,
        disk: Disk,
    ) -> Self {
        Self { connection, queue, shared, connect_timeout, away: false, disk }
    }

    /// Commits what comes until nobody can send any more.
    pub async fn run(mut self) {
        let mut group = Vec::with_capacity(GROUP_STEPS_MAX);
        while self.queue.take(&mut group).await {
            let started = Instant::now();
            let outcomes = match AssertUnwindSafe(self.commit(&group)).catch_unwind().await {
                Ok(outcomes) => outcomes,
                // A defect; but the lane must not end with it, or nothing is ever committed again.
                Err(_) => group.iter().map(|_| Err(CommitError::Failed("the writer panicked".into()))).collect(),
            };
            self.shared.tally.committed(&outcomes, started.elapsed());
            self.shared.checkpoints.committed(group.iter().map(Job::len).sum());
            self.answer(started, &mut group, outcomes);
        }
    }

    /// How each of `jobs` ended. Runs them again while the connection breaks before the commit, for a bounded time.
    async fn commit(&mut self, jobs: &[Job]) -> Vec<Outcome> {
        let patience = if self.away { AWAY_TIMEOUT } else { self.connect_timeout };
        let give_up = Instant::now() + patience;
        let fault = loop {
            match self.attempt(jobs, give_up).await {
                Ok(outcomes) => {
                    self.away = false;
                    return outcomes;
                }
                Err(Fault::Away(_)) if Instant::now() + RECONNECT_PAUSE < give_up => {
                    tokio::time::sleep(RECONNECT_PAUSE).await;
                }
                Err(fault) => break fault,
            }
        };
        self.away = matches!(fault, Fault::Away(_));
        let error = fault.into_error();
        tracing::warn!(%error, changes = jobs.len(), "a group of changes was not committed");
        jobs.iter().map(|_| Err(error.clone())).collect()
    }

    async fn attempt(&mut self, jobs: &[Job], give_up: Instant) -> Result<Vec<Outcome>, Fault> {
        if self.away {
            // The pool waits longer for a connection than callers of a database known to be away should.
            let reached = tokio::time::timeout_at(give_up.into(), self.connection.ping()).await;
            if !matches!(reached, Ok(Ok(()))) {
                return Err(Fault::Away("the database is away".into()));
            }
        }
        self.disk.follow(&self.connection).await?;
        tokio::time::timeout(GROUP_TIMEOUT, group::commit(&self.connection, jobs, &self.shared.tally))
            .await
            .unwrap_or_else(|_| Err(Fault::Unknown("the database does not answer; the outcome is unknown".into())))
    }

    fn answer(&self, started: Instant, group: &mut Vec<Job>, outcomes: Vec<Outcome>) {
        let group_len = group.len();
        for (job, outcome) in group.drain(..).zip(outcomes) {
            // Before the answer, so that the span ends before the one that it is part of.
            job.trace.end(started, group_len, &outcome);
            if outcome.is_ok() {
                self.shared.signals.tell(&job.wakes);
            }
            // Nobody waits any more when the caller's deadline passed.
            let _ = job.answer.send(outcome);
        }
    }
}
