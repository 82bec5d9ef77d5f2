//! The work queue: what is to be done once, at least once, under a lease.
//!
//! An entry belongs to a topic, which says who works on it, and to a tenant, in whose turn it is done. It is written in the
//! commit that it follows from ([`Change::work_add`]), claimed in turns by tenant ([`Store::work_claim`]), and settled by
//! the commit of what was done ([`settle`](Change::work_done)). An entry that was claimed and never settled comes again
//! after its lease. Each claim counts the entry's fence up, and a commit that is made under a claim names its fence: a node
//! that lost its lease finds the commit [`Stale`](crate::CommitError::Stale).
//!
//! What gave up stays, as a dead letter, until operators repeat or drop it ([`dead`]), or it is old.

mod claim;
pub mod dead;
mod listed;
mod settle;
mod turns;
mod wanted;

use std::{sync::Arc, time::Duration};

use domain::{Tenant, time::Timestamp};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::Serialize;
use tokio::sync::Notify;

pub use self::{
    claim::Claimed,
    listed::WorkState,
    turns::{Order, Permit, Permits, Turns},
};
pub(crate) use self::{
    claim::{Claim, Leased},
    settle::shortened,
};
use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

/// The `wake_at` of an entry that is not tried any more.
pub(crate) const DEAD: Timestamp = Timestamp(i64::MAX);

/// How entries of the queue are claimed.
const WORK: Leased = Leased {
    table: "work",
    lane: "topic",
    key: "seq",
    order: "wake_at, seq",
    counts: "attempts = attempts + 1, fence = fence + 1",
};

pub(crate) mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "work")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub seq: i64,
        pub topic: String,
        pub tenant: String,
        pub key: Option<String>,
        pub payload: String,
        pub wake_at: i64,
        pub claimed_by: Option<String>,
        pub attempts: i32,
        pub fence: i64,
        pub progress: Option<String>,
        pub cancelled: bool,
        pub last_error: Option<String>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What shall be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWork {
    /// Who works on it.
    pub topic: &'static str,
    /// In whose turn.
    pub tenant: Tenant,
    /// Names it within the topic: as long as an entry with this key is there, another one is not added.
    pub key: Option<String>,
    /// What to do, as JSON text.
    pub payload: String,
    /// When, at the earliest; at once where there is none.
    pub due: Option<Timestamp>,
}

impl NewWork {
    /// Work of `topic` in the turns of `tenant`, at once.
    pub fn new(topic: &'static str, tenant: impl Into<Tenant>, payload: &impl Serialize) -> Self {
        Self { topic, tenant: tenant.into(), key: None, payload: crate::json::text(payload), due: None }
    }

    /// The same under a key.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// The same, not before `due`.
    #[must_use]
    pub fn not_before(self, due: Timestamp) -> Self {
        Self { due: Some(due), ..self }
    }
}

/// An entry as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Its number: none has the number of another, ever.
    pub seq: i64,
    /// Who works on it.
    pub topic: String,
    /// In whose turn.
    pub tenant: Tenant,
    /// Its name within the topic, where it has one.
    pub key: Option<String>,
    /// What to do, as JSON text.
    pub payload: String,
    /// How often it has been claimed since it was added, repeated or made a step.
    pub attempts: u32,
    /// How often it has been claimed at all.
    pub fence: i64,
    /// The last step that was done, as JSON text.
    pub progress: Option<String>,
    /// Whether it shall stop at its next step.
    pub cancelled: bool,
    /// Whether a node took it, and has neither settled it nor put it off since.
    pub is_claimed: bool,
    /// What the last try met with, where one failed.
    pub last_error: Option<String>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it is looked at next; none for one that was given up.
    pub wake_at: Option<Timestamp>,
}

impl From<row::Model> for Work {
    fn from(row: row::Model) -> Self {
        Self {
            seq: row.seq,
            topic: row.topic,
            tenant: Tenant::of_key(&row.tenant),
            key: row.key,
            payload: row.payload,
            attempts: u32::try_from(row.attempts).unwrap_or_default(),
            fence: row.fence,
            progress: row.progress,
            cancelled: row.cancelled,
            is_claimed: row.claimed_by.is_some(),
            last_error: row.last_error,
            created_at: Timestamp(row.created_at),
            wake_at: (row.wake_at != DEAD.0).then_some(Timestamp(row.wake_at)),
        }
    }
}

impl Change {
    /// Has `work` done once this change is committed, in the order of the commits where it is due at once.
    pub fn work_add(&mut self, now: Timestamp, work: NewWork) {
        self.wakes_work(work.topic);
        let (tenant, due) = (work.tenant.to_string(), work.due.unwrap_or(Timestamp(0)));
        let Some(key) = work.key else {
            return self.insert(row::ActiveModel {
                topic: Set(work.topic.to_owned()),
                tenant: Set(tenant),
                payload: Set(work.payload),
                wake_at: Set(due.0),
                created_at: Set(now.0),
                ..Default::default()
            });
        };
        self.run_statement(
            Sql::new(
                "INSERT INTO work (topic, tenant, key, payload, wake_at, created_at) VALUES ($1, $2, $3, $4, $5, $6) \
                 ON CONFLICT DO NOTHING",
                [work.topic.into(), tenant.into(), key.into(), work.payload.into(), due.0.into(), now.0.into()],
            ),
            Expect::Any,
        );
    }
}

impl Store {
    /// Takes what is due of `topic`, for `lease`, as much as `turns` has room for; no other node gets it meanwhile.
    pub async fn work_claim(
        &self,
        topic: &'static str,
        turns: &Turns,
        lease: Duration,
    ) -> Result<Claimed<Work>, StoreError> {
        let claim = match self.claim_in_turns(&WORK, topic, turns, lease).await? {
            Claimed::Taken(claim) => claim,
            Claimed::NothingDue => return Ok(Claimed::NothingDue),
            Claimed::NoRoom => return Ok(Claimed::NoRoom),
        };
        let ids = claim.into_iter().map(|claim| claim.id);
        let rows = row::Entity::find()
            .filter(row::Column::Topic.eq(topic))
            .filter(row::Column::ClaimedBy.is_in(ids))
            .order_by_asc(row::Column::Seq)
            .read_all(self.reader())
            .await?;
        Ok(Claimed::Taken(rows.into_iter().map(Work::from).collect()))
    }

    /// When the next entry of `topic` is to be looked at; in the past when one is due, the end of time when all that are
    /// left were given up.
    pub async fn work_next(&self, topic: &str) -> Result<Option<Timestamp>, StoreError> {
        self.leased_next(&WORK, topic).await
    }

    /// The entry `seq`, as long as it is there.
    pub async fn work(&self, seq: i64) -> Result<Option<Work>, StoreError> {
        Ok(row::Entity::find_by_id(seq).read_one(self.reader()).await?.map(Work::from))
    }

    /// The entry that is called `key` within `topic`, as long as it is there.
    pub async fn work_of_key(&self, topic: &str, key: &str) -> Result<Option<Work>, StoreError> {
        let select = row::Entity::find().filter(row::Column::Topic.eq(topic)).filter(row::Column::Key.eq(key));
        Ok(select.read_one(self.reader()).await?.map(Work::from))
    }

    /// Told after a commit of this process added work of `topic`, or put some off.
    pub fn work_changed(&self, topic: &'static str) -> Arc<Notify> {
        self.signals().topic(topic)
    }
}
