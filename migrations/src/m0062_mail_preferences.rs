//! What people chose of their mailboxes (contract B 4.8).

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, boolean, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        // `push` is an object of mailboxes, as JSON.
        let mut table = Table::create()
            .table("mail_preferences")
            .col(text("org_id"))
            .col(text("user_id"))
            .col(boolean("categories"))
            .col(text("push"))
            .col(big_integer("version"))
            .primary_key(Index::create().col("org_id").col("user_id"))
            .take();
        if schema.get_database_backend() == DbBackend::Sqlite {
            table.extra("WITHOUT ROWID");
        }
        schema.create_table(table).await
    }
}
