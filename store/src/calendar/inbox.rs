//! What others sent about events.

use domain::{
    Timestamp,
    id::{MailMessageId, MailThreadId, MailboxId},
};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};

use crate::{Change, Store, StoreError, reader::Reads};

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
    /// The event as the sender has it, as JSON of whoever wrote the message.
    pub event: String,
    /// When it came.
    pub received_at: Timestamp,
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
        })
    }
}

impl Store {
    /// The mailbox's message with this id, where it is in this conversation.
    pub async fn calendar_message(
        &self,
        mailbox_id: MailboxId,
        thread_id: MailThreadId,
        id: MailMessageId,
    ) -> Result<Option<InboxMessage>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::MessageId.eq(id.to_string()))
            .filter(row::Column::ThreadId.eq(thread_id.to_string()))
            .filter(row::Column::MailboxId.eq(mailbox_id.to_string()));
        let row = select.read_one(self.reader()).await?;
        row.map(|row| row.read().ok_or_else(|| StoreError::corrupt("calendar_inbox"))).transpose()
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
        };
        self.insert(row.into_active_model());
    }
}
