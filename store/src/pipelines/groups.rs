//! Concurrency groups: who of a group runs, and who waits.

use domain::{
    id::RunId,
    pipelines::{concurrency::Group, run::JobPlace},
};
use serde::{Deserialize, Serialize};

use crate::{Change, Expect, Store, StoreError, git::RepositoryNo, json, reader::row, sql::Sql};

row! {
    struct GroupRow {
        members: String,
        version: i64,
    }
}

/// A member of a group: a run, or a job of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GroupMember {
    /// The run.
    pub run_id: RunId,
    /// The job; none where the run itself is the member.
    pub job: Option<JobPlace>,
}

/// A group as its row has it.
#[derive(Clone, Debug, Default)]
pub struct StoredGroup {
    /// Who runs, and who waits.
    pub members: Group<GroupMember>,
    /// Counts the commits that decide on it; 0 where there is no row.
    pub version: i64,
}

impl Store {
    /// The repository's group of this name; empty where nobody is in it.
    pub async fn concurrency_group(&self, no: RepositoryNo, name: &str) -> Result<StoredGroup, StoreError> {
        let statement = "SELECT members, version FROM concurrency_groups WHERE repo_no = $1 AND name = $2";
        let rows: Vec<GroupRow> = self.reader().rows(&Sql::new(statement, [no.0.into(), name.into()])).await?;
        let Some(row) = rows.into_iter().next() else { return Ok(StoredGroup::default()) };
        Ok(StoredGroup { members: json::read("concurrency_groups.members", &row.members)?, version: row.version })
    }
}

impl Change {
    /// Writes who is in a group; stale where it isn't in the version that was read.
    pub fn concurrency_group_put(&mut self, no: RepositoryNo, name: &str, group: &StoredGroup) {
        let statement = "INSERT INTO concurrency_groups (repo_no, name, members, version) VALUES ($1, $2, $3, 1) \
                         ON CONFLICT (repo_no, name) DO UPDATE SET members = excluded.members, \
                         version = concurrency_groups.version + 1 WHERE concurrency_groups.version = $4";
        let values = [no.0.into(), name.into(), json::text(&group.members).into(), group.version.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
