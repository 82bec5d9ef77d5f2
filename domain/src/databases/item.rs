//! Items: attributes by their names.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{
    AttributeValue, item_too_large,
    value::{Kept, Misread, attributes, kept_attributes, object},
};
use crate::error::{Error, Result};

/// Bytes of an item, names and values, as DynamoDB counts them (contract C 4.5).
pub const ITEM_BYTES_MAX: usize = 400 * 1024;

/// An item, or as much of one as is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Item(BTreeMap<String, AttributeValue>);

impl Item {
    /// Reads the item that the body has at `path`; 400 naming what is wrong where, 413 where it is too large.
    pub fn read(path: &str, json: Value) -> Result<Self> {
        let item = Self::parse(json).map_err(|misread| misread.into_error(path))?;
        if item.size() > ITEM_BYTES_MAX { Err(item_too_large()) } else { Ok(item) }
    }

    fn parse(json: Value) -> Result<Self, Misread> {
        attributes(object(json)?, 1).map(Self)
    }

    /// The item that was kept as this text. Another text is a defect.
    pub fn from_text(text: &str) -> Result<Self> {
        let kept = serde_json::from_str::<BTreeMap<String, Kept>>(text);
        kept.map(|kept| Self(kept_attributes(kept))).map_err(|error| Error::internal(format!("a kept item: {error}")))
    }

    /// The text by which the item is kept and answered: its normal form, which equal items have in common.
    pub fn to_text(&self) -> String {
        // Maps with texts for names can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Bytes of the item, names and values, as DynamoDB counts them.
    pub fn size(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.size()).sum()
    }

    /// The value of the attribute with this name.
    pub fn get(&self, name: &str) -> Option<&AttributeValue> {
        self.0.get(name)
    }

    /// How many attributes it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no attribute.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its attributes, by name.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &AttributeValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The item with these attributes only.
    #[must_use]
    pub fn project<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        Self(names.into_iter().filter_map(|name| self.0.remove_entry(name)).collect())
    }
}

impl FromIterator<(String, AttributeValue)> for Item {
    fn from_iter<I: IntoIterator<Item = (String, AttributeValue)>>(attributes: I) -> Self {
        Self(attributes.into_iter().collect())
    }
}

#[cfg(test)]
pub(crate) mod tests;
