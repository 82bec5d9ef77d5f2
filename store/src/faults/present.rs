//! Faults as they are in programs that are built for tests.

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{
    FaultsError, Place, file,
    rule::{Effect, Rule, Rules},
};
use crate::{Clock, CommitError, StoreError};

/// What goes wrong in one server. A cheap handle; a new one has nothing go wrong.
#[derive(Clone, Default)]
pub struct Faults {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Whether there are rules, so that nobody takes the lock for none.
    has_rules: AtomicBool,
    rules: Mutex<Vec<Rule>>,
    disk_is_full: AtomicBool,
    clock_jump_ms: Arc<watch::Sender<i64>>,
    drift_ms: AtomicI64,
    happened: AtomicU64,
}

/// Something that goes wrong now.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    effect: Effect,
}

impl Faults {
    /// As the environment's `TROUPE_FAULTS` says: rules, or `@` and a file of them, which is looked at as long as any
    /// handle is left.
    ///
    /// Fails when the rules can't be read. A file that doesn't exist has none.
    pub fn from_environment(value: &str) -> Result<Self, FaultsError> {
        let faults = Self::default();
        match value.strip_prefix('@') {
            Some(path) => file::follow(path.into(), &faults)?,
            None => faults.set(value)?,
        }
        Ok(faults)
    }

    /// Has this go wrong from now on, and nothing else; no rules, and all is well.
    pub fn set(&self, rules: &str) -> Result<(), FaultsError> {
        let Rules { at_points, disk_is_full, clock_jump_ms, drift_ms } = rules.parse()?;
        let shared = &self.shared;
        shared.disk_is_full.store(disk_is_full, Ordering::Release);
        shared.clock_jump_ms.send_replace(clock_jump_ms);
        shared.drift_ms.store(drift_ms, Ordering::Release);
        let mut rules = shared.rules.lock();
        shared.has_rules.store(!at_points.is_empty(), Ordering::Release);
        *rules = at_points;
        Ok(())
    }

    /// Has nothing go wrong any more.
    pub fn clear(&self) {
        // No rules are easily read.
        drop(self.set(""));
    }

    /// How often something went wrong at a point since the handle was made.
    pub fn happened(&self) -> u64 {
        self.shared.happened.load(Ordering::Relaxed)
    }

    /// What goes wrong at this place now, if anything; counted as having happened.
    pub fn meet(&self, place: Place<'_>) -> Option<Fault> {
        let shared = &self.shared;
        if !shared.has_rules.load(Ordering::Acquire) {
            return None;
        }
        let effect = shared.rules.lock().iter_mut().find_map(|rule| rule.happens(place).then_some(rule.effect))?;
        shared.happened.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(stage = ?place.stage, kind = place.kind, command = place.command, key = %place.key, ?effect, "a fault");
        Some(Fault { effect })
    }

    /// The system's clock, moved by what the rules say.
    pub fn clock(&self) -> Clock {
        Clock::jumping(Arc::clone(&self.shared.clock_jump_ms))
    }

    pub(crate) fn disk_is_full(&self) -> bool {
        self.shared.disk_is_full.load(Ordering::Acquire)
    }

    /// What this node's clock is ahead of the others' by, in milliseconds.
    pub(crate) fn drift_ms(&self) -> i64 {
        self.shared.drift_ms.load(Ordering::Acquire)
    }

    pub(super) fn downgrade(&self) -> impl Fn() -> Option<Self> + Send + use<> {
        let shared: Weak<Shared> = Arc::downgrade(&self.shared);
        move || shared.upgrade().map(|shared| Self { shared })
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").field("rules", &self.shared.rules.lock()).finish_non_exhaustive()
    }
}

impl Fault {
    /// Goes wrong: panics, answers an error, or takes its time and is over.
    pub async fn happen(self) -> Result<(), StoreError> {
        match self.effect {
            Effect::Panic => panic!("an injected panic"),
            Effect::Fail | Effect::Lose => Err(StoreError::Failed(INJECTED.to_owned())),
            Effect::Away => Err(StoreError::Unavailable(INJECTED.to_owned())),
            Effect::Kill | Effect::KillAfter => kill(),
            Effect::Stall(span) => {
                tokio::time::sleep(span).await;
                Ok(())
            }
            Effect::Spin(span) => {
                let until = Instant::now() + span;
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                Ok(())
            }
        }
    }

    /// What goes wrong before the commit is made, and instead of it.
    pub(crate) async fn before_commit(&self) -> Result<(), CommitError> {
        match self.effect {
            Effect::Fail => Err(CommitError::Failed(INJECTED.to_owned())),
            Effect::Away => Err(CommitError::Unavailable(INJECTED.to_owned())),
            Effect::Kill => kill(),
            Effect::Stall(span) => {
                tokio::time::sleep(span).await;
                Ok(())
            }
            Effect::Lose | Effect::Panic | Effect::KillAfter | Effect::Spin(_) => Ok(()),
        }
    }

    /// What goes wrong once the commit has been made.
    pub(crate) fn after_commit(self) -> Result<(), CommitError> {
        match self.effect {
            Effect::Panic => panic!("an injected panic after the commit"),
            Effect::Lose => Err(CommitError::Unavailable(format!("the outcome is unknown: {INJECTED}"))),
            Effect::KillAfter => kill(),
            _ => Ok(()),
        }
    }
}

/// Ends the process: no destructor runs, and nothing is flushed.
fn kill() -> ! {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    // Where there is no such signal, and until the one that was sent arrives.
    std::process::abort()
}

const INJECTED: &str = "an injected fault";
/// How often a file of rules is looked at.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);
