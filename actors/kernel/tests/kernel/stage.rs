//! A kernel on a store of its own, and the little that every test does with it.

use std::{
    num::NonZeroUsize,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{Context, Origin, Timestamp};
use kernel::{Kernel, KernelOptions, KindSnapshot, Policy, Registry};
use store::{Clock, Store, testing::Scratch};

use crate::probe::{Probe, World};

/// When the clocks of tests start.
pub const START: Timestamp = Timestamp(1_750_000_000_000);
/// How long a test waits for something that must happen on another thread.
const PATIENCE: Duration = Duration::from_secs(60);

/// Crashes as often as it likes, without pauses: for tests that are about something else.
pub const CALM: Policy = Policy {
    queue_len_max: 100_000,
    idle_after: Duration::from_mins(5),
    crash_max: u32::MAX,
    crash_window: Duration::from_mins(1),
    backoff_min: Duration::ZERO,
    backoff_max: Duration::ZERO,
    quarantine: Duration::from_mins(1),
    slow_after: Duration::from_secs(10),
    turn_max: Duration::from_secs(30),
    yield_every: 16,
};

/// A kernel with a clock that the test moves, on a store that is gone when the stage is.
pub struct Stage {
    pub kernel: Kernel,
    pub store: Store,
    pub clock: Clock,
    pub scratch: Scratch,
}

impl Stage {
    pub async fn new() -> Self {
        Self::with(options()).await
    }

    pub async fn with(options: KernelOptions) -> Self {
        let scratch = Scratch::new().await.expect("a scratch store");
        let clock = Clock::manual(START);
        let store = scratch.store(clock.clone()).await.expect("a migrated store");
        let kernel = Kernel::start(store.clone(), options).expect("a kernel");
        Self { kernel, store, clock, scratch }
    }

    /// Probes with `policy` and the world that they live in.
    pub fn probes(&self, policy: Policy) -> (Registry<Probe>, Arc<World>) {
        let world = Arc::new(World::default());
        (self.kernel.registry_with(Arc::clone(&world), policy), world)
    }

    /// The counts of the probes.
    pub fn probe_stats(&self) -> KindSnapshot {
        stats(&self.kernel, "probe")
    }

    /// Returns once `waiting` commands wait for probes, the running ones included.
    pub async fn probes_waiting(&self, waiting: u64) {
        until("commands wait", || self.probe_stats().waiting == waiting).await;
    }
}

/// The counts of a kind.
pub fn stats(kernel: &Kernel, kind: &str) -> KindSnapshot {
    kernel.snapshot().kinds.into_iter().find(|found| found.kind == kind).expect("a known kind")
}

/// Two threads, and nobody who sweeps but the test.
pub fn options() -> KernelOptions {
    KernelOptions {
        arbiters: NonZeroUsize::new(2).expect("two"),
        sweep_every: Duration::from_hours(1),
        ..KernelOptions::new("test")
    }
}

/// A context with time enough.
pub fn context() -> Context {
    within(PATIENCE)
}

/// A context whose deadline is so far away.
pub fn within(span: Duration) -> Context {
    Context::system(Origin::Http, Instant::now() + span)
}

/// Returns once `holds`; fails the test when it never does. For what happens on other threads, not for time to pass.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
