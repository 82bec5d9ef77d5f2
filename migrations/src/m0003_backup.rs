//! The authenticator backup (contract A 2.1): one row per person.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("backups")
            .col(text("user_id").primary_key())
            .col(text("salt"))
            .col(text("ciphertext"))
            .col(big_integer("revision"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .take();
        schema.create_table(table).await
    }
}
