//! Faults that a test has happen: loads, commits and blobs that fail, handlers that panic, a full disk, a clock that jumps.
//!
//! They exist in programs that are built with the feature `faults`, which the tests of the workspace turn on. In a program
//! that is built for use, [`Faults`] holds nothing, its points say "no" at compile time, and whoever asks for faults is
//! refused.
//!
//! Faults belong to one store, and with that to one server: a process may run many, each with faults of its own. A test
//! sets rules by [`Faults::set`]; a program of its own reads them from `TROUPE_FAULTS`, or from the file that
//! `TROUPE_FAULTS=@<file>` names, which it looks at again while it runs.
//!
//! A rule is `<point>=<effect>`, then perhaps `;after=N` (passes over the first N meetings), `;every=N` (takes each Nth of
//! those after that) and `;times=N` (happens N times at most). Rules are separated by commas or lines; the first one that
//! fits a meeting counts. Points are
//!
//! | point | met | effects |
//! |---|---|---|
//! | `load:<kind>@<key>` | before an actor loads its resource | `panic`, `kill` (the process ends, as by SIGKILL from outside), `fail` (a defect), `away` (out of reach), `stall`, `stall(<duration>)` |
//! | `handler:<kind>/<command>@<key>` | before an actor handles a command | the same |
//! | `commit:<kind>@<key>` | when an actor commits; without a kind, when anybody does | before the commit, which is then not made: `fail`, `away`, `kill`, and it may `stall`; after the commit: `lose` (it was made, and nobody hears so), `panic`, `kill_after` |
//! | `blob@<key>` | before a blob is written, and before each of its parts | `fail`, `away`, `kill`, `stall`, `stall(<duration>)` |
//! | `disk` | while the rule stands | `full` |
//! | `clock` | while the rule stands | `+<duration>` or `-<duration>`: what the system's clock is moved by |
//! | `drift` | while the rule stands | the same: what this node's clock is found to be ahead of the database's by |
//!
//! where kind, command and key may each be left out, and durations are written as `90s` or `200ms`. Folding what a page's
//! editors wrote commits as the kind `page_fold`; the steps of a job and its end commit as its topic, with its tenant for a key.

#[cfg(not(feature = "faults"))]
mod absent;
#[cfg(feature = "faults")]
mod file;
#[cfg(feature = "faults")]
mod present;
#[cfg(feature = "faults")]
mod rule;

use std::fmt::Display;

#[cfg(not(feature = "faults"))]
pub use self::absent::{Fault, Faults};
#[cfg(feature = "faults")]
pub use self::present::{Fault, Faults};

/// What can't be read as faults, or not be had in this program. Prints as a sentence for whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FaultsError(pub(crate) String);

/// Where something may go wrong.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// At what.
    pub stage: Stage,
    /// The kind of the resource that is at it; empty where it is none.
    pub kind: &'static str,
    /// The command that it is at; empty where a stage knows none.
    pub command: &'static str,
    /// The resource's key.
    pub key: &'a (dyn Display + Sync),
}

/// At what something may go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// An actor loads its resource.
    Load,
    /// An actor handles a command.
    Handler,
    /// A change is committed.
    Commit,
    /// A blob is written.
    Blob,
}

impl Place<'_> {
    /// A commit that is no actor's.
    pub(crate) const fn commit_of_nobody() -> Self {
        Place { stage: Stage::Commit, kind: "", command: "", key: &"" }
    }
}
