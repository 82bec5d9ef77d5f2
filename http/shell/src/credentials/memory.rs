//! Credentials that were looked up in the last seconds.

use std::{
    hash::Hash,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use dashmap::DashMap;
use domain::{Timestamp, account::SEEN_EVERY};

/// How long a credential is remembered.
const REMEMBERED_FOR: Duration = Duration::from_secs(30);
/// Credentials of one kind that one process remembers; beyond them, further ones are looked up every time.
const REMEMBERED_MAX: usize = 100_000;

/// Credentials of one kind, by what they are found by.
pub(super) struct Memory<K, C> {
    remembered: DashMap<K, Remembered<C>>,
    /// Rises with every revocation, so that a look-up that began before one doesn't outlive it.
    epoch: AtomicU64,
}

struct Remembered<C> {
    credential: C,
    until: Instant,
    /// When its use was last written down, or was last asked to be.
    noted_at: Option<Timestamp>,
}

impl<K: Eq + Hash, C> Default for Memory<K, C> {
    fn default() -> Self {
        Self { remembered: DashMap::new(), epoch: AtomicU64::new(0) }
    }
}

impl<K: Eq + Hash + Copy, C> Memory<K, C> {
    /// What a look-up that begins now is remembered at.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// What `read` makes of what is remembered.
    pub fn recall<T>(&self, key: &K, read: impl FnOnce(&C) -> Option<T>) -> Option<T> {
        let remembered = self.remembered.get(key)?;
        if Instant::now() < remembered.until { read(&remembered.credential) } else { None }
    }

    /// Remembers what was read at `epoch`, unless something was revoked since.
    pub fn remember(&self, key: K, credential: C, noted_at: Option<Timestamp>, epoch: u64) {
        if self.remembered.len() >= REMEMBERED_MAX {
            let now = Instant::now();
            self.remembered.retain(|_, remembered| now < remembered.until);
        }
        if self.remembered.len() >= REMEMBERED_MAX {
            return;
        }
        self.remembered.insert(key, Remembered { credential, until: Instant::now() + REMEMBERED_FOR, noted_at });
        // Looked at after the insertion: a revocation either sees the entry, or is seen here.
        if self.epoch() != epoch {
            self.remembered.remove(&key);
        }
    }

    /// Forgets those that `is_concerned` says.
    pub fn forget(&self, is_concerned: impl Fn(&C) -> bool) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.remembered.retain(|_, remembered| !is_concerned(&remembered.credential));
    }

    /// Whether the use of what is remembered shall be written down: once an hour.
    pub fn use_is_due(&self, key: &K, now: Timestamp) -> bool {
        let is_due = |remembered: &Remembered<C>| remembered.noted_at.is_none_or(|at| at.after(SEEN_EVERY) <= now);
        if !self.remembered.get(key).is_some_and(|remembered| is_due(&remembered)) {
            return false;
        }
        // Of several requests at the same time, one writes.
        let Some(mut remembered) = self.remembered.get_mut(key) else { return false };
        let due = is_due(&remembered);
        remembered.noted_at = Some(now);
        due
    }
}
