//! The database that the path names, as an argument.

use actors::databases::OpenTable;
use domain::{
    databases::{no_database, no_table, table_creating, table_deleting},
    id::{OrgId, ResourceId},
};
use store::{Store, StoreError, databases::Database};

use crate::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    owned::{Owned, OwnedRow},
    path::{PathParameter, concat_example},
};

/// The id of a resource that is a database.
pub struct DatabaseId(pub ResourceId);

impl PathParameter for DatabaseId {
    const NAME: &'static str = "databaseId";
    const DESCRIPTION: &'static str = "A database: the `resourceId` of its record.";
    const EXAMPLE: &'static str = concat_example(ResourceId::PREFIX);
    const NOT_FOUND: &'static str = "Database not found";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

impl OwnedRow for Database {
    type Owner = OrgId;
    type Id = DatabaseId;

    async fn load(store: &Store, owner: OrgId, DatabaseId(id): DatabaseId) -> Result<Option<Self>, StoreError> {
        store.database(owner, id).await
    }
}

/// The table of the database that the path names: holding it proves that items can be read of it.
pub(crate) struct Table(pub OpenTable);

impl Argument for Table {
    fn describe(facts: &mut Facts) {
        Owned::<Database>::describe(facts);
        facts.error(404, &no_database().to_string());
        facts.error(404, &no_table().to_string());
        facts.error(409, &table_creating().to_string());
        facts.error(409, &table_deleting().to_string());
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Owned(database) = Owned::<Database>::take(call).await?;
        Ok(Self(OpenTable::of(database)?))
    }
}
