//! A little randomness, so that those who failed together don't come back together.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// A source of small random spans; nothing that must be unguessable comes from it.
#[derive(Debug)]
pub(super) struct Jitter {
    seed: RandomState,
    drawn: AtomicU64,
}

impl Jitter {
    pub(super) fn new() -> Self {
        Self { seed: RandomState::new(), drawn: AtomicU64::new(0) }
    }

    fn draw(&self) -> u64 {
        self.seed.hash_one(self.drawn.fetch_add(1, Ordering::Relaxed))
    }

    /// A span from zero to `limit`.
    pub(super) fn up_to(&self, limit: Duration) -> Duration {
        let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.draw() % nanos.saturating_add(1).max(1))
    }

    /// `span`, give or take a quarter.
    pub(super) fn around(&self, span: Duration) -> Duration {
        span.saturating_sub(span / 4) + self.up_to(span / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_stay_within_a_quarter_and_differ() {
        let jitter = Jitter::new();
        let span = Duration::from_millis(100);
        let drawn: Vec<_> = (0..100).map(|_| jitter.around(span)).collect();
        assert!(drawn.iter().all(|got| (Duration::from_millis(75)..=Duration::from_millis(125)).contains(got)));
        assert!(drawn.iter().any(|got| *got != drawn[0]));
        assert_eq!(jitter.up_to(Duration::ZERO), Duration::ZERO);
    }
}
