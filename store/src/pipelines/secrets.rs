//! Secrets and variables of pipelines. Secrets are sealed in their cells, as is what a job was given of them.

use std::{collections::BTreeMap, time::Duration};

use domain::{
    Timestamp,
    id::{JobId, OrgId, ResourceId, UserId},
    pipelines::values::{SecretsNamed, ValueKind, ValueName, ValueText},
};
use sea_orm::Value;
use serde::{Deserialize, Serialize};

use crate::{Change, Expect, Purge, Store, StoreError, git::RepositoryNo, json, reader::row, secrets::Cell, sql::Sql};

/// How long after its end what a job was given is kept: an hour longer than lines of its log are taken.
const GIVEN_KEPT: Duration = Duration::from_hours(25);

/// Names that one statement asks for; of a job that names more, all secrets are looked at.
const NAMES_ASKED_MAX: usize = 500;

/// Whose secrets or variables they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueScope {
    /// An organization's.
    Organization(OrgId),
    /// A repository's.
    Repository {
        /// Its id.
        id: ResourceId,
        /// Its number.
        no: RepositoryNo,
    },
    /// Those of an environment of a repository.
    Environment {
        /// The repository's id.
        id: ResourceId,
        /// The repository's number.
        no: RepositoryNo,
        /// What the environment's name has in common with others that are the same regardless of case.
        key: String,
    },
}

impl ValueScope {
    const fn name(&self) -> &'static str {
        match self {
            Self::Organization(_) => "org",
            Self::Repository { .. } => "repo",
            Self::Environment { .. } => "env",
        }
    }

    fn id(&self) -> String {
        match self {
            Self::Organization(id) => id.to_string(),
            Self::Repository { id, .. } => id.to_string(),
            Self::Environment { id, key, .. } => format!("{id}/{key}"),
        }
    }

    const fn no(&self) -> Option<i64> {
        match self {
            Self::Organization(_) => None,
            Self::Repository { no, .. } | Self::Environment { no, .. } => Some(no.0),
        }
    }
}

const fn table(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Secret => "pipeline_secrets",
        ValueKind::Variable => "pipeline_variables",
    }
}

/// A secret without its value, or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    /// The name.
    pub name: String,
    /// What a variable says.
    pub value: Option<String>,
    /// The repositories that an organization's is for; none for all of them.
    pub repositories: Option<Vec<ResourceId>>,
    /// When it was set.
    pub updated_at: Timestamp,
    /// Who set it.
    pub updated_by: UserId,
}

/// A secret or a variable to write.
#[derive(Clone, Debug)]
pub struct ValueGiven {
    /// Whose it is.
    pub scope: ValueScope,
    /// The organization.
    pub org_id: OrgId,
    /// The name.
    pub name: ValueName,
    /// What it says.
    pub value: ValueText,
    /// The repositories that an organization's is for; none for all of them.
    pub repositories: Option<Vec<ResourceId>>,
    /// Who sets it.
    pub by: UserId,
}

/// What a job was given when it started.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenToJob {
    /// The secrets that the job's text names.
    pub secrets: BTreeMap<String, String>,
    /// The variables of the job's environment.
    pub variables: BTreeMap<String, String>,
}

/// Shown to nobody.
impl std::fmt::Debug for GivenToJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.secrets.keys()).finish()
    }
}

/// What jobs were given that have been over for longer than their logs take lines.
pub fn job_secrets_over(now: Timestamp) -> Purge {
    let is_over = "NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = job_secrets.job_id \
                   AND (completed_at IS NULL OR completed_at > $1))";
    Purge::new("what jobs were given", ["job_secrets", "job_id", is_over], now.before(GIVEN_KEPT).0)
}

row! {
    struct ValueRow {
        name: String,
        value: Option<String>,
        repositories: Option<String>,
        updated_at: i64,
        updated_by: String,
    }
}

row! {
    struct SecretRow {
        scope: String,
        scope_id: String,
        name: String,
        value: Vec<u8>,
        repositories: Option<String>,
    }
}

