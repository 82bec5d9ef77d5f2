//! Messages that are being written, and those on their way out.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, boolean, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for mut table in [drafts(), outgoing()] {
            if schema.get_database_backend() == DbBackend::Sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX mail_drafts_listed ON mail_drafts (mailbox_id, updated_at, message_id)",
            "CREATE INDEX mail_outgoing_of_mailbox ON mail_outgoing (mailbox_id, created_at)",
            "CREATE INDEX mail_outgoing_made ON mail_outgoing (created_at)",
            "CREATE INDEX mail_outgoing_waiting ON mail_outgoing (leaves_at) WHERE state IN ('held', 'queued', 'deferred')",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// What is written, as JSON, beside the message that conversations show of it. `is_sent` while a message that left the writer's
/// hands can be taken back.
fn drafts() -> TableCreateStatement {
    Table::create()
        .table("mail_drafts")
        .col(text("mailbox_id"))
        .col(text("message_id"))
        .col(big_integer("version"))
        .col(text("content"))
        .col(big_integer("updated_at"))
        .col(boolean("is_sent"))
        .primary_key(Index::create().col("mailbox_id").col("message_id"))
        .take()
}

/// A row for each recipient of a message that was sent. `leaves_at` is when it was to leave, `due` when it is tried next.
fn outgoing() -> TableCreateStatement {
    Table::create()
        .table("mail_outgoing")
        .col(text("mailbox_id"))
        .col(text("message_id"))
        .col(text("recipient"))
        .col(text("org_id"))
        .col(text("domain"))
        .col(text("sender"))
        .col(text("raw_id"))
        .col(text("state"))
        .col(big_integer("due"))
        .col(big_integer("tries"))
        .col(text_null("reply"))
        .col(text_null("host"))
        .col(boolean("tls"))
        .col(big_integer("leaves_at"))
        .col(boolean("is_delay_told"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("mailbox_id").col("message_id").col("recipient"))
        .take()
}
