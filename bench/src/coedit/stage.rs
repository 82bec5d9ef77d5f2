//! What a stage of the load found.

use std::time::Duration;

/// Updates that went out at some pace, and what came of them.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Updates that all neighbours heard of within the stage.
    delivered: u64,
    /// Microseconds from the sending of an update to its arrival at one neighbour, sorted.
    latencies: Vec<u32>,
    seconds: f64,
    loader: Duration,
    server: Duration,
    missed: u64,
}

impl Stage {
    /// `loader` and `server` are the processor time that the two took; `missed` are deliveries that never came.
    pub fn new(
        delivered: u64,
        mut latencies: Vec<u32>,
        seconds: f64,
        [loader, server]: [Duration; 2],
        missed: u64,
    ) -> Self {
        latencies.sort_unstable();
        Self { delivered, latencies, seconds, loader, server, missed }
    }

    /// Updates a second that reached everybody.
    pub fn rate(&self) -> f64 {
        count(self.delivered) / self.seconds
    }

    /// The time in milliseconds within which this share of the deliveries came.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a non-empty list")]
        let at = (count(self.latencies.len().saturating_sub(1) as u64) * share).ceil() as usize;
        self.latencies.get(at).map_or(0.0, |micros| f64::from(*micros) / 1_000.0)
    }

    /// Processors that the load program kept busy: near 1.0, it is the bottleneck.
    pub fn loader_processors(&self) -> f64 {
        self.loader.as_secs_f64() / self.seconds
    }

    /// Processor time of the server for one update, in microseconds.
    pub fn server_micros(&self) -> f64 {
        self.server.as_secs_f64() * 1e6 / count(self.delivered.max(1))
    }

    /// Deliveries that never came.
    pub fn missed(&self) -> f64 {
        count(self.missed)
    }
}

/// A count as a figure.
#[expect(clippy::cast_precision_loss, reason = "far less than 2^52")]
pub const fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_come_from_the_sorted_latencies() {
        let latencies = (1..=100).rev().map(|ms| ms * 1_000).collect();
        let stage = Stage::new(50, latencies, 2.0, [Duration::from_secs(1), Duration::from_millis(1)], 3);
        let figures = [stage.quantile_ms(0.5), stage.quantile_ms(0.99), stage.rate()];
        assert_eq!(figures.map(f64::to_bits), [51.0_f64, 100.0, 25.0].map(f64::to_bits));
        let figures = [stage.loader_processors(), stage.server_micros(), stage.missed()];
        assert_eq!(figures.map(f64::to_bits), [0.5_f64, 20.0, 3.0].map(f64::to_bits));
    }
}
