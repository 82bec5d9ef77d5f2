//! Who cloned which repository.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let mut table = clones();
        if schema.get_database_backend() == DbBackend::Sqlite {
            table.extra("WITHOUT ROWID");
        }
        schema.create_table(table).await
    }
}

/// `cloner` is the id of a person, or of the key with which somebody came; `cloned_at` is the first time.
fn clones() -> TableCreateStatement {
    Table::create()
        .table("git_clones")
        .col(big_integer("repo_no"))
        .col(text("cloner"))
        .col(big_integer("cloned_at"))
        .primary_key(Index::create().col("repo_no").col("cloner"))
        .take()
}
