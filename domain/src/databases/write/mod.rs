//! Writing items: what has to hold of what is there, and what follows for indexes and expiry.

mod batch;
mod expiry;
mod import;
mod put;
mod tag;
mod update;

pub use batch::{KEYS_PER_REQUEST, batch_check};
pub use expiry::{EXPIRED_LONG_AGO, expires_at};
pub use import::{IMPORT_BODY_BYTES_MAX, ITEMS_PER_IMPORT, Import, ImportMode, ImportPlan};
pub use put::{Expected, PUT_BODY_BYTES_MAX, Put, PutOutcome};
pub use tag::ItemTag;
pub use update::ItemUpdate;

use super::{Index, Item, RowKey, Table};
use crate::error::Result;

impl Table {
    /// The row of an item that is to be written; 400 where its key can't be one, here or in an index.
    pub fn row_of(&self, item: &Item) -> Result<RowKey> {
        let row = self.schema.key_of(item)?.row();
        for index in &self.indexes {
            index.schema.index_key_of(item)?;
        }
        Ok(row)
    }
}

/// What a write does to the rows of one index. Where the item keeps its row there, both are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexChange {
    /// The row that goes.
    pub delete: Option<RowKey>,
    /// The row that comes.
    pub insert: Option<RowKey>,
}

impl Index {
    /// The row of an item in this index; none where it isn't in it, as an item from before the index that has something
    /// else in an attribute of its keys.
    pub fn row_of(&self, item: &Item) -> Option<RowKey> {
        self.schema.index_key_of(item).ok().flatten().map(|key| key.row())
    }

    /// What becomes of the index's rows when the item at one row of the table changes from `old` to `new`.
    pub fn change(&self, old: Option<&Item>, new: Option<&Item>) -> IndexChange {
        let [delete, insert] = [old, new].map(|item| item.and_then(|item| self.row_of(item)));
        if delete == insert { IndexChange::default() } else { IndexChange { delete, insert } }
    }
}

#[cfg(test)]
mod tests;
