//! The processes that serve.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema
            .create_table(
                Table::create()
                    .table("nodes")
                    .col(text("name").primary_key())
                    .col(text("version"))
                    .col(big_integer("started_at"))
                    .col(big_integer("seen_at"))
                    .col(text("health"))
                    .take(),
            )
            .await
    }
}
