//! The commit writer: many changes, few transactions.
//!
//! A transaction costs a synchronous write to the disk, whatever it holds. So changes wait in one queue, and a lane
//! takes all that wait (up to [`GROUP_STEPS_MAX`] and [`GROUP_BYTES_MAX`]) and commits them as one
//! transaction; while it does so, the next ones gather. Where more waits than one transaction takes, tenants take turns,
//! and what nobody waits for ([`behalf`](crate::behalf)) goes on beside the rest a little at a time: so nobody waits for
//! more than a transaction or two, however much others write. SQLite has one lane, because it has one writer, and its
//! checkpoints are made beside it; PostgreSQL has several, which commit side by side. (PostgreSQL groups the commits of
//! side-by-side transactions itself, but each transaction is still three round trips: grouping before that is faster
//! there too.)
//!
//! A group runs without savepoints first, with rows for the same table merged into multi-row inserts ([`plan`]). When a
//! statement fails, or meets another number of rows than it must, the whole is rolled back and the same changes run
//! again in order, a savepoint around each, so that only those at fault fail. Each change is answered after the commit.
//!
//! While the database is away, changes are answered [`CommitError::Unavailable`] after a bounded wait, at once when the
//! group before failed so; the next one that gets through finds everything as before.

mod checkpoint;
mod disk;
mod group;
mod lane;
mod plan;
mod queue;
mod stats;
#[cfg(test)]
mod tests;
mod trace;

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use sea_orm::DbBackend;
use tokio::{
    sync::{Notify, oneshot},
    task::JoinHandle,
};

pub use self::stats::WriterStats;
use self::{checkpoint::Checkpoints, disk::Disk, lane::Lane, queue::Queue, stats::Tally, trace::CommitTrace};
use crate::{
    Change, CommitError, SecretKeys, StoreOptions,
    behalf::Behalf,
    change::{Step, Wakes},
    connection::{Connections, sqlite_file},
};

/// Rows and statements that one transaction takes, unless they are those of a single change: some milliseconds' work. A
/// change counts as one at least, so that this bounds the changes, too.
pub const GROUP_STEPS_MAX: usize = 512;
/// Those of them that are work that nobody waits for, in a transaction that somebody does.
pub const GROUP_STEPS_BEHIND_MAX: usize = 128;
/// Bytes that one transaction takes, unless they are those of a single change.
pub const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What lanes and callers share.
#[derive(Default)]
struct Shared {
    signals: Arc<Signals>,
    tally: Tally,
    checkpoints: Arc<Checkpoints>,
}

/// Who waits for commits.
#[derive(Debug, Default)]
pub struct Signals {
    pub(crate) timers: Notify,
    topics: Mutex<HashMap<&'static str, Arc<Notify>>>,
}

impl Signals {
    /// Who waits for work of `topic`.
    pub(crate) fn topic(&self, topic: &'static str) -> Arc<Notify> {
        Arc::clone(self.topics.lock().entry(topic).or_default())
    }

    fn tell(&self, wakes: &Wakes) {
        for topic in &wakes.topics {
            self.topic(topic).notify_one();
        }
        if wakes.timers {
            self.timers.notify_one();
        }
    }
}

/// A change that waits for a lane.
struct Job {
    behalf: Behalf,
    steps: Vec<Step>,
    /// About how much memory the steps take.
    bytes: usize,
    wakes: Wakes,
    trace: CommitTrace,
    answer: oneshot::Sender<Result<(), CommitError>>,
}

impl Job {
    /// How much of a transaction's rows and statements it takes.
    fn len(&self) -> usize {
        self.steps.len().max(1)
    }
}

/// The queue and its lanes.
pub(crate) struct Writer {
    backend: DbBackend,
    secrets: SecretKeys,
    queue: Arc<Queue>,
    lanes: Mutex<Vec<JoinHandle<()>>>,
    /// What makes SQLite's checkpoints.
    checkpoints: Mutex<Option<JoinHandle<()>>>,
    shared: Arc<Shared>,
}

impl Writer {
    /// Starts the lanes on the current runtime; they end when the writer is closed or dropped, after what waits.
    pub fn start(connections: &Connections, options: &StoreOptions) -> Self {
        let queue = Arc::new(Queue::new(options));
        let shared = Arc::new(Shared { signals: Arc::clone(&options.signals), ..Shared::default() });
        let backend = connections.backend();
        let lane_count = if backend == DbBackend::Sqlite { 1 } else { options.write_lanes.max(1) };
        let lanes = (0..lane_count)
            .map(|_| {
                let connection = connections.writer.clone();
                let disk = Disk::new(options.faults.clone());
                let lane =
                    Lane::new(connection, Arc::clone(&queue), Arc::clone(&shared), options.connect_timeout, disk);
                tokio::spawn(lane.run())
            })
            .collect();
        let file = (backend == DbBackend::Sqlite).then(|| sqlite_file(&options.url).ok()).flatten();
        let checkpoints = file.map(|file| shared.checkpoints.start(file));
        let secrets = options.secrets.clone();
        Self { backend, secrets, queue, lanes: Mutex::new(lanes), checkpoints: Mutex::new(checkpoints), shared }
    }

    /// See [`Store::commit`](crate::Store::commit); in the turns of `behalf`.
    pub async fn commit(&self, change: Change, behalf: Behalf) -> Result<(), CommitError> {
        if change.is_empty() {
            return Ok(());
        }
        let (answer, answered) = oneshot::channel();
        let wakes = change.wakes();
        let steps = change.into_steps(self.backend, &self.secrets)?;
        let bytes = steps.iter().map(Step::bytes).sum();
        let trace = CommitTrace::begin(self.backend, steps.len());
        self.queue.push(Job { behalf, steps, bytes, wakes, trace, answer })?;
        let ended = || CommitError::Unavailable("the writer ended; the outcome is unknown".into());
        answered.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Who waits for commits.
    pub fn signals(&self) -> &Arc<Signals> {
        &self.shared.signals
    }

    /// What it has done since it was started.
    pub fn stats(&self) -> WriterStats {
        self.shared.tally.stats(self.queue.len())
    }

    /// Takes no more changes, and returns once those that wait are answered.
    pub async fn close(&self) {
        self.queue.close();
        let lanes = std::mem::take(&mut *self.lanes.lock());
        futures::future::join_all(lanes).await;
        self.shared.checkpoints.close();
        let checkpoints = self.checkpoints.lock().take();
        if let Some(checkpoints) = checkpoints {
            let _ = checkpoints.await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        self.shared.checkpoints.close();
    }
}
