//! Requests that were slow.

use std::{collections::VecDeque, time::Duration};

use domain::{RequestId, Timestamp};
use parking_lot::Mutex;
use serde::Serialize;

/// From which time on a request is slow.
pub const SLOW_AFTER: Duration = Duration::from_secs(1);
/// Slow requests that are kept.
const KEPT_MAX: usize = 64;

/// A request that was slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlowRequest {
    /// When it was answered.
    pub at: Timestamp,
    /// Its method.
    pub method: String,
    /// Its path as the URL tree has it, with parameters in braces; over S3 its operation.
    pub route: &'static str,
    /// The status that it was answered with.
    pub status: u16,
    /// How long the answer took, in microseconds.
    pub took_us: u64,
    /// Its id.
    pub request_id: RequestId,
}

/// The last slow requests of a node.
#[derive(Debug, Default)]
pub(super) struct SlowRequests {
    last: Mutex<VecDeque<SlowRequest>>,
}

impl SlowRequests {
    pub(super) fn add(&self, request: SlowRequest) {
        let mut last = self.last.lock();
        if last.len() == KEPT_MAX {
            last.pop_front();
        }
        last.push_back(request);
    }

    /// The last ones, newest first.
    pub(super) fn newest_first(&self) -> Vec<SlowRequest> {
        self.last.lock().iter().rev().cloned().collect()
    }
}
