//! Calendars of mailboxes and their events (contract B 2.8).
//!
//! Every commit counts the `revision` of the mailbox's book up, and what it changes has that number as its `modseq`: what
//! clients over `CalDAV` have seen last is one number. `href`, `etag`, `schedule_tag` and `ics` are theirs, too.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, boolean, integer, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_sqlite = schema.get_database_backend() == DbBackend::Sqlite;
        for mut table in [books(), calendars(), events(), exceptions(), gone(), inbox()] {
            if is_sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX calendars_of_mailbox ON calendars (mailbox_id, id)",
            "CREATE UNIQUE INDEX calendar_events_hrefs ON calendar_events (calendar_id, href)",
            "CREATE UNIQUE INDEX calendar_events_uids ON calendar_events (calendar_id, uid)",
            "CREATE INDEX calendar_events_uids_of_mailbox ON calendar_events (mailbox_id, uid)",
            "CREATE INDEX calendar_events_beginnings ON calendar_events (mailbox_id, kind, first_at)",
            "CREATE INDEX calendar_events_ends ON calendar_events (mailbox_id, kind, last_at)",
            "CREATE INDEX calendar_events_changes ON calendar_events (calendar_id, modseq)",
            "CREATE INDEX calendar_inbox_of_mailbox ON calendar_inbox (mailbox_id, uid)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// What is decided on of a mailbox's calendars: `events` counts those of all of them, `sent` the guests who were sent something
/// on the day `sent_on` (days since the Unix epoch).
fn books() -> TableCreateStatement {
    Table::create()
        .table("calendar_books")
        .col(text("mailbox_id").primary_key())
        .col(big_integer("revision"))
        .col(big_integer("events"))
        .col(big_integer("sent_on"))
        .col(big_integer("sent"))
        .take()
}

/// A calendar that is `deleted_at` some time is out of sight; its events are deleted afterwards.
fn calendars() -> TableCreateStatement {
    Table::create()
        .table("calendars")
        .col(text("id").primary_key())
        .col(text("mailbox_id"))
        .col(text("name"))
        .col(text("color"))
        .col(text("description"))
        .col(boolean("is_default"))
        .col(big_integer("modseq"))
        .col(big_integer("version"))
        .col(big_integer("created_at"))
        .col(big_integer_null("deleted_at"))
        .take()
}

/// Times on the wall are seconds; `first_at` and `last_at` are instants that follow from them and the zone, and between which
/// all of the event lies, for ever where it never ends. `beside` and `removed` are lists of walls, `detail` what lists don't
/// show.
fn events() -> TableCreateStatement {
    Table::create()
        .table("calendar_events")
        .col(text("id").primary_key())
        .col(text("mailbox_id"))
        .col(text("calendar_id"))
        .col(text("uid"))
        .col(text("href"))
        .col(text("etag"))
        .col(text_null("schedule_tag"))
        .col(big_integer("modseq"))
        .col(big_integer("version"))
        .col(big_integer("sequence"))
        .col(text("kind"))
        .col(big_integer("first_at"))
        .col(big_integer("last_at"))
        .col(big_integer("lasts_ms"))
        .col(text("form"))
        .col(text("zone"))
        .col(big_integer("start_wall"))
        .col(big_integer("end_wall"))
        .col(text_null("rule"))
        .col(big_integer_null("last_wall"))
        .col(text_null("beside"))
        .col(text_null("removed"))
        .col(text("summary"))
        .col(text("location"))
        .col(text("status"))
        .col(text("busy_status"))
        .col(text("reminders"))
        .col(integer("attendees"))
        .col(boolean("is_organizer"))
        .col(text_null("my_status"))
        .col(text("detail"))
        .col(text_null("ics"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .take()
}

/// An occurrence that was changed alone. `recurrence` is the wall that the series gives it, `recurrence_at` its instant.
fn exceptions() -> TableCreateStatement {
    Table::create()
        .table("calendar_exceptions")
        .col(text("event_id"))
        .col(big_integer("recurrence"))
        .col(big_integer("recurrence_at"))
        .col(big_integer("start_wall"))
        .col(big_integer("end_wall"))
        .col(big_integer("start_at"))
        .col(big_integer("end_at"))
        .col(text("summary"))
        .col(text("location"))
        .col(text("status"))
        .col(text("busy_status"))
        .col(text_null("my_status"))
        .primary_key(Index::create().col("event_id").col("recurrence"))
        .take()
}

/// What isn't in a calendar any more, for clients that had it.
fn gone() -> TableCreateStatement {
    Table::create()
        .table("calendar_gone")
        .col(text("calendar_id"))
        .col(text("href"))
        .col(big_integer("modseq"))
        .primary_key(Index::create().col("calendar_id").col("href"))
        .take()
}

/// What others sent about events: `method` is RFC 5546's, `event` the event as they have it.
fn inbox() -> TableCreateStatement {
    Table::create()
        .table("calendar_inbox")
        .col(text("message_id").primary_key())
        .col(text("thread_id"))
        .col(text("mailbox_id"))
        .col(text("method"))
        .col(text("uid"))
        .col(text("sender"))
        .col(text("event"))
        .col(big_integer("received_at"))
        .take()
}
