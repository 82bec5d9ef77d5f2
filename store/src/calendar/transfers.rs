//! Calendars whole, and the addresses at which others follow them.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    calendar::{Calendar, Event, Exception},
    id::{CalendarId, EventId, MailboxId},
    token::TokenHash,
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value};

use super::row::{self, EXCEPTION, ExceptionRow};
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

row! {
    struct FeedRow {
        calendar_id: String,
        mailbox_id: String,
    }
}

impl Store {
    /// Events of a calendar in the order of their ids, behind one of them, at most `limit`.
    pub async fn calendar_events_after(
        &self,
        calendar_id: CalendarId,
        after: Option<EventId>,
        limit: u64,
    ) -> Result<Vec<Event>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::CalendarId.eq(calendar_id.to_string()))
            .filter(row::Column::Id.gt(after.map(|id| id.to_string()).unwrap_or_default()))
            .order_by_asc(row::Column::Id)
            .limit(limit);
        let rows = select.read_list(self.reader()).await?;
        let Some((first, last)) = rows.first().zip(rows.last()) else { return Ok(Vec::new()) };
        let mut exceptions = self.calendar_exceptions_among(calendar_id, &first.id, &last.id).await?;
        let read = |row: row::Model| {
            let id = row.id.parse().map_err(|_| StoreError::corrupt("calendar_events.id"))?;
            row.event(exceptions.remove(&id).unwrap_or_default())
        };
        rows.into_iter().map(read).collect()
    }

    /// What was changed alone of the events of a calendar from one to another.
    async fn calendar_exceptions_among(
        &self,
        calendar_id: CalendarId,
        first: &str,
        last: &str,
    ) -> Result<BTreeMap<EventId, Vec<Exception>>, StoreError> {
        let text = format!(
            "SELECT {EXCEPTION} FROM calendar_exceptions x JOIN calendar_events e ON e.id = x.event_id \
             WHERE e.calendar_id = $1 AND e.id >= $2 AND e.id <= $3 ORDER BY x.event_id, x.recurrence"
        );
        let values: [Value; 3] = [calendar_id.to_string().into(), first.into(), last.into()];
        let rows: Vec<ExceptionRow> = self.reader().rows(&Sql::new(text, values)).await?;
        let mut found: BTreeMap<EventId, Vec<Exception>> = BTreeMap::new();
        for row in rows {
            let (id, exception) = row.read()?;
            found.entry(id).or_default().push(exception);
        }
        Ok(found)
    }

    /// The calendar that is followed at the address with this token, in a mailbox that is there.
    pub async fn calendar_of_feed(&self, token: &TokenHash) -> Result<Option<Calendar>, StoreError> {
        let statement = "SELECT calendar_id, mailbox_id FROM calendar_feeds WHERE token_hash = $1";
        let row: Option<FeedRow> = self.reader().row(&Sql::new(statement, [token.0.to_vec().into()])).await?;
        let Some(row) = row else { return Ok(None) };
        let corrupt = || StoreError::corrupt("an id of calendar_feeds");
        let id: CalendarId = row.calendar_id.parse().map_err(|_| corrupt())?;
        let mailbox_id: MailboxId = row.mailbox_id.parse().map_err(|_| corrupt())?;
        if self.mailbox_by_id(mailbox_id).await?.is_none() {
            return Ok(None);
        }
        Ok(self.calendars(mailbox_id).await?.into_iter().find(|calendar| calendar.id == id))
    }
}

impl Change {
    /// Has a calendar be followed at the address with this token, and at no other one.
    pub fn calendar_feed_set(&mut self, calendar: &Calendar, token: &TokenHash, now: Timestamp) {
        let statement = "INSERT INTO calendar_feeds (calendar_id, mailbox_id, token_hash, created_at) VALUES ($1, $2, $3, $4) \
                         ON CONFLICT (calendar_id) DO UPDATE SET token_hash = excluded.token_hash, \
                         created_at = excluded.created_at";
        let values = [
            calendar.id.to_string().into(),
            calendar.mailbox_id.to_string().into(),
            token.0.to_vec().into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Has a calendar be followed nowhere.
    pub fn calendar_feed_remove(&mut self, id: CalendarId) {
        let statement = "DELETE FROM calendar_feeds WHERE calendar_id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
    }
}
