//! The keys that issues had before they were moved to other spaces, and what goes with them when they are.

use domain::{
    id::{IssueId, OrgId, SpaceId, UserId},
    issues::issue::Issue,
};

use super::rows::{DOC, DocRow, StoredIssue};
use crate::{Change, Expect, Store, StoreError, sql::Sql};

impl Store {
    /// The issue that had this number in a space before it was moved.
    pub(super) async fn issue_formerly_numbered(
        &self,
        (org_id, space_id): (OrgId, SpaceId),
        number: i64,
    ) -> Result<Option<StoredIssue>, StoreError> {
        let statement = format!(
            "{DOC} JOIN issue_former_keys f ON f.issue_id = issues.id WHERE issue_docs.org_id = $1 AND f.space_id = $2 \
             AND f.number = $3 AND issues.deleted_at IS NULL"
        );
        let values = [org_id.to_string().into(), space_id.to_string().into(), number.into()];
        self.reader().row::<DocRow>(&Sql::new(statement, values)).await?.map(StoredIssue::try_from).transpose()
    }

    /// The issues right below one that are in its own space.
    pub async fn issues_below(&self, org_id: OrgId, id: IssueId) -> Result<Vec<StoredIssue>, StoreError> {
        let statement = format!(
            "{DOC} WHERE issue_docs.org_id = $1 AND issues.deleted_at IS NULL \
             AND issues.parent_seq = (SELECT p.seq FROM issues p WHERE p.id = $2) \
             AND issues.space_no = (SELECT p.space_no FROM issues p WHERE p.id = $2) ORDER BY issues.number"
        );
        let values = [org_id.to_string().into(), id.to_string().into()];
        let rows: Vec<DocRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(StoredIssue::try_from).collect()
    }
}

impl Change {
    /// Keeps the key that an issue had. Where it comes back to one that it had, that one is no former key any more.
    pub fn issue_key_leave(&mut self, before: &Issue, after: &Issue) {
        let statement = "DELETE FROM issue_former_keys WHERE space_id = $1 AND number = $2";
        let values = [after.space_id.to_string().into(), after.number.into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
        let statement = "INSERT INTO issue_former_keys (space_id, number, issue_id) VALUES ($1, $2, $3)";
        let values = [before.space_id.to_string().into(), before.number.into(), before.issue_id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Has a request be one of the desk of its space, and an issue that is no request any more be none. `raised_by` is whose it is
    /// where it becomes one.
    pub fn issue_request_follow(&mut self, issue: &Issue, raised_by: UserId) {
        if issue.request_type_id.is_none() {
            let statement = "DELETE FROM issue_requests WHERE issue_id = $1";
            return self.run_statement(Sql::new(statement, [issue.issue_id.to_string().into()]), Expect::Any);
        }
        let statement = "INSERT INTO issue_requests (issue_id, org_id, space_id, raised_by, raised_at, public_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) \
                         ON CONFLICT (issue_id) DO UPDATE SET space_id = excluded.space_id";
        let values = [
            issue.issue_id.to_string().into(),
            issue.org_id.to_string().into(),
            issue.space_id.to_string().into(),
            raised_by.to_string().into(),
            issue.created_at.0.into(),
            issue.updated_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
