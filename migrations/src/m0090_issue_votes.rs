//! How many vote for an issue.

use sea_orm_migration::{prelude::*, schema::big_integer};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        // Nobody could vote before.
        schema.alter_table(Table::alter().table("issues").add_column(big_integer("votes").default(0)).take()).await
    }
}
