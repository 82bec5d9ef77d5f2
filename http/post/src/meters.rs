//! What operators see of mail that comes in.

use std::sync::LazyLock;

use metrics::Gauge;

static CONNECTIONS: LazyLock<Gauge> = LazyLock::new(|| metrics::gauge!("troupe_smtp_connections"));

/// A connection that is served.
pub(crate) struct Served;

impl Served {
    pub fn begin() -> Self {
        CONNECTIONS.increment(1.0);
        Self
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        CONNECTIONS.decrement(1.0);
    }
}

/// Counts a message by the code of what it was answered with.
pub(crate) fn message(code: u16, bytes: usize) {
    metrics::counter!("troupe_smtp_messages_total", "code" => code.to_string()).increment(1);
    metrics::counter!("troupe_smtp_bytes_total").increment(bytes as u64);
}
