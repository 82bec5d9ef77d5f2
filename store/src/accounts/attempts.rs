//! Failed attempts at accounts, kept so that neither a restart nor a second node forgets them.

use domain::{Timestamp, attempts::Attempts};
use sea_orm::EntityTrait;

use crate::{Change, Expect, Purge, Store, StoreError, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "attempts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub subject: String,
        pub failures: String,
        pub locked_until: Option<i64>,
        pub version: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The attempts at one subject, as they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredAttempts {
    /// What is known of them.
    pub attempts: Attempts,
    /// Counts changes of the row; 0 while there is none.
    version: i64,
}

impl TryFrom<row::Model> for StoredAttempts {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let failures = row
            .failures
            .split_ascii_whitespace()
            .map(|at| at.parse().map(Timestamp))
            .collect::<Result<_, _>>()
            .map_err(|_| StoreError::corrupt("attempts.failures"))?;
        Ok(Self {
            attempts: Attempts { failures, locked_until: row.locked_until.map(Timestamp) },
            version: row.version,
        })
    }
}

impl Change {
    /// Writes the attempts at `subject` over what was read; stale when somebody else wrote meanwhile.
    pub fn attempts_set(&mut self, now: Timestamp, subject: &str, stored: &StoredAttempts) {
        let Attempts { failures, locked_until } = &stored.attempts;
        let failures = failures.iter().map(Timestamp::to_string).collect::<Vec<_>>().join(" ");
        let locked_until = locked_until.map(|until| until.0);
        let values = [subject.into(), failures.into(), locked_until.into(), stored.version.into(), now.0.into()];
        // A row that somebody else inserted meanwhile has a version above 0, and so is not met.
        self.run_statement(
            Sql::new(
                "INSERT INTO attempts (subject, failures, locked_until, version, updated_at) \
                 VALUES ($1, $2, $3, $4 + 1, $5) ON CONFLICT (subject) DO UPDATE SET failures = excluded.failures, \
                 locked_until = excluded.locked_until, version = excluded.version, updated_at = excluded.updated_at \
                 WHERE attempts.version = $4",
                values,
            ),
            Expect::Rows(1),
        );
    }

    /// Forgets the attempts at `subject`.
    pub fn attempts_clear(&mut self, subject: &str) {
        self.run_statement(Sql::new("DELETE FROM attempts WHERE subject = $1", [subject.into()]), Expect::Any);
    }
}

impl Purge {
    /// The attempts that last failed before `before`.
    pub fn attempts(before: Timestamp) -> Self {
        Self::new("attempts", ["attempts", "subject", "updated_at < $1"], before.0)
    }
}

impl Store {
    /// What is known of the attempts at `subject`.
    pub async fn attempts(&self, subject: &str) -> Result<StoredAttempts, StoreError> {
        let row = row::Entity::find_by_id(subject.to_owned()).read_one(self.credential_reader()).await?;
        row.map_or_else(|| Ok(StoredAttempts::default()), StoredAttempts::try_from)
    }
}
