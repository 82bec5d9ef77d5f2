//! Key-value databases (contract C 2.3, 4.5): the descriptions of tables, their items, and the rows of their indexes.
//!
//! A table has a number beside its id, which no other table ever has again, so that the keys of its rows are short. Keys are
//! binary, because both databases order bytes alike and text differently. Rows are kept in the order of their keys, which is
//! how they are read.
//!
//! A table has sixteen slots, each with the number and size of the items that lie in it. Every write of an item names the
//! epoch that its slot is in; whatever changes the table's description, or has it deleted, raises the epoch first.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, integer, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let backend = schema.get_database_backend();
        for table in [tables(), slots(), clustered(items(), backend), clustered(index_rows(), backend)] {
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX kv_tables_org ON kv_tables (org_id)",
            "CREATE INDEX kv_items_expiring ON kv_items (table_no, expires_at) WHERE expires_at IS NOT NULL",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// Has SQLite keep the table's rows in its primary key, and nowhere else.
fn clustered(mut table: TableCreateStatement, backend: DbBackend) -> TableCreateStatement {
    if backend == DbBackend::Sqlite {
        table.extra("WITHOUT ROWID");
    }
    table
}

/// `key_schema`, `indexes` and `settings` are JSON. AUTOINCREMENT, because a number must never come again.
fn tables() -> TableCreateStatement {
    Table::create()
        .table("kv_tables")
        .col(big_integer("table_no").primary_key().auto_increment())
        .col(text("id").unique_key())
        .col(text("org_id"))
        .col(text("key_schema"))
        .col(text("indexes"))
        .col(integer("indexes_made"))
        .col(text("settings"))
        .col(big_integer("epoch"))
        .take()
}

fn slots() -> TableCreateStatement {
    Table::create()
        .table("kv_slots")
        .col(big_integer("table_no"))
        .col(integer("slot"))
        .col(big_integer("epoch"))
        .col(big_integer("items"))
        .col(big_integer("bytes"))
        .primary_key(Index::create().col("table_no").col("slot"))
        .take()
}

/// `item` is the item's JSON in normal form, `size` its bytes as DynamoDB counts them. `version` is another one with every
/// write, also where an item comes again.
fn items() -> TableCreateStatement {
    Table::create()
        .table("kv_items")
        .col(big_integer("table_no"))
        .col(blob("pk"))
        .col(blob("sk"))
        .col(big_integer("version"))
        .col(integer("size"))
        .col(big_integer_null("expires_at"))
        .col(text("item"))
        .primary_key(Index::create().col("table_no").col("pk").col("sk"))
        .take()
}

/// The keys that items have in an index, and where they lie.
fn index_rows() -> TableCreateStatement {
    Table::create()
        .table("kv_index")
        .col(big_integer("table_no"))
        .col(integer("index_no"))
        .col(blob("ipk"))
        .col(blob("isk"))
        .col(blob("pk"))
        .col(blob("sk"))
        .primary_key(Index::create().col("table_no").col("index_no").col("ipk").col("isk").col("pk").col("sk"))
        .take()
}
