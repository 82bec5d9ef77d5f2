//! Deleting items by their keys. What isn't there needs no deleting, and is no error.

use domain::{
    Result,
    databases::{Item, RowKey, batch_check},
};
use kernel::{Command, Decided, Handle, Resource, Turn};
use serde_json::json;

use super::{KvSlot, Writes};

/// Deletes the item with this key.
#[derive(Clone, Debug)]
pub struct DeleteItem(pub Item);

impl Command for DeleteItem {
    type Reply = ();

    const NAME: &'static str = "delete_item";
}

impl Handle<DeleteItem> for KvSlot {
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &DeleteItem, turn: &mut Turn<'_, Self>) -> Result<()> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, DeleteItem(key): &DeleteItem, turn: &Turn<'_, Self>) -> Result<Decided<()>> {
        let row = self.open(turn).await?.table.schema.key(key)?.row();
        self.delete(turn, vec![row], json!({ "key": key })).await
    }
}

/// Deletes the items with these keys, all of them or none.
#[derive(Clone, Debug)]
pub struct DeleteItems(pub Vec<Item>);

impl Command for DeleteItems {
    type Reply = ();

    const NAME: &'static str = "delete_items";
}

impl Handle<DeleteItems> for KvSlot {
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &DeleteItems, turn: &mut Turn<'_, Self>) -> Result<()> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, DeleteItems(keys): &DeleteItems, turn: &Turn<'_, Self>) -> Result<Decided<()>> {
        let rows = batch_check(&self.open(turn).await?.table.schema, keys)?;
        self.delete(turn, rows, json!({ "items": keys.len() })).await
    }
}

impl KvSlot {
    async fn delete(
        &mut self,
        turn: &Turn<'_, Self>,
        rows: Vec<RowKey>,
        about: serde_json::Value,
    ) -> Result<Decided<()>> {
        let found = self.items_at(turn, &rows).await?;
        if found.is_empty() {
            return Ok(Decided { reply: (), change: None });
        }
        let mut writes = Writes::new(&self.open, turn.now());
        for row in rows {
            if let Some(known) = found.get(&row) {
                writes.write(&row, Some(known), None);
            }
        }
        let (mut change, rows) = writes.into_parts();
        self.audit(&mut change, turn, "item.deleted", about);
        self.decided.extend(rows);
        Ok(Decided { reply: (), change: Some(change) })
    }
}
