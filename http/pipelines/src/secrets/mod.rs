//! Secrets and variables: of a repository, of its environments, of the organization. What a secret says is never answered.

mod environment;
mod organization;
mod repository;

use std::marker::PhantomData;

use actors::pipelines::{DeleteValue, ForRepositories, SetValue};
use domain::{
    Context, Error,
    id::{OrgId, ResourceId},
    pipelines::{
        environments::{EnvironmentName, environment_not_found},
        values::{SECRET_NOT_FOUND, VARIABLE_NOT_FOUND, ValueKind, ValueName, ValueText},
    },
    problems::Problems,
};
use http_shell::{
    answer::NoContent,
    argument::Argument,
    body::RequestBody,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    path::{Path, PathParameter},
    permission::Permission,
    repository::{Repository, RepositoryPermission},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::pipelines::{StoredValue, ValueScope};
use utoipa::ToSchema;

pub(crate) use self::{environment::*, organization::*, repository::*};
use super::files::text_problems;

/// The name of a secret, as the path has it.
pub(crate) struct SecretName(String);

impl PathParameter for SecretName {
    const NAME: &'static str = "secret";
    const DESCRIPTION: &'static str = "The name of a secret: capital letters, digits and underscores.";
    const EXAMPLE: &'static str = "DEPLOY_KEY";
    const NOT_FOUND: &'static str = SECRET_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// The name of a variable, as the path has it.
pub(crate) struct VariableName(String);

impl PathParameter for VariableName {
    const NAME: &'static str = "variable";
    const DESCRIPTION: &'static str = "The name of a variable: capital letters, digits and underscores.";
    const EXAMPLE: &'static str = "REGION";
    const NOT_FOUND: &'static str = VARIABLE_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// Whose secrets and variables a path names, for whoever has the permission `P` there.
pub(crate) struct ValuesOf<W, P> {
    scope: ValueScope,
    org_id: OrgId,
    context: Context,
    of: PhantomData<(W, P)>,
}

/// The organization's own.
pub(crate) struct OfOrganization;
/// A repository's own.
pub(crate) struct OfRepository;
/// Those of an environment of a repository.
pub(crate) struct OfEnvironment;

impl<P: Permission> Argument for ValuesOf<OfOrganization, P> {
    fn describe(facts: &mut Facts) {
        Org::<P>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org = Org::<P>::take(call).await?;
        let (scope, org_id) = (ValueScope::Organization(org.id()), org.id());
        Ok(Self { scope, org_id, context: org.context(), of: PhantomData })
    }
}

impl<P: RepositoryPermission> Argument for ValuesOf<OfRepository, P> {
    fn describe(facts: &mut Facts) {
        Repository::<P>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let repository = Repository::<P>::take(call).await?;
        let scope = ValueScope::Repository { id: repository.stored.id(), no: repository.stored.no };
        Ok(Self { scope, org_id: repository.org_id(), context: repository.context(), of: PhantomData })
    }
}

impl<P: RepositoryPermission> Argument for ValuesOf<OfEnvironment, P> {
    fn describe(facts: &mut Facts) {
        Repository::<P>::describe(facts);
        Path::<EnvironmentName>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let repository = Repository::<P>::take(call).await?;
        let Path(environment) = Path::<EnvironmentName>::take(call).await?;
        let (id, no) = (repository.stored.id(), repository.stored.no);
        let scope = ValueScope::Environment { id, no, key: environment.key() };
        Ok(Self { scope, org_id: repository.org_id(), context: repository.context(), of: PhantomData })
    }
}

impl<W, P> ValuesOf<W, P> {
    /// 404 where the environment isn't there.
    async fn check(&self, state: &State) -> Result<()> {
        if let ValueScope::Environment { no, key, .. } = &self.scope
            && !state.store.environment_is_there(*no, key).await?
        {
            return Err(environment_not_found().into());
        }
        Ok(())
    }

    async fn all(&self, kind: ValueKind, state: &State) -> Result<Vec<StoredValue>> {
        self.check(state).await?;
        Ok(state.store.pipeline_values(kind, &self.scope).await?)
    }

    async fn one(&self, kind: ValueKind, name: &str, state: &State) -> Result<StoredValue> {
        self.check(state).await?;
        let name = ValueName::parse("name", name).map_err(|_| kind.not_found())?;
        let found = state.store.pipeline_value(kind, &self.scope, name.as_str()).await?;
        Ok(found.ok_or_else(|| kind.not_found())?)
    }

    async fn set(self, kind: ValueKind, name: &str, put: Put<'_>, state: &State) -> Result<StoredValue> {
        let value = put.value.map(|text| ValueText::parse(kind, "value", text)).transpose()?;
        let name = ValueName::parse(if kind == ValueKind::Secret { "secret" } else { "variable" }, name)?;
        let command = SetValue { kind, scope: self.scope, name, value, repositories: put.repositories };
        Ok(state.actors.pipeline_values.ask(&self.org_id, command, self.context).await?)
    }

    async fn delete(self, kind: ValueKind, name: &str, state: &State) -> Result<NoContent> {
        let name = ValueName::parse("name", name).map_err(|_| kind.not_found())?;
        let command = DeleteValue { kind, scope: self.scope, name };
        state.actors.pipeline_values.ask(&self.org_id, command, self.context).await?;
        Ok(NoContent)
    }
}

/// What a request sets.
struct Put<'a> {
    value: Option<&'a str>,
    repositories: ForRepositories,
}

impl<'a> Put<'a> {
    fn value(value: &'a str) -> Self {
        Self { value: Some(value), repositories: ForRepositories::Unsaid }
    }

    #[expect(clippy::option_option, reason = "absent, null and a value are three things")]
    fn of(value: Option<&'a String>, repositories: Option<Option<&[String]>>) -> Result<Self> {
        Ok(Self { value: value.map(String::as_str), repositories: wanted(repositories)? })
    }
}

#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
fn wanted(repositories: Option<Option<&[String]>>) -> domain::Result<ForRepositories> {
    Ok(match repositories {
        None => ForRepositories::Unsaid,
        Some(None) => ForRepositories::All,
        Some(Some(ids)) => {
            let read = |(at, id): (usize, &String)| {
                let strange = || Error::invalid(format!("repositories[{at}]"), "There is no such repository.");
                id.parse::<ResourceId>().map_err(|_| strange())
            };
            ForRepositories::These(ids.iter().enumerate().map(read).collect::<domain::Result<_>>()?)
        }
    })
}

/// A secret. What it says is told to jobs only.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PipelineSecretBody {
    /// The name.
    name: String,
    /// The repositories that it is for, where an organization limits it to some.
    #[serde(skip_serializing_if = "Option::is_none")]
    repositories: Option<Vec<String>>,
    /// When it was set.
    updated_at: i64,
    /// The person who set it.
    updated_by: String,
}

/// A variable.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PipelineVariableBody {
    /// The name.
    name: String,
    /// The value.
    value: String,
    /// The repositories that it is for, where an organization limits it to some.
    #[serde(skip_serializing_if = "Option::is_none")]
    repositories: Option<Vec<String>>,
    /// When it was set.
    updated_at: i64,
    /// The person who set it.
    updated_by: String,
}

