//! What the kernel knows about one key that has an actor, beside the resource itself.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use domain::{Error, Result, Timestamp};
use parking_lot::Mutex;

use super::{
    dead_letters::DeadLetter,
    node::{Kind, Quarantine},
    resource::Resource,
    trouble::{Trouble, Verdict},
};

/// What `Retry-After` says when the queue of a key is full.
const QUEUE_FULL_RETRY: Duration = Duration::from_secs(1);
/// Stands in [`Seat::quarantined_until`] for "not in quarantine".
const NOT_QUARANTINED: i64 = i64::MIN;

/// One key's queue and history.
///
/// The actor's host doesn't own it and it doesn't own the host's address, so that dropping the address ends the host.
pub(super) struct Seat<R: Resource> {
    pub(super) kind: Arc<Kind<R>>,
    pub(super) key: R::Key,
    /// Permits that are out: commands that wait, and the one that runs.
    waiting: AtomicU32,
    /// When the last command ended, in milliseconds of the clock.
    active_at: AtomicI64,
    quarantined_until: AtomicI64,
    loaded: AtomicBool,
    reload: AtomicBool,
    running: Mutex<Option<Running>>,
    trouble: Mutex<Option<Box<Trouble>>>,
}

/// The command that a key is at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) command: &'static str,
    pub(super) since: Instant,
}

/// The right of one command to wait for a key; the key can't leave memory while one is out.
pub(super) struct Permit<R: Resource> {
    pub(super) seat: Arc<Seat<R>>,
    command: &'static str,
    opened: bool,
}

impl<R: Resource> Seat<R> {
    pub(super) fn new(kind: Arc<Kind<R>>, key: R::Key) -> Self {
        let now = kind.node.clock().now();
        Self {
            kind,
            key,
            waiting: AtomicU32::new(0),
            active_at: AtomicI64::new(now.as_millis()),
            quarantined_until: AtomicI64::new(NOT_QUARANTINED),
            loaded: AtomicBool::new(false),
            reload: AtomicBool::new(false),
            running: Mutex::new(None),
            trouble: Mutex::new(None),
        }
    }

    /// Takes a place in the queue for `command`; `busy` when none is left, `quarantined` while that lasts.
    pub(super) fn permit(self: &Arc<Self>, command: &'static str) -> Result<Permit<R>> {
        let stats = &self.kind.stats;
        if let Some(left) = self.quarantine_left() {
            stats.refused.add_one();
            return Err(quarantined(left));
        }
        let before = self.waiting.fetch_add(1, Ordering::AcqRel);
        if before >= self.kind.policy.queue_len_max {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            stats.refused.add_one();
            return Err(Error::busy(QUEUE_FULL_RETRY));
        }
        stats.waiting.add(1);
        stats.depth_max.raise_to(i64::from(before) + 1);
        Ok(Permit { seat: Arc::clone(self), command, opened: false })
    }

    pub(super) fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::Acquire)
    }

    /// Whether nobody wants the key and nothing need be remembered about it. Only under the lock of the key's slot does
    /// a "yes" stay true.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        let active_at = Timestamp(self.active_at.load(Ordering::Acquire));
        self.waiting() == 0
            && active_at.after(self.kind.policy.idle_after) <= now
            && self.quarantine_left().is_none()
            && self.trouble.lock().as_ref().is_none_or(|trouble| !trouble.is_fresh(now, &self.kind.policy))
    }

    /// How long the quarantine still lasts, if there is one.
    pub(super) fn quarantine_left(&self) -> Option<Duration> {
        let until = self.quarantined_until.load(Ordering::Acquire);
        if until == NOT_QUARANTINED {
            return None;
        }
        let now = self.kind.node.clock().now();
        if now < Timestamp(until) {
            return Some(Timestamp(until).since(now));
        }
        self.end_quarantine(until);
        None
    }

    fn end_quarantine(&self, until: i64) {
        let ended = self
            .quarantined_until
            .compare_exchange(until, NOT_QUARANTINED, Ordering::AcqRel, Ordering::Acquire)
            .is_ok();
        if ended {
            self.kind.stats.quarantined.add(-1);
        }
    }

    /// Ends the quarantine and forgets the crashes; whether there was anything to forget.
    pub(super) fn release(&self) -> bool {
        let until = self.quarantined_until.load(Ordering::Acquire);
        if until != NOT_QUARANTINED {
            self.end_quarantine(until);
        }
        self.trouble.lock().take().is_some()
    }

    /// Notes a crash: the next load waits, or the key goes into quarantine.
    pub(super) fn crashed(&self, error: String) {
        let node = &self.kind.node;
        let mut trouble = self.trouble.lock();
        let trouble = trouble.get_or_insert_with(|| Box::new(Trouble::new()));
        self.kind.stats.crashes.add_one();
        let verdict = trouble.crashed(node.clock().now(), error.clone(), &self.kind.policy, node.jitter());
        if let Verdict::QuarantineUntil(until) = verdict {
            self.kind.stats.quarantines.add_one();
            self.kind.stats.quarantined.add(1);
            self.quarantined_until.store(until.as_millis(), Ordering::Release);
            let key = self.key.to_string();
            node.alarm(&Quarantine { kind: R::KIND, key, last_error: error, crashes: trouble.crashes, until });
        }
    }

    /// Before when the resource isn't loaded again after a crash.
    pub(super) fn load_at(&self) -> Option<Timestamp> {
        self.trouble.lock().as_ref().map(|trouble| trouble.load_at)
    }

    /// How often the key crashed since it has its actor, and of what the last time.
    pub(super) fn crashes(&self) -> (u64, Option<String>) {
        self.trouble.lock().as_ref().map_or((0, None), |trouble| (trouble.crashes, Some(trouble.last_error.clone())))
    }

    /// Has the next command load the resource again.
    pub(super) fn ask_reload(&self) {
        self.reload.store(true, Ordering::Release);
    }

    pub(super) fn takes_reload(&self) -> bool {
        self.reload.load(Ordering::Acquire) && self.reload.swap(false, Ordering::AcqRel)
    }

    pub(super) fn begin(&self, running: Running) {
        *self.running.lock() = Some(running);
    }

    pub(super) fn end(&self, loaded: bool) {
        *self.running.lock() = None;
        self.loaded.store(loaded, Ordering::Release);
        self.active_at.store(self.kind.node.clock().now().as_millis(), Ordering::Release);
    }

    pub(super) fn running(&self) -> Option<Running> {
        *self.running.lock()
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.loaded.load(Ordering::Acquire)
    }
}

impl<R: Resource> Permit<R> {
    /// Notes that somebody reads the command: dropping it is no loss any more.
    pub(super) fn open(&mut self) {
        self.opened = true;
    }
}

impl<R: Resource> Drop for Permit<R> {
    fn drop(&mut self) {
        let Seat { kind, key, waiting, .. } = &*self.seat;
        waiting.fetch_sub(1, Ordering::AcqRel);
        kind.stats.waiting.add(-1);
        if !self.opened {
            kind.stats.dead_letters.add_one();
            kind.node.dead_letters().add(DeadLetter {
                kind: R::KIND.to_owned(),
                key: key.to_string(),
                command: self.command,
                reason: "the actor's thread ended",
                at: kind.node.clock().now(),
            });
        }
    }
}

/// 503 `quarantined`: the key crashed too often, and is left alone for a while.
pub(super) fn quarantined(left: Duration) -> Error {
    Error::Busy {
        code: "quarantined",
        message: "This is out of order right now; try again later.".into(),
        retry_after: left.max(Duration::from_secs(1)),
    }
}
