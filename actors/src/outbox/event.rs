//! Events: what notifications are made from.
//!
//! There are no notifications yet, so an event goes to the log. The notifications area takes its place here: it turns
//! the event into notices and deliveries, in one commit with the entry's settlement.

use serde_json::Value;

pub(super) fn deliver(seq: i64, event: &Value) {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or("unknown");
    tracing::info!(seq, kind, %event, "event");
}
