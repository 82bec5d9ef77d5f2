//! What pushes leave for issues to be closed by, and what closed an issue already.

use domain::{
    Timestamp,
    id::{IssueId, OrgId, ResourceId, UserId},
    issues::issue::FieldChange,
};
use serde::{Deserialize, Serialize};

use super::{IssueChanged, history::CHANGES_AT_ONCE};
use crate::{Change, NewWork, Store, StoreError, reader::row, sql::Sql};

/// The topic of pushes that may close issues.
pub const ISSUES_CLOSING: &str = "issues.closing";

/// A push that moved a repository's default branch. Commits are 40 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuesClosing {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The repository.
    pub repository_id: ResourceId,
    /// Whoever pushed or merged, or made the key that did.
    pub by: UserId,
    /// What the branch named; none where it was made.
    pub before: Option<String>,
    /// What the branch names since.
    pub after: String,
    /// The pull requests that are merged by it.
    pub pulls: Vec<u32>,
}

row! {
    struct CauseRow {
        cause: String,
    }
}

impl Store {
    /// Whether this was looked at for the issue before.
    pub async fn issue_closing_is_known(&self, id: IssueId, cause: &str) -> Result<bool, StoreError> {
        let statement = "SELECT c.cause AS cause FROM issue_closings c \
                         WHERE c.seq = (SELECT seq FROM issues WHERE id = $1) AND c.cause = $2";
        let sql = Sql::new(statement, [id.to_string().into(), cause.to_owned().into()]);
        let row: Option<CauseRow> = self.reader().row(&sql).await?;
        Ok(row.is_some_and(|row| row.cause == cause))
    }
}

impl Change {
    /// Has issues be looked at that the push may close.
    pub fn issues_closing_add(&mut self, now: Timestamp, closing: &IssuesClosing) {
        self.work_add(now, NewWork::new(ISSUES_CLOSING, closing.org_id, closing));
    }

    /// Keeps that this was looked at for the issue.
    pub fn issue_closing_known(&mut self, id: IssueId, cause: &str, now: Timestamp) {
        let statement = "INSERT INTO issue_closings (seq, cause, at) SELECT i.seq, $2, $3 FROM issues i WHERE i.id = $1 \
                         ON CONFLICT (seq, cause) DO NOTHING";
        self.on_issue(statement, id, [cause.to_owned().into(), now.0.into()]);
    }

    /// Keeps in the issue's history what of a repository named it, behind all else that the commit keeps there.
    pub fn issue_development_add(&mut self, changed: IssueChanged<'_>, named: Vec<String>) {
        let n = changed.after.issue.version * CHANGES_AT_ONCE + CHANGES_AT_ONCE - 1;
        self.issue_change_add(changed, n, &FieldChange { field: "development", from: Vec::new(), to: named });
    }
}
