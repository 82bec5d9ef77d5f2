//! JSON that devices seal: taken as it comes, given back as it came.

use domain::vault::Sealed;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Any JSON, kept to the letter. Devices put sealed text here.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = serde_json::Value, example = json!("c2VhbGVkIG9uIHRoZSBkZXZpY2U"))]
pub(crate) struct AnyJson(Box<RawValue>);

/// Reads a field that may be absent. A `null` that is there is read like any other value.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl From<AnyJson> for Sealed {
    fn from(json: AnyJson) -> Self {
        Self::from_json_text(Box::<str>::from(json.0))
    }
}

impl TryFrom<Sealed> for AnyJson {
    type Error = domain::Error;

    fn try_from(sealed: Sealed) -> Result<Self, domain::Error> {
        RawValue::from_string(sealed.into())
            .map(Self)
            .map_err(|error| domain::Error::internal(format_args!("what was sealed is stored as no JSON: {error}")))
    }
}
