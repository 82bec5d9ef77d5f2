//! What leaves with a commit: written in the same transaction, dispatched from here afterwards, at least once.
//!
//! Entries of the outbox are work of four topics, in the turns of whom they concern. The dispatcher takes them with
//! [`Store::outbox_claim`], delivers them, and settles them as any work, or with [`Change::outbox_done`] and
//! [`Change::outbox_take`]. An entry that was claimed and never settled comes again after its lease.
//!
//! Live messages of one person keep their order: a claim only says for whom there are some, and whoever has it takes all
//! that wait for that person, in order, with [`Store::outbox_live`].

use std::time::Duration;

use domain::{Tenant, id::UserId, time::Timestamp};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Change, Claimed, Expect, LiveDraft, NewWork, Store, StoreError, Turns, Work, reader::Reads,
    revocations::RevocationKind, sql::Sql, work::row,
};

/// The topic of messages to people's sockets.
pub const LIVE: &str = "live";
/// The topic of e-mails.
pub const EMAIL: &str = "email";
/// The topic of events for notifications.
pub const EVENT: &str = "event";
/// The topic of what stopped counting.
pub const REVOKED: &str = "revoked";

/// Whom an e-mail goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmailTo {
    /// A person, at the address that they have when it is sent.
    Person(UserId),
    /// An address.
    Address(String),
}

/// An invitation to an event, beside the text of an e-mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailCalendar {
    /// What it asks for (RFC 5546).
    pub method: String,
    /// The file (RFC 5545).
    pub file: String,
    /// Who is answered.
    pub reply_to: String,
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
        /// What a calendar reads, beside the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        calendar: Option<EmailCalendar>,
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

impl OutboxEntry {
    /// In whose turn it is delivered: that of the organization in which an event happened, else of the person.
    fn tenant(&self) -> Tenant {
        match self {
            Self::Live { user_id, .. } | Self::Email { to: EmailTo::Person(user_id), .. } => (*user_id).into(),
            Self::Event { event } => {
                let of = |id: &Value| id.as_str().map(Tenant::of_key);
                of(&event["orgId"]).or_else(|| of(&event["userIds"][0])).unwrap_or_default()
            }
            Self::Email { to: EmailTo::Address(_), .. } | Self::Revoked { .. } => Tenant::System,
        }
    }

    /// The topic that it is counted and stored under.
    pub const fn topic(&self) -> &'static str {
        match self {
            Self::Live { .. } => LIVE,
            Self::Email { .. } => EMAIL,
            Self::Event { .. } => EVENT,
            Self::Revoked { .. } => REVOKED,
        }
    }
}

/// An entry that this node shall deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxClaim {
    /// Its place in the work queue.
    pub work: Work,
    /// What to deliver.
    pub entry: OutboxEntry,
}

impl TryFrom<Work> for OutboxClaim {
    type Error = StoreError;

    fn try_from(work: Work) -> Result<Self, StoreError> {
        let entry = serde_json::from_str(&work.payload)
            .map_err(|error| StoreError::corrupt(format_args!("outbox {}: {error}", work.seq)))?;
        Ok(Self { work, entry })
    }
}

impl Change {
    /// Has `entry` delivered once this change is committed.
    pub fn outbox_add(&mut self, now: Timestamp, entry: &OutboxEntry) {
        self.work_add(now, NewWork::new(entry.topic(), entry.tenant(), entry));
    }

    /// The same in the turn of `tenant`, on whose behalf it is sent.
    pub fn outbox_add_for(&mut self, tenant: impl Into<Tenant>, now: Timestamp, entry: &OutboxEntry) {
        self.work_add(now, NewWork::new(entry.topic(), tenant, entry));
    }

    /// Settles the entries `seqs`: they were delivered, or need not be any more.
    pub fn outbox_done(&mut self, seqs: impl IntoIterator<Item = i64>) {
        let seqs: Vec<_> = seqs.into_iter().collect();
        if !seqs.is_empty() {
            self.run(row::Entity::delete_many().filter(row::Column::Seq.is_in(seqs)), Expect::Any);
        }
    }

    /// Settles `claims`; stale when one of them was claimed again or settled meanwhile, by whoever took it when the lease
    /// ended: what it causes must not happen twice then.
    pub fn outbox_take<'a>(&mut self, claims: impl IntoIterator<Item = &'a OutboxClaim>) {
        let mut values: Vec<sea_orm::Value> = Vec::new();
        let mut rows = Vec::new();
        for OutboxClaim { work, .. } in claims {
            rows.push(format!("(seq = ${} AND fence = ${})", values.len() + 1, values.len() + 2));
            values.extend([work.seq.into(), work.fence.into()]);
        }
        let taken = rows.len() as u64;
        if taken > 0 {
            let text = format!("DELETE FROM work WHERE {}", rows.join(" OR "));
            self.run_statement(Sql::new(text, values), Expect::Rows(taken));
        }
    }
}

impl Store {
    /// Takes entries that wait on `topic` for `lease`, as many as `turns` has room for; no other node gets them meanwhile.
    ///
    /// An entry that doesn't read any more is logged, put off by `lease` and left for an operator.
    pub async fn outbox_claim(
        &self,
        topic: &'static str,
        turns: &Turns,
        lease: Duration,
    ) -> Result<Claimed<OutboxClaim>, StoreError> {
        let claimed = self.work_claim(topic, turns, lease).await?;
        let read = |work| OutboxClaim::try_from(work).inspect_err(|error| tracing::error!(%error)).ok();
        Ok(match claimed {
            Claimed::Taken(rows) => Claimed::Taken(rows.into_iter().filter_map(read).collect()),
            Claimed::NothingDue => Claimed::NothingDue,
            Claimed::NoRoom => Claimed::NoRoom,
        })
    }

    /// The live messages that wait for `users`, claimed or not, oldest first, at most `limit`.
    pub async fn outbox_live(&self, users: &[UserId], limit: u32) -> Result<Vec<LiveDraft>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::Topic.eq(LIVE))
            .filter(row::Column::Tenant.is_in(users.iter().map(UserId::to_string)))
            .order_by_asc(row::Column::Seq)
            .limit(u64::from(limit))
            .read_all(self.reader())
            .await?;
        let read = |row| OutboxClaim::try_from(Work::from(row)).inspect_err(|error| tracing::error!(%error)).ok();
        let drafts = rows.into_iter().filter_map(read).filter_map(|claim| match claim.entry {
            OutboxEntry::Live { user_id, message } => Some(LiveDraft { source: claim.work.seq, user_id, message }),
            OutboxEntry::Email { .. } | OutboxEntry::Event { .. } | OutboxEntry::Revoked { .. } => None,
        });
        Ok(drafts.collect())
    }

    /// The people for whom live messages wait, claimed or not.
    pub async fn outbox_live_people(&self) -> Result<Vec<UserId>, StoreError> {
        let people = row::Entity::find()
            .select_only()
            .column(row::Column::Tenant)
            .filter(row::Column::Topic.eq(LIVE))
            .distinct()
            .read_all_columns(self.reader())
            .await?;
        let read = |(id,): (String,)| id.parse().map_err(|_| StoreError::corrupt("work.tenant"));
        people.into_iter().map(read).collect()
    }
}
