//! Secrets and variables of an organization, and which repositories they are for.

use domain::{
    pipelines::values::{ValueKind, ValueText},
    problems::Problems,
};
use http_shell::{
    answer::{Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    permission::{EnvRead, EnvWrite},
    state::State,
    wire::nullable,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    OfOrganization, PipelineSecretAnswer, PipelineSecretBody, PipelineSecretsAnswer, PipelineVariableAnswer,
    PipelineVariableBody, PipelineVariablesAnswer, Put, SecretName, ValuesOf, VariableName, text_problems, wanted,
};

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
        if let Some(value) = &self.value {
            text_problems(ValueText::parse(ValueKind::Secret, "value", value), problems);
        }
        text_problems(wanted(self.repositories.as_ref().map(Option::as_deref)), problems);
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
        if let Some(value) = &self.value {
            text_problems(ValueText::parse(ValueKind::Variable, "value", value), problems);
        }
        text_problems(wanted(self.repositories.as_ref().map(Option::as_deref)), problems);
    }
}

/// The secrets of an organization
///
/// Names only: what secrets say is told to jobs.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/secrets")]
pub(crate) async fn organization_secrets_list(
    of: ValuesOf<OfOrganization, EnvRead>,
    state: State,
) -> Result<Json<PipelineSecretsAnswer>> {
    let found = of.all(ValueKind::Secret, &state).await?;
    Ok(Json(PipelineSecretsAnswer { secrets: found.into_iter().map(PipelineSecretBody::from).collect() }))
}

/// One secret of an organization
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/secrets/{secret}")]
pub(crate) async fn organization_secret_get(
    of: ValuesOf<OfOrganization, EnvRead>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<Json<PipelineSecretAnswer>> {
    let secret = of.one(ValueKind::Secret, &name.0, &state).await?.into();
    Ok(Json(PipelineSecretAnswer { secret }))
}

/// Set a secret of an organization
///
/// A repository's secret of the same name holds before it.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/pipelines/secrets/{secret}")]
pub(crate) async fn organization_secret_put(
    of: ValuesOf<OfOrganization, EnvWrite>,
    body: Body<OrganizationSecretPut>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<Json<PipelineSecretAnswer>> {
    let secret = of
        .set(
            ValueKind::Secret,
            &name.0,
            Put::of(body.value.as_ref(), body.repositories.as_ref().map(Option::as_deref))?,
            &state,
        )
        .await?
        .into();
    Ok(Json(PipelineSecretAnswer { secret }))
}

/// Delete a secret of an organization
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/pipelines/secrets/{secret}")]
pub(crate) async fn organization_secret_delete(
    of: ValuesOf<OfOrganization, EnvWrite>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<NoContent> {
    of.delete(ValueKind::Secret, &name.0, &state).await
}

/// The variables of an organization
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/variables")]
pub(crate) async fn organization_variables_list(
    of: ValuesOf<OfOrganization, EnvRead>,
    state: State,
) -> Result<Json<PipelineVariablesAnswer>> {
    let found = of.all(ValueKind::Variable, &state).await?;
    Ok(Json(PipelineVariablesAnswer { variables: found.into_iter().map(PipelineVariableBody::from).collect() }))
}

/// One variable of an organization
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/variables/{variable}")]
pub(crate) async fn organization_variable_get(
    of: ValuesOf<OfOrganization, EnvRead>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<Json<PipelineVariableAnswer>> {
    let variable = of.one(ValueKind::Variable, &name.0, &state).await?.into();
    Ok(Json(PipelineVariableAnswer { variable }))
}

/// Set a variable of an organization
///
/// A repository's variable of the same name holds before it.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/pipelines/variables/{variable}")]
pub(crate) async fn organization_variable_put(
    of: ValuesOf<OfOrganization, EnvWrite>,
    body: Body<OrganizationVariablePut>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<Json<PipelineVariableAnswer>> {
    let variable = of
        .set(
            ValueKind::Variable,
            &name.0,
            Put::of(body.value.as_ref(), body.repositories.as_ref().map(Option::as_deref))?,
            &state,
        )
        .await?
        .into();
    Ok(Json(PipelineVariableAnswer { variable }))
}

/// Delete a variable of an organization
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/pipelines/variables/{variable}")]
pub(crate) async fn organization_variable_delete(
    of: ValuesOf<OfOrganization, EnvWrite>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<NoContent> {
    of.delete(ValueKind::Variable, &name.0, &state).await
}
