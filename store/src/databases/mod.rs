//! Key-value databases (contract C 2.3, 4.5): what tables are, and their items.
//!
//! A table has a number beside its id, which its rows have in their keys. Every write of items names the epoch that the
//! table was in when it was decided, and counts what it adds to its slots; in the same statement, it is found stale where the
//! epoch has been raised since. So nothing is written that doesn't know of an index, and nothing into a table that is going.

mod counts;
mod items;
mod range;
mod removal;
mod row;

use domain::{
    databases::{CursorKey, Index, IndexStatus, Table, TableName, TableSettings},
    id::{OrgId, ResourceId},
    resource::{Resource, ResourceType},
};
use hmac::Mac;
use serde::{Deserialize, Serialize};

pub use self::{
    counts::{SlotCount, TableCount},
    items::{ItemDraft, StoredItem},
    range::{FoundItem, ItemPlace, ItemRange},
    removal::TableRows,
};
use crate::{
    Change, Expect, Store, StoreError, json,
    reader::{Reads, row as read_row},
    resources::StateRow,
    sql::Sql,
};

/// What the key of cursors is made of, beside the server's secret.
const CURSOR_LABEL: &[u8] = b"troupe/databases/cursors";

/// An index of a table, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptIndex {
    /// What it is.
    #[serde(flatten)]
    pub index: Index,
    /// The number that its rows have in their keys; no other index of its table ever has it again.
    pub no: i32,
    /// How far it is.
    pub status: IndexStatus,
}

/// A table's own rows, beside its record among the resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTable {
    /// The number that its rows have in their keys.
    pub no: i64,
    /// Its resource.
    pub id: ResourceId,
    /// Whose it is.
    pub org_id: OrgId,
    /// What the keys of its items are made of.
    pub schema: domain::databases::KeySchema,
    /// By what else its items can be found.
    pub indexes: Vec<KeptIndex>,
    /// How many indexes it ever had.
    pub indexes_made: i32,
    /// How it behaves.
    pub settings: TableSettings,
    /// Counts what writes of items have to know.
    pub epoch: i64,
}

/// A table as it is now: its record and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// The record.
    pub resource: Resource,
    /// What is kept of the table; none where a restore brought the record only.
    pub kept: Option<KeptTable>,
}

read_row! {
    struct EpochRow {
        epoch: i64,
    }
}

impl KeptTable {
    /// The table, under the name that its record has.
    pub fn table(&self, resource: &Resource) -> Result<Table, StoreError> {
        let name = TableName::parse("name", &resource.name).map_err(|_| StoreError::corrupt("resources.name"))?;
        Ok(Table {
            name,
            schema: self.schema.clone(),
            indexes: self.indexes.iter().map(|kept| kept.index.clone()).collect(),
            settings: self.settings.clone(),
        })
    }
}

impl Store {
    /// The organization's database with this id.
    pub async fn database(&self, org_id: OrgId, id: ResourceId) -> Result<Option<Database>, StoreError> {
        let statement = "SELECT resources.id AS id, version, epoch FROM resources \
                         LEFT JOIN kv_tables ON kv_tables.id = resources.id WHERE resources.id = $1";
        let sql = Sql::new(statement, [id.to_string().into()]);
        let Some(state) = self.reader().row::<StateRow>(&sql).await? else { return Ok(None) };
        match self.parts.databases.find(&state) {
            Some(database) => Ok(Some(database).filter(|database| database.resource.org_id == org_id)),
            None => self.database_read(org_id, id).await,
        }
    }

    /// The epoch is read before the record, so that a table that is going is seen to be, or its epoch is an old one.
    async fn database_read(&self, org_id: OrgId, id: ResourceId) -> Result<Option<Database>, StoreError> {
        let kept = row::by_id(org_id, id).read_one(self.reader()).await?.map(KeptTable::try_from).transpose()?;
        let Some(resource) = self.resource(org_id, ResourceType::Database, id).await? else { return Ok(None) };
        let database = Database { resource, kept };
        let epoch = database.kept.as_ref().map(|kept| kept.epoch);
        self.parts.databases.keep(id, database.resource.version, epoch, &database);
        Ok(Some(database))
    }

    /// The epoch that the table of this number is in; none where it is gone.
    pub async fn table_epoch(&self, table_no: i64) -> Result<Option<i64>, StoreError> {
        let sql = Sql::new("SELECT epoch FROM kv_tables WHERE table_no = $1", [table_no.into()]);
        let found: Option<EpochRow> = self.reader().row(&sql).await?;
        Ok(found.map(|row| row.epoch))
    }

    /// What is kept of the organization's tables, in no order.
    pub async fn kept_tables(&self, org_id: OrgId) -> Result<Vec<KeptTable>, StoreError> {
        let rows = row::of_org(org_id).read_list(self.reader()).await?;
        rows.into_iter().map(KeptTable::try_from).collect()
    }

    /// What signs the cursors of scans and queries.
    pub fn databases_cursor_key(&self) -> CursorKey {
        let secret = self.blobs().signer().clone().chain_update(CURSOR_LABEL).finalize().into_bytes();
        CursorKey::new(&secret)
    }
}

impl Change {
    /// Adds what is kept of a table, whose number the database gives, and its slots.
    pub fn table_add(&mut self, table: &KeptTable) {
        self.insert(row::new(table));
        let epoch = [table.id.to_string().into(), table.epoch.into()];
        let statement = "INSERT INTO kv_slots (table_no, slot, epoch, items, bytes) \
                         SELECT table_no, column1, $2, 0, 0 FROM kv_tables CROSS JOIN (VALUES (0), (1), (2), (3), (4), \
                         (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15)) AS slots WHERE id = $1";
        self.run_statement(Sql::new(statement, epoch), Expect::Rows(16));
    }

    /// Writes what has changed of a table, and raises its epoch; stale where somebody else has.
    pub fn table_update(&mut self, table: &KeptTable) {
        let values = [
            table.no.into(),
            table.epoch.into(),
            json::text(&table.indexes).into(),
            table.indexes_made.into(),
            json::text(&table.settings).into(),
        ];
        let statement = "UPDATE kv_tables SET epoch = epoch + 1, indexes = $3, indexes_made = $4, settings = $5 \
                         WHERE table_no = $1 AND epoch = $2";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        let statement = "UPDATE kv_slots SET epoch = epoch + 1 WHERE table_no = $1 AND epoch = $2";
        self.run_statement(Sql::new(statement, [table.no.into(), table.epoch.into()]), Expect::Rows(16));
    }
}
