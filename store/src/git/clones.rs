//! Who cloned which repository.

use domain::{
    Timestamp,
    id::{KeyId, UserId},
};

use super::RepositoryNo;
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// Whoever clones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cloner {
    /// A person.
    Person(UserId),
    /// A key, with which somebody comes.
    Key(KeyId),
}

impl Cloner {
    fn id(self) -> String {
        match self {
            Self::Person(id) => id.to_string(),
            Self::Key(id) => id.to_string(),
        }
    }
}

row! {
    struct ClonedRow {
        cloned_at: i64,
    }
}

impl Store {
    /// When they cloned the repository for the first time; nothing where they haven't.
    pub async fn repository_cloned(&self, no: RepositoryNo, by: Cloner) -> Result<Option<Timestamp>, StoreError> {
        let statement = "SELECT cloned_at FROM git_clones WHERE repo_no = $1 AND cloner = $2";
        let found: Option<ClonedRow> = self.reader().row(&Sql::new(statement, [no.0.into(), by.id().into()])).await?;
        Ok(found.map(|row| Timestamp(row.cloned_at)))
    }
}

impl Change {
    /// Notes that they cloned the repository for the first time; stale where they had.
    pub fn repository_clone_add(&mut self, no: RepositoryNo, by: Cloner, now: Timestamp) {
        let statement = "INSERT INTO git_clones (repo_no, cloner, cloned_at) VALUES ($1, $2, $3) \
                         ON CONFLICT (repo_no, cloner) DO NOTHING";
        let values = [no.0.into(), by.id().into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
