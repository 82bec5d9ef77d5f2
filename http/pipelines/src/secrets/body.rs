//! What goes over the wire of secrets and variables.

use actors::pipelines::ForRepositories;
use domain::{
    Error,
    id::ResourceId,
    pipelines::values::{ValueKind, ValueText},
    problems::Problems,
};
use http_shell::{body::RequestBody, wire::nullable};
use serde::{Deserialize, Serialize};
use store::pipelines::StoredValue;
use utoipa::ToSchema;

use crate::files::text_problems;

/// What a request sets.
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(super) struct Put<'a> {
    /// The text; the one that is there stays where it is missing.
    pub(super) value: Option<&'a str>,
    /// Which repositories it is for, where the request says so: all of them, or these.
    repositories: Option<Option<&'a [String]>>,
}

impl Put<'_> {
    fn check(&self, kind: ValueKind, problems: &mut Problems) {
        if let Some(value) = self.value {
            text_problems(ValueText::parse(kind, "value", value), problems);
        }
        text_problems(self.repositories(), problems);
    }

    /// Which repositories it is for.
    pub(super) fn repositories(&self) -> domain::Result<ForRepositories> {
        Ok(match self.repositories {
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
}

/// A body that sets a secret or a variable.
pub(super) trait Puts {
    /// What it sets.
    fn put(&self) -> Put<'_>;
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

impl From<Vec<StoredValue>> for PipelineSecretsAnswer {
    fn from(found: Vec<StoredValue>) -> Self {
        Self { secrets: found.into_iter().map(PipelineSecretBody::from).collect() }
    }
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

impl From<StoredValue> for PipelineSecretAnswer {
    fn from(found: StoredValue) -> Self {
        Self { secret: found.into() }
    }
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

impl From<Vec<StoredValue>> for PipelineVariablesAnswer {
    fn from(found: Vec<StoredValue>) -> Self {
        Self { variables: found.into_iter().map(PipelineVariableBody::from).collect() }
    }
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

impl From<StoredValue> for PipelineVariableAnswer {
    fn from(found: StoredValue) -> Self {
        Self { variable: found.into() }
    }
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
        self.put().check(ValueKind::Secret, problems);
    }
}

impl Puts for PipelineSecretPut {
    fn put(&self) -> Put<'_> {
        Put { value: Some(&self.value), repositories: None }
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
        self.put().check(ValueKind::Variable, problems);
    }
}

impl Puts for PipelineVariablePut {
    fn put(&self) -> Put<'_> {
        Put { value: Some(&self.value), repositories: None }
    }
}

/// A value for a secret of an organization, and which repositories it is for.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"value": "correct horse", "repositories": null}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct OrganizationSecretPut {
    /// 1 to 49,152 bytes, without NUL. Of a secret that is there it may be missing, and stays.
    value: Option<String>,
    /// Ids of the repositories that it is for, up to 100; null for all. Missing, it stays as it is; a new one is for all.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Vec<String>>)]
    repositories: Option<Option<Vec<String>>>,
}

impl RequestBody for OrganizationSecretPut {
    fn check(&self, problems: &mut Problems) {
        self.put().check(ValueKind::Secret, problems);
    }
}

impl Puts for OrganizationSecretPut {
    fn put(&self) -> Put<'_> {
        Put { value: self.value.as_deref(), repositories: self.repositories.as_ref().map(Option::as_deref) }
    }
}

/// A value for a variable of an organization, and which repositories it is for.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"value": "eu-central", "repositories": null}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct OrganizationVariablePut {
    /// Up to 49,152 bytes, without NUL. Of a variable that is there it may be missing, and stays.
    value: Option<String>,
    /// Ids of the repositories that it is for, up to 100; null for all. Missing, it stays as it is; a new one is for all.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Vec<String>>)]
    repositories: Option<Option<Vec<String>>>,
}

impl RequestBody for OrganizationVariablePut {
    fn check(&self, problems: &mut Problems) {
        self.put().check(ValueKind::Variable, problems);
    }
}

impl Puts for OrganizationVariablePut {
    fn put(&self) -> Put<'_> {
        Put { value: self.value.as_deref(), repositories: self.repositories.as_ref().map(Option::as_deref) }
    }
}
