//! What buckets have beside their settings: lifecycle rules, CORS rules and tags. They may be long, and no write of a file reads
//! them, so they lie beside the bucket's row.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(rules()).await
    }
}

/// `rules` is JSON; `kind` says of what. What is empty has no row.
fn rules() -> TableCreateStatement {
    Table::create()
        .table("bucket_rules")
        .col(big_integer("bucket_no"))
        .col(text("kind"))
        .col(text("rules"))
        .primary_key(Index::create().col("bucket_no").col("kind"))
        .take()
}
