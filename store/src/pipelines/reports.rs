//! What runners say of jobs.

use domain::{id::JobId, pipelines::job::StepReport, token::TokenHash};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::value::RawValue;

use crate::{Change, Expect, Store, StoreError, git::RepositoryNo, json, reader::Reads, sql::Sql};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "job_reports")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub job_id: String,
        pub repo_no: i64,
        pub steps: String,
        pub annotations: String,
        pub summary: String,
        pub error: String,
        pub body_hash: Option<Vec<u8>>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What a job's runner said of it.
#[derive(Clone, Debug)]
pub struct JobReport {
    /// The steps, as of the last report.
    pub steps: Vec<StepReport>,
    /// Remarks on lines of files, as JSON.
    pub annotations: Box<RawValue>,
    /// What the job says of itself, as Markdown.
    pub summary: String,
    /// Why the job couldn't be run, where it couldn't; may be empty.
    pub error: String,
    /// The SHA-256 of the report that ended the job.
    pub body: Option<TokenHash>,
}

impl Store {
    /// What the job's runner said of it, where it said anything.
    pub async fn job_report(&self, no: RepositoryNo, id: JobId) -> Result<Option<JobReport>, StoreError> {
        let select = entity::Entity::find_by_id(id.to_string()).filter(entity::Column::RepoNo.eq(no.0));
        let Some(row) = select.read_one(self.reader()).await? else { return Ok(None) };
        let hash =
            |bytes: Vec<u8>| bytes.try_into().map(TokenHash).map_err(|_| StoreError::corrupt("job_reports.body_hash"));
        Ok(Some(JobReport {
            steps: json::read("job_reports.steps", &row.steps)?,
            annotations: RawValue::from_string(row.annotations).map_err(StoreError::corrupt)?,
            summary: row.summary,
            error: row.error,
            body: row.body_hash.map(hash).transpose()?,
        }))
    }
}

impl Change {
    /// Has the steps of a job be these; stale where the job is over, or another runner's.
    pub fn job_steps_put(&mut self, id: JobId, token: Option<&TokenHash>, steps: &[StepReport]) {
        let statement = "INSERT INTO job_reports (job_id, repo_no, steps) \
                         SELECT id, repo_no, CAST($2 AS TEXT) FROM jobs \
                         WHERE id = $1 AND conclusion IS NULL AND token_hash = $3 \
                         ON CONFLICT (job_id) DO UPDATE SET steps = excluded.steps";
        let token = token.map(|hash| hash.0.to_vec());
        let values = [id.to_string().into(), json::text(&steps).into(), token.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Has the report of a job be this.
    pub fn job_report_put(&mut self, no: RepositoryNo, id: JobId, report: &JobReport) {
        let statement = "INSERT INTO job_reports (job_id, repo_no, steps, annotations, summary, error, body_hash) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (job_id) DO UPDATE SET \
                         steps = excluded.steps, annotations = excluded.annotations, summary = excluded.summary, \
                         error = excluded.error, body_hash = excluded.body_hash";
        let values = [
            id.to_string().into(),
            no.0.into(),
            json::text(&report.steps).into(),
            report.annotations.get().into(),
            report.summary.as_str().into(),
            report.error.as_str().into(),
            report.body.map(|hash| hash.0.to_vec()).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
