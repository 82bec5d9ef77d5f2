//! The messages to a person's sockets, numbered per person, and kept for an hour for those that reconnect.
//!
//! The dispatcher turns outbox entries into numbered messages with [`Store::live_append`], publishes them on the hub,
//! and settles the entries; in that order, so that a message whose publisher died is published by another. A socket that sees a number missing, or that reconnects, reads [`Store::live_after`].

use std::collections::BTreeMap;

use domain::{id::UserId, time::Timestamp};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, value::RawValue};

use crate::{Change, Expect, Purge, Store, StoreError, json, reader::Reads, sql::Sql};

mod message {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "live_messages")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub seq: i64,
        pub body: String,
        pub created_at: i64,
        pub source: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod cursor {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "live_cursors")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub seq: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A message that the outbox holds and that has no number yet.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveDraft {
    /// The number of the outbox entry that it comes from.
    pub source: i64,
    /// Whom it is for.
    pub user_id: UserId,
    /// `{type, …}`.
    pub message: Value,
}

/// A numbered message.
#[derive(Clone, Debug)]
pub struct LiveMessage {
    /// Whom it is for.
    pub user_id: UserId,
    /// Its number among the person's messages: one more than that of the one before.
    pub seq: i64,
    /// `{type, …}`, without the number.
    pub body: Box<RawValue>,
    /// The number of the outbox entry that it came from.
    pub source: i64,
}

impl TryFrom<message::Model> for LiveMessage {
    type Error = StoreError;

    fn try_from(row: message::Model) -> Result<Self, StoreError> {
        let user_id = row.user_id.parse().map_err(|_| StoreError::corrupt("live_messages.user_id"))?;
        let body = RawValue::from_string(row.body).map_err(|_| StoreError::corrupt("live_messages.body"))?;
        Ok(Self { user_id, seq: row.seq, body, source: row.source })
    }
}

impl Change {
    /// Holds the person's numbers until this change is committed, so that nobody else gives any out.
    fn live_cursor_hold(&mut self, user_id: UserId) {
        self.run_statement(
            Sql::new(
                "INSERT INTO live_cursors (user_id, seq) VALUES ($1, 0) \
                 ON CONFLICT (user_id) DO UPDATE SET seq = live_cursors.seq",
                [user_id.to_string().into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Gives `draft` the next number, unless it has one.
    fn live_add(&mut self, now: Timestamp, draft: &LiveDraft) {
        let user_id = draft.user_id.to_string();
        self.run_statement(
            Sql::new(
                "INSERT INTO live_messages (user_id, seq, body, created_at, source) \
                 SELECT user_id, seq + 1, $2, $3, $4 FROM live_cursors WHERE user_id = $1 \
                 AND NOT EXISTS (SELECT 1 FROM live_messages WHERE source = $4)",
                [user_id.as_str().into(), json::text(&draft.message).into(), now.0.into(), draft.source.into()],
            ),
            Expect::Any,
        );
        self.run_statement(
            Sql::new(
                "UPDATE live_cursors SET seq = seq + 1 WHERE user_id = $1 AND EXISTS \
                 (SELECT 1 FROM live_messages m WHERE m.user_id = $1 AND m.seq = live_cursors.seq + 1)",
                [user_id.into()],
            ),
            Expect::Any,
        );
    }
}

impl Purge {
    /// The live messages from before `before`.
    pub fn live_messages(before: Timestamp) -> Self {
        Self::new("live messages", ["live_messages", "user_id, seq", "created_at < $1"], before.0)
    }
}

impl Store {
    /// Numbers and keeps `drafts`, those of one person in the order given, and answers them in the order of their
    /// numbers. A draft that has its number already keeps it: repeating this, and doing it on two nodes at once, does no
    /// harm.
    pub async fn live_append(&self, drafts: &[LiveDraft]) -> Result<Vec<LiveMessage>, StoreError> {
        // By person, so that two nodes that append at the same time take the cursors in the same order.
        let mut by_person: BTreeMap<UserId, Vec<&LiveDraft>> = BTreeMap::new();
        for draft in drafts {
            by_person.entry(draft.user_id).or_default().push(draft);
        }
        let mut change = Change::new();
        for (user_id, drafts) in by_person {
            change.live_cursor_hold(user_id);
            for draft in drafts {
                change.live_add(self.now(), draft);
            }
        }
        self.commit(change).await?;
        self.live_from(drafts).await
    }

    async fn live_from(&self, drafts: &[LiveDraft]) -> Result<Vec<LiveMessage>, StoreError> {
        let sources = drafts.iter().map(|draft| draft.source);
        let rows = message::Entity::find()
            .filter(message::Column::Source.is_in(sources))
            .order_by_asc(message::Column::UserId)
            .order_by_asc(message::Column::Seq)
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(LiveMessage::try_from).collect()
    }

    /// The person's kept messages after number `seq`, at most `limit`, in order.
    pub async fn live_after(&self, user_id: UserId, seq: i64, limit: u32) -> Result<Vec<LiveMessage>, StoreError> {
        let rows = message::Entity::find()
            .filter(message::Column::UserId.eq(user_id.to_string()))
            .filter(message::Column::Seq.gt(seq))
            .order_by_asc(message::Column::Seq)
            .limit(u64::from(limit))
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(LiveMessage::try_from).collect()
    }

    /// The number of the person's last message; 0 before the first.
    pub async fn live_seq(&self, user_id: UserId) -> Result<i64, StoreError> {
        let cursor = cursor::Entity::find_by_id(user_id.to_string()).read_one(self.reader()).await?;
        Ok(cursor.map_or(0, |cursor| cursor.seq))
    }
}
