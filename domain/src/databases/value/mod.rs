//! Typed attribute values (contract C 2.3), as they are once they were read.
//!
//! Sets are kept sorted, and maps by their names, so values that are equal have one text ([`AttributeValue`] as JSON), and
//! what is equal by value is equal in every field.

mod fault;
mod kept;
mod read;
mod size;
mod text;

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

pub use fault::{SetKind, ValueFault};
pub(in crate::databases) use kept::{Kept, kept_attributes};
pub(in crate::databases) use read::{Misread, attributes, object};

use super::Number;

/// How deep values lie in one another; an attribute's own value lies at 1 (DynamoDB: up to 32 levels).
pub const NESTING_MAX: usize = 32;
/// Bytes of the name of an attribute, at any level (DynamoDB: up to 64 KB less one).
pub const NAME_BYTES_MAX: usize = 65_535;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// `S`
    String(String),
    /// `N`
    Number(Number),
    /// `B`
    Binary(Vec<u8>),
    /// `BOOL`
    Bool(bool),
    /// `NULL`
    Null,
    /// `M`
    Map(BTreeMap<String, Self>),
    /// `L`
    List(Vec<Self>),
    /// `SS`; not empty
    StringSet(BTreeSet<String>),
    /// `NS`; not empty
    NumberSet(BTreeSet<Number>),
    /// `BS`; not empty
    BinarySet(BTreeSet<Vec<u8>>),
}

impl AttributeValue {
    /// The contract's names of all types.
    pub const TYPE_NAMES: [&'static str; 10] = ["S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"];

    /// The contract's name of its type.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::String(_) => "S",
            Self::Number(_) => "N",
            Self::Binary(_) => "B",
            Self::Bool(_) => "BOOL",
            Self::Null => "NULL",
            Self::Map(_) => "M",
            Self::List(_) => "L",
            Self::StringSet(_) => "SS",
            Self::NumberSet(_) => "NS",
            Self::BinarySet(_) => "BS",
        }
    }

    /// DynamoDB's `size`: bytes of a text or binary, entries of a set, list or map; others have none.
    pub fn length(&self) -> Option<usize> {
        match self {
            Self::String(text) => Some(text.len()),
            Self::Binary(bytes) => Some(bytes.len()),
            Self::Map(entries) => Some(entries.len()),
            Self::List(entries) => Some(entries.len()),
            Self::StringSet(entries) => Some(entries.len()),
            Self::NumberSet(entries) => Some(entries.len()),
            Self::BinarySet(entries) => Some(entries.len()),
            Self::Number(_) | Self::Bool(_) | Self::Null => None,
        }
    }

    /// How many levels of values lie in one another, this one the first of them.
    pub fn levels(&self) -> usize {
        let inner = match self {
            Self::Map(entries) => entries.values().map(Self::levels).max(),
            Self::List(entries) => entries.iter().map(Self::levels).max(),
            _ => None,
        };
        1 + inner.unwrap_or_default()
    }

    /// Where it stands from another value of its type: texts by their UTF-8, numbers by size, binary by its unsigned bytes.
    /// Other types have no order, and neither have values of two types.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::String(one), Self::String(two)) => Some(one.cmp(two)),
            (Self::Number(one), Self::Number(two)) => Some(one.cmp(two)),
            (Self::Binary(one), Self::Binary(two)) => Some(one.cmp(two)),
            _ => None,
        }
    }

    /// Whether a text or binary begins with `prefix`, which is of its type.
    pub fn begins_with(&self, prefix: &Self) -> bool {
        match (self, prefix) {
            (Self::String(text), Self::String(prefix)) => text.starts_with(prefix.as_str()),
            (Self::Binary(bytes), Self::Binary(prefix)) => bytes.starts_with(prefix),
            _ => false,
        }
    }

    /// Whether `part` is somewhere in a text or binary of its type, or is an entry of a set or list.
    pub fn contains(&self, part: &Self) -> bool {
        match (self, part) {
            (Self::String(text), Self::String(part)) => text.contains(part.as_str()),
            (Self::Binary(bytes), Self::Binary(part)) => has_part(bytes, part),
            (Self::StringSet(entries), Self::String(entry)) => entries.contains(entry),
            (Self::NumberSet(entries), Self::Number(entry)) => entries.contains(entry),
            (Self::BinarySet(entries), Self::Binary(entry)) => entries.contains(entry),
            (Self::List(entries), entry) => entries.contains(entry),
            _ => false,
        }
    }
}

/// Whether the bytes have a part, in time that grows with their lengths' sum however they repeat themselves.
fn has_part(bytes: &[u8], part: &[u8]) -> bool {
    // As texts of one character for each byte, which the standard library searches in linear time.
    let as_text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
    part.is_empty() || (part.len() <= bytes.len() && as_text(bytes).contains(&as_text(part)))
}

#[cfg(test)]
pub(crate) mod tests;
