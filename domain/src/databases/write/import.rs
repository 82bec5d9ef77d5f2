//! Importing items (contract C 4.5): all of a request, or none where one of them can't be written.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::batch::distinct_check;
use crate::{
    app::names,
    databases::{Item, RowKey, Table},
    error::{Error, Result},
    problems::Problems,
};

/// Items in one import (contract C 4.5).
pub const ITEMS_PER_IMPORT: RangeInclusive<usize> = 1..=100;
/// Bytes of a request that imports items (contract C 4.5).
pub const IMPORT_BODY_BYTES_MAX: usize = 6_144 * 1024;

names! {
    /// What becomes of an item whose key is taken: it is left out, or takes the place (contract C 4.5).
    ImportMode { Overwrite = "overwrite", Skip = "skip", }
}

/// Items that are to be imported, each with its row.
#[derive(Clone, Debug)]
pub struct Import {
    items: Vec<(RowKey, Item)>,
    mode: ImportMode,
}

/// What an import does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportPlan<'i> {
    /// The items that are written.
    pub writes: Vec<&'i (RowKey, Item)>,
    /// How many are left out.
    pub skipped: usize,
}

impl Import {
    /// Reads the items; 400 naming each one that can't be written, and 400 where two have one key.
    pub fn check(table: &Table, items: Vec<Value>, mode: ImportMode) -> Result<Self> {
        if !ITEMS_PER_IMPORT.contains(&items.len()) {
            return Err(Error::invalid("items", "Send 1 to 100 items."));
        }
        let mut problems = Problems::new();
        let mut read = Vec::with_capacity(items.len());
        for (place, json) in items.into_iter().enumerate() {
            let path = format!("items[{place}]");
            let item = Item::read(&path, json).and_then(|item| Ok((table.row_of(&item)?, item)));
            match item {
                Ok(item) => read.push(item),
                Err(Error::Invalid { problems: found }) => problems.extend(found),
                // A key or a size that would be refused on its own.
                Err(refused) => problems.add(path, refused.to_string()),
            }
        }
        problems.into_result()?;
        distinct_check(read.iter().map(|(row, _)| row))?;
        Ok(Self { items: read, mode })
    }

    /// Checks the keys of the items once more, for a table that may have got an index since; 400 naming each one at fault.
    pub fn check_again(&self, table: &Table) -> Result<()> {
        let mut problems = Problems::new();
        for (place, (_, item)) in self.items.iter().enumerate() {
            if let Err(refused) = table.row_of(item) {
                problems.add(format!("items[{place}]"), refused.to_string());
            }
        }
        problems.into_result()
    }

    /// The rows that the items have.
    pub fn rows(&self) -> impl Iterator<Item = &RowKey> {
        self.items.iter().map(|(row, _)| row)
    }

    /// Whether what lies at the rows of its items stays as it is, so that nobody needs to know what that says.
    pub fn keeps_what_is_there(&self) -> bool {
        self.mode == ImportMode::Skip
    }

    /// What the import does, where `is_taken` tells whether an item lies at a row now.
    pub fn plan(&self, is_taken: impl Fn(&RowKey) -> bool) -> ImportPlan<'_> {
        let is_written = |(row, _): &&(RowKey, Item)| self.mode == ImportMode::Overwrite || !is_taken(row);
        let writes: Vec<_> = self.items.iter().filter(is_written).collect();
        ImportPlan { skipped: self.items.len() - writes.len(), writes }
    }
}
