//! Refs of repositories, and the pushes that moved them.
//!
//! Names of refs are bytes: git takes any, and texts are sorted otherwise by PostgreSQL.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, blob, blob_null, boolean, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_sqlite = schema.get_database_backend() == DbBackend::Sqlite;
        for mut table in [refs(), pushes(), push_refs()] {
            if is_sqlite {
                // Rows lie where their keys do.
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        Ok(())
    }
}

/// `oid` has 20 bytes, and so has `peeled`: the object that a tag's object ends at, where `oid` names one.
fn refs() -> TableCreateStatement {
    Table::create()
        .table("git_refs")
        .col(big_integer("repo_no"))
        .col(blob("name"))
        .col(blob("oid"))
        .col(blob_null("peeled"))
        .primary_key(Index::create().col("repo_no").col("name"))
        .take()
}

/// `id` sorts by when the push came. `report` is what git showed of it.
fn pushes() -> TableCreateStatement {
    Table::create()
        .table("pushes")
        .col(big_integer("repo_no"))
        .col(text("id"))
        .col(text("pushed_by"))
        .col(text_null("key_id"))
        .col(text_null("ip"))
        .col(boolean("atomic"))
        .col(text("report"))
        .col(big_integer("pushed_at"))
        .primary_key(Index::create().col("repo_no").col("id"))
        .take()
}

/// What a push asked for a ref, and what became of it. `old_oid` and `new_oid` are null for a ref that wasn't, or isn't, there.
fn push_refs() -> TableCreateStatement {
    Table::create()
        .table("push_refs")
        .col(big_integer("repo_no"))
        .col(text("push_id"))
        .col(blob("name"))
        .col(blob_null("old_oid"))
        .col(blob_null("new_oid"))
        .col(text("verdict"))
        .col(text_null("reason"))
        .primary_key(Index::create().col("repo_no").col("push_id").col("name"))
        .take()
}
