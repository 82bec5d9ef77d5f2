//! The rows of runs.

pub(super) use self::entity::{Column, Entity, Model};
pub(super) mod plan {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "run_plans")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub run_id: String,
        pub repo_no: i64,
        pub file_text: String,
        pub contexts: String,
        pub state: String,
        pub attempts: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use domain::Timestamp;

use super::{StoredRun, commit_of, named, runs::RunActor};
use crate::{StoreError, git::RepositoryNo, json};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "runs")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub repo_id: String,
        pub repo_no: i64,
        pub cause: Option<String>,
        pub file: String,
        pub workflow: String,
        pub number: i64,
        pub attempt: i32,
        pub event: String,
        #[sea_orm(column_name = "ref")]
        pub full_ref: String,
        pub branch: Option<String>,
        pub sha: Vec<u8>,
        pub merge_sha: Option<Vec<u8>>,
        pub title: String,
        pub actor_id: Option<String>,
        pub actor_label: Option<String>,
        pub on_behalf_of: Option<String>,
        pub status: String,
        pub conclusion: Option<String>,
        pub pull_number: Option<i64>,
        pub cancel_requested: bool,
        pub waits_for_group: bool,
        pub problems: Option<String>,
        pub version: i64,
        pub created_at: i64,
        pub started_at: Option<i64>,
        pub completed_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl From<&StoredRun> for Model {
    fn from(run: &StoredRun) -> Self {
        Self {
            id: run.id.to_string(),
            org_id: run.org_id.to_string(),
            repo_id: run.repository_id.to_string(),
            repo_no: run.no.0,
            cause: run.cause.clone(),
            file: run.file.clone(),
            workflow: run.workflow.clone(),
            number: run.number,
            attempt: i32::try_from(run.attempt).unwrap_or(i32::MAX),
            event: run.event.clone(),
            full_ref: run.full_ref.clone(),
            branch: run.branch.clone(),
            sha: run.sha.as_bytes().to_vec(),
            merge_sha: run.merge.map(|oid| oid.as_bytes().to_vec()),
            title: run.title.clone(),
            actor_id: run.actor.id.clone(),
            actor_label: run.actor.label.clone(),
            on_behalf_of: run.actor.on_behalf_of.clone(),
            status: run.status.name().to_owned(),
            conclusion: run.conclusion.map(|it| it.name().to_owned()),
            pull_number: run.pull_number,
            cancel_requested: run.is_cancel_requested,
            waits_for_group: run.waits_for_group,
            problems: run.problems.as_ref().map(json::text),
            version: run.version,
            created_at: run.created_at.0,
            started_at: run.started_at.map(|at| at.0),
            completed_at: run.completed_at.map(|at| at.0),
        }
    }
}

impl TryFrom<Model> for StoredRun {
    type Error = StoreError;

    fn try_from(row: Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.parse().map_err(|_| StoreError::corrupt("runs.id"))?,
            org_id: row.org_id.parse().map_err(|_| StoreError::corrupt("runs.org_id"))?,
            repository_id: row.repo_id.parse().map_err(|_| StoreError::corrupt("runs.repo_id"))?,
            no: RepositoryNo(row.repo_no),
            cause: row.cause,
            file: row.file,
            workflow: row.workflow,
            number: row.number,
            attempt: u32::try_from(row.attempt).map_err(StoreError::corrupt)?,
            event: row.event,
            full_ref: row.full_ref,
            branch: row.branch,
            sha: commit_of(row.sha)?,
            merge: row.merge_sha.map(commit_of).transpose()?,
            title: row.title,
            actor: RunActor { id: row.actor_id, label: row.actor_label, on_behalf_of: row.on_behalf_of },
            status: named("runs.status", &row.status)?,
            conclusion: row.conclusion.map(|name| named("runs.conclusion", &name)).transpose()?,
            pull_number: row.pull_number,
            is_cancel_requested: row.cancel_requested,
            waits_for_group: row.waits_for_group,
            problems: row.problems.map(|text| json::read("runs.problems", &text)).transpose()?,
            version: row.version,
            created_at: Timestamp(row.created_at),
            started_at: row.started_at.map(Timestamp),
            completed_at: row.completed_at.map(Timestamp),
        })
    }
}
