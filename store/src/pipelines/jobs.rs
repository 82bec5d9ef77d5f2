//! Jobs: where each is in its life, and who has it.

use domain::{
    Timestamp,
    id::{JobId, OrgId, ResourceId, RunId, RunnerId},
    pipelines::run::{JobConclusion, JobPlace, Phase},
    token::TokenHash,
};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};

use super::named;
use crate::{
    Change, Expect, Store, StoreError,
    git::RepositoryNo,
    json,
    reader::{Reads, row},
    sql::Sql,
};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "jobs")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub repo_id: String,
        pub repo_no: i64,
        pub run_id: String,
        pub attempt: i32,
        pub node: i32,
        pub place: i32,
        pub key: String,
        pub name: String,
        pub labels: String,
        pub environment: Option<String>,
        pub environment_url: Option<String>,
        pub timeout_minutes: i32,
        pub stage: String,
        pub conclusion: Option<String>,
        pub fault: Option<String>,
        pub token_hash: Option<Vec<u8>>,
        pub marker: String,
        pub runner_id: Option<String>,
        pub runner_name: Option<String>,
        pub version: i64,
        pub created_at: i64,
        pub queued_at: Option<i64>,
        pub reserved_until: Option<i64>,
        pub started_at: Option<i64>,
        pub seen_at: Option<i64>,
        pub completed_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use self::entity::Model;
pub(super) use self::entity::{Column, Entity};

/// Where a job is in its life, as its row has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStage {
    /// Something holds the job back.
    Held,
    /// Runners may take the job.
    Queued,
    /// A runner was given the job, and hasn't asked for its plan yet.
    Reserved,
    /// A runner has the job.
    Running,
    /// A runner has the job, and is told to stop it.
    Cancelling,
    /// The job is over.
    Completed,
}

impl JobStage {
    /// The name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Queued => "queued",
            Self::Reserved => "reserved",
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Completed => "completed",
        }
    }

    /// Whether a runner has the job.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Running | Self::Cancelling)
    }
}

/// A job of one attempt of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredJob {
    /// The job's id.
    pub id: JobId,
    /// Whose job it is.
    pub org_id: OrgId,
    /// The repository's id.
    pub repository_id: ResourceId,
    /// The repository's number.
    pub no: RepositoryNo,
    /// The run.
    pub run_id: RunId,
    /// The attempt of the run, from 1.
    pub attempt: u32,
    /// Which job of the run it is.
    pub place: JobPlace,
    /// The job's name in its file.
    pub key: String,
    /// The job's name.
    pub name: String,
    /// Labels that a runner has to have.
    pub labels: Vec<String>,
    /// Where the job deploys to.
    pub environment: Option<String>,
    /// Where to see what the job deployed, as its runner says at the end.
    pub environment_url: Option<String>,
    /// Minutes that the job may take.
    pub timeout_minutes: u32,
    /// Where the job is in its life.
    pub stage: JobStage,
    /// How the job ended, once it has.
    pub conclusion: Option<JobConclusion>,
    /// Why the job couldn't be run, where it couldn't.
    pub fault: Option<String>,
    /// What the store keeps of the token that the job's runner shows.
    pub token: Option<TokenHash>,
    /// What a line of the log begins with that is the runner's own.
    pub marker: String,
    /// The runner that has or had the job.
    pub runner: Option<(RunnerId, String)>,
    /// Counts the commits that decide on the job.
    pub version: i64,
    /// When the job was made.
    pub created_at: Timestamp,
    /// Since when runners may take the job.
    pub queued_at: Option<Timestamp>,
    /// Until when the runner that was given the job has to ask for its plan.
    pub reserved_until: Option<Timestamp>,
    /// When a runner asked for the plan.
    pub started_at: Option<Timestamp>,
    /// When the runner last said something.
    pub seen_at: Option<Timestamp>,
    /// When the job was over.
    pub completed_at: Option<Timestamp>,
}

row! {
    struct QueuedRow {
        jobs: i64,
    }
}

row! {
    struct LabelsRow {
        labels: String,
        since: Option<i64>,
    }
}

/// Labels that jobs ask for which runners may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedLabels {
    /// The labels.
    pub labels: Vec<String>,
    /// The labels as rows have them.
    pub key: String,
    /// Since when the first of the jobs waits.
    pub since: Option<Timestamp>,
}

