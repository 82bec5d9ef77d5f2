//! What operators see, as data.

use serde::Serialize;

use super::{
    dead_letters::DeadLetter,
    directory::millis,
    histogram::Histogram,
    node::Kernel,
    policy::Policy,
    stats::{CommandStats, KindStats},
};

/// The state of a kernel at one moment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KernelSnapshot {
    /// Every kind of resource, by name.
    pub kinds: Vec<KindSnapshot>,
    /// How many commands could not be delivered.
    pub dead_letters: u64,
    /// The last of them, oldest first.
    pub last_dead_letters: Vec<DeadLetter>,
}

/// The counts of one kind of resource since the start.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindSnapshot {
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
    /// Actors that came to life.
    pub activations: u64,
    /// Actors that left memory.
    pub passivations: u64,
    /// Loads that were tried.
    pub loads: u64,
    /// Loads that failed.
    pub load_failures: u64,
    /// Panics, and turns without end.
    pub crashes: u64,
    /// Restarts by the supervisor.
    pub restarts: u64,
    /// Keys that went into quarantine.
    pub quarantines: u64,
    /// Commands answered `busy` or `quarantined` before the mailbox.
    pub refused: u64,
    /// Callers that stopped waiting at their deadline.
    pub timed_out: u64,
    /// Commands that could not be delivered.
    pub dead_letters: u64,
    /// The counts of each command.
    pub commands: Vec<CommandSnapshot>,
    /// How much one key may take.
    pub policy: PolicySnapshot,
}

/// A [`Policy`], in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicySnapshot {
    /// How many commands may wait for one key.
    pub queue_len_max: u32,
    /// After how long without a command a resource leaves memory.
    pub idle_after_ms: u64,
    /// How many crashes within the window a key may have.
    pub crash_max: u32,
    /// Over what span crashes are counted.
    pub crash_window_ms: u64,
    /// The pause after a first crash.
    pub backoff_min_ms: u64,
    /// The longest such pause.
    pub backoff_max_ms: u64,
    /// How long a quarantine lasts.
    pub quarantine_ms: u64,
    /// From which time on a command counts as slow.
    pub slow_after_ms: u64,
    /// How long one command may run.
    pub turn_max_ms: u64,
}

/// The counts of one command of one kind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandSnapshot {
    /// The command's name.
    pub command: &'static str,
    /// How many were answered.
    pub handled: u64,
    /// How many of them with an error.
    pub failed: u64,
    /// Dropped unread, because nobody waited any more.
    pub expired: u64,
    /// Decided again because the version was stale.
    pub stale: u64,
    /// The time in the queue.
    pub queued_time: DurationSnapshot,
    /// The time from the front of the queue to the answer.
    pub handled_time: DurationSnapshot,
}

/// Durations, in microseconds; quantiles are upper bounds, within a factor of two.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DurationSnapshot {
    /// The mean.
    pub mean_us: f64,
    /// Half took no longer.
    pub p50_us: f64,
    /// 99 of 100 took no longer.
    pub p99_us: f64,
    /// None took longer.
    pub max_us: f64,
}

impl Kernel {
    /// The state of the kernel now.
    pub fn snapshot(&self) -> KernelSnapshot {
        KernelSnapshot {
            kinds: self.directory.all().iter().map(|kind| kind.stats().snapshot(kind.policy())).collect(),
            dead_letters: self.node.dead_letters().count(),
            last_dead_letters: self.node.dead_letters().last(),
        }
    }
}

impl KindStats {
    fn snapshot(&self, policy: &Policy) -> KindSnapshot {
        KindSnapshot {
            kind: self.kind,
            resident: self.resident.get(),
            waiting: self.waiting(),
            depth_max: self.depth_max.get(),
            quarantined: self.quarantined.get(),
            activations: self.activations.get(),
            passivations: self.passivations.get(),
            loads: self.loads.get(),
            load_failures: self.load_failures.get(),
            crashes: self.crashes.get(),
            restarts: self.restarts.get(),
            quarantines: self.quarantines.get(),
            refused: self.refused.get(),
            timed_out: self.timed_out.get(),
            dead_letters: self.dead_letters.get(),
            commands: self.commands().into_iter().map(CommandStats::snapshot).collect(),
            policy: policy.snapshot(),
        }
    }
}

impl Policy {
    fn snapshot(&self) -> PolicySnapshot {
        PolicySnapshot {
            queue_len_max: self.queue_len_max,
            idle_after_ms: millis(self.idle_after),
            crash_max: self.crash_max,
            crash_window_ms: millis(self.crash_window),
            backoff_min_ms: millis(self.backoff_min),
            backoff_max_ms: millis(self.backoff_max),
            quarantine_ms: millis(self.quarantine),
            slow_after_ms: millis(self.slow_after),
            turn_max_ms: millis(self.turn_max),
        }
    }
}

impl CommandStats {
    fn snapshot(&self) -> CommandSnapshot {
        CommandSnapshot {
            command: self.name,
            handled: self.handled.counts().count(),
            failed: self.failed.get(),
            expired: self.expired.get(),
            stale: self.stale.get(),
            queued_time: self.queued.snapshot(),
            handled_time: self.handled.snapshot(),
        }
    }
}

impl Histogram {
    #[expect(clippy::cast_precision_loss, reason = "a duration to look at")]
    fn snapshot(&self) -> DurationSnapshot {
        let counts = self.counts();
        let us = |ns: u64| ns as f64 / 1_000.0;
        DurationSnapshot {
            mean_us: us(counts.sum_ns) / counts.count().max(1) as f64,
            p50_us: us(counts.quantile_ns(0.5)),
            p99_us: us(counts.quantile_ns(0.99)),
            max_us: us(counts.quantile_ns(1.0)),
        }
    }
}
