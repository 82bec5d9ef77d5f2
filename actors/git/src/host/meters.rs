//! What operators see of the folders of this node, and of what is done in them.

use std::time::Instant;

/// Bytes of views.
const VIEWS_BYTES: &str = "troupe_git_views_bytes";
/// Bytes of pushes that are being taken in.
const QUARANTINE_BYTES: &str = "troupe_git_quarantine_bytes";

/// A number as gauges have it.
#[expect(clippy::cast_precision_loss, reason = "far fewer bytes than 2^52")]
const fn number(bytes: u64) -> f64 {
    bytes as f64
}

/// Tells how many bytes all views have.
pub(super) fn views_have(bytes: u64) {
    metrics::gauge!(VIEWS_BYTES).set(number(bytes));
}

/// Tells how long a search for secrets took.
pub(super) fn scanned(begun: Instant) {
    metrics::histogram!("troupe_git_scan_seconds").record(begun.elapsed());
}

/// What is counted of a push for as long as it is taken in.
#[derive(Debug, Default)]
pub(super) struct IntakeMeter {
    /// Bytes of its pack that have come.
    bytes: u64,
    /// When the last of them had.
    came_at: Option<Instant>,
}

impl IntakeMeter {
    /// Counts bytes that have come.
    pub fn grow(&mut self, bytes: u64) {
        self.bytes += bytes;
        metrics::gauge!(QUARANTINE_BYTES).increment(number(bytes));
    }

    /// Notes that all has come: from now on the client waits for this node alone.
    pub fn has_come(&mut self) {
        self.came_at = Some(Instant::now());
    }
}

impl Drop for IntakeMeter {
    fn drop(&mut self) {
        metrics::gauge!(QUARANTINE_BYTES).decrement(number(self.bytes));
        if let Some(came_at) = self.came_at {
            metrics::histogram!("troupe_git_push_seconds").record(came_at.elapsed());
        }
    }
}
