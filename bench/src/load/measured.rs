//! What a round of load found.

use std::time::Duration;

/// A round's answers.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Sorted, in microseconds.
    latencies: Vec<u32>,
    seconds: f64,
    loader: Duration,
    server: Duration,
}

impl Measured {
    /// `loader` and `server` are processor time that the two processes took.
    pub fn new(mut latencies: Vec<u32>, seconds: f64, loader: Duration, server: Duration) -> Self {
        latencies.sort_unstable();
        Self { latencies, seconds, loader, server }
    }

    /// Requests answered.
    pub const fn requests(&self) -> usize {
        self.latencies.len()
    }

    /// Requests answered a second.
    pub fn rate(&self) -> f64 {
        count(self.requests()) / self.seconds
    }

    /// The latency in milliseconds that this share of the requests stayed within.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a non-empty list")]
        let at = (count(self.requests().saturating_sub(1)) * share).ceil() as usize;
        self.latencies.get(at).map_or(0.0, |micros| f64::from(*micros) / 1_000.0)
    }

    /// Processors that the loader kept busy: near 1.0, the loader is the bottleneck.
    pub fn loader_processors(&self) -> f64 {
        self.loader.as_secs_f64() / self.seconds
    }

    /// Processor time of the server for one request, in microseconds.
    pub fn server_micros(&self) -> f64 {
        self.server.as_secs_f64() * 1e6 / count(self.requests().max(1))
    }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer requests than 2^52")]
const fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_come_from_the_sorted_latencies() {
        let measured =
            Measured::new((1..=100).rev().map(|ms| ms * 1_000).collect(), 2.0, Duration::ZERO, Duration::ZERO);
        assert_eq!(measured.quantile_ms(0.5).to_bits(), 51.0_f64.to_bits());
        assert_eq!(measured.quantile_ms(0.99).to_bits(), 100.0_f64.to_bits());
        assert_eq!(measured.rate().to_bits(), 50.0_f64.to_bits());
    }
}
