//! The actor kernel: one supervised actor per resource, and everything that actix leaves out, added once for all.
//!
//! A resource is a plain struct that implements [`Resource`] (how it is loaded) and [`Handle`] per command. Whoever
//! wants something of it asks its [`Registry`] by key; the first caller brings the actor to life, the first command
//! loads the resource. What a caller may rely on:
//!
//! - Commands of one key run one after the other, in the order in which they were queued, also across `await`.
//! - Commands that a resource can decide together ([`Handle::IS_GATHERED`]) are, as many as wait for one key: one turn decides
//!   each in its order and commits once.
//! - A panic, a failed load or a turn that doesn't end hurts the command that met it. The commands behind it wait and
//!   are served by a freshly loaded resource, after a pause that grows from crash to crash; a key that crashes again and
//!   again is put in quarantine and answers `quarantined` until that ends.
//! - At most `queue_len_max` commands wait for one key; the next is answered `busy` at once. Nobody waits beyond their
//!   deadline, and a command whose deadline passed while it waited is dropped unread. Whoever got `busy` for a command
//!   that had been queued doesn't know its outcome: it is safe to repeat under the same idempotency key.
//! - A resource that nobody wanted for `idle_after`, and that isn't in use, leaves memory, and no command is ever lost to that: a place in the
//!   queue is taken under the same lock under which an idle resource is removed.
//! - A commit that was decided on a version that is no longer there ([`domain::Error::Stale`]) is decided again on a
//!   fresh load, a bounded number of times.
//! - Timers set in a commit ([`timers`]) come at least once, never early, on one node, and never once cancelled.
//!
//! An actor is a cache and a queue, never the truth: stopping the kernel at any instruction loses nothing that was
//! acknowledged. This is the only place that names `actix`.

mod arbiters;
mod attempt;
mod cell;
pub mod cpu;
mod crash_history;
mod crashes;
mod dead_letters;
mod directory;
mod envelope;
mod execution;
mod group;
mod histogram;
mod host;
mod jitter;
mod load;
mod node;
mod policy;
mod prometheus;
mod recent;
mod registry;
mod residents;
mod resource;
mod ring;
mod self_ref;
mod shutdown;
mod snapshot;
mod stats;
pub mod timers;
mod trace;
mod turn;
mod watchdog;

use self::execution::panic_text;
pub use self::{
    cpu::{Cpu, CpuKind},
    crashes::{Crash, SlowCommand},
    dead_letters::DeadLetter,
    load::{KindLoad, LoadSample, Meter},
    node::{Kernel, KernelOptions, Quarantine, QuarantineHook},
    policy::Policy,
    recent::RecentCommand,
    registry::Registry,
    residents::{NoPlace, Resident, ResidentPlace, ResidentState, Residents, ResidentsQuery, ResidentsSort, SortOrder},
    resource::{Command, Decided, Handle, Resource},
    self_ref::SelfRef,
    shutdown::ShutdownReport,
    snapshot::{CommandSnapshot, DurationSnapshot, KernelSnapshot, KindSnapshot, PolicySnapshot},
    timers::TimerFired,
    turn::Turn,
    watchdog::{STALL_AFTER, Stall},
};
