//! What the `console` gateway kept instead of sending it, for operators to see.

use domain::{id::KeptId, time::Timestamp};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::{Change, Purge, Store, StoreError, reader::Reads};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "kept_messages")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub gateway: String,
        pub channel: String,
        pub recipient: String,
        pub subject: Option<String>,
        pub body: String,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A message that a gateway kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMessage {
    /// Which gateway kept it.
    pub gateway: String,
    /// What it would have gone over: `email`, `sms`, ….
    pub channel: String,
    /// Whom it would have gone to.
    pub recipient: String,
    /// Its subject line, where the channel has one.
    pub subject: Option<String>,
    /// Its text.
    pub body: String,
    /// When.
    pub created_at: Timestamp,
}

impl From<row::Model> for KeptMessage {
    fn from(row: row::Model) -> Self {
        Self {
            gateway: row.gateway,
            channel: row.channel,
            recipient: row.recipient,
            subject: row.subject,
            body: row.body,
            created_at: Timestamp(row.created_at),
        }
    }
}

impl Change {
    /// Keeps `message`.
    pub fn kept_add(&mut self, message: KeptMessage) {
        self.insert(row::ActiveModel {
            id: Set(KeptId::new(message.created_at).to_string()),
            gateway: Set(message.gateway),
            channel: Set(message.channel),
            recipient: Set(message.recipient),
            subject: Set(message.subject),
            body: Set(message.body),
            created_at: Set(message.created_at.0),
        });
    }
}

impl Purge {
    /// The messages from before `before`.
    pub fn kept_messages(before: Timestamp) -> Self {
        Self::new("kept messages", ["kept_messages", "id", "created_at < $1"], before.0)
    }
}

impl Store {
    /// The newest `limit` messages, newest first; with `recipient`, only those to them.
    pub async fn kept_list(&self, recipient: Option<&str>, limit: u32) -> Result<Vec<KeptMessage>, StoreError> {
        let mut select = row::Entity::find();
        if let Some(recipient) = recipient {
            select = select.filter(row::Column::Recipient.eq(recipient));
        }
        let rows = select.order_by_desc(row::Column::Id).limit(u64::from(limit)).read_all(self.reader()).await?;
        Ok(rows.into_iter().map(KeptMessage::from).collect())
    }
}
