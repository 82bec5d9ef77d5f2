//! Credentials and people that stopped counting, for the caches of every node.
//!
//! A node reads [`Store::revocations_since`] several times a second, from a little before its last look on: commits of
//! other nodes may become visible out of order. Forgetting the same thing twice does no harm.

use domain::time::Timestamp;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::{Deserialize, Serialize};

use crate::{Change, Purge, Store, StoreError, reader::Reads};

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
    /// An API key.
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

impl Store {
    /// What was revoked at `since` or later, in the order of writing.
    pub async fn revocations_since(&self, since: Timestamp) -> Result<Vec<Revocation>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::At.gte(since.0))
            .order_by_asc(row::Column::Seq)
            .read_all(self.credential_reader())
            .await?;
        rows.into_iter()
            .map(|row| {
                let kind =
                    RevocationKind::from_name(&row.kind).ok_or_else(|| StoreError::corrupt("revocations.kind"))?;
                Ok(Revocation { seq: row.seq, kind, target_id: row.target_id, at: Timestamp(row.at) })
            })
            .collect()
    }
}
