//! What tells one request from another, in the log and for operators.

use std::{fmt, ops::Deref, sync::Arc};

use serde::{Serialize, Serializer};

/// What stands for the id where there was no request.
const NONE: &str = "-";

/// The id of a request; without one, for what Troupe does of itself, it reads `-`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestId(Option<Arc<str>>);

impl RequestId {
    /// No request: Troupe's own work.
    pub const OWN: Self = Self(None);
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self((id != NONE).then(|| id.into()))
    }
}

impl Deref for RequestId {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_deref().unwrap_or(NONE)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_as_it_was_given_and_none_as_a_dash() {
        assert_eq!(&*RequestId::from("7f-1"), "7f-1");
        assert_eq!(RequestId::OWN.to_string(), "-");
        assert_eq!(RequestId::from("-"), RequestId::OWN);
        assert_eq!(serde_json::to_string(&RequestId::OWN).unwrap(), r#""-""#);
    }
}
