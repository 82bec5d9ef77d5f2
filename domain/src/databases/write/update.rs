//! Updating an item: what an expression makes of it, where a condition holds.

use crate::{
    databases::{Condition, ITEM_BYTES_MAX, Item, RowKey, Substitutes, Table, Update, condition_fails, item_too_large},
    error::{Error, Result},
};

/// Bytes of an item and of an expression's values up to which an update is made in no time: it may look at each of them as
/// often as it has operators.
const BYTES_AT_ONCE: usize = 16 * 1024;

/// An update of the item with a key, which is made where there is none.
#[derive(Clone, Debug)]
pub struct ItemUpdate {
    key: Item,
    row: RowKey,
    update: Update,
    condition: Option<Condition>,
    value_bytes: usize,
}

impl ItemUpdate {
    /// Checks the key, that the update leaves its attributes alone, and that the expressions have used all that was sent
    /// with them.
    pub fn check(
        table: &Table,
        key: Item,
        (update, condition): (Update, Option<Condition>),
        substitutes: &Substitutes,
    ) -> Result<Self> {
        substitutes.used_check()?;
        let row = table.schema.key(&key)?.row();
        let is_of_key = |name: &str| table.schema.attributes().any(|attribute| attribute.name == name);
        if let Some(action) = update.actions().iter().find(|action| is_of_key(action.path.root())) {
            let name = action.path.root();
            let message = format!("Cannot update attribute {name}. This attribute is part of the key.");
            return Err(Error::invalid("update", message));
        }
        Ok(Self { key, row, update, condition, value_bytes: substitutes.value_bytes() })
    }

    /// Whether deciding on an item of so many bytes may take long enough to hold others up.
    pub const fn is_long(&self, item_bytes: usize) -> bool {
        self.value_bytes.saturating_add(item_bytes) > BYTES_AT_ONCE
    }

    /// The row of the item.
    pub const fn row(&self) -> &RowKey {
        &self.row
    }

    /// The attributes of its key.
    pub const fn key(&self) -> &Item {
        &self.key
    }

    /// What becomes of the item that is there; 409 where the condition doesn't hold, 400 where the update can't be made of it,
    /// or where the table or an index of it can't have what becomes of it, 413 where that is too large.
    pub fn decide(&self, table: &Table, current: Option<&Item>) -> Result<Item> {
        let none = Item::default();
        if self.condition.as_ref().is_some_and(|condition| !condition.holds(current.unwrap_or(&none))) {
            return Err(condition_fails(current));
        }
        let item = self.update.apply(current.unwrap_or(&self.key)).map_err(|fault| fault.into_error("update"))?;
        if item.size() > ITEM_BYTES_MAX {
            return Err(item_too_large());
        }
        table.row_of(&item).map(|_| item)
    }
}
