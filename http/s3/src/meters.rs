//! What operators see of requests over S3: how many there were, how they ended, bytes and time, by operation.

use std::{
    sync::{LazyLock, RwLock},
    time::Duration,
};

use hyper::StatusCode;
use metrics::{Counter, Gauge, Histogram};

static IN_FLIGHT: LazyLock<Gauge> = LazyLock::new(|| metrics::gauge!("troupe_s3_in_flight"));
static OPERATIONS: RwLock<Vec<(&'static str, Meters)>> = RwLock::new(Vec::new());

/// The meters of one operation, found once.
#[derive(Clone)]
struct Meters {
    seconds: Histogram,
    received: Counter,
    sent: Counter,
    /// One for each status that there was.
    by_status: Vec<(StatusCode, Counter)>,
}

/// A request that is being answered; its end is counted even when the client goes away before.
pub(crate) struct InFlight;

impl InFlight {
    pub fn begin() -> Self {
        IN_FLIGHT.increment(1.0);
        Self
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        IN_FLIGHT.decrement(1.0);
    }
}

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered {
    pub operation: &'static str,
    pub status: StatusCode,
    pub took: Duration,
    /// Bytes that its body was announced with.
    pub received: u64,
    /// Bytes that the answer's body has.
    pub sent: u64,
}

impl Answered {
    /// Counts it.
    pub fn count(self) {
        let is_known = self.count_known();
        if !is_known {
            self.make_known();
            self.count_known();
        }
    }

    /// Whether the operation and the status have meters.
    fn count_known(self) -> bool {
        let Ok(operations) = OPERATIONS.read() else { return true };
        let meters = operations.iter().find(|(name, _)| *name == self.operation).map(|(_, meters)| meters);
        let Some(meters) = meters else { return false };
        let Some((_, counter)) = meters.by_status.iter().find(|(status, _)| *status == self.status) else {
            return false;
        };
        counter.increment(1);
        meters.seconds.record(self.took.as_secs_f64());
        meters.received.increment(self.received);
        meters.sent.increment(self.sent);
        true
    }

    fn make_known(self) {
        let Ok(mut operations) = OPERATIONS.write() else { return };
        let operation = self.operation;
        let at = operations.iter().position(|(name, _)| *name == operation).unwrap_or_else(|| {
            operations.push((operation, Meters::new(operation)));
            operations.len() - 1
        });
        let by_status = &mut operations[at].1.by_status;
        if !by_status.iter().any(|(status, _)| *status == self.status) {
            let status = self.status.as_str().to_owned();
            by_status.push((
                self.status,
                metrics::counter!("troupe_s3_requests_total", "operation" => operation, "status" => status),
            ));
        }
    }
}

impl Meters {
    fn new(operation: &'static str) -> Self {
        Self {
            seconds: metrics::histogram!("troupe_s3_request_seconds", "operation" => operation),
            received: metrics::counter!("troupe_s3_received_bytes_total", "operation" => operation),
            sent: metrics::counter!("troupe_s3_sent_bytes_total", "operation" => operation),
            by_status: Vec::new(),
        }
    }
}
