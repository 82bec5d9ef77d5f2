//! Hooks that alarms from outside come in by.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(hooks()).await?;
        schema.create_index(index()).await
    }
}

fn hooks() -> TableCreateStatement {
    Table::create()
        .table("alarm_hooks")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("name"))
        .col(blob("token_hash"))
        .col(text("created_by"))
        .col(big_integer("created_at"))
        .col(big_integer_null("last_used_at"))
        .take()
}

fn index() -> IndexCreateStatement {
    Index::create().name("alarm_hooks_org").table("alarm_hooks").col("org_id").col("id").take()
}
