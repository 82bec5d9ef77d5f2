//! A table that items are written to, and items that are there.

use domain::{
    Error, Result,
    databases::{Index, IndexStatus, Item, Table, index_creating, index_failed, no_database, no_table},
    id::{OrgId, ResourceId},
    resource::Resource,
};
use store::{
    Store,
    databases::{Database, KeptTable, StoredItem},
};

use crate::table_status;

/// A table that items can be read of and written to.
#[derive(Clone, Debug)]
pub struct OpenTable {
    /// Its record.
    pub resource: Resource,
    /// What is kept of it.
    pub kept: KeptTable,
    /// What it is.
    pub table: Table,
}

impl OpenTable {
    /// The organization's table; 404 where there is none, 409 while it is on its way in or out.
    pub(crate) async fn load(store: &Store, org_id: OrgId, id: ResourceId) -> Result<Self> {
        Self::of(store.database(org_id, id).await?.ok_or_else(no_database)?)
    }

    /// Passes where the index can be read, if it is one; 409 while items from before it are still being added, and where
    /// that was given up.
    pub fn index_check(&self, index: Option<&Index>) -> Result<()> {
        let Some(index) = index else { return Ok(()) };
        let kept = self.kept.indexes.iter().find(|kept| kept.index.name == index.name);
        match kept.map(|kept| kept.status) {
            Some(IndexStatus::Active) => Ok(()),
            Some(IndexStatus::Failed) => Err(index_failed()),
            _ => Err(index_creating()),
        }
    }

    /// The table of a database; 404 where it has none, 409 while it is on its way in or out.
    pub fn of(database: Database) -> Result<Self> {
        let kept = database.kept.ok_or_else(no_table)?;
        table_status(database.resource.status).check_usable()?;
        Ok(Self { table: kept.table(&database.resource)?, resource: database.resource, kept })
    }
}

/// An item that is there, read.
#[derive(Clone, Debug)]
pub(crate) struct KnownItem {
    /// What it says.
    pub item: Item,
    /// In which version it lies there.
    pub version: i64,
    /// Its bytes, as they were counted.
    pub size: i32,
}

impl TryFrom<StoredItem> for KnownItem {
    type Error = Error;

    fn try_from(stored: StoredItem) -> Result<Self> {
        Ok(Self { item: Item::from_text(&stored.text)?, version: stored.version, size: stored.size })
    }
}
