//! Turns that don't let go of their thread.
//!
//! A turn that computes without an `await` holds up every actor of its arbiter, and no limit ends it: limits are looked at
//! when it lets go. So each arbiter notes whose turn it looks at, and a thread of its own looks at those notes. That thread
//! shares nothing with the arbiters but relaxed atomics, which is all that a turn pays.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use domain::Timestamp;
use parking_lot::Mutex;
use serde::Serialize;
use store::Clock;

use super::directory::{Directory, millis};

/// From which time on a turn that doesn't yield is a stall.
pub const STALL_AFTER: Duration = Duration::from_secs(1);
/// How often the arbiters are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Stalls that are kept for the operators.
const KEPT_MAX: usize = 64;

/// What one arbiter is at. Only its own thread writes here.
#[derive(Debug, Default)]
pub(super) struct PollNote {
    /// Odd while a turn is looked at; counts up whenever one begins and ends.
    looks: AtomicU64,
    /// The number of the actor whose turn it is.
    actor: AtomicU64,
}

impl PollNote {
    pub(super) fn begin(&self, actor: u64) {
        self.actor.store(actor, Relaxed);
        self.step();
    }

    pub(super) fn end(&self) {
        self.step();
    }

    fn step(&self) {
        self.looks.store(self.looks.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// The number of the look that is under way.
    fn under_way(&self) -> Option<u64> {
        Some(self.looks.load(Relaxed)).filter(|looks| looks % 2 == 1)
    }
}

/// A turn that did not yield for a second or more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stall {
    /// The kind of resource.
    pub kind: &'static str,
    /// The key.
    pub key: String,
    /// The command.
    pub command: &'static str,
    /// When it was found.
    pub at: Timestamp,
    /// For how long it held its thread, in milliseconds, give or take a few hundred; so far, while it goes on.
    pub held_ms: u64,
    /// Whether it goes on.
    pub goes_on: bool,
}

/// Whose turn it is, as the directory knows.
pub(super) struct AtWork {
    pub(super) kind: &'static str,
    pub(super) key: String,
    /// The key as the log may show it.
    pub(super) shown: String,
    pub(super) command: &'static str,
}

/// The arbiters' notes, and what was found in them.
#[derive(Debug)]
pub(super) struct Watched {
    notes: Vec<Arc<PollNote>>,
    /// Each with the arbiter and the number of the look that it is; oldest first.
    stalls: Mutex<VecDeque<(usize, u64, Stall)>>,
}

/// What the watchdog saw last of an arbiter.
#[derive(Clone, Copy)]
struct Seen {
    look: Option<u64>,
    since: Instant,
}

impl Watched {
    pub(super) fn new(notes: Vec<Arc<PollNote>>) -> Self {
        Self { notes, stalls: Mutex::default() }
    }

    /// The last stalls, oldest first.
    pub(super) fn stalls(&self) -> Vec<Stall> {
        self.stalls.lock().iter().map(|(_, _, stall)| stall.clone()).collect()
    }

    fn add(&self, arbiter: usize, look: u64, stall: Stall) {
        let mut stalls = self.stalls.lock();
        if stalls.len() == KEPT_MAX {
            stalls.pop_front();
        }
        stalls.push_back((arbiter, look, stall));
    }

    /// Notes how long a stall lasts, if it is one; whether it is.
    fn go_on(&self, arbiter: usize, look: u64, held: Duration, goes_on: bool) -> bool {
        let mut stalls = self.stalls.lock();
        let found = stalls.iter_mut().rev().find(|(at, number, _)| (*at, *number) == (arbiter, look));
        let Some((_, _, stall)) = found else { return false };
        stall.held_ms = millis(held);
        stall.goes_on = goes_on;
        true
    }
}

/// Starts the thread that looks at the arbiters, as long as the kernel is there.
pub(super) fn start(watched: &Arc<Watched>, directory: &Arc<Directory>, clock: Clock) -> io::Result<()> {
    let (watched, directory) = (Arc::downgrade(watched), Arc::downgrade(directory));
    thread::Builder::new().name("troupe-watchdog".into()).spawn(move || watch(&watched, &directory, &clock))?;
    Ok(())
}

fn watch(watched: &Weak<Watched>, directory: &Weak<Directory>, clock: &Clock) {
    let mut seen: Vec<Seen> = Vec::new();
    while let Some(watched) = watched.upgrade() {
        let now = Instant::now();
        seen.resize(watched.notes.len(), Seen { look: None, since: now });
        for (arbiter, (note, seen)) in watched.notes.iter().zip(&mut seen).enumerate() {
            let look = note.under_way();
            if look != seen.look {
                if let Some(before) = seen.look {
                    watched.go_on(arbiter, before, now - seen.since, false);
                }
                *seen = Seen { look, since: now };
            } else if let Some(look) = look.filter(|_| now - seen.since >= STALL_AFTER)
                && !watched.go_on(arbiter, look, now - seen.since, true)
                && let Some(at_work) = find(directory, note.actor.load(Relaxed))
            {
                watched.add(arbiter, look, told(at_work, now - seen.since, clock.now()));
            }
        }
        drop(watched);
        thread::sleep(LOOK_EVERY);
    }
}

/// Whose turn it is, where that is still to be found.
fn find(directory: &Weak<Directory>, actor: u64) -> Option<AtWork> {
    directory.upgrade()?.all().iter().find_map(|kind| kind.at_work(actor))
}

/// The stall, once it is in the log.
fn told(at_work: AtWork, held: Duration, at: Timestamp) -> Stall {
    let AtWork { kind, key, shown, command } = at_work;
    tracing::error!(kind, key = shown, command, ?held, "a turn does not yield, and holds up all actors of its thread");
    metrics::counter!("troupe_turns_stalled_total", "kind" => kind).increment(1);
    Stall { kind, key, command, at, held_ms: millis(held), goes_on: true }
}
