//! What checks say of commits.

use domain::{
    Timestamp,
    git::{CommitState, CommitStatus, ObjectId, STATUSES_MAX, StatusDraft},
};

use super::{RepositoryNo, Waiting, refs::oid_of};
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    struct StatusRow {
        sha: Vec<u8>,
        context: String,
        state: String,
        description: String,
        url: Option<String>,
        set_by: String,
        key_id: Option<String>,
        created_at: i64,
        updated_at: i64,
    }
}

impl TryFrom<StatusRow> for CommitStatus {
    type Error = StoreError;

    fn try_from(row: StatusRow) -> Result<Self, StoreError> {
        let state = CommitState::from_name(&row.state).ok_or_else(|| StoreError::corrupt("commit_statuses.state"))?;
        let key_id = row.key_id.map(|id| id.parse().map_err(|_| StoreError::corrupt("commit_statuses.key_id")));
        Ok(Self {
            commit: oid_of(row.sha)?,
            draft: StatusDraft { context: row.context, state, description: row.description, url: row.url },
            set_by: row.set_by.parse().map_err(|_| StoreError::corrupt("commit_statuses.set_by"))?,
            key_id: key_id.transpose()?,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Store {
    /// The statuses of a commit, by their contexts.
    pub async fn commit_statuses(&self, no: RepositoryNo, commit: ObjectId) -> Result<Vec<CommitStatus>, StoreError> {
        let sql = Sql::new(
            "SELECT sha, context, state, description, url, set_by, key_id, created_at, updated_at FROM commit_statuses \
             WHERE repo_no = $1 AND sha = $2 ORDER BY context LIMIT $3",
            [no.0.into(), commit.as_bytes().to_vec().into(), i64::try_from(STATUSES_MAX).unwrap_or(i64::MAX).into()],
        );
        let rows: Vec<StatusRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(CommitStatus::try_from).collect()
    }
}

impl Change {
    /// Has a check say this of a commit from now on.
    pub fn commit_status_put(&mut self, no: RepositoryNo, status: &CommitStatus) {
        let CommitStatus { commit, draft, set_by, key_id, created_at, updated_at } = status;
        let statement = "INSERT INTO commit_statuses (repo_no, sha, context, state, description, url, set_by, key_id, \
                         created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                         ON CONFLICT (repo_no, sha, context) DO UPDATE SET state = excluded.state, \
                         description = excluded.description, url = excluded.url, set_by = excluded.set_by, \
                         key_id = excluded.key_id, updated_at = excluded.updated_at";
        let values = [
            no.0.into(),
            commit.as_bytes().to_vec().into(),
            draft.context.as_str().into(),
            draft.state.as_str().into(),
            draft.description.as_str().into(),
            draft.url.clone().into(),
            set_by.to_string().into(),
            key_id.map(|id| id.to_string()).into(),
            created_at.0.into(),
            updated_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        if draft.state == CommitState::Success {
            self.waiting_pulls_wake(no, Waiting::At(*commit), *updated_at);
        }
    }
}
