//! Runners: programs that take an organization's jobs.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{OrgId, RunnerId, UserId},
    pipelines::runner::RUNNER_SEEN_EVERY,
    token::TokenHash,
};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};

use crate::{
    Change, Expect, Store, StoreError, json,
    reader::{Reads, row},
    sql::Sql,
};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "runners")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub name: String,
        pub labels: String,
        pub os: String,
        pub arch: String,
        pub program: String,
        pub ephemeral: bool,
        pub paused: bool,
        pub secret_hash: Vec<u8>,
        pub made_by: String,
        pub version: i64,
        pub created_at: i64,
        pub seen_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use self::entity::{Column, Entity, Model};

/// A runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRunner {
    /// The runner's id.
    pub id: RunnerId,
    /// Whose jobs it takes.
    pub org_id: OrgId,
    /// How people call it.
    pub name: String,
    /// What jobs may ask for, in small letters.
    pub labels: Vec<String>,
    /// The operating system.
    pub os: String,
    /// The processor.
    pub arch: String,
    /// The version of the program, as of its last poll.
    pub program: String,
    /// Whether the runner takes one job and is gone.
    pub is_ephemeral: bool,
    /// Whether the runner is given no jobs.
    pub is_paused: bool,
    /// What the store keeps of the runner's secret.
    pub secret: TokenHash,
    /// Who asked for the registration.
    pub made_by: UserId,
    /// Counts the commits that decide on the runner.
    pub version: i64,
    /// When the runner was registered.
    pub created_at: Timestamp,
    /// When the runner last asked for a job.
    pub seen_at: Option<Timestamp>,
}

impl StoredRunner {
    /// Whether nothing is to be written down of the runner that asks now, with this program.
    pub fn is_known(&self, program: &str, now: Timestamp) -> bool {
        self.program == program && self.seen_at.is_some_and(|at| now.since(at) < RUNNER_SEEN_EVERY)
    }
}

row! {
    struct VersionRow {
        id: String,
        version: i64,
    }
}

impl From<&StoredRunner> for Model {
    fn from(runner: &StoredRunner) -> Self {
        Self {
            id: runner.id.to_string(),
            org_id: runner.org_id.to_string(),
            name: runner.name.clone(),
            labels: json::text(&runner.labels),
            os: runner.os.clone(),
            arch: runner.arch.clone(),
            program: runner.program.clone(),
            ephemeral: runner.is_ephemeral,
            paused: runner.is_paused,
            secret_hash: runner.secret.0.to_vec(),
            made_by: runner.made_by.to_string(),
            version: runner.version,
            created_at: runner.created_at.0,
            seen_at: runner.seen_at.map(|at| at.0),
        }
    }
}

impl TryFrom<Model> for StoredRunner {
    type Error = StoreError;

    fn try_from(row: Model) -> Result<Self, StoreError> {
        let secret = row.secret_hash.try_into().map_err(|_| StoreError::corrupt("runners.secret_hash"))?;
        Ok(Self {
            id: row.id.parse().map_err(|_| StoreError::corrupt("runners.id"))?,
            org_id: row.org_id.parse().map_err(|_| StoreError::corrupt("runners.org_id"))?,
            name: row.name,
            labels: json::read("runners.labels", &row.labels)?,
            os: row.os,
            arch: row.arch,
            program: row.program,
            is_ephemeral: row.ephemeral,
            is_paused: row.paused,
            secret: TokenHash(secret),
            made_by: row.made_by.parse().map_err(|_| StoreError::corrupt("runners.made_by"))?,
            version: row.version,
            created_at: Timestamp(row.created_at),
            seen_at: row.seen_at.map(Timestamp),
        })
    }
}

impl Store {
    /// The runner that has this secret.
    pub async fn runner_by_secret(&self, hash: &TokenHash) -> Result<Option<StoredRunner>, StoreError> {
        let select = Entity::find().filter(Column::SecretHash.eq(hash.0.to_vec()));
        select.read_one(self.credential_reader()).await?.map(StoredRunner::try_from).transpose()
    }

    /// The organization's runner with this id.
    pub async fn runner(&self, org_id: OrgId, id: RunnerId) -> Result<Option<StoredRunner>, StoreError> {
        let select = Entity::find_by_id(id.to_string()).filter(Column::OrgId.eq(org_id.to_string()));
        select.read_one(self.reader()).await?.map(StoredRunner::try_from).transpose()
    }

    /// The runners of an organization, the oldest first.
    pub async fn runners(&self, org_id: OrgId, limit: u64) -> Result<Vec<StoredRunner>, StoreError> {
        let select = Entity::find().filter(Column::OrgId.eq(org_id.to_string())).order_by_asc(Column::Id).limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(StoredRunner::try_from).collect()
    }

    /// The versions of an organization's runners, of the oldest ones where it has more.
    pub async fn runner_versions(&self, org_id: OrgId, limit: u64) -> Result<BTreeMap<RunnerId, i64>, StoreError> {
        let statement = "SELECT id, version FROM runners WHERE org_id = $1 ORDER BY id LIMIT $2";
        let values = [org_id.to_string().into(), limit.cast_signed().into()];
        let rows: Vec<VersionRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let read = |row: VersionRow| {
            let id = row.id.parse().map_err(|_| StoreError::corrupt("runners.id"))?;
            Ok((id, row.version))
        };
        rows.into_iter().map(read).collect()
    }
}

impl Change {
    /// Adds a runner.
    pub fn runner_add(&mut self, runner: &StoredRunner) {
        self.insert(Model::from(runner).into_active_model());
    }

    /// Writes what people set of a runner; stale where it isn't in the version that was read.
    pub fn runner_set(&mut self, runner: &StoredRunner) {
        let row = Model::from(runner);
        let statement = "UPDATE runners SET labels = $3, paused = $4, version = version + 1 \
                         WHERE id = $1 AND version = $2";
        let values = [row.id.into(), row.version.into(), row.labels.into(), row.paused.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that a runner asked for a job, and which program it is; changes nothing that is decided on.
    pub fn runner_seen(&mut self, id: RunnerId, program: &str, now: Timestamp) {
        let statement = "UPDATE runners SET seen_at = $2, program = $3 WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into(), program.into()]), Expect::Any);
    }

    /// Deletes a runner; stale where it is gone.
    pub fn runner_remove(&mut self, id: RunnerId) {
        let statement = "DELETE FROM runners WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Rows(1));
    }

    /// Deletes all runners of an organization that is gone, and what would register others.
    pub fn runners_end(&mut self, org_id: OrgId) {
        for statement in ["DELETE FROM runners WHERE org_id = $1", "DELETE FROM runner_tokens WHERE org_id = $1"] {
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
        }
    }
}
