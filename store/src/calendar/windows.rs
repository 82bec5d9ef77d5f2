//! What of a mailbox's events lies in a window, without reading anything else.

use std::collections::HashMap;

use domain::{
    calendar::{EventHead, Exception, Window},
    id::{CalendarId, EventId, MailboxId},
};
use sea_orm::Value;

use super::row::{EXCEPTION, ExceptionRow, HEAD, HeadRow};
use crate::{Store, StoreError, sql::Sql};

/// Milliseconds by which a single event may begin before the window that it reaches into.
const SINGLE_MS_MAX: i64 = 31 * 86_400_000;
/// Milliseconds by which a wall may be off from its instant in any zone, and some.
const SLACK_MS: i64 = 2 * 86_400_000;

/// Which events are asked for.
#[derive(Clone, Copy, Debug)]
pub struct WindowQuery<'a> {
    /// Whose.
    pub mailbox_id: MailboxId,
    /// The calendars that they are in.
    pub calendars: &'a [CalendarId],
    /// When they are.
    pub window: Window,
    /// How many events are read at most, and how many occurrences that were changed alone.
    pub limit: usize,
}

/// An event that may have an occurrence in the window, with what was changed alone and matters there.
#[derive(Clone, Debug)]
pub struct WindowEvent {
    /// What it is known by in all calendars that have it.
    pub uid: String,
    /// What lists show of it.
    pub head: EventHead,
    /// What was changed alone: what lies in the window, or stands for an occurrence that would.
    pub exceptions: Vec<Exception>,
}

impl WindowQuery<'_> {
    /// The statement that selects `columns` of `from`, where `condition` holds beside the mailbox (`$1`) and the calendars;
    /// `values` are those of `$2` and on.
    fn sql(&self, columns: &str, from: &str, condition: &str, values: [i64; 2]) -> Sql {
        let first = values.len() + 2;
        let places: Vec<String> = (first..first + self.calendars.len()).map(|place| format!("${place}")).collect();
        let text = format!(
            "SELECT {columns} FROM {from} WHERE e.mailbox_id = $1 AND {condition} AND e.calendar_id IN ({}) LIMIT {}",
            places.join(", "),
            self.limit
        );
        let of_window = values.into_iter().map(Value::from);
        let calendars = self.calendars.iter().map(|id| Value::from(id.to_string()));
        let mailbox: Value = self.mailbox_id.to_string().into();
        Sql::new(text, std::iter::once(mailbox).chain(of_window).chain(calendars).collect::<Vec<_>>())
    }
}

impl Store {
    /// The events that may have an occurrence in the window.
    pub async fn calendar_window(&self, query: &WindowQuery<'_>) -> Result<Vec<WindowEvent>, StoreError> {
        if query.calendars.is_empty() {
            return Ok(Vec::new());
        }
        let Window { from, to } = query.window;
        let head: String = HEAD.split(", ").map(|column| format!("e.{column}")).collect::<Vec<_>>().join(", ");
        let events = "calendar_events e";
        let since = from.0.saturating_sub(SINGLE_MS_MAX);
        let single = format!("e.kind = 'single' AND e.first_at >= $2 AND e.first_at < $3 AND e.last_at >= {}", from.0);
        let single = query.sql(&head, events, &single, [since, to.0]);
        let mut rows: Vec<HeadRow> = self.reader().rows_of_many(&single).await?;
        let lasting = "e.kind IN ('long', 'series') AND e.last_at >= $2 AND e.first_at < $3";
        let lasting = query.sql(&head, events, lasting, [from.0, to.0]);
        rows.extend(self.reader().rows_of_many::<HeadRow>(&lasting).await?);
        let mut exceptions = self.window_exceptions(query).await?;
        rows.into_iter()
            .map(|row| {
                let uid = row.uid();
                let head = EventHead::try_from(row)?;
                let exceptions = exceptions.remove(&head.id).unwrap_or_default();
                Ok(WindowEvent { uid, head, exceptions })
            })
            .collect()
    }

    async fn window_exceptions(&self, query: &WindowQuery<'_>) -> Result<HashMap<EventId, Vec<Exception>>, StoreError> {
        let Window { from, to } = query.window;
        let (since, until) = (from.0.saturating_sub(SLACK_MS), to.0.saturating_add(SLACK_MS));
        let condition = format!(
            "e.kind = 'series' AND e.last_at >= $2 AND e.first_at < $3 \
             AND ((x.start_at < {until} AND x.end_at >= {since}) \
             OR (x.recurrence_at < {until} AND x.recurrence_at + e.lasts_ms >= {since}))"
        );
        let from = "calendar_events e JOIN calendar_exceptions x ON x.event_id = e.id";
        let sql = query.sql(EXCEPTION, from, &condition, [query.window.from.0, query.window.to.0]);
        let rows: Vec<ExceptionRow> = self.reader().rows_of_many(&sql).await?;
        let mut exceptions: HashMap<EventId, Vec<Exception>> = HashMap::new();
        for row in rows {
            let (id, exception) = row.read()?;
            exceptions.entry(id).or_default().push(exception);
        }
        Ok(exceptions)
    }
}
