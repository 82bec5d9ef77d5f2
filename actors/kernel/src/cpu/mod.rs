//! Work that takes the processor, on threads of its own.
//!
//! An arbiter, or a thread that answers requests, that computes for long holds up everybody else on it. Such work comes
//! here instead: to a bounded number of threads, in turns by [`Tenant`], so that nobody waits behind somebody else's
//! hundreds. What a caller may rely on:
//!
//! - A tenant's work is begun in its order; of several tenants that wait, each has one piece begun before any has a second.
//! - At most [`WAITING_MAX`] pieces wait, [`WAITING_PER_TENANT_MAX`] of them of one tenant; the next is answered `busy`.
//! - Work whose asker is gone is never begun. What has begun ends in its own time.
//! - Archives and pairs of keys take seconds, where a password takes milliseconds. They have a lane of their own with fewer threads than the
//!   machine has processors, so that a sign-in never waits for an import.
//! - A panic is an `Internal` error of its asker, and hurts nobody else.
//!
//! The work itself must not wait for anything: no lock that is held for long, no network, no other work of its lane.

mod pool;
mod snapshot;

use std::{num::NonZeroUsize, thread};

use domain::{Result, tenant::Tenant};
use tokio::runtime::Handle;

use self::pool::Pool;
pub use self::{
    pool::{WAITING_MAX, WAITING_PER_TENANT_MAX},
    snapshot::{CpuLaneSnapshot, CpuSnapshot},
};

/// What the processor is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CpuKind {
    /// An answer is compressed.
    Answer,
    /// An archive is packed or unpacked.
    Archive,
    /// Events that recur are looked at.
    Calendar,
    /// A shared document is encoded or read.
    Document,
    /// A pair of keys is made.
    Key,
    /// Lines of a log are packed.
    Log,
    /// A password is hashed.
    Password,
    /// Everything in memory is looked through, for operators.
    Survey,
}

impl CpuKind {
    /// The name that metrics and the log know it by.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Archive => "archive",
            Self::Calendar => "calendar",
            Self::Document => "document",
            Self::Key => "key",
            Self::Log => "log",
            Self::Password => "password",
            Self::Survey => "survey",
        }
    }

    /// Whether it may take seconds.
    const fn is_long(self) -> bool {
        matches!(self, Self::Archive | Self::Key)
    }
}

/// The threads of one node that compute. A cheap handle.
#[derive(Clone, Debug)]
pub struct Cpu {
    short: Pool,
    long: Pool,
}

impl Cpu {
    /// One thread per processor for what is short, half as many for what is long. Threads are `runtime`'s blocking ones,
    /// taken while there is work.
    pub fn new(runtime: &Handle) -> Self {
        let processors = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self::with_threads(runtime, processors)
    }

    /// So many threads for what is short, and half as many, at least one, for what is long.
    pub fn with_threads(runtime: &Handle, threads: NonZeroUsize) -> Self {
        let half = NonZeroUsize::new(threads.get() / 2).unwrap_or(NonZeroUsize::MIN);
        Self { short: Pool::new("short", runtime.clone(), threads), long: Pool::new("long", runtime.clone(), half) }
    }

    /// Does the work once it is the tenant's turn, and answers what it came to.
    ///
    /// `busy` when too much waits already, `Internal` when the work panics.
    pub async fn run<T: Send + 'static>(
        &self,
        tenant: Tenant,
        kind: CpuKind,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let pool = if kind.is_long() { &self.long } else { &self.short };
        pool.run(tenant, kind, work).await
    }

    /// What the threads do now, and did since the start.
    pub fn snapshot(&self) -> CpuSnapshot {
        CpuSnapshot { lanes: [&self.short, &self.long].map(Pool::snapshot).into() }
    }
}
