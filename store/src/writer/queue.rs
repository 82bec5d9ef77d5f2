//! The changes that wait for the lanes: bounded in number and in bytes.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use tokio::sync::{Mutex, mpsc};

use super::{GROUP_BYTES_MAX, GROUP_LEN_MAX, Job, stats::Tally};
use crate::{CommitError, StoreOptions};

/// The end at which changes come in.
pub(super) struct Queue {
    jobs: mpsc::Sender<Job>,
    bytes: Arc<AtomicUsize>,
    bytes_max: usize,
}

/// The end at which lanes take them.
pub(super) struct Waiting {
    jobs: mpsc::Receiver<Job>,
    bytes: Arc<AtomicUsize>,
    /// The change that the group before had no room for.
    held: Option<Job>,
}

/// A queue, as wide as the options say.
pub(super) fn open(options: &StoreOptions) -> (Queue, Mutex<Waiting>) {
    let (sender, receiver) = mpsc::channel(options.write_queue_len_max);
    let bytes = Arc::<AtomicUsize>::default();
    let queue = Queue { jobs: sender, bytes: Arc::clone(&bytes), bytes_max: options.write_queue_bytes_max };
    (queue, Mutex::new(Waiting { jobs: receiver, bytes, held: None }))
}

impl Queue {
    /// Has the change wait; refuses it where too much waits already. A change by itself may be of any size.
    pub fn push(&self, job: Job) -> Result<(), CommitError> {
        let bytes = job.bytes;
        let waiting = self.bytes.fetch_add(bytes, Relaxed);
        let pushed = if waiting > 0 && waiting + bytes > self.bytes_max {
            Err(too_much())
        } else {
            self.jobs.try_send(job).map_err(|refused| match refused {
                mpsc::error::TrySendError::Full(_) => too_much(),
                mpsc::error::TrySendError::Closed(_) => CommitError::Unavailable("the writer ended".into()),
            })
        };
        if pushed.is_err() {
            self.bytes.fetch_sub(bytes, Relaxed);
        }
        pushed
    }

    /// How many changes wait.
    pub fn len(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }
}

fn too_much() -> CommitError {
    metrics::counter!("troupe_store_commits_refused_total").increment(1);
    CommitError::Unavailable("too many changes wait for the writer".into())
}

impl Waiting {
    /// Takes what waits into `group`, once something does, as far as one transaction takes it; false once nothing will.
    pub async fn take(&mut self, group: &mut Vec<Job>) -> bool {
        let first = match self.held.take() {
            Some(held) => Some(held),
            None => self.jobs.recv().await,
        };
        let Some(first) = first else { return false };
        let mut bytes = first.bytes;
        group.push(first);
        while group.len() < GROUP_LEN_MAX
            && let Ok(next) = self.jobs.try_recv()
        {
            if bytes + next.bytes > GROUP_BYTES_MAX {
                self.held = Some(next);
                break;
            }
            bytes += next.bytes;
            group.push(next);
        }
        self.bytes.fetch_sub(bytes, Relaxed);
        Tally::taken(self.jobs.len());
        true
    }
}