impl From<&StoredJob> for Model {
    fn from(job: &StoredJob) -> Self {
        let small = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
        Self {
            id: job.id.to_string(),
            org_id: job.org_id.to_string(),
            repo_id: job.repository_id.to_string(),
            repo_no: job.no.0,
            run_id: job.run_id.to_string(),
            attempt: i32::try_from(job.attempt).unwrap_or(i32::MAX),
            node: small(job.place.node),
            place: small(job.place.index),
            key: job.key.clone(),
            name: job.name.clone(),
            labels: json::text(&job.labels),
            environment: job.environment.clone(),
            environment_url: job.environment_url.clone(),
            timeout_minutes: i32::try_from(job.timeout_minutes).unwrap_or(i32::MAX),
            stage: job.stage.name().to_owned(),
            conclusion: job.conclusion.map(|it| it.name().to_owned()),
            fault: job.fault.clone(),
            token_hash: job.token.map(|hash| hash.0.to_vec()),
            marker: job.marker.clone(),
            runner_id: job.runner.as_ref().map(|(id, _)| id.to_string()),
            runner_name: job.runner.as_ref().map(|(_, name)| name.clone()),
            version: job.version,
            created_at: job.created_at.0,
            queued_at: job.queued_at.map(|at| at.0),
            reserved_until: job.reserved_until.map(|at| at.0),
            started_at: job.started_at.map(|at| at.0),
            seen_at: job.seen_at.map(|at| at.0),
            completed_at: job.completed_at.map(|at| at.0),
        }
    }
}

impl TryFrom<Model> for StoredJob {
    type Error = StoreError;

    fn try_from(row: Model) -> Result<Self, StoreError> {
        let token =
            |bytes: Vec<u8>| bytes.try_into().map(TokenHash).map_err(|_| StoreError::corrupt("jobs.token_hash"));
        let runner = |id: String| id.parse().map_err(|_| StoreError::corrupt("jobs.runner_id"));
        let place = |number: i32| usize::try_from(number).map_err(StoreError::corrupt);
        Ok(Self {
            id: row.id.parse().map_err(|_| StoreError::corrupt("jobs.id"))?,
            org_id: row.org_id.parse().map_err(|_| StoreError::corrupt("jobs.org_id"))?,
            repository_id: row.repo_id.parse().map_err(|_| StoreError::corrupt("jobs.repo_id"))?,
            no: RepositoryNo(row.repo_no),
            run_id: row.run_id.parse().map_err(|_| StoreError::corrupt("jobs.run_id"))?,
            attempt: u32::try_from(row.attempt).map_err(StoreError::corrupt)?,
            place: JobPlace { node: place(row.node)?, index: place(row.place)? },
            key: row.key,
            name: row.name,
            labels: json::read("jobs.labels", &row.labels)?,
            environment: row.environment,
            environment_url: row.environment_url,
            timeout_minutes: u32::try_from(row.timeout_minutes).map_err(StoreError::corrupt)?,
            stage: named("jobs.stage", &row.stage)?,
            conclusion: row.conclusion.map(|name| named("jobs.conclusion", &name)).transpose()?,
            fault: row.fault,
            token: row.token_hash.map(token).transpose()?,
            marker: row.marker,
            runner: row.runner_id.map(runner).transpose()?.zip(row.runner_name),
            version: row.version,
            created_at: Timestamp(row.created_at),
            queued_at: row.queued_at.map(Timestamp),
            reserved_until: row.reserved_until.map(Timestamp),
            started_at: row.started_at.map(Timestamp),
            seen_at: row.seen_at.map(Timestamp),
            completed_at: row.completed_at.map(Timestamp),
        })
    }
}

impl StoredJob {
    /// Where the job is in its run; none where something holds it back, of which its row doesn't know what.
    pub const fn phase(&self) -> Option<Phase> {
        match (self.stage, self.conclusion) {
            (JobStage::Queued | JobStage::Reserved, _) => Some(Phase::Queued),
            (JobStage::Running, _) => Some(Phase::Running),
            (JobStage::Cancelling, _) => Some(Phase::Cancelling),
            (JobStage::Completed, Some(conclusion)) => Some(Phase::Completed(conclusion)),
            (JobStage::Completed, None) | (JobStage::Held, _) => None,
        }
    }
}

impl Store {
    /// The job that has this token, also once it is over.
    pub async fn job_by_token(&self, hash: &TokenHash) -> Result<Option<StoredJob>, StoreError> {
        let select = Entity::find().filter(Column::TokenHash.eq(hash.0.to_vec()));
        select.read_one(self.credential_reader()).await?.map(StoredJob::try_from).transpose()
    }

    /// The repository's job with this id.
    pub async fn job(&self, no: RepositoryNo, id: JobId) -> Result<Option<StoredJob>, StoreError> {
        let select = Entity::find_by_id(id.to_string()).filter(Column::RepoNo.eq(no.0));
        select.read_one(self.reader()).await?.map(StoredJob::try_from).transpose()
    }

    /// The organization's job with this id.
    pub async fn job_of_org(&self, org_id: OrgId, id: JobId) -> Result<Option<StoredJob>, StoreError> {
        let select = Entity::find_by_id(id.to_string()).filter(Column::OrgId.eq(org_id.to_string()));
        select.read_one(self.reader()).await?.map(StoredJob::try_from).transpose()
    }

