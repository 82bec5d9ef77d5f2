//! Access keys of organizations, for S3's and DynamoDB's protocols.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(access_keys()).await?;
        for index in [
            "CREATE INDEX access_keys_organization ON access_keys (org_id)",
            "CREATE INDEX access_keys_maker ON access_keys (maker)",
        ] {
            schema.get_connection().execute_unprepared(index).await?;
        }
        Ok(())
    }
}

/// `resources` is JSON. A key's secret follows from `salt` and the server's own secret, of which `server` is a mark.
fn access_keys() -> TableCreateStatement {
    Table::create()
        .table("access_keys")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("name"))
        .col(text("access"))
        .col(text_null("resources"))
        .col(text_null("prefix"))
        .col(blob("salt"))
        .col(blob("server"))
        .col(text("maker"))
        .col(big_integer("created_at"))
        .col(big_integer_null("expires_at"))
        .col(big_integer_null("last_used_at"))
        .take()
}
