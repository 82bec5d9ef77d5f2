//! Files of mail that come into mailboxes, files that mailboxes go out in, and addresses at which calendars are followed.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for mut table in [imports(), exports(), feeds()] {
            if schema.get_database_backend() == DbBackend::Sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX mail_imports_of_mailbox ON mail_imports (mailbox_id, import_id)",
            "CREATE INDEX mail_imports_ended ON mail_imports (ended_at) WHERE ended_at IS NOT NULL",
            "CREATE UNIQUE INDEX calendar_feeds_by_token ON calendar_feeds (token_hash)",
            "CREATE INDEX calendar_feeds_of_mailbox ON calendar_feeds (mailbox_id)",
            "CREATE INDEX mail_exports_of_mailbox ON mail_exports (mailbox_id, export_id)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `place` and `faults` are JSON; `commits` counts those that filed messages of it; `content_id` is the file, as long as it is needed.
fn imports() -> TableCreateStatement {
    Table::create()
        .table("mail_imports")
        .col(text("import_id").primary_key())
        .col(text("org_id"))
        .col(text("mailbox_id"))
        .col(text("created_by"))
        .col(text("kind"))
        .col(big_integer("size"))
        .col(text("state"))
        .col(text_null("content_id"))
        .col(text("place"))
        .col(big_integer("commits"))
        .col(big_integer("messages"))
        .col(big_integer("filed"))
        .col(big_integer("duplicates"))
        .col(big_integer("failed"))
        .col(text("faults"))
        .col(text_null("error"))
        .col(big_integer("created_at"))
        .col(big_integer_null("ended_at"))
        .take()
}

/// `content_id` is the file, from when the export is done until it is thrown away.
fn exports() -> TableCreateStatement {
    Table::create()
        .table("mail_exports")
        .col(text("export_id").primary_key())
        .col(text("org_id"))
        .col(text("mailbox_id"))
        .col(text("created_by"))
        .col(text("state"))
        .col(text_null("content_id"))
        .col(big_integer("size"))
        .col(big_integer("messages"))
        .col(big_integer("created_at"))
        .col(big_integer_null("ended_at"))
        .take()
}

/// `token_hash` is that of the secret in the address, which is kept nowhere.
fn feeds() -> TableCreateStatement {
    Table::create()
        .table("calendar_feeds")
        .col(text("calendar_id").primary_key())
        .col(text("mailbox_id"))
        .col(blob("token_hash"))
        .col(big_integer("created_at"))
        .take()
}
