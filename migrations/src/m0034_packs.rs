//! Packs of repositories: what their objects are in.

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
        let mut packs = packs();
        if schema.get_database_backend() == DbBackend::Sqlite {
            packs.extra("WITHOUT ROWID");
        }
        schema.create_table(packs).await?;
        for statement in [
            // Counts the commits that change which packs there are.
            "ALTER TABLE repositories ADD COLUMN packs_version BIGINT NOT NULL DEFAULT 0",
            // Bytes of all packs, with their indexes.
            "ALTER TABLE repositories ADD COLUMN size BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE repositories ADD COLUMN pushed_at BIGINT NULL",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `hash` has 20 bytes and is what git calls the pack. Pack and index are contents of the organization.
fn packs() -> TableCreateStatement {
    Table::create()
        .table("git_packs")
        .col(big_integer("repo_no"))
        .col(blob("hash"))
        .col(text("pack"))
        .col(text("pack_index"))
        .col(big_integer("objects"))
        .col(big_integer("size"))
        .col(big_integer("made_at"))
        .primary_key(Index::create().col("repo_no").col("hash"))
        .take()
}
