//! Key-value databases (contract C 2.3, 4.5): who owns what.
//!
//! What a table is (its name, indexes and settings) is decided by the organization's
//! [`ResourceBook`](actors_base::resources::ResourceBook), whose commands this package gives it. Every write of items belongs
//! to one of the table's sixteen [slots](slot). What takes long (emptying a table, adding what is there to an
//! index, deleting what has expired) is done by jobs.

mod expiry;
mod index;
mod removal;
mod slot;
mod table;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    resources::ResourceKind,
    work::{Lane, job},
};
use domain::{
    Error,
    databases::{TableStatus, no_database, table_exists},
    resource::{ResourceStatus, ResourceType},
};

use self::{
    expiry::{TABLE_EXPIRY, TableExpiry},
    index::{INDEX_BACKFILL, INDEX_REMOVAL, IndexBackfill, IndexRemoval},
    removal::{TABLE_REMOVAL, TableRemoval, delete_tables_after},
};
pub use self::{
    index::{CreateIndex, DeleteIndex},
    slot::{DeleteItem, DeleteItems, ImportItems, Imported, KvSlot, OpenTable, PutItem, SlotKey, UpdateItem},
    table::{ChangeTable, CreateTable, DeleteTable},
};

/// What goes over all areas knows of databases.
pub const AREA: Area = Area {
    jobs: &[INDEX_BACKFILL, INDEX_REMOVAL, TABLE_EXPIRY, TABLE_REMOVAL],
    lanes,
    deletes_organization: delete_tables_after,
    ..Area::named("databases")
};

/// What the organization's book knows of tables.
pub(crate) const TABLES: ResourceKind = ResourceKind {
    resource_type: ResourceType::Database,
    audited_as: "table",
    count_max: |settings| settings.tables_max,
    exists: table_exists,
    too_many: |most| Error::bad_request("limit_reached", format!("An organization has at most {most} tables.")),
    not_found: no_database,
};

fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![
        job::lane(services.store.clone(), INDEX_BACKFILL, IndexBackfill),
        job::lane(services.store.clone(), INDEX_REMOVAL, IndexRemoval),
        job::lane(services.store.clone(), TABLE_EXPIRY, TableExpiry),
        job::lane(services.store.clone(), TABLE_REMOVAL, TableRemoval),
    ]
}

/// How far a table is whose record is that far.
pub const fn table_status(status: ResourceStatus) -> TableStatus {
    match status {
        ResourceStatus::Creating => TableStatus::Creating,
        ResourceStatus::Deleting => TableStatus::Deleting,
        // A table that could not be made has nothing in it.
        ResourceStatus::Active | ResourceStatus::Error => TableStatus::Active,
    }
}
