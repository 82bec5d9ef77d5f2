//! Putting an item.

use domain::{
    Result,
    databases::{Expected, Item, Put, PutOutcome},
};
use kernel::{Command, Decided, Handle, Resource, Turn};
use serde_json::json;

use super::{KvSlot, Writes};

/// Puts an item, where what is there is what was expected.
#[derive(Clone, Debug)]
pub struct PutItem {
    /// The item.
    pub item: Item,
    /// What it replaces.
    pub expected: Expected,
}

impl Command for PutItem {
    type Reply = ();

    const NAME: &'static str = "put_item";
}

impl Handle<PutItem> for KvSlot {
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &PutItem, turn: &mut Turn<'_, Self>) -> Result<()> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, command: &PutItem, turn: &Turn<'_, Self>) -> Result<Decided<()>> {
        let put = Put::check(&self.open(turn).await?.table, command.item.clone(), command.expected.clone())?;
        let (to, from) = (put.to().clone(), put.from().clone());
        let rows = if to == from { vec![to.clone()] } else { vec![to.clone(), from.clone()] };
        let found = self.items_at(turn, &rows).await?;
        let outcome = put.decide(|row| found.get(row).map(|known| &known.item))?;
        let mut writes = Writes::new(&self.open, turn.now());
        match outcome {
            PutOutcome::Created => writes.write(&to, None, Some(put.item())),
            PutOutcome::Replaced => writes.write(&to, found.get(&to), Some(put.item())),
            PutOutcome::Moved => {
                writes.write(&from, found.get(&from), None);
                writes.write(&to, None, Some(put.item()));
            }
        }
        let (mut change, rows) = writes.into_parts();
        self.audit(&mut change, turn, "item.put", json!({ "key": self.key_of(put.item()) }));
        self.decided.extend(rows);
        Ok(Decided { reply: (), change: Some(change) })
    }
}
