//! What leaves with a commit: written in the same transaction, dispatched from here afterwards, at least once.
//!
//! The dispatcher waits for [`Store::outbox_changed`] (and looks now and then for what other nodes left behind), takes
//! entries with [`Store::outbox_claim`], delivers them, and commits [`Change::outbox_done`], [`Change::outbox_failed`] or
//! [`Change::outbox_park`]. An entry that was claimed and never settled comes again after its lease.
//!
//! Live messages of one person keep their order: a claim only says for whom there are some, and whoever has it takes all
//! that wait for that person, in order, with [`Store::outbox_live`].

use std::time::Duration;

use domain::{id::UserId, time::Timestamp};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;

use crate::{
    Change, Expect, LiveDraft, Purge, Store, StoreError, claim::Claim, reader::Reads, revocations::RevocationKind,
    sql::Sql,
};

/// How much of an error is kept beside an entry, in characters.
const ERROR_LEN_MAX: usize = 1_000;
/// The `not_before` of an entry that is not tried any more.
const PARKED: Timestamp = Timestamp(i64::MAX);

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "outbox")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub seq: i64,
        pub topic: String,
        pub lane: String,
        pub user_id: Option<String>,
        pub payload: String,
        pub created_at: i64,
        pub attempts: i32,
        pub not_before: i64,
        pub claimed_by: Option<String>,
        pub last_error: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Whom an e-mail goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmailTo {
    /// A person, at the address that they have when it is sent.
    Person(UserId),
    /// An address.
    Address(String),
}

/// What shall happen once the commit stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "topic", rename_all = "snake_case")]
pub enum OutboxEntry {
    /// A message to the sockets of a person.
    Live {
        /// The person.
        user_id: UserId,
        /// `{type, …}`.
        message: Value,
    },
    /// An e-mail.
    Email {
        /// Whom to.
        to: EmailTo,
        /// The subject line.
        subject: String,
        /// The text.
        body: String,
    },
    /// An event for notifications.
    Event {
        /// `{type, …}`.
        event: Value,
    },
    /// A credential or a person that stopped counting: caches forget it, its sockets close.
    Revoked {
        /// What it is.
        kind: RevocationKind,
        /// Its id.
        target_id: String,
    },
}

/// Entries that wait for each other's delivery, and for no others'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxLane {
    /// What is delivered within Troupe, in milliseconds.
    Prompt,
    /// What waits for a mail server.
    Email,
}

impl OutboxLane {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Email => "email",
        }
    }
}

impl OutboxEntry {
    /// The lane that it is delivered on.
    pub const fn lane(&self) -> OutboxLane {
        match self {
            Self::Email { .. } => OutboxLane::Email,
            Self::Live { .. } | Self::Event { .. } | Self::Revoked { .. } => OutboxLane::Prompt,
        }
    }

    /// The person whose entries keep their order, where they do.
    fn ordered_for(&self) -> Option<UserId> {
        match self {
            Self::Live { user_id, .. } => Some(*user_id),
            Self::Email { .. } | Self::Event { .. } | Self::Revoked { .. } => None,
        }
    }

    /// The topic that it is counted and stored under.
    pub const fn topic(&self) -> &'static str {
        match self {
            Self::Live { .. } => "live",
            Self::Email { .. } => "email",
            Self::Event { .. } => "event",
            Self::Revoked { .. } => "revoked",
        }
    }
}

/// An entry that this node shall deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxClaim {
    /// Its number: entries are delivered in this order, and none has the number of another, ever.
    pub seq: i64,
    /// How often it has been claimed, this time included.
    pub attempts: u32,
    /// When it was committed.
    pub created_at: Timestamp,
    /// What to deliver.
    pub entry: OutboxEntry,
}

impl TryFrom<row::Model> for OutboxClaim {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let entry = serde_json::from_str(&row.payload)
            .map_err(|error| StoreError::corrupt(format_args!("outbox {}: {error}", row.seq)))?;
        let attempts = u32::try_from(row.attempts).unwrap_or_default();
        Ok(Self { seq: row.seq, attempts, created_at: Timestamp(row.created_at), entry })
    }
}

impl Change {
    /// Has `entry` delivered once this change is committed.
    pub fn outbox_add(&mut self, now: Timestamp, entry: &OutboxEntry) {
        self.wakes_outbox();
        self.insert(row::ActiveModel {
            topic: Set(entry.topic().to_owned()),
            lane: Set(entry.lane().as_str().to_owned()),
            user_id: Set(entry.ordered_for().map(|user_id| user_id.to_string())),
            payload: Set(crate::json::text(entry)),
            created_at: Set(now.0),
            ..Default::default()
        });
    }

    /// Settles the entries `seqs`: they were delivered, or need not be any more.
    pub fn outbox_done(&mut self, seqs: impl IntoIterator<Item = i64>) {
        let seqs: Vec<_> = seqs.into_iter().collect();
        if !seqs.is_empty() {
            self.run(row::Entity::delete_many().filter(row::Column::Seq.is_in(seqs)), Expect::Any);
        }
    }

    /// Settles the entries `seqs`, each of which was claimed once; stale when one of them was settled meanwhile, by whoever
    /// took it when the lease ended: what it causes must not happen twice then.
    pub fn outbox_take(&mut self, seqs: impl IntoIterator<Item = i64>) {
        let seqs: Vec<_> = seqs.into_iter().collect();
        let taken = Expect::Rows(seqs.len() as u64);
        if !seqs.is_empty() {
            self.run(row::Entity::delete_many().filter(row::Column::Seq.is_in(seqs)), taken);
        }
    }

