//! Reports on messages that were sent name the message, not its mailbox. And what the owners of domains ask of who brings them mail.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(policies()).await?;
        for index in [
            "CREATE INDEX mail_outgoing_of_message ON mail_outgoing (message_id)",
            "CREATE INDEX mail_policies_expiring ON mail_policies (expires_at)",
        ] {
            schema.get_connection().execute_unprepared(index).await?;
        }
        Ok(())
    }
}

/// Policies of domains (RFC 8461) as they were fetched last: `record` is what their record called them, `hosts` has a space between two.
fn policies() -> TableCreateStatement {
    Table::create()
        .table("mail_policies")
        .col(text("domain").primary_key())
        .col(text("record"))
        .col(text("mode"))
        .col(text("hosts"))
        .col(big_integer("fetched_at"))
        .col(big_integer("expires_at"))
        .take()
}
