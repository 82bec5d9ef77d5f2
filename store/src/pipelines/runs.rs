//! Runs: how each is doing, and what its owner decides on.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    git::ObjectId,
    id::{OrgId, ResourceId, RunId, UserId},
    pipelines::run::{JobPlace, RunConclusion, RunState, RunStatus},
};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, sea_query::Expr};
use serde::{Deserialize, Serialize};

use super::{
    StoredJob,
    run_row::{Column, Entity, Model, plan},
};
use crate::{Change, Expect, Store, StoreError, git::RepositoryNo, json, reader::Reads, sql::Sql};

/// Who a run is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunActor {
    /// The person or key; none of a schedule.
    pub id: Option<String>,
    /// How people call them.
    pub label: Option<String>,
    /// The person in whose name a run of a schedule acts.
    pub on_behalf_of: Option<String>,
}

impl RunActor {
    /// The person in whose name the run acts, as far as that person may by then.
    pub fn acts_for(&self) -> Option<UserId> {
        self.id.as_deref().or(self.on_behalf_of.as_deref())?.parse().ok()
    }
}

/// Something that is wrong with the file of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunProblem {
    /// What is wrong.
    pub message: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The character of the line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// The run's id.
    pub id: RunId,
    /// Whose run it is.
    pub org_id: OrgId,
    /// The repository's id.
    pub repository_id: ResourceId,
    /// The repository's number.
    pub no: RepositoryNo,
    /// What the run follows from, where nothing may follow from it twice.
    pub cause: Option<String>,
    /// The workflow file's name.
    pub file: String,
    /// The workflow's name.
    pub workflow: String,
    /// The run's number among those of its file.
    pub number: i64,
    /// The attempt, from 1.
    pub attempt: u32,
    /// What started the run.
    pub event: String,
    /// The ref, whole.
    pub full_ref: String,
    /// The branch, where the ref is one; of a pull request, its head.
    pub branch: Option<String>,
    /// The commit; of a pull request, the head.
    pub sha: ObjectId,
    /// The commit that merges a pull request's head into its base, where jobs work on that.
    pub merge: Option<ObjectId>,
    /// The run's title.
    pub title: String,
    /// Who the run is of.
    pub actor: RunActor,
    /// How the run is doing.
    pub status: RunStatus,
    /// How the run ended, once it has.
    pub conclusion: Option<RunConclusion>,
    /// The pull request.
    pub pull_number: Option<i64>,
    /// Whether somebody cancelled the run.
    pub is_cancel_requested: bool,
    /// Whether the run waits for its concurrency group.
    pub waits_for_group: bool,
    /// What is wrong with the file, where the run ended because of it.
    pub problems: Option<Vec<RunProblem>>,
    /// Counts the commits that decide on the run.
    pub version: i64,
    /// When the run was made.
    pub created_at: Timestamp,
    /// When its first job started.
    pub started_at: Option<Timestamp>,
    /// When the run was over.
    pub completed_at: Option<Timestamp>,
}

impl StoredRun {
    /// The commit on which jobs work.
    pub fn commit(&self) -> ObjectId {
        self.merge.unwrap_or(self.sha)
    }
}

/// An attempt of a run that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedAttempt {
    /// The attempt, from 1.
    pub attempt: u32,
    /// How it ended.
    pub conclusion: Option<RunConclusion>,
    /// When its first job started, in milliseconds.
    pub started_at: Option<i64>,
    /// When it was over, in milliseconds.
    pub completed_at: Option<i64>,
    /// The person or key that had the next attempt begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun_by: Option<String>,
    /// How people call them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun_label: Option<String>,
    /// Whether the next attempt's jobs say more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rerun_debug: bool,
}

/// What a run's owner decides on.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// The text of the workflow's file.
    pub text: String,
    /// The contexts that stay the same throughout the run, as JSON.
    pub contexts: String,
    /// How far the run is.
    pub state: RunState,
    /// The attempts before.
    pub attempts: Vec<EndedAttempt>,
}

impl RunPlan {
    /// The person who had the newest attempt begin.
    pub fn begun_by<'a>(&'a self, run: &'a StoredRun) -> Option<&'a str> {
        let rerun_by = self.attempts.last().and_then(|attempt| attempt.rerun_by.as_deref());
        rerun_by.or(run.actor.id.as_deref())
    }

