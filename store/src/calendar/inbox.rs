//! What others sent about events.

use domain::{
    Timestamp,
    calendar::InvitationState,
    id::{MailMessageId, MailThreadId, MailboxId},
};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};

use serde::{Deserialize, Serialize};

use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

/// The topic of the jobs that have calendars look at what came by mail.
pub const CALENDAR_ARRIVALS: &str = "calendar.arrivals";

/// A message about an event that came by mail, as a job names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CalendarArrival {
    /// Whose it is.
    pub mailbox_id: MailboxId,
    /// The message.
    pub message_id: MailMessageId,
}

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "calendar_inbox")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub message_id: String,
        pub thread_id: String,
        pub mailbox_id: String,
        pub method: String,
        pub uid: String,
        pub sender: String,
        pub event: String,
        pub received_at: i64,
        pub state: Option<String>,
        pub why: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A message about an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxMessage {
    /// Its id.
    pub id: MailMessageId,
    /// The conversation that it is in.
    pub thread_id: MailThreadId,
    /// Whose it is.
    pub mailbox_id: MailboxId,
    /// What it asks for (RFC 5546).
    pub method: String,
    /// What the event is known by.
    pub uid: String,
    /// Who sent it.
    pub sender: String,
    /// The event as the sender has it: a file for what came by mail, the organizer's mailbox for what came without.
    pub event: String,
    /// When it came.
    pub received_at: Timestamp,
    /// What became of it; none for what came without mail.
    pub state: Option<InvitationState>,
    /// Why, where that isn't plain.
    pub why: Option<String>,
}

impl row::Model {
    fn read(self) -> Option<InboxMessage> {
        Some(InboxMessage {
            id: self.message_id.parse().ok()?,
            thread_id: self.thread_id.parse().ok()?,
            mailbox_id: self.mailbox_id.parse().ok()?,
            method: self.method,
            uid: self.uid,
            sender: self.sender,
            event: self.event,
            received_at: Timestamp(self.received_at),
            state: match self.state {
                Some(state) => Some(InvitationState::from_name(&state)?),
                None => None,
            },
            why: self.why,
        })
    }
}

impl Store {
    /// The mailbox's message with this id.
    pub async fn calendar_message(
        &self,
        mailbox_id: MailboxId,
        id: MailMessageId,
    ) -> Result<Option<InboxMessage>, StoreError> {
        Ok(self.calendar_messages_of(mailbox_id, &[id]).await?.pop())
    }

    /// Those of the mailbox's messages that are about events.
    pub async fn calendar_messages_of(
        &self,
        mailbox_id: MailboxId,
        ids: &[MailMessageId],
    ) -> Result<Vec<InboxMessage>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::MessageId.is_in(ids.iter().map(ToString::to_string)))
            .filter(row::Column::MailboxId.eq(mailbox_id.to_string()));
        let rows = select.read_all(self.reader()).await?;
        rows.into_iter().map(|row| row.read().ok_or_else(|| StoreError::corrupt("calendar_inbox"))).collect()
    }

    /// The newest messages about an event, at most `limit`.
    pub async fn calendar_messages(
        &self,
        mailbox_id: MailboxId,
        uid: &str,
        limit: u64,
    ) -> Result<Vec<InboxMessage>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::MailboxId.eq(mailbox_id.to_string()))
            .filter(row::Column::Uid.eq(uid))
            .order_by_desc(row::Column::MessageId)
            .limit(limit);
        let rows = select.read_all(self.reader()).await?;
        rows.into_iter().map(|row| row.read().ok_or_else(|| StoreError::corrupt("calendar_inbox"))).collect()
    }
}

impl Change {
    /// Keeps a message about an event.
    pub fn calendar_message_add(&mut self, message: &InboxMessage) {
        let row = row::Model {
            message_id: message.id.to_string(),
            thread_id: message.thread_id.to_string(),
            mailbox_id: message.mailbox_id.to_string(),
            method: message.method.clone(),
            uid: message.uid.clone(),
            sender: message.sender.clone(),
            event: message.event.clone(),
            received_at: message.received_at.0,
            state: message.state.map(|state| state.to_string()),
            why: message.why.clone(),
        };
        self.insert(row.into_active_model());
    }

    /// Forgets what messages said of events that are deleted themselves.
    pub fn calendar_messages_forget(&mut self, mailbox_id: MailboxId, ids: &[MailMessageId]) {
        for id in ids {
            let statement = "DELETE FROM calendar_inbox WHERE message_id = $1 AND mailbox_id = $2";
            let values = [id.to_string().into(), mailbox_id.to_string().into()];
            self.run_statement(Sql::new(statement, values), Expect::Any);
        }
    }

    /// Notes what became of a message that came by mail.
    pub fn calendar_message_settle(&mut self, id: MailMessageId, state: InvitationState, why: Option<&str>) {
        let statement = "UPDATE calendar_inbox SET state = $2, why = $3 WHERE message_id = $1";
        let values = [id.to_string().into(), state.as_str().into(), why.map(str::to_owned).into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }
}
