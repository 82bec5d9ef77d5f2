//! Changes of many issues at once, with what became of each.

use std::collections::HashSet;

use domain::{
    Timestamp,
    id::{IssueId, IssueJobId, OrgId, UserId},
    issues::bulk::{BulkAct, BulkDiff, BulkState},
};

use crate::{Change, Expect, Purge, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct JobRow {
        id: String,
        org_id: String,
        by_id: String,
        act: String,
        issues: String,
        state: String,
        created_at: i64,
        finished_at: Option<i64>,
    }
}

row! {
    struct ResultRow {
        n: i64,
        issue_id: String,
        key: String,
        error: Option<String>,
        diff: String,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// A change of many issues.
#[derive(Clone, Debug, PartialEq)]
pub struct IssueJob {
    /// Its id.
    pub id: IssueJobId,
    /// The organization.
    pub org_id: OrgId,
    /// Whoever asked for it.
    pub by: UserId,
    /// What is done with each.
    pub act: BulkAct,
    /// The issues, with the keys that they had.
    pub issues: Vec<(IssueId, String)>,
    /// How far it is.
    pub state: BulkState,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// What became of an issue.
#[derive(Clone, Debug, PartialEq)]
pub struct IssueJobResult {
    /// The issue's place in the job.
    pub n: i64,
    /// The issue.
    pub issue_id: IssueId,
    /// The key that it had.
    pub key: String,
    /// Why nothing was done, or not all.
    pub error: Option<String>,
    /// What was done.
    pub diff: BulkDiff,
}

impl TryFrom<JobRow> for IssueJob {
    type Error = StoreError;

    fn try_from(row: JobRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("a value of issue_jobs");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            org_id: row.org_id.parse().map_err(|_| corrupt())?,
            by: row.by_id.parse().map_err(|_| corrupt())?,
            act: json::read("issue_jobs.act", &row.act)?,
            issues: json::read("issue_jobs.issues", &row.issues)?,
            state: BulkState::from_name(&row.state).ok_or_else(corrupt)?,
            created_at: Timestamp(row.created_at),
            finished_at: row.finished_at.map(Timestamp),
        })
    }
}

impl TryFrom<ResultRow> for IssueJobResult {
    type Error = StoreError;

    fn try_from(row: ResultRow) -> Result<Self, StoreError> {
        Ok(Self {
            n: row.n,
            issue_id: row.issue_id.parse().map_err(|_| StoreError::corrupt("issue_job_results.issue_id"))?,
            key: row.key,
            error: row.error,
            diff: json::read("issue_job_results.diff", &row.diff)?,
        })
    }
}

impl Store {
    /// A change of many issues of the organization.
    pub async fn issue_job(&self, org_id: OrgId, id: IssueJobId) -> Result<Option<IssueJob>, StoreError> {
        let statement = "SELECT id, org_id, by_id, act, issues, state, created_at, finished_at FROM issue_jobs \
                         WHERE org_id = $1 AND id = $2";
        let sql = Sql::new(statement, [org_id.to_string().into(), id.to_string().into()]);
        self.reader().row::<JobRow>(&sql).await?.map(IssueJob::try_from).transpose()
    }

    /// What became of its issues, behind a place.
    pub async fn issue_job_results(
        &self,
        id: IssueJobId,
        after: Option<i64>,
        limit: u64,
    ) -> Result<Vec<IssueJobResult>, StoreError> {
        let statement = "SELECT n, issue_id, key, error, diff FROM issue_job_results WHERE job_id = $1 AND n > $2 \
                         ORDER BY n LIMIT $3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [id.to_string().into(), after.unwrap_or(-1).into(), limit.into()];
        let rows: Vec<ResultRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(IssueJobResult::try_from).collect()
    }

    /// Of how many of its issues is known what became of them.
    pub async fn issue_job_done(&self, id: IssueJobId) -> Result<i64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_job_results WHERE job_id = $1";
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, [id.to_string().into()])).await?;
        Ok(row.map_or(0, |row| row.count))
    }

    /// Whether it is known what became of an issue of it.
    pub async fn issue_job_has(&self, id: IssueJobId, n: i64) -> Result<bool, StoreError> {
        Ok(self.issue_job_results(id, Some(n - 1), 1).await?.first().is_some_and(|result| result.n == n))
    }

    /// The ids and keys of the issues of these numbers, in this order. What is gone is left out.
    pub async fn issue_keys_at(&self, seqs: &[i64]) -> Result<Vec<(IssueId, String)>, StoreError> {
        let mut found = Vec::with_capacity(seqs.len());
        let mut known = HashSet::new();
        for some in seqs.chunks(100) {
            for stored in self.issues_whole(some).await? {
                if known.insert(stored.issue.issue_id) {
                    found.push((stored.issue.issue_id, stored.issue.key));
                }
            }
        }
        Ok(found)
    }
}

impl Change {
    /// Adds a change of many issues.
    pub fn issue_job_add(&mut self, job: &IssueJob) {
        let statement = "INSERT INTO issue_jobs (id, org_id, by_id, act, issues, state, created_at, finished_at) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let values = [
            job.id.to_string().into(),
            job.org_id.to_string().into(),
            job.by.to_string().into(),
            json::text(&job.act).into(),
            json::text(&job.issues).into(),
            job.state.as_str().into(),
            job.created_at.0.into(),
            job.finished_at.map(|at| at.0).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Ends a change of many issues that is running; nothing of one that ended before.
    pub fn issue_job_end(&mut self, id: IssueJobId, (state, now): (BulkState, Timestamp)) {
        let statement = "UPDATE issue_jobs SET state = $2, finished_at = $3 WHERE id = $1 AND state = 'running'";
        let values = [id.to_string().into(), state.as_str().into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Keeps what became of an issue; stale where that is known.
    pub fn issue_job_result_add(&mut self, id: IssueJobId, result: &IssueJobResult) {
        let statement = "INSERT INTO issue_job_results (job_id, n, issue_id, key, error, diff) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
        let values = [
            id.to_string().into(),
            result.n.into(),
            result.issue_id.to_string().into(),
            result.key.clone().into(),
            result.error.clone().into(),
            json::text(&result.diff).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}

impl Purge {
    /// Changes of many issues that ended before a moment: they can't be undone any more.
    pub fn issue_jobs(before: Timestamp) -> Vec<Self> {
        const ENDED: &str = "job_id IN (SELECT id FROM issue_jobs WHERE finished_at < $1)";
        let results = ["issue_job_results", "job_id, n", ENDED];
        let jobs = ["issue_jobs", "id", "finished_at < $1"];
        vec![
            Self::new("results of changes of many issues", results, before.0),
            Self::new("changes of many issues", jobs, before.0),
        ]
    }
}
