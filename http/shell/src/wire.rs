//! What several areas' wire types share.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// Done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"ok": true}))]
pub struct Done {
    /// Always true.
    ok: bool,
}

impl Default for Done {
    fn default() -> Self {
        Self::new()
    }
}

impl Done {
    /// It was.
    pub const fn new() -> Self {
        Self { ok: true }
    }
}

/// Tells a field that is null (`Some(None)`) from one that is absent (`None`, with `#[serde(default)]`).
pub fn nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
