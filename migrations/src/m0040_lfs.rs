//! Large files of repositories, and locks on paths.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, blob, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_sqlite = schema.get_database_backend() == DbBackend::Sqlite;
        for mut table in [objects(), locks()] {
            if is_sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        let index = Index::create().name("lfs_locks_by_id").table("lfs_locks").col("id").unique().take();
        schema.create_index(index).await?;
        // Bytes of all large files.
        let statement = "ALTER TABLE repositories ADD COLUMN lfs_size BIGINT NOT NULL DEFAULT 0";
        schema.get_connection().execute_unprepared(statement).await?;
        Ok(())
    }
}

/// `oid` has 32 bytes, and is the SHA-256 of the content.
fn objects() -> TableCreateStatement {
    Table::create()
        .table("lfs_objects")
        .col(big_integer("repo_no"))
        .col(blob("oid"))
        .col(text("content_id"))
        .col(big_integer("size"))
        .col(big_integer("added_at"))
        .primary_key(Index::create().col("repo_no").col("oid"))
        .take()
}

fn locks() -> TableCreateStatement {
    Table::create()
        .table("lfs_locks")
        .col(big_integer("repo_no"))
        .col(text("path"))
        .col(text("id"))
        .col(text("owner"))
        .col(big_integer("locked_at"))
        .primary_key(Index::create().col("repo_no").col("path"))
        .take()
}
