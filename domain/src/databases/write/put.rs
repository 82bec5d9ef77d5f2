//! Putting an item (contract C 4.5, `PUT items`): making one, or replacing the one that somebody has seen.

use super::ItemTag;
use crate::{
    databases::{Item, RowKey, Table, item_changed, item_deleted, item_exists},
    error::Result,
};

/// Bytes of a request that puts an item (contract C 4.5).
pub const PUT_BODY_BYTES_MAX: usize = 800 * 1024;

/// What the item has to be that a put replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// There must be none: the put makes the item.
    None,
    /// Equal to this one by value, `original`. Its key may be another than the new item's, which then moves.
    Equal(Item),
    /// One with this tag, `If-Match`, at the new item's own key.
    Tagged(ItemTag),
}

/// An item that is to be put.
#[derive(Clone, Debug)]
pub struct Put {
    item: Item,
    expected: Expected,
    to: RowKey,
    from: RowKey,
}

/// What a put does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// There was none.
    Created,
    /// The item takes the other one's place.
    Replaced,
    /// The item is written at its own row, and the one that it was is deleted at its.
    Moved,
}

impl Put {
    /// Checks the keys of the item and of the one that it replaces.
    pub fn check(table: &Table, item: Item, expected: Expected) -> Result<Self> {
        let to = table.row_of(&item)?;
        let from = match &expected {
            Expected::Equal(original) => table.schema.key_of(original)?.row(),
            Expected::None | Expected::Tagged(_) => to.clone(),
        };
        Ok(Self { item, expected, to, from })
    }

    /// The row at which the item is written.
    pub const fn to(&self) -> &RowKey {
        &self.to
    }

    /// The row of the item that is replaced; that at which it is written, unless it moves.
    pub const fn from(&self) -> &RowKey {
        &self.from
    }

    /// The item that is written.
    pub const fn item(&self) -> &Item {
        &self.item
    }

    /// What the put does, where `at` tells which item lies at a row now; 409 where that isn't what was expected.
    pub fn decide<'i>(&self, at: impl Fn(&RowKey) -> Option<&'i Item>) -> Result<PutOutcome> {
        let expected = match &self.expected {
            Expected::None => return if at(&self.to).is_some() { Err(item_exists()) } else { Ok(PutOutcome::Created) },
            expected => expected,
        };
        let found = at(&self.from).ok_or_else(item_deleted)?;
        let is_expected = match expected {
            Expected::Tagged(tag) => ItemTag::of(found) == *tag,
            Expected::Equal(original) => found == original,
            Expected::None => false,
        };
        if !is_expected {
            return Err(item_changed(found));
        }
        if self.from == self.to {
            return Ok(PutOutcome::Replaced);
        }
        if at(&self.to).is_some() { Err(item_exists()) } else { Ok(PutOutcome::Moved) }
    }
}