    /// The person whose act the newest attempt is: who had it begin, or in whose name a schedule's run acts that nobody had run again.
    pub fn acts_for<'a>(&'a self, run: &'a StoredRun) -> Option<&'a str> {
        self.begun_by(run).or(run.actor.on_behalf_of.as_deref())
    }

    /// Whether the newest attempt's jobs say more.
    pub fn is_debug(&self) -> bool {
        self.attempts.last().is_some_and(|attempt| attempt.rerun_debug)
    }

    /// Puts jobs where the rows of this attempt say that they are: what only moves jobs isn't written here
    /// ([`RunState::has_just_moved`]).
    pub fn move_jobs<'a>(&mut self, run: &StoredRun, rows: impl IntoIterator<Item = &'a StoredJob>) {
        let rows = rows.into_iter().filter(|row| row.attempt == run.attempt);
        self.state.move_jobs(rows.filter_map(|row| Some((row.place, row.phase()?))));
    }

    /// Of the rows of all attempts, in their order, those that hold: of this attempt, and of earlier ones where the job doesn't
    /// run again.
    pub fn rows_of(&self, run: &StoredRun, rows: Vec<StoredJob>) -> BTreeMap<JobPlace, StoredJob> {
        let is_over = |place: JobPlace| self.state.job(place).is_some_and(|job| job.conclusion().is_some());
        let holds = |row: &StoredJob| row.attempt == run.attempt || is_over(row.place);
        rows.into_iter().filter(holds).map(|row| (row.place, row)).collect()
    }
}

/// Which runs are listed.
#[derive(Clone, Debug, Default)]
pub struct RunList {
    /// Those of this file.
    pub file: Option<String>,
    /// Those of this branch.
    pub branch: Option<String>,
    /// Those that this started.
    pub event: Option<String>,
    /// Those that are doing so.
    pub status: Option<RunStatus>,
    /// Those that ended so.
    pub conclusion: Option<RunConclusion>,
    /// Those of this person or key.
    pub actor: Option<String>,
    /// Those of this pull request.
    pub pull: Option<i64>,
    /// Those on this commit.
    pub sha: Option<ObjectId>,
    /// Those before this one.
    pub before: Option<RunId>,
    /// How many at most.
    pub limit: u64,
}

impl Store {
    /// The repository's run with this id.
    pub async fn run(&self, no: RepositoryNo, id: RunId) -> Result<Option<StoredRun>, StoreError> {
        let select = Entity::find_by_id(id.to_string()).filter(Column::RepoNo.eq(no.0));
        select.read_one(self.reader()).await?.map(StoredRun::try_from).transpose()
    }

    /// The run with this id, whosever it is.
    pub async fn run_of_any(&self, id: RunId) -> Result<Option<StoredRun>, StoreError> {
        Entity::find_by_id(id.to_string()).read_one(self.reader()).await?.map(StoredRun::try_from).transpose()
    }

    /// What the run's owner decides on. Where the jobs of a run are that isn't over, their rows say ([`RunPlan::move_jobs`]).
    pub async fn run_plan(&self, id: RunId) -> Result<Option<RunPlan>, StoreError> {
        let Some(row) = plan::Entity::find_by_id(id.to_string()).read_one(self.reader()).await? else {
            return Ok(None);
        };
        Ok(Some(RunPlan {
            text: row.file_text,
            contexts: row.contexts,
            state: json::read("run_plans.state", &row.state)?,
            attempts: json::read("run_plans.attempts", &row.attempts)?,
        }))
    }

    /// Runs of a repository, the newest first.
    pub async fn runs(&self, no: RepositoryNo, list: &RunList) -> Result<Vec<StoredRun>, StoreError> {
        let mut select = Entity::find().filter(Column::RepoNo.eq(no.0));
        for (column, wanted) in [
            (Column::File, list.file.as_deref()),
            (Column::Branch, list.branch.as_deref()),
            (Column::Event, list.event.as_deref()),
            (Column::Status, list.status.map(RunStatus::name)),
            (Column::Conclusion, list.conclusion.map(RunConclusion::name)),
            (Column::ActorId, list.actor.as_deref()),
        ] {
            if let Some(wanted) = wanted {
                select = select.filter(column.eq(wanted));
            }
        }
        if list.status.is_some_and(|status| status != RunStatus::Completed) {
            // As the index of open runs says it.
            select = select.filter(Expr::cust("status <> 'completed'"));
        }
        if let Some(pull) = list.pull {
            select = select.filter(Column::PullNumber.eq(pull));
        }
        if let Some(sha) = list.sha {
            select = select.filter(Column::Sha.eq(sha.as_bytes().to_vec()));
        }
        if let Some(before) = list.before {
            select = select.filter(Column::Id.lt(before.to_string()));
        }
        let rows = select.order_by_desc(Column::Id).limit(list.limit).read_list(self.reader()).await?;
        rows.into_iter().map(StoredRun::try_from).collect()
    }

