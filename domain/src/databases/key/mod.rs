//! Keys of items (contract C 2.3, 4.5): one attribute or two, of the types text, number and binary.

mod range;
mod read;
mod row;

pub use range::KeyRange;
pub use row::{RowKey, SLOTS, slot_range};

use super::{AttributeValue, Item, Number};
use crate::app::names;

/// Bytes of the value of a partition key (DynamoDB).
pub const PARTITION_KEY_BYTES_MAX: usize = 2_048;
/// Bytes of the value of a sort key (DynamoDB).
pub const SORT_KEY_BYTES_MAX: usize = 1_024;

names! {
    /// The type of a key's attribute (contract C 2.3).
    KeyType { S = "S", N = "N", B = "B", }
}

impl KeyType {
    /// What a value of the type is called in a sentence.
    const fn noun(self) -> &'static str {
        match self {
            Self::S => "a string",
            Self::N => "a number",
            Self::B => "binary",
        }
    }
}

/// An attribute that keys are made of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KeyAttribute {
    /// Its name.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub key_type: KeyType,
}

/// What the keys of a table or an index are made of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeySchema {
    /// By whose hash items are spread.
    #[serde(rename = "partitionKey")]
    pub partition: KeyAttribute,
    /// By which those of one partition are sorted.
    #[serde(rename = "sortKey", default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<KeyAttribute>,
}

impl KeySchema {
    /// Its attributes, the partition key first.
    pub fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition).chain(&self.sort)
    }
}

/// The value of an attribute of a key. A text or binary isn't empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyValue {
    /// `S`
    String(String),
    /// `N`
    Number(Number),
    /// `B`
    Binary(Vec<u8>),
}

impl KeyValue {
    /// The bytes by which it is sorted and hashed: a text's UTF-8, a number's key bytes, binary as it is.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::String(text) => text.as_bytes().to_vec(),
            Self::Number(number) => number.key_bytes(),
            Self::Binary(bytes) => bytes.clone(),
        }
    }
}

impl From<KeyValue> for AttributeValue {
    fn from(value: KeyValue) -> Self {
        match value {
            KeyValue::String(text) => Self::String(text),
            KeyValue::Number(number) => Self::Number(number),
            KeyValue::Binary(bytes) => Self::Binary(bytes),
        }
    }
}

/// The key of an item in its table, or in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The partition key.
    pub partition: KeyValue,
    /// The sort key, where the schema has one.
    pub sort: Option<KeyValue>,
}

impl Key {
    /// The row that the item lies at.
    pub fn row(&self) -> RowKey {
        RowKey::new(&self.partition, self.sort.as_ref())
    }

    /// The key as the attributes that `schema` names.
    pub fn into_item(self, schema: &KeySchema) -> Item {
        let values = std::iter::once(self.partition).chain(self.sort).map(AttributeValue::from);
        schema.attributes().map(|attribute| attribute.name.clone()).zip(values).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests;
