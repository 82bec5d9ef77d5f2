//! What the kernel knows about one key that has an actor, beside the resource itself.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use domain::{Error, Outcome, Result, Timestamp};
use parking_lot::Mutex;

use super::{
    crash_history::{CrashHistory, Verdict},
    crashes::{Crash, shortened},
    dead_letters::DeadLetter,
    node::{Kind, Quarantine},
    recent::{Done, Recent, RecentCommand, Running},
    resource::{Resource, Shown},
    watchdog::PollNote,
};

/// What `Retry-After` says when the queue of a key is full.
const QUEUE_FULL_RETRY: Duration = Duration::from_secs(1);
/// Stands in [`ActorCell::quarantined_until`] for "not in quarantine".
const NOT_QUARANTINED: i64 = i64::MIN;

/// Numbers the actors of the process.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// One key's queue and history.
///
/// The actor's host doesn't own it and it doesn't own the host's address, so that dropping the address ends the host.
///
/// What every command writes stands first, beside the counts of the `Arc` that a permit holds: one cache line then goes
/// from the asking thread to the actor's and back.
#[repr(C)]
pub(super) struct ActorCell<R: Resource> {
    /// Permits that are out: commands that wait, and the one that runs.
    waiting: AtomicU32,
    /// When the queue last became empty, in milliseconds of the clock.
    active_at: AtomicI64,
    quarantined_until: AtomicI64,
    pub(super) kind: Arc<Kind<R>>,
    pub(super) key: R::Key,
    loaded: AtomicBool,
    /// Whether what is loaded stays although nobody asks anything of it.
    in_use: AtomicBool,
    reload: AtomicBool,
    /// What no other actor of the process has, for the watchdog.
    pub(super) number: u64,
    /// Where the actor's arbiter notes what it is at.
    pub(super) note: Arc<PollNote>,
    recent: Mutex<Recent>,
    history: Mutex<Option<Box<CrashHistory>>>,
}

/// The right of one command to wait for a key; the key can't leave memory while one is out.
pub(super) struct Permit<R: Resource> {
    pub(super) cell: Arc<ActorCell<R>>,
    command: &'static str,
    opened: bool,
}

impl<R: Resource> ActorCell<R> {
    pub(super) fn new(kind: Arc<Kind<R>>, key: R::Key, note: Arc<PollNote>) -> Self {
        let now = kind.node.clock().now();
        Self {
            waiting: AtomicU32::new(0),
            active_at: AtomicI64::new(now.as_millis()),
            quarantined_until: AtomicI64::new(NOT_QUARANTINED),
            kind,
            key,
            loaded: AtomicBool::new(false),
            in_use: AtomicBool::new(false),
            reload: AtomicBool::new(false),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            note,
            recent: Mutex::default(),
            history: Mutex::new(None),
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
            return Err(Error::full(QUEUE_FULL_RETRY));
        }
        stats.queued.0.add_one();
        stats.depth_max.raise_to(i64::from(before) + 1);
        Ok(Permit { cell: Arc::clone(self), command, opened: false })
    }

    pub(super) fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::Acquire)
    }

    /// Whether nobody wants the key and nothing need be remembered about it. Only under the lock of the key's slot does
    /// a "yes" stay true.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        self.waiting() == 0
            && !self.is_in_use()
            && self.active_at().after(self.kind.policy.idle_after) <= now
            && self.quarantine_left().is_none()
            && self.history.lock().as_ref().is_none_or(|history| !history.is_fresh(now, &self.kind.policy))
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
        self.history.lock().take().is_some()
    }

    /// Notes a crash: the next load waits, or the key goes into quarantine.
    pub(super) fn crashed(&self, command: &'static str, error: &str) {
        let node = &self.kind.node;
        let (now, error) = (node.clock().now(), shortened(error));
        let mut history = self.history.lock();
        let history = history.get_or_insert_with(|| Box::new(CrashHistory::new()));
        self.kind.stats.crashes.add_one();
        let verdict = history.crashed(now, error.clone(), &self.kind.policy, node.jitter());
        let quarantined_until = match verdict {
            Verdict::LoadAt(_) => None,
            Verdict::QuarantineUntil(until) => Some(until),
        };
        let (key, crashes) = (self.key.to_string(), history.crashes);
        node.crashes().add(Crash {
            kind: R::KIND,
            key,
            command,
            error: error.clone(),
            at: now,
            crashes,
            quarantined_until,
        });
        if let Some(until) = quarantined_until {
            self.kind.stats.quarantines.add_one();
            self.kind.stats.quarantined.add(1);
            self.quarantined_until.store(until.as_millis(), Ordering::Release);
            tracing::error!(kind = R::KIND, key = %Shown::<R>(&self.key), error, crashes, %until, "an actor is in quarantine");
            let key = self.key.to_string();
            node.alarm(Quarantine { kind: R::KIND, key, last_error: error, crashes, began_at: now, until });
        }
    }

    /// Before when the resource isn't loaded again after a crash.
    pub(super) fn load_at(&self) -> Option<Timestamp> {
        self.history.lock().as_ref().map(|history| history.load_at)
    }

    /// How often the key crashed since it has its actor, and of what the last time.
    pub(super) fn crashes(&self) -> (u64, Option<String>) {
        self.history.lock().as_ref().map_or((0, None), |history| (history.crashes, Some(history.last_error.clone())))
    }

    /// Has the next command load the resource again.
    pub(super) fn ask_reload(&self) {
        self.reload.store(true, Ordering::Release);
    }

    pub(super) fn takes_reload(&self) -> bool {
        self.reload.load(Ordering::Acquire) && self.reload.swap(false, Ordering::AcqRel)
    }

    pub(super) fn begin(&self, running: Running) {
        self.recent.lock().running = Some(running);
    }

    /// Notes the end of a turn, and what it left in memory.
    pub(super) fn end(&self, done: Done, loaded: Option<&R>) {
        {
            let mut recent = self.recent.lock();
            recent.running = None;
            recent.add(done);
        }
        self.left(loaded);
        // Behind another command comes another end.
        if self.waiting() <= 1 {
            self.active_at.store(self.kind.node.clock().now().as_millis(), Ordering::Release);
        }
    }

    /// Notes what is left in memory.
    pub(super) fn left(&self, loaded: Option<&R>) {
        self.loaded.store(loaded.is_some(), Ordering::Release);
        self.in_use.store(loaded.is_some_and(R::is_in_use), Ordering::Release);
    }

    pub(super) fn running(&self) -> Option<Running> {
        self.recent.lock().running
    }

    /// The last commands, newest first.
    pub(super) fn recent(&self) -> Vec<RecentCommand> {
        let now = self.kind.node.clock().now();
        self.recent.lock().commands(now)
    }

    /// When the key was last asked something, as far as that is over.
    pub(super) fn active_at(&self) -> Timestamp {
        Timestamp(self.active_at.load(Ordering::Acquire))
    }

    /// Whether what is loaded stays although nobody asks anything of it.
    pub(super) fn is_in_use(&self) -> bool {
        self.in_use.load(Ordering::Acquire)
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
        let ActorCell { kind, key, waiting, .. } = &*self.cell;
        waiting.fetch_sub(1, Ordering::AcqRel);
        kind.stats.left.0.add_one();
        if !self.opened {
            kind.stats.dead_letters.add_one();
            kind.node.dead_letters().add(DeadLetter {
                kind: R::KIND.to_owned(),
                key: Shown::<R>(key).to_string(),
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
        outcome: Outcome::NotDone,
    }
}
