//! Putting an item.

use domain::{
    Result,
    databases::{Expected, Item, Put, PutOutcome},
};
use kernel::{Command, Handle, Turn};
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
    async fn handle(&mut self, command: &PutItem, turn: &mut Turn<'_, Self>) -> Result<()> {
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
        let mut change = writes.into_change();
        self.audit(&mut change, turn, "item.put", json!({ "key": self.key_of(put.item()) }));
        turn.commit(change).await
    }
}
