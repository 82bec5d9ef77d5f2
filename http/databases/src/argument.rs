//! The database that the path names, as an argument.

use actors::databases::OpenTable;
use domain::databases::{no_database, no_table, table_creating, table_deleting};
use http_shell::{argument::Argument, call::Call, error::Result, facts::Facts, owned::Owned};
use store::databases::Database;

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
