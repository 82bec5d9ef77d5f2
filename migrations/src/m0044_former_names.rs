//! Names that repositories had, under which git goes on finding them.

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
        let mut table = names();
        if schema.get_database_backend() == DbBackend::Sqlite {
            table.extra("WITHOUT ROWID");
        }
        schema.create_table(table).await?;
        let mut index = Index::create();
        index.name("repository_former_names_of").table("repository_former_names").col("repo_no");
        schema.create_index(index.take()).await
    }
}

/// `name_key` is the folded name, as in `resources`; whoever had a name last is found by it.
fn names() -> TableCreateStatement {
    Table::create()
        .table("repository_former_names")
        .col(text("org_id"))
        .col(text("name_key"))
        .col(big_integer("repo_no"))
        .primary_key(Index::create().col("org_id").col("name_key"))
        .take()
}
