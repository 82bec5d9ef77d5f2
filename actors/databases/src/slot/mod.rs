//! The slots of a table: every write of items.
//!
//! A slot owns the items whose partition keys' hashes begin with its four bits, so that sixteen writes of a table are decided
//! side by side. What writes to several slots at once (an import, a batch, a put that moves an item) is done by the slot of
//! its first key: an item is written in the version in which it was read, so whichever of two writes of one item commits
//! second is decided again.
//!
//! Nothing but the table's description is kept in memory. It has the epoch that each write names. Before an answer that needs
//! no commit (a refusal, deleting what isn't there) the slot looks whether that is still the epoch, and decides again where it
//! isn't: so a write costs no read of it. Puts, updates and deletes that wait together are decided in one turn and committed together,
//! each on what those before it decided.

mod delete;
mod import;
mod key;
mod open;
mod put;
mod update;
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
    update::UpdateItem,
};
pub(crate) use self::{open::KnownItem, writes::Writes};

/// A slot of a table.
#[derive(Debug)]
pub struct KvSlot {
    open: OpenTable,
    /// What rows are as soon as what this turn decided is committed.
    decided: HashMap<RowKey, Option<KnownItem>>,
}

impl Resource for KvSlot {
    type Key = SlotKey;
    type Services = Services;

    const KIND: &'static str = "kv_slot";

    async fn load(key: &SlotKey, services: &Services) -> Result<Self> {
        let open = OpenTable::load(&services.store, key.org_id, key.table).await?;
        Ok(Self { open, decided: HashMap::new() })
    }

    async fn is_current(&self, services: &Services) -> Result<bool> {
        Ok(services.store.table_epoch(self.open.kept.no).await? == Some(self.open.kept.epoch))
    }

    fn forget_decided(&mut self) {
        self.decided.clear();
    }
}

/// The items that lie at some rows.
type Found = HashMap<RowKey, KnownItem>;

impl KvSlot {
    /// The table, as far as the slot knows it, for a caller who may write.
    async fn open(&self, turn: &Turn<'_, Self>) -> Result<&OpenTable> {
        turn.authority(turn.key().org_id).await?.require(Scope::ResourcesWrite)?;
        Ok(&self.open)
    }

    /// The items that lie at these rows now, as far as they are known to be, or as soon as what was decided is committed.
    async fn items_at(&self, turn: &Turn<'_, Self>, rows: &[RowKey]) -> Result<Found> {
        let (decided, unknown): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|row| self.decided.contains_key(row));
        let stored = turn.services().store.items_at(self.open.kept.no, &unknown).await?;
        let mut found = Found::with_capacity(rows.len());
        for stored in stored {
            found.insert(stored.row.clone(), stored.try_into()?);
        }
        found.extend(decided.into_iter().filter_map(|row| Some((row.clone(), self.decided.get(&row)?.clone()?))));
        Ok(found)
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
