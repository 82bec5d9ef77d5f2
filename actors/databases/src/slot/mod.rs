//! The slots of a table: every write of items.
//!
//! A slot owns the items whose partition keys' hashes begin with its four bits, so that sixteen writes of a table are decided
//! side by side. What writes to several slots at once (an import, a batch, a put that moves an item) is done by the slot of
//! its first key: an item is written in the version in which it was read, so whichever of two writes of one item commits
//! second is decided again.
//!
//! Nothing but the table's description is kept in memory. It has the epoch that each write names. What needs no commit (a
//! refusal, deleting what isn't there) rests on the epoch that was read in its own turn.

mod delete;
mod import;
mod key;
mod open;
mod put;
mod writes;

use std::collections::HashMap;

use actors_base::Services;
use domain::{
    Result, Scope,
    databases::{Item, RowKey},
};
use kernel::{Resource, Turn};
use serde_json::Value;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
};

pub use self::{
    delete::{DeleteItem, DeleteItems},
    import::{ImportItems, Imported},
    key::SlotKey,
    open::OpenTable,
    put::PutItem,
};
pub(crate) use self::{open::KnownItem, writes::Writes};

/// A slot of a table.
#[derive(Debug)]
pub struct KvSlot {
    open: OpenTable,
}

impl Resource for KvSlot {
    type Key = SlotKey;
    type Services = Services;

    const KIND: &'static str = "kv_slot";

    async fn load(key: &SlotKey, services: &Services) -> Result<Self> {
        Ok(Self { open: OpenTable::load(&services.store, key.org_id, key.table).await? })
    }
}

/// The items that lie at some rows.
type Found = HashMap<RowKey, KnownItem>;

impl KvSlot {
    /// The table as it is in the epoch that the store has now, for a caller who may write.
    async fn open(&mut self, turn: &Turn<'_, Self>) -> Result<&OpenTable> {
        let (key, store) = (turn.key(), &turn.services().store);
        turn.authority(key.org_id).await?.require(Scope::ResourcesWrite)?;
        if store.table_epoch(self.open.kept.no).await? != Some(self.open.kept.epoch) {
            self.open = OpenTable::load(store, key.org_id, key.table).await?;
        }
        Ok(&self.open)
    }

    /// The items that lie at these rows now.
    async fn items_at(&self, turn: &Turn<'_, Self>, rows: &[RowKey]) -> Result<Found> {
        let stored = turn.services().store.items_at(self.open.kept.no, rows).await?;
        stored.into_iter().map(|stored| Ok((stored.row.clone(), stored.try_into()?))).collect()
    }

    /// Adds what was done to items to the audit trail: keys, or how many, and never what they say.
    fn audit(&self, change: &mut Change, turn: &Turn<'_, Self>, action: &str, about: Value) {
        let resource = &self.open.resource;
        let target = AuditTarget::new("table", resource.id).labelled(&resource.name);
        let entry = AuditEntry::new(turn.context(), action, target).in_org(resource.org_id);
        change.audit_add(turn.now(), entry.with_metadata(about));
    }

    /// The key of an item, as the audit trail shows it.
    fn key_of(&self, item: &Item) -> Value {
        let key = self.open.table.schema.key_of(item).map(|key| key.into_item(&self.open.table.schema));
        // Maps with texts for names can always be written.
        key.ok().and_then(|key| serde_json::to_value(key).ok()).unwrap_or_default()
    }
}
