//! Importing items: all of them in one commit, or none.

use std::collections::HashSet;

use domain::{
    Result,
    databases::{Import, RowKey},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;

use super::{Found, KvSlot, Writes};

/// Imports items that were checked.
#[derive(Clone, Debug)]
pub struct ImportItems(pub Import);

/// What became of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Items that were written.
    pub imported: usize,
    /// Items that were left out, because their keys were taken.
    pub skipped: usize,
}

impl Command for ImportItems {
    type Reply = Imported;

    const NAME: &'static str = "import_items";
}

impl Handle<ImportItems> for KvSlot {
    async fn handle(&mut self, ImportItems(import): &ImportItems, turn: &mut Turn<'_, Self>) -> Result<Imported> {
        // The table may have got an index since they were checked.
        import.check_again(&self.open(turn).await?.table)?;
        let rows: Vec<RowKey> = import.rows().cloned().collect();
        let (found, taken) = if import.keeps_what_is_there() {
            let taken = turn.services().store.rows_taken(self.open.kept.no, &rows).await?;
            (Found::new(), taken.into_iter().collect())
        } else {
            let found = self.items_at(turn, &rows).await?;
            let taken: HashSet<RowKey> = found.keys().cloned().collect();
            (found, taken)
        };
        let plan = import.clone().plan(|row| taken.contains(row));
        let imported = Imported { imported: plan.writes.len(), skipped: plan.skipped };
        if plan.writes.is_empty() {
            return Ok(imported);
        }
        let mut writes = Writes::new(&self.open, turn.now());
        for (row, item) in plan.writes {
            writes.write(&row, found.get(&row), Some(&item));
        }
        let mut change = writes.into_change();
        self.audit(
            &mut change,
            turn,
            "item.imported",
            json!({ "items": imported.imported, "skipped": imported.skipped }),
        );
        turn.commit(change).await?;
        Ok(imported)
    }
}
