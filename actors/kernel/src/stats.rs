//! What is counted, per kind and per command. Recording is a few relaxed atomic additions.

use std::{
    any::TypeId,
    hash::{BuildHasher, BuildHasherDefault, Hasher},
    sync::{
        OnceLock,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{histogram::Histogram, resource::Command};

/// How many commands of one kind are counted apart; those beyond it share one place.
const COMMANDS_MAX: usize = 64;
/// The name of the place that the commands beyond [`COMMANDS_MAX`] share.
const OTHERS: &str = "others";

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

/// Keeps what one group of threads writes out of the cache lines that another writes or reads.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Apart<T>(pub(super) T);

impl Counter {
    pub(super) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that rises and falls.
#[derive(Debug, Default)]
pub(super) struct Gauge(AtomicI64);

impl Gauge {
    pub(super) fn add(&self, change: i64) {
        self.0.fetch_add(change, Ordering::Relaxed);
    }

    pub(super) fn raise_to(&self, level: i64) {
        if self.0.load(Ordering::Relaxed) < level {
            self.0.fetch_max(level, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts of one kind of resource.
#[derive(Debug)]
pub(super) struct KindStats {
    pub(super) kind: &'static str,
    /// Keys that have an actor now.
    pub(super) resident: Gauge,
    /// Commands that ever got a place in a queue. Counted by those who ask.
    pub(super) queued: Apart<Counter>,
    /// Commands that gave their place back. Counted by the actors' threads.
    pub(super) left: Apart<Counter>,
    /// The most commands that ever waited for one key.
    pub(super) depth_max: Gauge,
    /// Keys in quarantine now.
    pub(super) quarantined: Gauge,
    pub(super) activations: Counter,
    pub(super) passivations: Counter,
    pub(super) loads: Counter,
    pub(super) load_failures: Counter,
    pub(super) crashes: Counter,
    pub(super) restarts: Counter,
    pub(super) quarantines: Counter,
    /// Answered `busy` or `quarantined` before the mailbox.
    pub(super) refused: Counter,
    /// Callers that stopped waiting at their deadline.
    pub(super) timed_out: Counter,
    pub(super) dead_letters: Counter,
    commands: [OnceLock<Box<CommandStats>>; COMMANDS_MAX],
    others: CommandStats,
}

/// The counts of one command of one kind.
#[derive(Debug)]
pub(super) struct CommandStats {
    command: TypeId,
    pub(super) name: &'static str,
    /// Dropped unread: the deadline had passed, or nobody waited for the answer any more.
    pub(super) expired: Counter,
    /// Answered with an error, of whatever class.
    pub(super) failed: Counter,
    /// Decided again because the version was stale.
    pub(super) stale: Counter,
    /// From the queue's end to its front.
    pub(super) queued: Histogram,
    /// From the front of the queue to the answer.
    pub(super) handled: Histogram,
}

impl CommandStats {
    fn new(command: TypeId, name: &'static str) -> Self {
        Self {
            command,
            name,
            expired: Counter::default(),
            failed: Counter::default(),
            stale: Counter::default(),
            queued: Histogram::new(),
            handled: Histogram::new(),
        }
    }

    pub(super) fn record(&self, queued: Duration, handled: Duration) {
        self.queued.record(queued);
        self.handled.record(handled);
    }
}

impl KindStats {
    pub(super) fn new(kind: &'static str) -> Self {
        Self {
            kind,
            resident: Gauge::default(),
            queued: Apart::default(),
            left: Apart::default(),
            depth_max: Gauge::default(),
            quarantined: Gauge::default(),
            activations: Counter::default(),
            passivations: Counter::default(),
            loads: Counter::default(),
            load_failures: Counter::default(),
            crashes: Counter::default(),
            restarts: Counter::default(),
            quarantines: Counter::default(),
            refused: Counter::default(),
            timed_out: Counter::default(),
            dead_letters: Counter::default(),
            commands: [const { OnceLock::new() }; COMMANDS_MAX],
            others: CommandStats::new(TypeId::of::<()>(), OTHERS),
        }
    }

    /// Commands that wait or run now, over all keys.
    pub(super) fn waiting(&self) -> u64 {
        // In this order, so that one that comes and goes in between is not missed below zero.
        let left = self.left.0.get();
        self.queued.0.get().saturating_sub(left)
    }

    /// The counts of `C`: an open-addressed table that only grows, so that finding them takes no lock.
    pub(super) fn command<C: Command>(&self) -> &CommandStats {
        let wanted = TypeId::of::<C>();
        let start = place_of(wanted);
        for step in 0..COMMANDS_MAX {
            let place = &self.commands[(start + step) % COMMANDS_MAX];
            let found = place.get_or_init(|| Box::new(CommandStats::new(wanted, C::NAME)));
            if found.command == wanted {
                return found;
            }
        }
        &self.others
    }

    /// The commands that came so far, by name.
    pub(super) fn commands(&self) -> Vec<&CommandStats> {
        let mut seen: Vec<_> = self.commands.iter().filter_map(|place| place.get().map(AsRef::as_ref)).collect();
        if self.others.handled.counts().count() > 0 {
            seen.push(&self.others);
        }
        seen.sort_by_key(|command| command.name);
        seen
    }
}

/// A type id is a hash already, but only hashing gets at it.
#[expect(clippy::cast_possible_truncation, reason = "a place in a small table")]
fn place_of(command: TypeId) -> usize {
    BuildHasherDefault::<AsIs>::default().hash_one(command) as usize % COMMANDS_MAX
}

/// Takes the last number that it is given for the hash.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
