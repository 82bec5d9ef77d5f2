//! A mailbox's calendars, and the book that counts what is decided on them.

use domain::{
    Timestamp,
    calendar::{Calendar, CalendarColor},
    id::{CalendarId, MailboxId},
};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter, QueryOrder};

use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

mod book {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "calendar_books")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub mailbox_id: String,
        pub revision: i64,
        pub events: i64,
        pub sent_on: i64,
        pub sent: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod calendar {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "calendars")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub mailbox_id: String,
        pub name: String,
        pub color: String,
        pub description: String,
        pub is_default: bool,
        pub modseq: i64,
        pub version: i64,
        pub created_at: i64,
        pub deleted_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// The state of a mailbox's calendars that something is decided on. Read it before what is decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarBook {
    /// Whose.
    pub mailbox_id: MailboxId,
    /// How many commits it has seen; 0 while there never was a calendar.
    pub revision: i64,
    /// Events in all calendars.
    pub events: i64,
    /// The day on which something was sent last, in days since the Unix epoch.
    pub sent_on: i64,
    /// How many guests were sent something on that day.
    pub sent: i64,
}

impl CalendarBook {
    /// The book as the next commit leaves it, where that adds so many events. What it changes is known by its revision.
    #[must_use]
    pub const fn next(self, added: i64) -> Self {
        Self { revision: self.revision + 1, events: self.events + added, ..self }
    }

    /// The book once so many guests more were sent something.
    #[must_use]
    pub const fn with_sent(self, now: Timestamp, guests: i64) -> Self {
        let today = now.0.div_euclid(DAY_MS);
        let before = if self.sent_on == today { self.sent } else { 0 };
        Self { sent_on: today, sent: before + guests, ..self }
    }
}

impl calendar::Model {
    fn of(calendar: &Calendar) -> Self {
        Self {
            id: calendar.id.to_string(),
            mailbox_id: calendar.mailbox_id.to_string(),
            name: calendar.name.clone(),
            color: calendar.color.to_string(),
            description: calendar.description.clone(),
            is_default: calendar.is_default,
            modseq: calendar.modseq,
            version: calendar.version,
            created_at: calendar.created_at.0,
            deleted_at: None,
        }
    }

    fn read(self) -> Option<Calendar> {
        Some(Calendar {
            id: self.id.parse().ok()?,
            mailbox_id: self.mailbox_id.parse().ok()?,
            name: self.name,
            color: CalendarColor::from_name(&self.color)?,
            description: self.description,
            is_default: self.is_default,
            modseq: self.modseq,
            version: self.version,
            created_at: Timestamp(self.created_at),
        })
    }
}

impl Store {
    /// The mailbox's book as it is now.
    pub async fn calendar_book(&self, mailbox_id: MailboxId) -> Result<CalendarBook, StoreError> {
        let row = book::Entity::find_by_id(mailbox_id.to_string()).read_one(self.reader()).await?;
        Ok(match row {
            Some(row) => CalendarBook {
                mailbox_id,
                revision: row.revision,
                events: row.events,
                sent_on: row.sent_on,
                sent: row.sent,
            },
            None => CalendarBook { mailbox_id, revision: 0, events: 0, sent_on: 0, sent: 0 },
        })
    }

    /// The mailbox's calendars: the default one first, the others in the order in which they were made.
    pub async fn calendars(&self, mailbox_id: MailboxId) -> Result<Vec<Calendar>, StoreError> {
        let rows = calendar::Entity::find()
            .filter(calendar::Column::MailboxId.eq(mailbox_id.to_string()))
            .filter(calendar::Column::DeletedAt.is_null())
            .order_by_asc(calendar::Column::Id)
            .read_all(self.reader())
            .await?;
        let read = |row: calendar::Model| row.read().ok_or_else(|| StoreError::corrupt("calendars"));
        let mut calendars = rows.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        calendars.sort_by_key(|calendar| !calendar.is_default);
        Ok(calendars)
    }
}

impl Change {
    /// Writes the book as it is after this commit; stale when somebody else has since it was read. `after` has the revision
    /// behind that of `before`.
    pub fn calendar_book_turn(&mut self, before: CalendarBook, after: CalendarBook) {
        let mailbox_id = before.mailbox_id.to_string();
        if before.revision == 0 {
            let CalendarBook { revision, events, sent_on, sent, .. } = after;
            self.insert(book::Model { mailbox_id, revision, events, sent_on, sent }.into_active_model());
            return;
        }
        let statement = "UPDATE calendar_books SET revision = $3, events = $4, sent_on = $5, sent = $6 \
                         WHERE mailbox_id = $1 AND revision = $2";
        let values = [
            mailbox_id.into(),
            before.revision.into(),
            after.revision.into(),
            after.events.into(),
            after.sent_on.into(),
            after.sent.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Adds a calendar.
    pub fn calendar_add(&mut self, calendar: &Calendar) {
        self.insert(calendar::Model::of(calendar).into_active_model());
    }

    /// Writes a calendar as it is now, under the next version; stale when it has another version than it was read with.
    pub fn calendar_set(&mut self, calendar: &Calendar) {
        let next = calendar::Model { version: calendar.version + 1, ..calendar::Model::of(calendar) };
        let at_version = calendar::Column::Id
            .eq(calendar.id.to_string())
            .and(calendar::Column::Version.eq(calendar.version))
            .and(calendar::Column::DeletedAt.is_null());
        let update = calendar::Entity::update_many().set(next.into_active_model().reset_all()).filter(at_version);
        self.run(update, Expect::Rows(1));
    }

    /// Notes that something in the calendar changed.
    pub fn calendar_touch(&mut self, id: CalendarId, modseq: i64) {
        let statement = "UPDATE calendars SET modseq = $2 WHERE id = $1 AND deleted_at IS NULL";
        self.run_statement(Sql::new(statement, [id.to_string().into(), modseq.into()]), Expect::Rows(1));
    }

    /// Takes a calendar out of sight; what is in it is deleted afterwards. Stale when it has another version.
    pub fn calendar_close(&mut self, calendar: &Calendar, now: Timestamp) {
        let statement = "UPDATE calendars SET deleted_at = $3, version = version + 1 \
                         WHERE id = $1 AND version = $2 AND deleted_at IS NULL";
        let values = [calendar.id.to_string().into(), calendar.version.into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