    /// Has the entry `seq` tried again from `not_before` on; `error` is kept for operators.
    pub fn outbox_failed(&mut self, seq: i64, error: &str, not_before: Timestamp) {
        self.wakes_outbox();
        let error: String = error.chars().take(ERROR_LEN_MAX).collect();
        self.run_statement(
            Sql::new(
                "UPDATE outbox SET claimed_by = NULL, last_error = $2, not_before = $3 WHERE seq = $1",
                [seq.into(), error.into(), not_before.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Gives the entry `seq` up: it is not tried any more, and kept with `error` for operators.
    pub fn outbox_park(&mut self, seq: i64, error: &str) {
        self.outbox_failed(seq, error, PARKED);
    }
}

impl Purge {
    /// The entries from before `before` that were given up ([`PARKED`]).
    pub fn outbox(before: Timestamp) -> Self {
        const IS_OVER: &str = "not_before = 9223372036854775807 AND created_at < $1";
        Self::new("outbox", ["outbox", "seq", IS_OVER], before.0)
    }
}

impl Store {
    /// Takes up to `limit` entries that wait on `lane`, for `lease`, oldest first; no other node gets them meanwhile.
    ///
    /// An entry that doesn't read any more is logged, put off by `lease` and left for an operator.
    pub async fn outbox_claim(
        &self,
        lane: OutboxLane,
        limit: u32,
        lease: Duration,
    ) -> Result<Vec<OutboxClaim>, StoreError> {
        let next = self.outbox_next(lane).await?;
        let taking = |now: Timestamp, claim: &Claim| {
            Sql::new(
                // Materialized: PostgreSQL may otherwise run the selection several times, and take more than `limit`.
                "WITH due AS MATERIALIZED (SELECT seq FROM outbox WHERE lane = $5 AND not_before <= $3 \
                 ORDER BY not_before, seq LIMIT $4 /*skip locked*/) \
                 UPDATE outbox SET claimed_by = $1, not_before = $2, attempts = attempts + 1 \
                 WHERE not_before <= $3 AND seq IN (SELECT seq FROM due)",
                [
                    claim.id.as_str().into(),
                    claim.until.0.into(),
                    now.0.into(),
                    i64::from(limit).into(),
                    lane.as_str().into(),
                ],
            )
        };
        let Some(claim) = self.claim(next, lease, taking).await? else { return Ok(Vec::new()) };
        let rows = row::Entity::find()
            .filter(row::Column::Lane.eq(lane.as_str()))
            .filter(row::Column::NotBefore.eq(claim.until.0))
            .filter(row::Column::ClaimedBy.eq(claim.id))
            .order_by_asc(row::Column::Seq)
            .read_all(self.reader())
            .await?;
        let read = |row| OutboxClaim::try_from(row).inspect_err(|error| tracing::error!(%error)).ok();
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// When the next entry of `lane` may be tried; in the past when one waits, the end of time when all were given up.
    /// None on a node whose clock is off.
    pub async fn outbox_next(&self, lane: OutboxLane) -> Result<Option<Timestamp>, StoreError> {
        if self.clock_is_off() {
            return Ok(None);
        }
        let next = row::Entity::find()
            .select_only()
            .column(row::Column::NotBefore)
            .filter(row::Column::Lane.eq(lane.as_str()))
            .order_by_asc(row::Column::NotBefore)
            .read_columns(self.reader())
            .await?;
        Ok(next.map(|(next,): (i64,)| Timestamp(next)))
    }

    /// The live messages that wait for `users`, claimed or not, oldest first, at most `limit`.
    pub async fn outbox_live(&self, users: &[UserId], limit: u32) -> Result<Vec<LiveDraft>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::UserId.is_in(users.iter().map(UserId::to_string)))
            .order_by_asc(row::Column::Seq)
            .limit(u64::from(limit))
            .read_all(self.reader())
            .await?;
        let read = |row| OutboxClaim::try_from(row).inspect_err(|error| tracing::error!(%error)).ok();
        let drafts = rows.into_iter().filter_map(read).filter_map(|claim| match claim.entry {
            OutboxEntry::Live { user_id, message } => Some(LiveDraft { source: claim.seq, user_id, message }),
            OutboxEntry::Email { .. } | OutboxEntry::Event { .. } | OutboxEntry::Revoked { .. } => None,
        });
        Ok(drafts.collect())
    }

    /// The people for whom live messages wait, claimed or not.
    pub async fn outbox_live_people(&self) -> Result<Vec<UserId>, StoreError> {
        let people = row::Entity::find()
            .select_only()
            .column(row::Column::UserId)
            .filter(row::Column::UserId.is_not_null())
            .distinct()
            .read_all_columns(self.reader())
            .await?;
        let read = |(id,): (String,)| id.parse().map_err(|_| StoreError::corrupt("outbox.user_id"));
        people.into_iter().map(read).collect()
    }

    /// How many entries were given up.
    pub async fn outbox_parked_len(&self) -> Result<u64, StoreError> {
        row::Entity::find().filter(row::Column::NotBefore.eq(PARKED.0)).read_count(self.reader()).await
    }

    /// Told after a commit of this process added an entry, or put one off.
    pub fn outbox_changed(&self) -> &Notify {
        &self.signals().outbox
    }
}