fn texts(ids: Option<Vec<ResourceId>>) -> Option<Vec<String>> {
    ids.map(|ids| ids.iter().map(ResourceId::to_string).collect())
}

impl From<StoredValue> for PipelineSecretBody {
    fn from(it: StoredValue) -> Self {
        Self {
            name: it.name,
            repositories: texts(it.repositories),
            updated_at: it.updated_at.as_millis(),
            updated_by: it.updated_by.to_string(),
        }
    }
}

impl From<StoredValue> for PipelineVariableBody {
    fn from(it: StoredValue) -> Self {
        Self {
            name: it.name,
            value: it.value.unwrap_or_default(),
            repositories: texts(it.repositories),
            updated_at: it.updated_at.as_millis(),
            updated_by: it.updated_by.to_string(),
        }
    }
}

/// Secrets.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"secrets": [{
    "name": "DEPLOY_KEY", "updatedAt": 1_767_225_600_000_i64, "updatedBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"
}]}))]
pub(crate) struct PipelineSecretsAnswer {
    /// By name.
    secrets: Vec<PipelineSecretBody>,
}

/// One secret.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"secret": {
    "name": "DEPLOY_KEY", "updatedAt": 1_767_225_600_000_i64, "updatedBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"
}}))]
pub(crate) struct PipelineSecretAnswer {
    /// The secret.
    secret: PipelineSecretBody,
}

/// Variables.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"variables": [{
    "name": "REGION", "value": "eu-central", "updatedAt": 1_767_225_600_000_i64,
    "updatedBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"
}]}))]
pub(crate) struct PipelineVariablesAnswer {
    /// By name.
    variables: Vec<PipelineVariableBody>,
}

/// One variable.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"variable": {
    "name": "REGION", "value": "eu-central", "updatedAt": 1_767_225_600_000_i64,
    "updatedBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"
}}))]
pub(crate) struct PipelineVariableAnswer {
    /// The variable.
    variable: PipelineVariableBody,
}

/// A value for a secret.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"value": "correct horse"}))]
pub(crate) struct PipelineSecretPut {
    /// 1 to 49,152 bytes, without NUL.
    value: String,
}

impl RequestBody for PipelineSecretPut {
    fn check(&self, problems: &mut Problems) {
        text_problems(ValueText::parse(ValueKind::Secret, "value", &self.value), problems);
    }
}

/// A value for a variable.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"value": "eu-central"}))]
pub(crate) struct PipelineVariablePut {
    /// Up to 49,152 bytes, without NUL.
    value: String,
}

impl RequestBody for PipelineVariablePut {
    fn check(&self, problems: &mut Problems) {
        text_problems(ValueText::parse(ValueKind::Variable, "value", &self.value), problems);
    }
}
