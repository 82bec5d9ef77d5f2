//! Filters of mailboxes, the answers of who is away, senders who are kept out, and whom a mailbox wrote to and heard from.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, boolean, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for mut table in [filters(), jobs(), vacations(), told(), automatic(), blocked(), people()] {
            if schema.get_database_backend() == DbBackend::Sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX mail_vacation_told_at ON mail_vacation_told (told_at)",
            "CREATE INDEX mail_people_seen ON mail_people (mailbox_id, last_at)",
            // What mailboxes wrote to and heard from before is told by what is kept of it.
            "INSERT INTO mail_people (mailbox_id, address, name, written, heard, last_at) \
             SELECT mailbox_id, recipient, '', COUNT(*), 0, MAX(created_at) FROM mail_outgoing \
             GROUP BY mailbox_id, recipient",
            "INSERT INTO mail_people (mailbox_id, address, name, written, heard, last_at) \
             SELECT mailbox_id, sender, '', 0, COUNT(*), MAX(last_at) FROM mail_threads WHERE sender IS NOT NULL \
             GROUP BY mailbox_id, sender \
             ON CONFLICT (mailbox_id, address) DO UPDATE SET heard = excluded.heard",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `zone` is where the days of the query are days, `actions` what is done, as JSON, `place` the order in which filters hold.
fn filters() -> TableCreateStatement {
    Table::create()
        .table("mail_filters")
        .col(text("mailbox_id"))
        .col(text("filter_id"))
        .col(big_integer("place"))
        .col(text("name"))
        .col(text("query"))
        .col(text("zone"))
        .col(text("actions"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("mailbox_id").col("filter_id"))
        .take()
}

/// How far the last application of a filter to what was there came.
fn jobs() -> TableCreateStatement {
    Table::create()
        .table("mail_filter_jobs")
        .col(text("mailbox_id"))
        .col(text("filter_id"))
        .col(text("state"))
        .col(big_integer("since"))
        .col(text_null("behind"))
        .col(big_integer("matched"))
        .col(big_integer("changed"))
        .col(big_integer("started_at"))
        .col(big_integer_null("ended_at"))
        .primary_key(Index::create().col("mailbox_id").col("filter_id"))
        .take()
}

/// What is answered to who writes, as JSON.
fn vacations() -> TableCreateStatement {
    Table::create().table("mail_vacations").col(text("mailbox_id").primary_key()).col(text("vacation")).take()
}

/// Who was answered, and when.
fn told() -> TableCreateStatement {
    Table::create()
        .table("mail_vacation_told")
        .col(text("mailbox_id"))
        .col(text("address"))
        .col(big_integer("told_at"))
        .primary_key(Index::create().col("mailbox_id").col("address"))
        .take()
}

/// Messages that the server sends for a mailbox, which stand in no conversation: each names its bytes until they are let go.
/// `is_forward` are those that are passed on as they came.
fn automatic() -> TableCreateStatement {
    Table::create()
        .table("mail_automatic")
        .col(text("mailbox_id"))
        .col(text("message_id"))
        .col(text("raw_id"))
        .col(boolean("is_forward"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("mailbox_id").col("message_id"))
        .take()
}

/// Senders whose mail is spam.
fn blocked() -> TableCreateStatement {
    Table::create()
        .table("mail_blocked")
        .col(text("mailbox_id"))
        .col(text("address"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("mailbox_id").col("address"))
        .take()
}

/// How many messages a mailbox sent to an address and got from it.
fn people() -> TableCreateStatement {
    Table::create()
        .table("mail_people")
        .col(text("mailbox_id"))
        .col(text("address"))
        .col(text("name"))
        .col(big_integer("written"))
        .col(big_integer("heard"))
        .col(big_integer("last_at"))
        .primary_key(Index::create().col("mailbox_id").col("address"))
        .take()
}
