//! Events, each whole.

use domain::{
    calendar::{Event, Exception},
    id::{CalendarId, EventId, MailboxId},
};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter, Select};

use super::row::{self, EXCEPTION, ExceptionRow, exception};
use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

/// Events of a mailbox.
fn of_mailbox(mailbox_id: MailboxId) -> Select<row::Entity> {
    row::Entity::find().filter(row::Column::MailboxId.eq(mailbox_id.to_string()))
}

impl Store {
    /// The mailbox's event with this id; whether its calendar is in sight, the caller looks.
    pub async fn calendar_event(&self, mailbox_id: MailboxId, id: EventId) -> Result<Option<Event>, StoreError> {
        let select = of_mailbox(mailbox_id).filter(row::Column::Id.eq(id.to_string()));
        match select.read_one(self.reader()).await? {
            Some(row) => Ok(Some(row.event(self.calendar_exceptions(id).await?)?)),
            None => Ok(None),
        }
    }

    /// The mailbox's events with this `uid`, one a calendar at most.
    pub async fn calendar_events_by_uid(&self, mailbox_id: MailboxId, uid: &str) -> Result<Vec<Event>, StoreError> {
        let rows = of_mailbox(mailbox_id).filter(row::Column::Uid.eq(uid)).read_all(self.reader()).await?;
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            let id = row.id.parse().map_err(|_| StoreError::corrupt("calendar_events.id"))?;
            events.push(row.event(self.calendar_exceptions(id).await?)?);
        }
        Ok(events)
    }

    /// How many events a calendar has.
    pub async fn calendar_events_count(&self, calendar_id: CalendarId) -> Result<u64, StoreError> {
        let select = row::Entity::find().filter(row::Column::CalendarId.eq(calendar_id.to_string()));
        select.read_count(self.reader()).await
    }

    /// What was changed alone of an event, in the order of the occurrences.
    async fn calendar_exceptions(&self, id: EventId) -> Result<Vec<Exception>, StoreError> {
        let text = format!("SELECT {EXCEPTION} FROM calendar_exceptions x WHERE x.event_id = $1 ORDER BY x.recurrence");
        let rows: Vec<ExceptionRow> = self.reader().rows(&Sql::new(text, [id.to_string().into()])).await?;
        rows.into_iter().map(|row| row.read().map(|(_, exception)| exception)).collect()
    }
}

impl Change {
    /// Adds an event.
    ///
    /// # Errors
    /// Where its series can't be.
    pub fn calendar_event_add(&mut self, event: &Event) -> domain::Result<()> {
        let span = event.head.timing.span(&event.changed_walls())?;
        self.insert(row::Model::of(event, span).into_active_model());
        self.calendar_exceptions_add(event)
    }

    /// Writes an event as it is now, under the next version; stale when it has another version than it was read with.
    ///
    /// # Errors
    /// Where its series can't be.
    pub fn calendar_event_set(&mut self, event: &Event) -> domain::Result<()> {
        let span = event.head.timing.span(&event.changed_walls())?;
        let next = row::Model { version: event.version + 1, ..row::Model::of(event, span) };
        let at_version = row::Column::Id.eq(event.head.id.to_string()).and(row::Column::Version.eq(event.version));
        let update = row::Entity::update_many().set(next.into_active_model().reset_all()).filter(at_version);
        self.run(update, Expect::Rows(1));
        self.calendar_exceptions_remove(event.head.id);
        self.calendar_exceptions_add(event)
    }

    /// Removes an event, which clients that had it hear of; stale when it has another version than it was read with.
    pub fn calendar_event_remove(&mut self, event: &Event, modseq: i64) {
        let statement = "DELETE FROM calendar_events WHERE id = $1 AND version = $2";
        let values = [event.head.id.to_string().into(), event.version.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.calendar_exceptions_remove(event.head.id);
        let statement = "INSERT INTO calendar_gone (calendar_id, href, modseq) VALUES ($1, $2, $3)";
        let href = format!("{}.ics", event.head.id);
        let values = [event.head.calendar_id.to_string().into(), href.into(), modseq.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    fn calendar_exceptions_remove(&mut self, id: EventId) {
        let statement = "DELETE FROM calendar_exceptions WHERE event_id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
    }

    fn calendar_exceptions_add(&mut self, event: &Event) -> domain::Result<()> {
        if event.exceptions.is_empty() {
            return Ok(());
        }
        let series = event.head.timing.series()?;
        for it in &event.exceptions {
            let row = exception::Model::of(event.head.id, it, |wall| series.instant(wall));
            self.insert(row.into_active_model());
        }
        Ok(())
    }
}
