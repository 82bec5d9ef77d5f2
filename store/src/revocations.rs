//! Credentials and people that stopped counting, for the caches of every node.
//!
//! A node reads [`Store::revocations_from`] several times a second, each time from the position where its last look ended.
//! Positions follow the order of the commits, never a clock, and no commit can appear before one:
//!
//! - PostgreSQL numbers transactions as they begin to write, and each row carries its transaction's number. A look ends at the
//!   oldest transaction that was still running in the look's own snapshot. Whatever has a lower number was decided by then, so
//!   this look or an earlier one has shown it; whatever is committed later has that number or a higher one. What is visible
//!   beyond the position is shown too, so that a long transaction delays nobody; it is shown again then.
//! - SQLite has one writer, so that `seq` is the order of the commits, and a look ends behind the last number given out.

use domain::time::Timestamp;
use sea_orm::{ActiveValue::Set, DbBackend};
use serde::{Deserialize, Serialize};

use crate::{Change, Purge, Store, StoreError, reader, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "revocations")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub seq: i64,
        pub kind: String,
        pub target_id: String,
        pub at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What stopped counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevocationKind {
    /// A sign-in; its token is dead and its sockets close.
    SignIn,
    /// A sign-in that goes on, but not as it was (its second factor was shown): caches read it again.
    SignInChanged,
    /// An API key, or an access key.
    Key,
    /// Everything known of a person: their rights changed, or they are gone.
    User,
}

impl RevocationKind {
    /// The name that it is stored under.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SignIn => "sign_in",
            Self::SignInChanged => "sign_in_changed",
            Self::Key => "key",
            Self::User => "user",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::SignIn, Self::SignInChanged, Self::Key, Self::User].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Something that stopped counting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// Its number, which no other has.
    pub seq: i64,
    /// What it is.
    pub kind: RevocationKind,
    /// Its id.
    pub target_id: String,
    /// Since when.
    pub at: Timestamp,
}

impl Change {
    /// Has every node forget what it knows of `target_id`.
    #[expect(clippy::needless_pass_by_value, reason = "ids are small, and callers read better without a borrow")]
    pub fn revocation_add(&mut self, now: Timestamp, kind: RevocationKind, target_id: impl ToString) {
        self.insert(row::ActiveModel {
            kind: Set(kind.as_str().to_owned()),
            target_id: Set(target_id.to_string()),
            at: Set(now.0),
            ..Default::default()
        });
    }
}

impl Purge {
    /// The revocations from before `before`.
    pub fn revocations(before: Timestamp) -> Self {
        Self::new("revocations", ["revocations", "seq", "at < $1"], before.0)
    }
}

/// A place between two commits of the feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPosition(i64);

impl FeedPosition {
    /// Where a node begins that knows of nothing yet: behind all that is committed.
    pub const NOW: Self = Self(i64::MAX);
    /// Before all that is kept.
    pub const FIRST: Self = Self(0);
}

/// What one look at the feed showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedLook {
    /// Where the next look begins. A position before the one that was asked for means that the database is another one than
    /// before, or an older state of it, and that nothing follows from the earlier looks.
    pub position: FeedPosition,
    /// What was revoked at the position that was asked for or later, in the order of writing.
    pub revocations: Vec<Revocation>,
}

const LOOK_ON_POSTGRES: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS position, \
     r.seq, r.kind, r.target_id, r.at FROM (SELECT 1) AS look LEFT JOIN revocations r ON r.tx >= $1 ORDER BY r.seq";
const LOOK_ON_SQLITE: &str = "SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'revocations'), 0) + 1 AS position, \
     r.seq, r.kind, r.target_id, r.at FROM (SELECT 1) AS look LEFT JOIN revocations r ON r.seq >= $1 ORDER BY r.seq";

reader::row! {
    /// A revocation beside the position; no revocation when there is none.
    struct LookRow {
        position: i64,
        seq: Option<i64>,
        kind: Option<String>,
        target_id: Option<String>,
        at: Option<i64>,
    }
}

impl LookRow {
    fn revocation(self) -> Result<Option<Revocation>, StoreError> {
        let Self { seq: Some(seq), kind: Some(kind), target_id: Some(target_id), at: Some(at), .. } = self else {
            return Ok(None);
        };
        let kind = RevocationKind::from_name(&kind).ok_or_else(|| StoreError::corrupt("revocations.kind"))?;
        Ok(Some(Revocation { seq, kind, target_id, at: Timestamp(at) }))
    }
}

impl Store {
    /// What was revoked from `position` on, and where to look next. One statement, so that both are of one snapshot.
    pub async fn revocations_from(&self, position: FeedPosition) -> Result<FeedLook, StoreError> {
        let look = match self.parts.connections.backend() {
            DbBackend::Postgres => LOOK_ON_POSTGRES,
            _ => LOOK_ON_SQLITE,
        };
        let rows: Vec<LookRow> = self.credential_reader().rows(&Sql::new(look, [position.0.into()])).await?;
        let next = rows.first().map(|row| FeedPosition(row.position));
        let position = next.ok_or_else(|| StoreError::corrupt("the feed of revocations has no position"))?;
        let revocations = rows.into_iter().filter_map(|row| row.revocation().transpose());
        Ok(FeedLook { position, revocations: revocations.collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::{ConnectionTrait, Database, TransactionTrait};

    use super::*;
    use crate::{Clock, testing};

    fn targets(look: &FeedLook) -> Vec<&str> {
        look.revocations.iter().map(|revocation| revocation.target_id.as_str()).collect()
    }

    #[tokio::test]
    async fn a_transaction_that_commits_after_a_later_one_is_shown_and_delays_nobody() {
        let Some(scratch) = testing::postgres().await else { return };
        let store = scratch.store(Clock::manual(Timestamp(0))).await.unwrap();
        let other = Database::connect(scratch.url()).await.unwrap();
        let began = store.revocations_from(FeedPosition::NOW).await.unwrap();
        let slow = other.begin().await.unwrap();
        let slow_row = "INSERT INTO revocations (kind, target_id, at) VALUES ('key', 'key_slow', 0)";
        slow.execute_unprepared(slow_row).await.unwrap();
        let mut change = Change::new();
        change.revocation_add(Timestamp(0), RevocationKind::Key, "key_fast");
        store.commit(change).await.unwrap();

        let first = store.revocations_from(began.position).await.unwrap();
        assert_eq!(targets(&first), ["key_fast"]);
        slow.commit().await.unwrap();
        let second = store.revocations_from(first.position).await.unwrap();
        assert_eq!(targets(&second), ["key_slow", "key_fast"]);
        assert!(began.position <= first.position && first.position <= second.position);
    }
}