    /// The newest run of a file.
    pub async fn run_last(&self, no: RepositoryNo, file: &str) -> Result<Option<StoredRun>, StoreError> {
        let list = RunList { file: Some(file.to_owned()), limit: 1, ..RunList::default() };
        Ok(self.runs(no, &list).await?.pop())
    }

    /// The oldest runs of a repository that were made before this and are over.
    pub async fn runs_over(
        &self,
        no: RepositoryNo,
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<StoredRun>, StoreError> {
        // Ids sort by time, and have the index.
        let select = Entity::find()
            .filter(Column::RepoNo.eq(no.0))
            .filter(Column::Id.lt(RunId::new(before).to_string()))
            .filter(Column::Status.eq(RunStatus::Completed.name()))
            .order_by_asc(Column::Id)
            .limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(StoredRun::try_from).collect()
    }

    /// Whether a repository has runs.
    pub async fn has_runs(&self, no: RepositoryNo) -> Result<bool, StoreError> {
        Ok(!self.runs(no, &RunList { limit: 1, ..RunList::default() }).await?.is_empty())
    }

    /// The run that follows from this already, where there is one.
    pub async fn run_caused_by(&self, no: RepositoryNo, cause: &str) -> Result<Option<StoredRun>, StoreError> {
        let select = Entity::find().filter(Column::RepoNo.eq(no.0)).filter(Column::Cause.eq(cause));
        select.read_one(self.reader()).await?.map(StoredRun::try_from).transpose()
    }
}

impl Change {
    /// Adds a run, with what its owner decides on.
    pub fn run_add(&mut self, run: &StoredRun, decides_on: &RunPlan) {
        self.insert(Model::from(run).into_active_model());
        let row = plan::Model {
            run_id: run.id.to_string(),
            repo_no: run.no.0,
            file_text: decides_on.text.clone(),
            contexts: decides_on.contexts.clone(),
            state: json::text(&decides_on.state),
            attempts: json::text(&decides_on.attempts),
        };
        self.insert(row.into_active_model());
    }

    /// Writes a run; stale where it isn't in the version that was read.
    pub fn run_set(&mut self, run: &StoredRun) {
        let row = Model::from(run);
        let statement = "UPDATE runs SET attempt = $3, status = $4, conclusion = $5, cancel_requested = $6, \
                         waits_for_group = $7, started_at = $8, completed_at = $9, version = version + 1 \
                         WHERE id = $1 AND version = $2";
        let values = [
            row.id.into(),
            row.version.into(),
            row.attempt.into(),
            row.status.into(),
            row.conclusion.into(),
            row.cancel_requested.into(),
            row.waits_for_group.into(),
            row.started_at.into(),
            row.completed_at.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes how far a run is, beside the run itself.
    pub fn run_plan_set(&mut self, run: &StoredRun, decides_on: &RunPlan) {
        let statement = "UPDATE run_plans SET state = $2, attempts = $3 WHERE run_id = $1";
        let (state, attempts) = (json::text(&decides_on.state), json::text(&decides_on.attempts));
        let values = [run.id.to_string().into(), state.into(), attempts.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes a run with its jobs; stale where it isn't in the version that was read.
    pub fn run_remove(&mut self, run: &StoredRun) {
        let values = [run.id.to_string().into(), run.version.into()];
        let statement = "DELETE FROM runs WHERE id = $1 AND version = $2";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        for statement in [
            "DELETE FROM job_reports WHERE job_id IN (SELECT id FROM jobs WHERE run_id = $1)",
            "DELETE FROM job_secrets WHERE job_id IN (SELECT id FROM jobs WHERE run_id = $1)",
            "DELETE FROM approvals WHERE run_id = $1",
            "DELETE FROM jobs WHERE run_id = $1",
            "DELETE FROM run_plans WHERE run_id = $1",
        ] {
            self.run_statement(Sql::new(statement, [run.id.to_string().into()]), Expect::Any);
        }
    }
}