row! {
    struct NumberRow {
        number: i64,
    }
}

row! {
    struct GivenRow {
        value: Vec<u8>,
    }
}

fn secret_cell<'a>(row: &'a [&'a str; 3]) -> Cell<'a> {
    Cell { table: "pipeline_secrets", column: "value", row }
}

fn given_cell<'a>(job_id: &'a [&'a str; 1]) -> Cell<'a> {
    Cell { table: "job_secrets", column: "value", row: job_id }
}

fn repositories(text: Option<&str>) -> Result<Option<Vec<ResourceId>>, StoreError> {
    text.map(|text| json::read("repositories", text)).transpose()
}

/// Whether what an organization has is for this repository.
fn is_for(repositories: Option<&Vec<ResourceId>>, repository: ResourceId) -> bool {
    repositories.is_none_or(|ids| ids.contains(&repository))
}

impl TryFrom<ValueRow> for StoredValue {
    type Error = StoreError;

    fn try_from(row: ValueRow) -> Result<Self, StoreError> {
        Ok(Self {
            name: row.name,
            value: row.value,
            repositories: repositories(row.repositories.as_deref())?,
            updated_at: Timestamp(row.updated_at),
            updated_by: row.updated_by.parse().map_err(|_| StoreError::corrupt("updated_by"))?,
        })
    }
}

impl Store {
    /// The secrets or variables of one scope by their names, or the one of this name.
    async fn pipeline_values_found(
        &self,
        kind: ValueKind,
        scope: &ValueScope,
        name: Option<&str>,
    ) -> Result<Vec<StoredValue>, StoreError> {
        let value = match kind {
            ValueKind::Secret => "CAST(NULL AS text) AS value",
            ValueKind::Variable => "value",
        };
        let mut values: Vec<Value> = vec![scope.name().into(), scope.id().into()];
        values.extend(name.map(Value::from));
        let condition = if name.is_some() { " AND name = $3" } else { "" };
        let statement = format!(
            "SELECT name, {value}, repositories, updated_at, updated_by FROM {table} \
             WHERE scope = $1 AND scope_id = $2{condition} ORDER BY name",
            table = table(kind),
        );
        let rows: Vec<ValueRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(StoredValue::try_from).collect()
    }

    /// The secrets, without their values, or the variables of one scope, by their names.
    pub async fn pipeline_values(&self, kind: ValueKind, scope: &ValueScope) -> Result<Vec<StoredValue>, StoreError> {
        self.pipeline_values_found(kind, scope, None).await
    }

    /// The secret of this name, without its value, or the variable.
    pub async fn pipeline_value(
        &self,
        kind: ValueKind,
        scope: &ValueScope,
        name: &str,
    ) -> Result<Option<StoredValue>, StoreError> {
        Ok(self.pipeline_values_found(kind, scope, Some(name)).await?.pop())
    }

    /// How many secrets or variables one scope has.
    pub async fn pipeline_values_count(&self, kind: ValueKind, scope: &ValueScope) -> Result<u64, StoreError> {
        let table = table(kind);
        let statement = format!("SELECT COUNT(*) AS number FROM {table} WHERE scope = $1 AND scope_id = $2");
        self.pipeline_number(Sql::new(statement, [scope.name().into(), scope.id().into()]))
            .await
            .map(i64::cast_unsigned)
    }

    /// Counts the commits that change an organization's secrets and variables.
    pub async fn pipeline_values_version(&self, org_id: OrgId) -> Result<i64, StoreError> {
        let statement = "SELECT version AS number FROM pipeline_value_books WHERE org_id = $1";
        self.pipeline_number(Sql::new(statement, [org_id.to_string().into()])).await
    }

    /// The number in the only row; 0 where there is none.
    async fn pipeline_number(&self, sql: Sql) -> Result<i64, StoreError> {
        Ok(self.reader().row::<NumberRow>(&sql).await?.map_or(0, |row| row.number))
    }

    /// Whether a repository has an environment.
    pub async fn environment_is_there(&self, no: RepositoryNo, key: &str) -> Result<bool, StoreError> {
        let statement = "SELECT COUNT(*) AS number FROM environments WHERE repo_no = $1 AND name_key = $2";
        self.pipeline_number(Sql::new(statement, [no.0.into(), key.into()])).await.map(|count| count > 0)
    }

    /// The variables of one scope that are for the repository.
    pub async fn pipeline_variables_for(
        &self,
        scope: &ValueScope,
        repository: ResourceId,
    ) -> Result<BTreeMap<String, String>, StoreError> {
        let found = self.pipeline_values(ValueKind::Variable, scope).await?;
        let found = found.into_iter().filter(|it| is_for(it.repositories.as_ref(), repository));
        Ok(found.map(|it| (it.name, it.value.unwrap_or_default())).collect())
    }

    /// The values of the secrets that are named and are for the repository. Of one name that of the last scope holds.
    pub async fn pipeline_secrets_for(
        &self,
        scopes: &[ValueScope],
        repository: ResourceId,
        named: &SecretsNamed,
    ) -> Result<BTreeMap<String, String>, StoreError> {
        let mut values = BTreeMap::new();
        if named.is_empty() {
            return Ok(values);
        }
        for scope in scopes {
            let mut bounds: Vec<Value> = vec![scope.name().into(), scope.id().into()];
            let condition = match named {
                SecretsNamed::These(asked) if asked.len() <= NAMES_ASKED_MAX => {
                    bounds.extend(asked.iter().map(|name| Value::from(name.to_uppercase())));
                    let places: Vec<String> = (3..=bounds.len()).map(|place| format!("${place}")).collect();
                    format!(" AND name IN ({})", places.join(", "))
                }
                SecretsNamed::These(_) | SecretsNamed::All => String::new(),
            };
            let statement = format!(
                "SELECT scope, scope_id, name, value, repositories FROM pipeline_secrets \
                 WHERE scope = $1 AND scope_id = $2{condition}"
            );
            let rows: Vec<SecretRow> = self.reader().rows(&Sql::new(statement, bounds)).await?;
            for row in rows {
                let is_for_it = is_for(repositories(row.repositories.as_deref())?.as_ref(), repository);
                if is_for_it && named.has(&row.name) {
                    let key = [row.scope.as_str(), row.scope_id.as_str(), row.name.as_str()];
                    let value = self.secrets().open(&secret_cell(&key), &row.value)?;
                    values.insert(row.name, String::from_utf8(value).map_err(StoreError::corrupt)?);
                }
            }
        }
        Ok(values)
    }

    /// What a job was given when it started, where it was given anything.
    pub async fn given_to_job(&self, job_id: JobId) -> Result<Option<GivenToJob>, StoreError> {
        let job_id = job_id.to_string();
        let statement = "SELECT value FROM job_secrets WHERE job_id = $1";
        let found = self.reader().row::<GivenRow>(&Sql::new(statement, [job_id.as_str().into()])).await?;
        let Some(row) = found else { return Ok(None) };
        let bytes = self.secrets().open(&given_cell(&[job_id.as_str()]), &row.value)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|_| StoreError::corrupt("job_secrets.value"))
    }
}

impl Change {
    /// Counts a commit that changes an organization's secrets or variables; stale where another one came before.
    pub fn pipeline_values_decided(&mut self, org_id: OrgId, version: i64) {
        let statement = "INSERT INTO pipeline_value_books (org_id, version) VALUES ($1, $2) \
                         ON CONFLICT (org_id) DO UPDATE SET version = excluded.version \
                         WHERE pipeline_value_books.version = excluded.version - 1";
        let values = [org_id.to_string().into(), (version + 1).into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes a secret or a variable, in the place of one of its name.
    pub fn pipeline_value_put(&mut self, kind: ValueKind, given: &ValueGiven, now: Timestamp) {
        let ValueGiven { scope, org_id, name, value, repositories, by } = given.clone();
        let key = [scope.name().to_owned(), scope.id(), name.as_str().to_owned()];
        let rest: [Value; 5] = [
            org_id.to_string().into(),
            now.0.into(),
            by.to_string().into(),
            scope.no().into(),
            repositories.as_ref().map(json::text).into(),
        ];
        let put = move |change: &mut Self, value: Value| {
            let statement = format!(
                "INSERT INTO {table} (scope, scope_id, name, value, org_id, updated_at, updated_by, repo_no, repositories) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (scope, scope_id, name) DO UPDATE SET \
                 value = excluded.value, updated_at = excluded.updated_at, updated_by = excluded.updated_by, \
                 repositories = excluded.repositories",
                table = table(kind),
            );
            let values = key.iter().map(|part| Value::from(part.as_str())).chain([value]).chain(rest);
            change.run_statement(Sql::new(statement, values), Expect::Rows(1));
        };
        match kind {
            ValueKind::Variable => put(self, value.reveal().into()),
            ValueKind::Secret => self.sealed(move |keys, change| {
                let id = scope.id();
                let row = [scope.name(), id.as_str(), name.as_str()];
                let sealed = keys.seal(&secret_cell(&row), value.reveal().as_bytes())?;
                put(change, sealed.into());
                Ok(())
            }),
        }
    }

    /// Changes which repositories an organization's secret or variable is for; stale where it is gone.
    pub fn pipeline_value_limit(&mut self, kind: ValueKind, scope: &ValueScope, name: &str, limit: ValueLimit) {
        let statement = format!(
            "UPDATE {} SET repositories = $4, updated_at = $5, updated_by = $6 \
             WHERE scope = $1 AND scope_id = $2 AND name = $3",
            table(kind)
        );
        let ValueLimit { repositories, now, by } = limit;
        let values = [
            scope.name().into(),
            scope.id().into(),
            name.into(),
            repositories.as_ref().map(json::text).into(),
            now.0.into(),
            by.to_string().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes a secret or a variable; stale where it is gone.
    pub fn pipeline_value_remove(&mut self, kind: ValueKind, scope: &ValueScope, name: &str) {
        let table = table(kind);
        let statement = format!("DELETE FROM {table} WHERE scope = $1 AND scope_id = $2 AND name = $3");
        let values = [scope.name().into(), scope.id().into(), name.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes all secrets and variables of a scope that is gone: an environment, or an organization.
    pub fn pipeline_values_end(&mut self, scope: &ValueScope) {
        for kind in [ValueKind::Secret, ValueKind::Variable] {
            let statement = format!("DELETE FROM {} WHERE scope = $1 AND scope_id = $2", table(kind));
            self.run_statement(Sql::new(statement, [scope.name().into(), scope.id().into()]), Expect::Any);
        }
        if let ValueScope::Organization(org_id) = scope {
            let statement = "DELETE FROM pipeline_value_books WHERE org_id = $1";
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
        }
    }

    /// Writes what a job is given as it starts, in the place of what it was given before.
    pub fn given_to_job_put(&mut self, no: RepositoryNo, job_id: JobId, given: &GivenToJob) {
        let (job_id, text) = (job_id.to_string(), json::text(given));
        self.sealed(move |keys, change| {
            let sealed = keys.seal(&given_cell(&[job_id.as_str()]), text.as_bytes())?;
            let statement = "INSERT INTO job_secrets (job_id, repo_no, value) VALUES ($1, $2, $3) \
                             ON CONFLICT (job_id) DO UPDATE SET value = excluded.value";
            let values = [job_id.as_str().into(), no.0.into(), sealed.into()];
            change.run_statement(Sql::new(statement, values), Expect::Rows(1));
            Ok(())
        });
    }
}

/// Which repositories an organization's secret or variable is for, from now on.
#[derive(Clone, Debug)]
pub struct ValueLimit {
    /// Which ones; none for all of the organization's.
    pub repositories: Option<Vec<ResourceId>>,
    /// When that is said.
    pub now: Timestamp,
    /// Who says it.
    pub by: UserId,
}
