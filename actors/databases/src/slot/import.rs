//! Importing items: all of them in one commit, or none.
//!
//! An import may have 6 MB, and take the places of items of 40 MB. So whatever looks into items is done on a thread of its
//! own: before the command, what reads them, and in its turn, what decides.

use std::{collections::HashSet, sync::Arc};

use domain::{
    Result, Timestamp,
    databases::{Import, RowKey},
};
use kernel::{Command, CpuKind, Decided, Handle, Resource, Turn};
use serde_json::json;
use store::{Change, databases::StoredItem};

use super::{Found, KvSlot, OpenTable, Writes};

/// Imports items that were checked.
#[derive(Clone, Debug)]
pub struct ImportItems(pub Arc<Import>);

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
        self.forget_decided();
        let decided = self.import(import, turn).await;
        turn.settle(self, decided).await
    }
}

impl KvSlot {
    async fn import(&self, import: &Arc<Import>, turn: &Turn<'_, Self>) -> Result<Decided<Imported>> {
        let (open, now) = (self.open(turn).await?.clone(), turn.now());
        let found = there(turn, &open, import).await?;
        let import = Arc::clone(import);
        let (imported, change) = turn.cpu(CpuKind::Document, move || decided(&open, &import, found, now)).await??;
        let change = change.map(|mut change| {
            let about = json!({ "items": imported.imported, "skipped": imported.skipped });
            self.audit(&mut change, turn, "item.imported", about);
            change
        });
        Ok(Decided { reply: imported, change })
    }
}

/// What lies at the rows of an import.
struct There {
    taken: HashSet<RowKey>,
    /// What it says, where that is of any concern.
    stored: Vec<StoredItem>,
}

async fn there(turn: &Turn<'_, KvSlot>, open: &OpenTable, import: &Import) -> Result<There> {
    let (store, rows) = (&turn.services().store, import.rows().cloned().collect::<Vec<_>>());
    if import.keeps_what_is_there() {
        let taken = store.rows_taken(open.kept.no, &rows).await?;
        return Ok(There { taken: taken.into_iter().collect(), stored: Vec::new() });
    }
    let stored = store.items_at(open.kept.no, &rows).await?;
    Ok(There { taken: stored.iter().map(|stored| stored.row.clone()).collect(), stored })
}

/// What an import does to what is there, and what has to be committed for it.
fn decided(open: &OpenTable, import: &Import, there: There, now: Timestamp) -> Result<(Imported, Option<Change>)> {
    // The table may have got an index since its items were checked.
    import.check_again(&open.table)?;
    let mut found = Found::with_capacity(there.stored.len());
    for stored in there.stored {
        found.insert(stored.row.clone(), stored.try_into()?);
    }
    let plan = import.plan(|row| there.taken.contains(row));
    let imported = Imported { imported: plan.writes.len(), skipped: plan.skipped };
    if plan.writes.is_empty() {
        return Ok((imported, None));
    }
    let mut writes = Writes::new(open, now);
    for (row, item) in plan.writes {
        writes.write(row, found.get(row), Some(item));
    }
    Ok((imported, Some(writes.into_change())))
}
