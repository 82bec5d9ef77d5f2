//! Attribute values as JSON, in normal form: numbers without superfluous zeros, binary in padded base64, sets and maps sorted.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::AttributeValue;

impl Serialize for AttributeValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut typed = serializer.serialize_map(Some(1))?;
        let name = self.type_name();
        match self {
            Self::String(text) => typed.serialize_entry(name, text)?,
            Self::Number(number) => typed.serialize_entry(name, &number.to_string())?,
            Self::Binary(bytes) => typed.serialize_entry(name, &STANDARD.encode(bytes))?,
            Self::Bool(flag) => typed.serialize_entry(name, flag)?,
            Self::Null => typed.serialize_entry(name, &true)?,
            Self::Map(attributes) => typed.serialize_entry(name, attributes)?,
            Self::List(entries) => typed.serialize_entry(name, entries)?,
            Self::StringSet(entries) => typed.serialize_entry(name, entries)?,
            Self::NumberSet(entries) => {
                typed.serialize_entry(name, &entries.iter().map(ToString::to_string).collect::<Vec<_>>())?;
            }
            Self::BinarySet(entries) => {
                typed.serialize_entry(name, &entries.iter().map(|it| STANDARD.encode(it)).collect::<Vec<_>>())?;
            }
        }
        typed.end()
    }
}
