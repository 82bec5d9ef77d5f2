//! Deleting what is left of repositories, a bounded number of rows at a time.

use domain::id::{OrgId, ResourceId};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::{
    RepositoryNo,
    row::{Column, Entity},
};
use crate::{Change, Expect, PURGE_ROWS_MAX, Purge, PurgeBatch, Store, StoreError, reader::Reads, sql::Sql};

/// A repository that is deleted for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepositoryRest {
    /// Its id.
    pub id: ResourceId,
    /// Its number.
    pub no: RepositoryNo,
    /// Whose it was.
    pub org_id: OrgId,
}

/// The rows of a repository beside its own.
fn rows(no: RepositoryNo) -> Vec<Purge> {
    [
        ("refs", ["git_refs", "repo_no, name", "repo_no = $1"]),
        ("refs of pushes", ["push_refs", "repo_no, push_id, name", "repo_no = $1"]),
        ("pushes", ["pushes", "repo_no, id", "repo_no = $1"]),
        ("rules", ["branch_rules", "repo_no, id", "repo_no = $1"]),
        ("statuses of commits", ["commit_statuses", "repo_no, sha, context", "repo_no = $1"]),
        ("locks of large files", ["lfs_locks", "repo_no, path", "repo_no = $1"]),
        ("secrets that were found", ["secret_findings", "repo_no, fingerprint", "repo_no = $1"]),
        ("clones", ["git_clones", "repo_no, cloner", "repo_no = $1"]),
        ("former names", ["repository_former_names", "org_id, name_key", "repo_no = $1"]),
        ("comments on pull requests", ["pull_comments", "repo_no, thread_id, id", "repo_no = $1"]),
        ("threads on pull requests", ["pull_threads", "repo_no, number, id", "repo_no = $1"]),
        ("reviews", ["pull_reviews", "repo_no, number, id", "repo_no = $1"]),
        ("reviewers who are asked", ["pull_reviewers", "repo_no, number, principal", "repo_no = $1"]),
        ("what happened to pull requests", ["pull_events", "repo_no, number, seq", "repo_no = $1"]),
        ("pull requests", ["pulls", "repo_no, number", "repo_no = $1"]),
        ("grants", ["repository_grants", "repo_no, principal", "repo_no = $1"]),
        ("reports of jobs", ["job_reports", "job_id", "repo_no = $1"]),
        ("what jobs were given", ["job_secrets", "job_id", "repo_no = $1"]),
        ("secrets", ["pipeline_secrets", "scope, scope_id, name", "repo_no = $1"]),
        ("variables", ["pipeline_variables", "scope, scope_id, name", "repo_no = $1"]),
        ("approvals", ["approvals", "job_id", "repo_no = $1"]),
        ("jobs", ["jobs", "id", "repo_no = $1"]),
        ("plans of runs", ["run_plans", "run_id", "repo_no = $1"]),
        ("runs", ["runs", "id", "repo_no = $1"]),
        ("concurrency groups", ["concurrency_groups", "repo_no, name", "repo_no = $1"]),
        ("environments", ["environments", "repo_no, name_key", "repo_no = $1"]),
        ("schedules", ["workflow_schedules", "repo_no, file, place", "repo_no = $1"]),
        ("branches that fail", ["failing_branches", "repo_no, file, branch, user_id", "repo_no = $1"]),
        ("workflows", ["workflow_states", "repo_no, file", "repo_no = $1"]),
    ]
    .map(|(what, names)| Purge::new(what, names, no.0))
    .into()
}

impl Store {
    /// The next repository of the organization that is deleted for good.
    pub async fn repository_rest(&self, org_id: OrgId) -> Result<Option<RepositoryRest>, StoreError> {
        let select = Entity::find()
            .filter(Column::OrgId.eq(org_id.to_string()))
            .filter(Column::PurgeAt.eq(0_i64))
            .order_by_asc(Column::RepoNo);
        let Some(row) = select.read_one(self.reader()).await? else { return Ok(None) };
        let id = row.id.parse().map_err(|_| StoreError::corrupt("repositories.id"))?;
        Ok(Some(RepositoryRest { id, no: RepositoryNo(row.repo_no), org_id }))
    }

    /// What deletes the next rows of a repository that is deleted for good.
    pub async fn repository_rows_next(&self, rest: RepositoryRest) -> Result<PurgeBatch, StoreError> {
        for batch in [
            self.repository_packs_next(rest).await?,
            self.web_uploads_next(rest).await?,
            self.lfs_objects_next(rest).await?,
            self.job_files_next(rest).await?,
        ] {
            if !batch.rows.is_empty() {
                return Ok(batch);
            }
        }
        self.purge_next(&rows(rest.no), PURGE_ROWS_MAX).await
    }
}

impl Change {
    /// Deletes a repository of which nothing else is left, with its record.
    pub fn repository_remove(&mut self, rest: RepositoryRest) {
        let statement = "DELETE FROM repositories WHERE repo_no = $1 AND purge_at = 0";
        self.run_statement(Sql::new(statement, [rest.no.0.into()]), Expect::Rows(1));
        self.resource_remove(rest.id);
    }

    /// Has all repositories of an organization that is gone be deleted for good.
    pub fn repositories_end(&mut self, org_id: OrgId) {
        for statement in [
            "UPDATE repositories SET purge_at = 0, version = version + 1 WHERE org_id = $1",
            "UPDATE resources SET status = 'deleting', version = version + 1 WHERE org_id = $1 AND type = 'repository'",
        ] {
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
        }
    }
}
