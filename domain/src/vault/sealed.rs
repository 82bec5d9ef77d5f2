//! What devices seal and the server cannot read.

use std::fmt;

use crate::error::{Error, Result};

/// JSON text kept exactly as it was sent, to the last space: a string stays a string, an object keeps its order.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(Box<str>);

impl Sealed {
    /// Bytes of a key set, an envelope, attributes, or an item's key, as JSON text.
    pub const KEY_BYTES_MAX: usize = 8 * 1024;
    /// Bytes of an item's overview, as JSON text.
    pub const OVERVIEW_BYTES_MAX: usize = 64 * 1024;
    /// Bytes of an item's details, as JSON text.
    pub const DETAILS_BYTES_MAX: usize = 1024 * 1024;

    /// Text that is known to be one JSON value.
    pub fn from_json_text(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Bytes of the JSON text.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// The text, where it is within `bytes_max`; `path` names the field in the 400.
    pub fn within(self, path: &str, bytes_max: usize) -> Result<Self> {
        if self.bytes() > bytes_max {
            return Err(Error::invalid(path, format!("Is over {} KB.", bytes_max / 1024)));
        }
        Ok(self)
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

impl From<Sealed> for String {
    fn from(sealed: Sealed) -> Self {
        sealed.0.into()
    }
}
