//! What rings before events begin.

use domain::{
    Timestamp,
    calendar::{Alarm, AlarmKey, AlarmKind, Window, recurrence::Wall},
    id::{CalendarId, EventId, MailboxId},
};
use sea_orm::Value;

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    struct AlarmRow {
        event_id: String,
        recurrence: i64,
        kind: String,
        minutes: i64,
        rings_at: i64,
        starts_at: i64,
        has_rung: bool,
    }
}

row! {
    struct NextRow {
        rings_at: i64,
    }
}

row! {
    struct EventRow {
        id: String,
    }
}

/// The columns of an [`AlarmRow`].
const ALARM: &str = "a.event_id, a.recurrence, a.kind, a.minutes, a.rings_at, a.starts_at, a.has_rung";

impl AlarmRow {
    fn alarm(self) -> Option<Alarm> {
        Some(Alarm {
            event_id: self.event_id.parse().ok()?,
            key: AlarmKey {
                recurrence: Wall(self.recurrence),
                kind: AlarmKind::from_name(&self.kind)?,
                minutes: self.minutes,
            },
            at: Timestamp(self.rings_at),
            starts_at: Timestamp(self.starts_at),
            has_rung: self.has_rung,
        })
    }
}

/// The numbered places of `ids` behind the first `taken` values.
fn places(taken: usize, ids: &[EventId]) -> String {
    let places: Vec<String> = (taken + 1..=taken + ids.len()).map(|place| format!("${place}")).collect();
    places.join(", ")
}

impl Store {
    async fn alarms(&self, sql: &Sql) -> Result<Vec<Alarm>, StoreError> {
        let rows: Vec<AlarmRow> = self.reader().rows(sql).await?;
        rows.into_iter().map(|row| row.alarm().ok_or_else(|| StoreError::corrupt("calendar_alarms"))).collect()
    }

    /// The alarms of these events, those that have rung included.
    pub async fn calendar_alarms(&self, events: &[EventId]) -> Result<Vec<Alarm>, StoreError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let text = format!("SELECT {ALARM} FROM calendar_alarms a WHERE a.event_id IN ({})", places(0, events));
        self.alarms(&Sql::new(text, events.iter().map(|id| id.to_string().into()))).await
    }

    /// Up to `limit` alarms of the mailbox that are to ring by `now`, the earliest first.
    pub async fn calendar_alarms_due(
        &self,
        mailbox_id: MailboxId,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Alarm>, StoreError> {
        let text = format!(
            "SELECT {ALARM} FROM calendar_alarms a \
             WHERE a.mailbox_id = $1 AND a.has_rung = $2 AND a.rings_at <= $3 \
             ORDER BY a.rings_at, a.event_id, a.recurrence, a.kind, a.minutes LIMIT {limit}"
        );
        self.alarms(&Sql::new(text, [mailbox_id.to_string().into(), false.into(), now.0.into()])).await
    }

    /// When the mailbox's next alarm rings behind `after`, of those that aren't of the events `without`.
    pub async fn calendar_alarm_next(
        &self,
        mailbox_id: MailboxId,
        after: Timestamp,
        without: &[EventId],
    ) -> Result<Option<Timestamp>, StoreError> {
        let others = match without {
            [] => String::new(),
            some => format!("AND event_id NOT IN ({})", places(3, some)),
        };
        let text = format!(
            "SELECT rings_at FROM calendar_alarms \
             WHERE mailbox_id = $1 AND has_rung = $2 AND rings_at > $3 {others} ORDER BY rings_at LIMIT 1"
        );
        let first: [Value; 3] = [mailbox_id.to_string().into(), false.into(), after.0.into()];
        let values = first.into_iter().chain(without.iter().map(|id| id.to_string().into()));
        let row: Option<NextRow> = self.reader().row(&Sql::new(text, values)).await?;
        Ok(row.map(|row| Timestamp(row.rings_at)))
    }

    /// Up to `limit` alarms of a calendar's events that have rung for what begins behind `now`.
    pub async fn calendar_alarms_rung(
        &self,
        calendar_id: CalendarId,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Alarm>, StoreError> {
        let text = format!(
            "SELECT {ALARM} FROM calendar_alarms a JOIN calendar_events e ON e.id = a.event_id \
             WHERE e.calendar_id = $1 AND a.has_rung = $2 AND a.starts_at > $3 \
             ORDER BY a.event_id, a.recurrence, a.kind, a.minutes LIMIT {limit}"
        );
        self.alarms(&Sql::new(text, [calendar_id.to_string().into(), true.into(), now.0.into()])).await
    }

    /// Up to `limit` of the mailbox's events that may have something to ring for in the window, in the order of their ids,
    /// after `after`.
    pub async fn calendar_events_that_ring(
        &self,
        mailbox_id: MailboxId,
        window: Window,
        after: Option<EventId>,
        limit: usize,
    ) -> Result<Vec<EventId>, StoreError> {
        let text = format!(
            "SELECT id FROM calendar_events WHERE mailbox_id = $1 AND id > $2 AND last_at >= $3 AND first_at < $4 \
             AND (reminders <> '[]' OR attendees > 0) ORDER BY id LIMIT {limit}"
        );
        let after = after.map_or_else(String::new, |id| id.to_string());
        let values = [mailbox_id.to_string().into(), after.into(), window.from.0.into(), window.to.0.into()];
        let rows: Vec<EventRow> = self.reader().rows(&Sql::new(text, values)).await?;
        rows.into_iter().map(|row| row.id.parse().map_err(|_| StoreError::corrupt("calendar_events.id"))).collect()
    }
}

impl Change {
    /// Writes an alarm of the mailbox, over the one with its key where there is one.
    pub fn calendar_alarm_set(&mut self, mailbox_id: MailboxId, alarm: &Alarm) {
        let statement = "INSERT INTO calendar_alarms \
                         (event_id, recurrence, kind, minutes, mailbox_id, rings_at, starts_at, has_rung) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                         ON CONFLICT (event_id, recurrence, kind, minutes) DO UPDATE \
                         SET rings_at = excluded.rings_at, starts_at = excluded.starts_at, has_rung = excluded.has_rung";
        let values = [
            alarm.event_id.to_string().into(),
            alarm.key.recurrence.0.into(),
            alarm.key.kind.as_str().into(),
            alarm.key.minutes.into(),
            mailbox_id.to_string().into(),
            alarm.at.0.into(),
            alarm.starts_at.0.into(),
            alarm.has_rung.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Removes an alarm.
    pub fn calendar_alarm_remove(&mut self, alarm: &Alarm) {
        let statement = "DELETE FROM calendar_alarms \
                         WHERE event_id = $1 AND recurrence = $2 AND kind = $3 AND minutes = $4";
        let values = [
            alarm.event_id.to_string().into(),
            alarm.key.recurrence.0.into(),
            alarm.key.kind.as_str().into(),
            alarm.key.minutes.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Removes the mailbox's alarms of what began before `before`.
    pub fn calendar_alarms_forget(&mut self, mailbox_id: MailboxId, before: Timestamp) {
        let statement = "DELETE FROM calendar_alarms WHERE mailbox_id = $1 AND starts_at < $2";
        self.run_statement(Sql::new(statement, [mailbox_id.to_string().into(), before.0.into()]), Expect::Any);
    }
}
