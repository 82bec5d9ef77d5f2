//! What operators see, as Prometheus' text format.

use std::fmt::Write;

use super::{
    histogram::Counts,
    node::Kernel,
    stats::{CommandStats, KindStats},
};

/// The first and last bucket that are shown: 1 µs and 69 s; what lies below is in the first.
const SHOWN: std::ops::RangeInclusive<usize> = 10..=36;

type OfKind = fn(&KindStats) -> i64;
type OfCommand = fn(&CommandStats) -> u64;

const GAUGES: [(&str, &str, OfKind); 4] = [
    ("resident", "Keys that have an actor.", |kind| kind.resident.get()),
    ("waiting", "Commands that wait or run.", |kind| count(kind.waiting())),
    ("depth_max", "The most commands that ever waited for one key.", |kind| kind.depth_max.get()),
    ("quarantined", "Keys in quarantine.", |kind| kind.quarantined.get()),
];

const COUNTERS: [(&str, &str, OfKind); 10] = [
    ("activations_total", "Actors that came to life.", |kind| count(kind.activations.get())),
    ("passivations_total", "Actors that left memory.", |kind| count(kind.passivations.get())),
    ("loads_total", "Loads that were tried.", |kind| count(kind.loads.get())),
    ("load_failures_total", "Loads that failed.", |kind| count(kind.load_failures.get())),
    ("crashes_total", "Panics, and turns without end.", |kind| count(kind.crashes.get())),
    ("restarts_total", "Restarts by the supervisor.", |kind| count(kind.restarts.get())),
    ("quarantines_total", "Keys that went into quarantine.", |kind| count(kind.quarantines.get())),
    ("refused_total", "Commands refused before the mailbox.", |kind| count(kind.refused.get())),
    ("timed_out_total", "Callers that stopped waiting at their deadline.", |kind| count(kind.timed_out.get())),
    ("dead_letters_total", "Commands that could not be delivered.", |kind| count(kind.dead_letters.get())),
];

const COMMAND_COUNTERS: [(&str, &str, OfCommand); 3] = [
    ("failed_total", "Commands answered with an error.", |command| command.failed.get()),
    ("expired_total", "Commands dropped unread because nobody waited any more.", |command| command.expired.get()),
    ("stale_total", "Commands decided again because the version was stale.", |command| command.stale.get()),
];

fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Kernel {
    /// Adds the kernel's metrics to `out`, in Prometheus' text format.
    pub fn render_prometheus(&self, out: &mut String) {
        // Writing to a string doesn't fail.
        let _ = self.try_render(out);
    }

    fn try_render(&self, out: &mut String) -> std::fmt::Result {
        let kinds = self.directory.all();
        let families = GAUGES.iter().map(|family| ("gauge", family));
        for (form, (name, help, value)) in families.chain(COUNTERS.iter().map(|family| ("counter", family))) {
            head(out, name, help, form)?;
            for kind in &kinds {
                let stats = kind.stats();
                writeln!(out, "troupe_actor_{name}{{kind=\"{}\"}} {}", stats.kind, value(stats))?;
            }
        }
        for (name, help, value) in COMMAND_COUNTERS {
            head(out, name, help, "counter")?;
            for kind in &kinds {
                for command in kind.stats().commands() {
                    let labels = labels(kind.stats(), command);
                    writeln!(out, "troupe_actor_{name}{{{labels}}} {}", value(command))?;
                }
            }
        }
        head(out, "queued_seconds", "Time in the queue.", "histogram")?;
        for kind in &kinds {
            for command in kind.stats().commands() {
                buckets(out, "queued_seconds", &labels(kind.stats(), command), &command.queued.counts())?;
            }
        }
        head(out, "handled_seconds", "Time from the front of the queue to the answer.", "histogram")?;
        for kind in &kinds {
            for command in kind.stats().commands() {
                buckets(out, "handled_seconds", &labels(kind.stats(), command), &command.handled.counts())?;
            }
        }
        Ok(())
    }
}

fn head(out: &mut String, name: &str, help: &str, form: &str) -> std::fmt::Result {
    writeln!(out, "# HELP troupe_actor_{name} {help}\n# TYPE troupe_actor_{name} {form}")
}

fn labels(kind: &KindStats, command: &CommandStats) -> String {
    format!("kind=\"{}\",message=\"{}\"", kind.kind, command.name)
}

#[expect(clippy::cast_precision_loss, reason = "seconds to look at")]
fn buckets(out: &mut String, name: &str, labels: &str, counts: &Counts) -> std::fmt::Result {
    let mut seen: u64 = counts.buckets[..*SHOWN.start()].iter().sum();
    for bucket in SHOWN {
        seen += counts.buckets[bucket];
        let bound = (1_u64 << bucket) as f64 / 1e9;
        writeln!(out, "troupe_actor_{name}_bucket{{{labels},le=\"{bound}\"}} {seen}")?;
    }
    let (count, sum) = (counts.count(), counts.sum_ns as f64 / 1e9);
    writeln!(out, "troupe_actor_{name}_bucket{{{labels},le=\"+Inf\"}} {count}")?;
    writeln!(out, "troupe_actor_{name}_sum{{{labels}}} {sum}\ntroupe_actor_{name}_count{{{labels}}} {count}")
}
