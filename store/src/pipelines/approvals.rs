//! Jobs that wait for their environment, and what was decided.

use domain::{
    Timestamp,
    id::{JobId, RunId},
    pipelines::environments::ApprovalDecision,
};

use super::named;
use crate::{Change, Expect, Store, StoreError, git::RepositoryNo, reader::row, sql::Sql};

row! {
    struct ApprovalRow {
        job_id: String,
        repo_no: i64,
        run_id: String,
        environment: String,
        asked_at: i64,
        waits_until: Option<i64>,
        decision: Option<String>,
        decided_by: Option<String>,
        comment: Option<String>,
        decided_at: Option<i64>,
    }
}

const COLUMNS: &str =
    "job_id, repo_no, run_id, environment, asked_at, waits_until, decision, decided_by, comment, decided_at";

/// A job that waits for its environment, or did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredApproval {
    /// The job.
    pub job_id: JobId,
    /// The repository's number.
    pub no: RepositoryNo,
    /// The run.
    pub run_id: RunId,
    /// The environment's name, in small letters.
    pub environment: String,
    /// Since when the job waits.
    pub asked_at: Timestamp,
    /// When the timer runs out, where there is one.
    pub waits_until: Option<Timestamp>,
    /// What became of it; none while a reviewer is waited for.
    pub decision: Option<ApprovalDecision>,
    /// The reviewer.
    pub decided_by: Option<String>,
    /// What the reviewer said.
    pub comment: Option<String>,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
}

impl StoredApproval {
    /// Whether the job may go on at this moment.
    pub fn admits(&self, now: Timestamp) -> bool {
        self.decision.is_some_and(ApprovalDecision::admits) && self.waits_until.is_none_or(|until| until <= now)
    }
}

impl TryFrom<ApprovalRow> for StoredApproval {
    type Error = StoreError;

    fn try_from(row: ApprovalRow) -> Result<Self, StoreError> {
        Ok(Self {
            job_id: row.job_id.parse().map_err(|_| StoreError::corrupt("approvals.job_id"))?,
            no: RepositoryNo(row.repo_no),
            run_id: row.run_id.parse().map_err(|_| StoreError::corrupt("approvals.run_id"))?,
            environment: row.environment,
            asked_at: Timestamp(row.asked_at),
            waits_until: row.waits_until.map(Timestamp),
            decision: row.decision.map(|name| named("approvals.decision", &name)).transpose()?,
            decided_by: row.decided_by,
            comment: row.comment,
            decided_at: row.decided_at.map(Timestamp),
        })
    }
}

impl Store {
    /// The approvals of a run, of all attempts, those that were asked for first before the others.
    pub async fn approvals(&self, run_id: RunId) -> Result<Vec<StoredApproval>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM approvals WHERE run_id = $1 ORDER BY asked_at, job_id");
        let sql = Sql::new(statement, [run_id.to_string().into()]);
        self.reader().rows::<ApprovalRow>(&sql).await?.into_iter().map(StoredApproval::try_from).collect()
    }

    /// The approval that a job asked for.
    pub async fn approval(&self, no: RepositoryNo, job_id: JobId) -> Result<Option<StoredApproval>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM approvals WHERE job_id = $1 AND repo_no = $2");
        let sql = Sql::new(statement, [job_id.to_string().into(), no.0.into()]);
        self.reader().row::<ApprovalRow>(&sql).await?.map(StoredApproval::try_from).transpose()
    }

    /// The runs of which jobs wait for an environment.
    pub async fn runs_waiting_for(&self, no: RepositoryNo, environment: &str) -> Result<Vec<RunId>, StoreError> {
        row! {
            struct RunRow {
                run_id: String,
            }
        }
        let statement = "SELECT DISTINCT a.run_id AS run_id FROM jobs j JOIN approvals a ON a.job_id = j.id \
                         WHERE j.repo_no = $1 AND j.stage = 'held' AND a.environment = $2";
        let sql = Sql::new(statement, [no.0.into(), environment.into()]);
        let rows: Vec<RunRow> = self.reader().rows(&sql).await?;
        rows.iter().map(|row| row.run_id.parse().map_err(|_| StoreError::corrupt("approvals.run_id"))).collect()
    }
}

impl Change {
    /// Has a job wait for its environment.
    pub fn approval_add(&mut self, approval: &StoredApproval) {
        let statement = "INSERT INTO approvals (job_id, repo_no, run_id, environment, asked_at, waits_until, decision) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = [
            approval.job_id.to_string().into(),
            approval.no.0.into(),
            approval.run_id.to_string().into(),
            approval.environment.as_str().into(),
            approval.asked_at.0.into(),
            approval.waits_until.map(|at| at.0).into(),
            approval.decision.map(|it| it.name().to_owned()).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes what was decided; stale where something was meanwhile.
    pub fn approval_decide(&mut self, approval: &StoredApproval) {
        let statement = "UPDATE approvals SET decision = $2, decided_by = $3, comment = $4, decided_at = $5 \
                         WHERE job_id = $1 AND decision IS NULL";
        let values = [
            approval.job_id.to_string().into(),
            approval.decision.map(|it| it.name().to_owned()).into(),
            approval.decided_by.clone().into(),
            approval.comment.clone().into(),
            approval.decided_at.map(|at| at.0).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
