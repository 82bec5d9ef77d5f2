//! What happened within a short span, for whoever watches.

use std::{collections::BTreeMap, time::Instant};

use serde::Serialize;

use super::{histogram::Counts, node::Kernel, stats::KindStats};

/// What a kernel did since it was last looked at.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadSample {
    /// The span that it covers, in milliseconds.
    pub span_ms: u64,
    /// Every kind of resource that ever had an actor, by name.
    pub kinds: Vec<KindLoad>,
}

/// What the actors of one kind did within a span.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindLoad {
    /// The kind's name.
    pub kind: &'static str,
    /// Keys that have an actor now.
    pub resident: i64,
    /// Commands that wait or run now.
    pub waiting: u64,
    /// The most commands that ever waited for one key.
    pub depth_max: i64,
    /// Keys in quarantine now.
    pub quarantined: i64,
    /// Crashes since the start.
    pub crashes: u64,
    /// Restarts since the start.
    pub restarts: u64,
    /// Commands answered within the span.
    pub handled: u64,
    /// Half of them waited no longer, in microseconds; within a factor of two, as all four.
    pub queued_p50_us: f64,
    /// 99 of 100 of them waited no longer.
    pub queued_p99_us: f64,
    /// Half of their turns took no longer.
    pub handled_p50_us: f64,
    /// 99 of 100 of their turns took no longer.
    pub handled_p99_us: f64,
}

/// Looks at a kernel now and then, and tells what happened in between.
pub struct Meter {
    kernel: Kernel,
    seen: BTreeMap<&'static str, Times>,
    at: Instant,
}

#[derive(Clone, Default)]
struct Times {
    queued: Counts,
    handled: Counts,
}

impl Meter {
    /// One that covers what happens from now on.
    pub fn new(kernel: &Kernel) -> Self {
        let seen = kernel.directory.all().iter().map(|kind| (kind.stats().kind, kind.stats().times())).collect();
        Self { kernel: kernel.clone(), seen, at: Instant::now() }
    }

    /// What happened since the last look.
    pub fn read(&mut self) -> LoadSample {
        let now = Instant::now();
        let span = now.saturating_duration_since(self.at);
        self.at = now;
        let all = self.kernel.directory.all();
        let used = all.iter().map(|kind| kind.stats()).filter(|stats| stats.activations.get() > 0);
        let kinds = used.map(|stats| self.kind(stats)).collect();
        LoadSample { span_ms: super::directory::millis(span), kinds }
    }

    fn kind(&mut self, stats: &KindStats) -> KindLoad {
        let times = stats.times();
        let before = self.seen.insert(stats.kind, times.clone()).unwrap_or_default();
        let (queued, handled) = (times.queued.since(&before.queued), times.handled.since(&before.handled));
        KindLoad {
            kind: stats.kind,
            resident: stats.resident.get(),
            waiting: stats.waiting(),
            depth_max: stats.depth_max.get(),
            quarantined: stats.quarantined.get(),
            crashes: stats.crashes.get(),
            restarts: stats.restarts.get(),
            handled: handled.count(),
            queued_p50_us: queued.quantile_us(0.5),
            queued_p99_us: queued.quantile_us(0.99),
            handled_p50_us: handled.quantile_us(0.5),
            handled_p99_us: handled.quantile_us(0.99),
        }
    }
}

impl KindStats {
    /// The times of all its commands together.
    fn times(&self) -> Times {
        let mut times = Times::default();
        for command in self.commands() {
            times.queued.add(&command.queued.counts());
            times.handled.add(&command.handled.counts());
        }
        times
    }
}