    /// The jobs of a run, those of all attempts up to this one, in the order of the file, of matrices and of attempts.
    pub async fn run_jobs(&self, run_id: RunId, attempt: u32) -> Result<Vec<StoredJob>, StoreError> {
        let select = Entity::find()
            .filter(Column::RunId.eq(run_id.to_string()))
            .filter(Column::Attempt.lte(i32::try_from(attempt).unwrap_or(i32::MAX)))
            .order_by_asc(Column::Node)
            .order_by_asc(Column::Place)
            .order_by_asc(Column::Attempt);
        select.read_list(self.reader()).await?.into_iter().map(StoredJob::try_from).collect()
    }

    /// The jobs of an organization that runners may take, those that wait longest first.
    pub async fn queued_jobs(&self, org_id: OrgId, limit: u64) -> Result<Vec<StoredJob>, StoreError> {
        let select = Entity::find()
            .filter(Column::OrgId.eq(org_id.to_string()))
            .filter(Column::Stage.eq(JobStage::Queued.name()))
            .order_by_asc(Column::QueuedAt)
            .order_by_asc(Column::Id)
            .limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(StoredJob::try_from).collect()
    }

    /// What the jobs of an organization that runners may take ask of them: each set of labels once, by its text, behind one.
    pub async fn queued_labels(
        &self,
        org_id: OrgId,
        behind: Option<&str>,
        limit: u64,
    ) -> Result<Vec<QueuedLabels>, StoreError> {
        let statement = "SELECT labels, MIN(queued_at) AS since FROM jobs \
                         WHERE org_id = $1 AND stage = 'queued' AND labels > $2 GROUP BY labels ORDER BY labels LIMIT $3";
        // Labels are a list, and no list's text is empty.
        let values = [org_id.to_string().into(), behind.unwrap_or_default().into(), limit.cast_signed().into()];
        let rows: Vec<LabelsRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let read = |row: LabelsRow| {
            let labels = json::read("jobs.labels", &row.labels)?;
            Ok(QueuedLabels { labels, key: row.labels, since: row.since.map(Timestamp) })
        };
        rows.into_iter().map(read).collect()
    }

    /// The job that waits longest among those with just these labels.
    pub async fn queued_job_with(&self, org_id: OrgId, labels: &QueuedLabels) -> Result<Option<StoredJob>, StoreError> {
        let select = Entity::find()
            .filter(Column::OrgId.eq(org_id.to_string()))
            .filter(Column::Stage.eq(JobStage::Queued.name()))
            .filter(Column::Labels.eq(labels.key.as_str()))
            .order_by_asc(Column::QueuedAt)
            .order_by_asc(Column::Id)
            .limit(1);
        select.read_one(self.reader()).await?.map(StoredJob::try_from).transpose()
    }

    /// Whether runners may take a job of an organization.
    pub async fn has_queued_jobs(&self, org_id: OrgId) -> Result<bool, StoreError> {
        let statement = "SELECT COUNT(*) AS jobs FROM \
                         (SELECT 1 FROM jobs WHERE org_id = $1 AND stage = 'queued' LIMIT 1) AS first";
        let found: Option<QueuedRow> = self.reader().row(&Sql::new(statement, [org_id.to_string().into()])).await?;
        Ok(found.is_some_and(|row| row.jobs > 0))
    }
}

impl Change {
    /// Adds a job.
    pub fn job_add(&mut self, job: &StoredJob) {
        self.insert(Model::from(job).into_active_model());
    }

    /// Writes a job; stale where it isn't in the version that was read.
    pub fn job_set(&mut self, job: &StoredJob) {
        let row = Model::from(job);
        let statement = "UPDATE jobs SET stage = $3, conclusion = $4, fault = $5, token_hash = $6, marker = $7, \
                         runner_id = $8, runner_name = $9, queued_at = $10, reserved_until = $11, started_at = $12, \
                         seen_at = $13, completed_at = $14, environment_url = $15, version = version + 1 \
                         WHERE id = $1 AND version = $2";
        let values = [
            row.id.into(),
            row.version.into(),
            row.stage.into(),
            row.conclusion.into(),
            row.fault.into(),
            row.token_hash.into(),
            row.marker.into(),
            row.runner_id.into(),
            row.runner_name.into(),
            row.queued_at.into(),
            row.reserved_until.into(),
            row.started_at.into(),
            row.seen_at.into(),
            row.completed_at.into(),
            row.environment_url.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that a job's runner said something; changes nothing that is decided on.
    pub fn job_seen(&mut self, id: JobId, now: Timestamp) {
        let statement = "UPDATE jobs SET seen_at = $2 WHERE id = $1 AND (seen_at IS NULL OR seen_at < $2)";
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into()]), Expect::Any);
    }
}
