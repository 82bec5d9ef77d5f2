//! JSON in TEXT columns.

use serde::{Serialize, de::DeserializeOwned};

use crate::StoreError;

/// `value` as JSON text. Our own types always have one; a value that hasn't reads as `null`.
pub(crate) fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// The value of a column, which `what` names for the log.
pub(crate) fn read<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(format_args!("{what}: {error}")))
}
