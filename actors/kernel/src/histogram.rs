//! Durations, counted in buckets that double.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Bucket `i` holds what took less than 2^i nanoseconds and not less than half of that; the last one, all the rest.
pub(super) const BUCKETS: usize = 38;

/// A histogram that any thread records into without a lock.
#[derive(Debug)]
pub(super) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    sum_ns: AtomicU64,
}

/// What a [`Histogram`] held at one moment.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub(super) buckets: [u64; BUCKETS],
    pub(super) sum_ns: u64,
}

impl Histogram {
    pub(super) const fn new() -> Self {
        Self { buckets: [const { AtomicU64::new(0) }; BUCKETS], sum_ns: AtomicU64::new(0) }
    }

    pub(super) fn record(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = ((u64::BITS - ns.leading_zeros()) as usize).min(BUCKETS - 1);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            buckets: std::array::from_fn(|bucket| self.buckets[bucket].load(Ordering::Relaxed)),
            sum_ns: self.sum_ns.load(Ordering::Relaxed),
        }
    }
}

impl Default for Counts {
    fn default() -> Self {
        Self { buckets: [0; BUCKETS], sum_ns: 0 }
    }
}

impl Counts {
    /// Adds what another one counted.
    pub(super) fn add(&mut self, other: &Self) {
        self.buckets.iter_mut().zip(other.buckets).for_each(|(bucket, more)| *bucket += more);
        self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns);
    }

    /// What was counted since `before`.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            buckets: std::array::from_fn(|bucket| self.buckets[bucket].saturating_sub(before.buckets[bucket])),
            sum_ns: self.sum_ns.wrapping_sub(before.sum_ns),
        }
    }

    /// [`quantile_ns`](Self::quantile_ns) in microseconds.
    #[expect(clippy::cast_precision_loss, reason = "a duration to look at")]
    pub(super) fn quantile_us(&self, share: f64) -> f64 {
        self.quantile_ns(share) as f64 / 1_000.0
    }

    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The upper bound of the bucket in which the `share` of all (0 to 1) is reached, in nanoseconds.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    pub(super) fn quantile_ns(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return 1 << bucket;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_into_the_bucket_that_bounds_them() {
        let histogram = Histogram::new();
        for ns in [0, 1, 2, 3, 1_000, 1_023, 1_024] {
            histogram.record(Duration::from_nanos(ns));
        }
        histogram.record(Duration::from_hours(1));
        let counts = histogram.counts();
        assert_eq!(counts.buckets[0], 1);
        assert_eq!(counts.buckets[1], 1);
        assert_eq!(counts.buckets[2], 2);
        assert_eq!(counts.buckets[10], 2);
        assert_eq!(counts.buckets[11], 1);
        assert_eq!(counts.buckets[BUCKETS - 1], 1);
        assert_eq!(counts.count(), 8);
    }

    #[test]
    fn quantiles_are_the_bounds_of_their_buckets() {
        let histogram = Histogram::new();
        assert_eq!(histogram.counts().quantile_ns(0.5), 0);
        for _ in 0..99 {
            histogram.record(Duration::from_nanos(700));
        }
        histogram.record(Duration::from_micros(90));
        assert_eq!(histogram.counts().quantile_ns(0.5), 1_024);
        assert_eq!(histogram.counts().quantile_ns(0.99), 1_024);
        assert_eq!(histogram.counts().quantile_ns(1.0), 131_072);
    }
}
