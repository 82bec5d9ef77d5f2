//! Importing items: all of them in one commit, or none.

use domain::{
    Result,
    databases::{Import, RowKey},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;

use super::{KvSlot, Writes};

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
        import.check_again(&self.open.table)?;
        let rows: Vec<RowKey> = import.rows().cloned().collect();
        let found = self.items_at(turn, &rows).await?;
        let plan = import.clone().plan(|row| found.contains_key(row));
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
