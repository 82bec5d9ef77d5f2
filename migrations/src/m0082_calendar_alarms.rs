//! What rings before events begin.

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
        let mut table = alarms();
        if schema.get_database_backend() == DbBackend::Sqlite {
            table.extra("WITHOUT ROWID");
        }
        schema.create_table(table).await?;
        for statement in [
            "CREATE INDEX calendar_alarms_next ON calendar_alarms (mailbox_id, has_rung, rings_at)",
            // What may ring, without whatever else there is in a calendar.
            "CREATE INDEX calendar_events_that_ring ON calendar_events (mailbox_id, id) \
             WHERE reminders <> '[]' OR attendees > 0",
            // Calendars that are there already are looked at as soon as this release starts.
            "INSERT INTO timers (kind, key, name, due, wake_at, tenant) \
             SELECT 'calendars', b.mailbox_id, 'extend', 0, 0, m.org_id \
             FROM calendar_books b JOIN mailboxes m ON m.id = b.mailbox_id WHERE m.deleted_at IS NULL",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `recurrence` is the wall that the series gives the occurrence, 0 where there is none; `starts_at` is when what the alarm
/// tells of begins.
fn alarms() -> TableCreateStatement {
    Table::create()
        .table("calendar_alarms")
        .col(text("event_id"))
        .col(big_integer("recurrence"))
        .col(text("kind"))
        .col(big_integer("minutes"))
        .col(text("mailbox_id"))
        .col(big_integer("rings_at"))
        .col(big_integer("starts_at"))
        .col(boolean("has_rung"))
        .primary_key(Index::create().col("event_id").col("recurrence").col("kind").col("minutes"))
        .take()
}
