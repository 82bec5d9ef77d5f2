//! Names of tables and indexes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::NAME_LEN;
use crate::error::{Error, Result};

/// The name of a table or an index: 3 to 255 letters, digits, `_`, `.` and `-` (DynamoDB). `Users` and `users` are two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TableName(String);

impl TableName {
    /// Reads a name; `path` names the field in the 400.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        if NAME_LEN.contains(&text.len()) && text.bytes().all(is_known) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::invalid(path, "Names have 3 to 255 letters, digits, _, . and -."))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse("name", &text).map_err(|_| serde::de::Error::custom("expected a name of 3 to 255 characters"))
    }
}
