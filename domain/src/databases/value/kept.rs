//! Attribute values from the text that they are kept as: one pass over it, without a tree of JSON in between.
//!
//! Filters read every item of a table in this way. What requests send is read by `read.rs`, which says what is wrong where.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};

use super::AttributeValue;
use crate::databases::Number;

/// A value, as it is kept.
pub(in crate::databases) struct Kept(pub AttributeValue);

#[derive(Deserialize)]
enum TypeName {
    S,
    N,
    B,
    #[serde(rename = "BOOL")]
    Bool,
    #[serde(rename = "NULL")]
    Null,
    M,
    L,
    #[serde(rename = "SS")]
    StringSet,
    #[serde(rename = "NS")]
    NumberSet,
    #[serde(rename = "BS")]
    BinarySet,
}

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Typed)
    }
}

struct Typed;

impl<'de> Visitor<'de> for Typed {
    type Value = Kept;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one type")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut types: A) -> Result<Kept, A::Error> {
        let name = types.next_key()?.ok_or_else(|| A::Error::custom("no type"))?;
        let value = value(&name, &mut types)?;
        match types.next_key::<IgnoredAny>()? {
            None => Ok(Kept(value)),
            Some(_) => Err(A::Error::custom("several types")),
        }
    }
}

fn value<'de, A: MapAccess<'de>>(name: &TypeName, types: &mut A) -> Result<AttributeValue, A::Error> {
    Ok(match name {
        TypeName::S => AttributeValue::String(types.next_value()?),
        TypeName::N => AttributeValue::Number(number(types.next_value()?)?),
        TypeName::B => AttributeValue::Binary(binary(types.next_value()?)?),
        TypeName::Bool => AttributeValue::Bool(types.next_value()?),
        TypeName::Null => types.next_value::<bool>().map(|_| AttributeValue::Null)?,
        TypeName::M => AttributeValue::Map(kept_attributes(types.next_value()?)),
        TypeName::L => AttributeValue::List(types.next_value::<Vec<Kept>>()?.into_iter().map(|kept| kept.0).collect()),
        TypeName::StringSet => AttributeValue::StringSet(types.next_value()?),
        TypeName::NumberSet => AttributeValue::NumberSet(set(types.next_value()?, number)?),
        TypeName::BinarySet => AttributeValue::BinarySet(set(types.next_value()?, binary)?),
    })
}

/// The attributes of a map or an item.
pub(in crate::databases) fn kept_attributes(kept: BTreeMap<String, Kept>) -> BTreeMap<String, AttributeValue> {
    kept.into_iter().map(|(name, kept)| (name, kept.0)).collect()
}

// Neither numbers nor base64 have anything that JSON escapes, so they are read where they stand.
fn number<E: Error>(text: &str) -> Result<Number, E> {
    text.parse().map_err(E::custom)
}

fn binary<E: Error>(text: &str) -> Result<Vec<u8>, E> {
    STANDARD.decode(text).map_err(E::custom)
}

fn set<T: Ord, E>(entries: Vec<&str>, one: fn(&str) -> Result<T, E>) -> Result<BTreeSet<T>, E> {
    entries.into_iter().map(one).collect()
}
