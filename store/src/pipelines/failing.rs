//! Branches on which a workflow fails, with the people who were told so.
//!
//! The runs themselves don't say it: one that runs again says only how it ended last, they end in any order, and they are deleted.

use std::{collections::BTreeSet, time::Duration};

use domain::{Timestamp, id::UserId};
use sea_orm::Value;

use crate::{Change, Expect, Purge, Store, StoreError, git::RepositoryNo, reader::row, sql::Sql};

/// How long it is known that a branch failed of which nothing was heard since. Notices are forgotten sooner; what a protocol asks of
/// people may take longer.
const FAILING_KEPT: Duration = Duration::from_hours(24 * 90);

row! {
    struct ToldRow {
        user_id: String,
        number: i64,
    }
}

/// A workflow file on a branch.
#[derive(Clone, Copy, Debug)]
pub struct FileOnBranch<'a> {
    /// The repository's number.
    pub no: RepositoryNo,
    /// The file's name.
    pub file: &'a str,
    /// The branch.
    pub branch: &'a str,
}

impl FileOnBranch<'_> {
    fn values(self) -> [Value; 3] {
        [self.no.0.into(), self.file.into(), self.branch.into()]
    }
}

/// The branches of which nothing was heard for long, at this time.
pub fn failing_branches_over(now: Timestamp) -> Purge {
    let names = ["failing_branches", "repo_no, file, branch, user_id", "failed_at < $1"];
    Purge::new("branches that fail", names, now.before(FAILING_KEPT).0)
}

impl Store {
    /// The people who were told that a file fails on a branch; none where it doesn't, and where a newer run than that of this number
    /// failed there.
    pub async fn failing_told(
        &self,
        on: FileOnBranch<'_>,
        number: i64,
    ) -> Result<Option<BTreeSet<UserId>>, StoreError> {
        let statement = "SELECT user_id, number FROM failing_branches WHERE repo_no = $1 AND file = $2 AND branch = $3";
        let rows: Vec<ToldRow> = self.reader().rows(&Sql::new(statement, on.values())).await?;
        if rows.iter().any(|row| row.number > number) {
            return Ok(None);
        }
        // A row without a person says only that the file fails: nobody was told.
        let told: BTreeSet<UserId> = rows.iter().filter_map(|row| row.user_id.parse().ok()).collect();
        Ok(Some(told).filter(|_| !rows.is_empty()))
    }
}

impl Change {
    /// Notes that the file's run of this number failed on a branch, which these people are told.
    pub fn failing_put(&mut self, on: FileOnBranch<'_>, (number, told): (i64, &BTreeSet<UserId>), now: Timestamp) {
        let statement = "INSERT INTO failing_branches (repo_no, file, branch, user_id, failed_at, number) \
                         VALUES ($1, $2, $3, $4, $5, $6) \
                         ON CONFLICT (repo_no, file, branch, user_id) DO UPDATE SET failed_at = excluded.failed_at, \
                         number = CASE WHEN failing_branches.number < excluded.number THEN excluded.number \
                         ELSE failing_branches.number END";
        let mut people: Vec<String> = told.iter().map(ToString::to_string).collect();
        if people.is_empty() {
            people.push(String::new());
        }
        for user_id in people {
            let [no, file, branch] = on.values();
            let values = [no, file, branch, user_id.into(), now.0.into(), number.into()];
            self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
    }

    /// Notes that a file doesn't fail on a branch any more as of its run of this number: what newer ones said stays.
    pub fn failing_remove(&mut self, on: FileOnBranch<'_>, number: i64) {
        let statement =
            "DELETE FROM failing_branches WHERE repo_no = $1 AND file = $2 AND branch = $3 AND number <= $4";
        let [no, file, branch] = on.values();
        self.run_statement(Sql::new(statement, [no, file, branch, number.into()]), Expect::Any);
    }
}
