//! Updating an item by an expression.

use domain::{
    Result,
    databases::{Item, ItemUpdate, Table},
};
use kernel::{Command, CpuKind, Decided, Handle, Resource, Turn};
use serde_json::json;

use super::{KnownItem, KvSlot, Writes};

/// Updates an item, or makes it.
#[derive(Clone, Debug)]
pub struct UpdateItem(pub ItemUpdate);

impl Command for UpdateItem {
    /// The item as it is afterwards.
    type Reply = Item;

    const NAME: &'static str = "update_item";
}

impl Handle<UpdateItem> for KvSlot {
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &UpdateItem, turn: &mut Turn<'_, Self>) -> Result<Item> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, UpdateItem(update): &UpdateItem, turn: &Turn<'_, Self>) -> Result<Decided<Item>> {
        let table = &self.open(turn).await?.table;
        let row = update.row();
        let found = self.items_at(turn, std::slice::from_ref(row)).await?;
        let known = found.get(row);
        let item = updated(turn, table, update, known).await?;
        if known.is_some_and(|known| known.item == item) {
            return Ok(Decided { reply: item, change: None });
        }
        let mut writes = Writes::new(&self.open, turn.now());
        writes.write(row, known, Some(&item));
        let (mut change, rows) = writes.into_parts();
        self.audit(&mut change, turn, "item.updated", json!({ "key": update.key() }));
        self.decided.extend(rows);
        Ok(Decided { reply: item, change: Some(change) })
    }
}

/// What the update makes of an item, on a thread of its own where that may take long.
async fn updated(
    turn: &Turn<'_, KvSlot>,
    table: &Table,
    update: &ItemUpdate,
    known: Option<&KnownItem>,
) -> Result<Item> {
    let bytes = known.map_or(0, |known| usize::try_from(known.size).unwrap_or_default());
    if !update.is_long(bytes) {
        return update.decide(table, known.map(|known| &known.item));
    }
    let (table, update, current) = (table.clone(), update.clone(), known.map(|known| known.item.clone()));
    turn.cpu(CpuKind::Document, move || update.decide(&table, current.as_ref())).await?
}
