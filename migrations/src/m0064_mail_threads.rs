//! Messages that are filed, the conversations that they make, and where these stand.

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
        let tables = [states(), messages(), words(), references(), threads(), places(), counts(), aliases(), senders()];
        for mut table in tables {
            if schema.get_database_backend() == DbBackend::Sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX mail_messages_of_thread ON mail_messages (mailbox_id, thread_id, received_at, message_id)",
            "CREATE INDEX mail_messages_of_raw ON mail_messages (mailbox_id, raw_id)",
            "CREATE INDEX mail_references_of_thread ON mail_references (mailbox_id, thread_id)",
            "CREATE INDEX mail_threads_about ON mail_threads (mailbox_id, base_subject, last_at)",
            "CREATE INDEX mail_threads_of_sender ON mail_threads (mailbox_id, sender)",
            "CREATE INDEX mail_places_listed ON mail_places (mailbox_id, place, sort_at, thread_id)",
            "CREATE INDEX mail_places_by_category ON mail_places (mailbox_id, place, category, sort_at, thread_id)",
            "CREATE INDEX mail_places_of_thread ON mail_places (mailbox_id, thread_id)",
            "CREATE INDEX mail_thread_aliases_of_thread ON mail_thread_aliases (mailbox_id, thread_id)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// What a mailbox's owner keeps in mind. `revision` counts its commits.
fn states() -> TableCreateStatement {
    Table::create()
        .table("mail_states")
        .col(text("mailbox_id").primary_key())
        .col(big_integer("revision"))
        .col(text("signature"))
        .col(boolean("reminder_mail"))
        .take()
}

/// `people`, `files` and `verdict` are JSON; `head` are the lines that stand before the bytes when they are read; `modseq` is the
/// mailbox's revision that wrote the row last.
fn messages() -> TableCreateStatement {
    Table::create()
        .table("mail_messages")
        .col(text("mailbox_id"))
        .col(text("message_id"))
        .col(text("thread_id"))
        .col(text("raw_id"))
        .col(big_integer("size"))
        .col(text("head"))
        .col(text("envelope_from"))
        .col(big_integer("received_at"))
        .col(big_integer_null("sent_at"))
        .col(text("people"))
        .col(text("subject"))
        .col(text("snippet"))
        .col(text("files"))
        .col(text("verdict"))
        .col(text("rule"))
        .col(boolean("is_unparsed"))
        .col(text("box"))
        .col(boolean("is_incoming"))
        .col(boolean("is_unread"))
        .col(boolean("is_starred"))
        .col(text("category"))
        .col(big_integer("modseq"))
        .primary_key(Index::create().col("mailbox_id").col("message_id"))
        .take()
}

/// What is searched of a message, in small letters.
fn words() -> TableCreateStatement {
    Table::create()
        .table("mail_words")
        .col(text("mailbox_id"))
        .col(text("message_id"))
        .col(text("words"))
        .primary_key(Index::create().col("mailbox_id").col("message_id"))
        .take()
}

/// Which conversations have seen a Message-ID, by its hash.
fn references() -> TableCreateStatement {
    Table::create()
        .table("mail_references")
        .col(text("mailbox_id"))
        .col(text("hash"))
        .col(text("thread_id"))
        .primary_key(Index::create().col("mailbox_id").col("hash").col("thread_id"))
        .take()
}

/// `shown` is the row of lists, as JSON; the other columns are what is looked for and decided by.
fn threads() -> TableCreateStatement {
    Table::create()
        .table("mail_threads")
        .col(text("mailbox_id"))
        .col(text("thread_id"))
        .col(text("base_subject"))
        .col(text_null("sender"))
        .col(big_integer("last_at"))
        .col(text("labels"))
        .col(big_integer_null("snoozed_until"))
        .col(big_integer_null("raised_at"))
        .col(text("shown"))
        .primary_key(Index::create().col("mailbox_id").col("thread_id"))
        .take()
}

/// A row for each view that a conversation stands in.
fn places() -> TableCreateStatement {
    Table::create()
        .table("mail_places")
        .col(text("mailbox_id"))
        .col(text("place"))
        .col(text("thread_id"))
        .col(big_integer("sort_at"))
        .col(text("category"))
        .primary_key(Index::create().col("mailbox_id").col("place").col("thread_id"))
        .take()
}

/// How many conversations stand in a view, kept in step with them.
fn counts() -> TableCreateStatement {
    Table::create()
        .table("mail_counts")
        .col(text("mailbox_id"))
        .col(text("place"))
        .col(text("category"))
        .col(big_integer("threads"))
        .col(big_integer("unread"))
        .primary_key(Index::create().col("mailbox_id").col("place").col("category"))
        .take()
}

/// The ids of conversations that turned out to be a part of another one.
fn aliases() -> TableCreateStatement {
    Table::create()
        .table("mail_thread_aliases")
        .col(text("mailbox_id"))
        .col(text("alias_id"))
        .col(text("thread_id"))
        .primary_key(Index::create().col("mailbox_id").col("alias_id"))
        .take()
}

/// The category that a mailbox chose for a sender.
fn senders() -> TableCreateStatement {
    Table::create()
        .table("mail_senders")
        .col(text("mailbox_id"))
        .col(text("address"))
        .col(text("category"))
        .primary_key(Index::create().col("mailbox_id").col("address"))
        .take()
}
