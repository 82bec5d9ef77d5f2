//! Commands that nobody will ever read: counted, kept for a look, and sampled to the log.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
};

use domain::Timestamp;
use parking_lot::Mutex;
use serde::Serialize;

/// How many of the last ones are kept for the operators.
const KEPT_MAX: usize = 32;

/// A command that could not be delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    /// The kind of resource that it was for.
    pub kind: String,
    /// The key that it was for.
    pub key: String,
    /// The command.
    pub command: &'static str,
    /// Why nobody read it.
    pub reason: &'static str,
    /// When that was found out.
    pub at: Timestamp,
}

/// The dead letters of one kernel.
#[derive(Debug, Default)]
pub(super) struct DeadLetters {
    count: AtomicU64,
    last: Mutex<VecDeque<DeadLetter>>,
}

impl DeadLetters {
    /// Notes one. The log gets the 1st, 2nd, 4th, 8th and so on: enough to see it, not enough to drown in it.
    pub(super) fn add(&self, envelope: DeadLetter) {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            let DeadLetter { kind, key, command, reason, .. } = &envelope;
            tracing::warn!(%kind, %key, command, reason, count, "a command could not be delivered");
        }
        let mut last = self.last.lock();
        if last.len() == KEPT_MAX {
            last.pop_front();
        }
        last.push_back(envelope);
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The last ones, oldest first.
    pub(super) fn last(&self) -> Vec<DeadLetter> {
        self.last.lock().iter().cloned().collect()
    }
}
