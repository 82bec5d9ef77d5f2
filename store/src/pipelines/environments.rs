//! Environments of repositories, and what protects them.

use domain::{
    Timestamp,
    git::rules::RefPattern,
    pipelines::environments::{EnvironmentName, Protection},
};

use crate::{
    Change, Expect, Store, StoreError,
    git::{RepositoryNo, StoredRepository},
    json,
    pipelines::ValueScope,
    reader::row,
    sql::Sql,
};

row! {
    struct EnvironmentRow {
        name: String,
        reviewers: String,
        prevents_self_review: bool,
        wait_minutes: i32,
        branches: String,
        version: i64,
        created_at: i64,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

const COLUMNS: &str = "name, reviewers, prevents_self_review, wait_minutes, branches, version, created_at";

/// An environment of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEnvironment {
    /// The name, as it was first written.
    pub name: EnvironmentName,
    /// What holds jobs back that deploy there.
    pub protection: Protection,
    /// Counts the commits that decide on it; 0 where there is no row.
    pub version: i64,
    /// Since when there is the environment.
    pub created_at: Timestamp,
}

impl StoredEnvironment {
    /// One that isn't written yet, and lets every job pass.
    pub fn new(name: EnvironmentName, now: Timestamp) -> Self {
        Self { name, protection: Protection::default(), version: 0, created_at: now }
    }
}

impl TryFrom<EnvironmentRow> for StoredEnvironment {
    type Error = StoreError;

    fn try_from(row: EnvironmentRow) -> Result<Self, StoreError> {
        let name = EnvironmentName::parse("name", &row.name);
        let branches: Vec<RefPattern> = json::read("environments.branches", &row.branches)?;
        Ok(Self {
            name: name.map_err(|_| StoreError::corrupt("environments.name"))?,
            protection: Protection {
                reviewers: json::read("environments.reviewers", &row.reviewers)?,
                prevents_self_review: row.prevents_self_review,
                wait_minutes: u32::try_from(row.wait_minutes).map_err(StoreError::corrupt)?,
                branches,
            },
            version: row.version,
            created_at: Timestamp(row.created_at),
        })
    }
}

impl Store {
    /// The environments of a repository, by their names.
    pub async fn environments(&self, no: RepositoryNo) -> Result<Vec<StoredEnvironment>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM environments WHERE repo_no = $1 ORDER BY name_key");
        let rows: Vec<EnvironmentRow> = self.reader().rows(&Sql::new(statement, [no.0.into()])).await?;
        rows.into_iter().map(StoredEnvironment::try_from).collect()
    }

    /// The repository's environment of this name, regardless of case.
    pub async fn environment(
        &self,
        no: RepositoryNo,
        name: &EnvironmentName,
    ) -> Result<Option<StoredEnvironment>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM environments WHERE repo_no = $1 AND name_key = $2");
        let sql = Sql::new(statement, [no.0.into(), name.key().into()]);
        self.reader().row::<EnvironmentRow>(&sql).await?.map(StoredEnvironment::try_from).transpose()
    }

    /// How many environments a repository has.
    pub async fn environments_count(&self, no: RepositoryNo) -> Result<usize, StoreError> {
        let sql = Sql::new("SELECT COUNT(*) AS count FROM environments WHERE repo_no = $1", [no.0.into()]);
        let count = self.reader().row::<CountRow>(&sql).await?.map_or(0, |row| row.count);
        usize::try_from(count).map_err(StoreError::corrupt)
    }
}

impl Change {
    /// Makes an environment that protects nothing, unless somebody made one of its name meanwhile.
    pub fn environment_add(&mut self, no: RepositoryNo, environment: &StoredEnvironment) {
        let statement = "INSERT INTO environments (repo_no, name_key, name, reviewers, prevents_self_review, \
                         wait_minutes, branches, version, created_at) VALUES ($1, $2, $3, '[]', $4, 0, '[]', 1, $5) \
                         ON CONFLICT (repo_no, name_key) DO NOTHING";
        let name = &environment.name;
        let values =
            [no.0.into(), name.key().into(), name.as_str().into(), false.into(), environment.created_at.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Writes an environment; stale where it isn't in the version that was read.
    pub fn environment_put(&mut self, no: RepositoryNo, environment: &StoredEnvironment) {
        let statement = "INSERT INTO environments (repo_no, name_key, name, reviewers, prevents_self_review, \
                         wait_minutes, branches, version, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8) \
                         ON CONFLICT (repo_no, name_key) DO UPDATE SET reviewers = excluded.reviewers, \
                         prevents_self_review = excluded.prevents_self_review, wait_minutes = excluded.wait_minutes, \
                         branches = excluded.branches, version = environments.version + 1 \
                         WHERE environments.version = $9";
        let StoredEnvironment { name, protection, version, created_at } = environment;
        let values = [
            no.0.into(),
            name.key().into(),
            name.as_str().into(),
            json::text(&protection.reviewers).into(),
            protection.prevents_self_review.into(),
            i32::try_from(protection.wait_minutes).unwrap_or(i32::MAX).into(),
            json::text(&protection.branches).into(),
            created_at.0.into(),
            (*version).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes an environment away, with its secrets and variables; stale where it isn't in the version that was read.
    pub fn environment_remove(&mut self, repository: &StoredRepository, environment: &StoredEnvironment) {
        let key = environment.name.key();
        let statement = "DELETE FROM environments WHERE repo_no = $1 AND name_key = $2 AND version = $3";
        let values = [repository.no.0.into(), key.as_str().into(), environment.version.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.pipeline_values_end(&ValueScope::Environment { id: repository.id(), no: repository.no, key });
    }
}
