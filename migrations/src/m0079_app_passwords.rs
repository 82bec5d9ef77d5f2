//! App passwords: what the mail clients of people sign in with.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(app_passwords()).await?;
        for index in [
            "CREATE UNIQUE INDEX app_passwords_tokens ON app_passwords (token_hash)",
            "CREATE INDEX app_passwords_person ON app_passwords (user_id)",
            "CREATE INDEX app_passwords_organization ON app_passwords (org_id)",
        ] {
            schema.get_connection().execute_unprepared(index).await?;
        }
        Ok(())
    }
}

/// `uses` are the names of what it opens, a space between two.
fn app_passwords() -> TableCreateStatement {
    Table::create()
        .table("app_passwords")
        .col(text("id").primary_key())
        .col(text("user_id"))
        .col(text("org_id"))
        .col(text("name"))
        .col(text("uses"))
        .col(blob("token_hash"))
        .col(big_integer("created_at"))
        .col(big_integer_null("last_used_at"))
        .take()
}
