//! JSON in TEXT columns.

use serde::Serialize;

/// `value` as JSON text. Our own types always have one; a value that hasn't reads as `null`.
pub(crate) fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
