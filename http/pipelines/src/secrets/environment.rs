//! Secrets and variables of an environment.

use domain::pipelines::values::ValueKind;
use http_shell::{
    answer::{Json, NoContent},
    body::Body,
    error::Result,
    path::Path,
    permission::{EnvRead, EnvWrite},
    state::State,
};

use super::{
    OfEnvironment, PipelineSecretAnswer, PipelineSecretBody, PipelineSecretPut, PipelineSecretsAnswer,
    PipelineVariableAnswer, PipelineVariableBody, PipelineVariablePut, PipelineVariablesAnswer, Put, SecretName,
    ValuesOf, VariableName,
};

/// The secrets of an environment
///
/// Names only: what secrets say is told to jobs.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets")]
pub(crate) async fn environment_secrets_list(
    of: ValuesOf<OfEnvironment, EnvRead>,
    state: State,
) -> Result<Json<PipelineSecretsAnswer>> {
    let found = of.all(ValueKind::Secret, &state).await?;
    Ok(Json(PipelineSecretsAnswer { secrets: found.into_iter().map(PipelineSecretBody::from).collect() }))
}

/// One secret of an environment
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}")]
pub(crate) async fn environment_secret_get(
    of: ValuesOf<OfEnvironment, EnvRead>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<Json<PipelineSecretAnswer>> {
    let secret = of.one(ValueKind::Secret, &name.0, &state).await?.into();
    Ok(Json(PipelineSecretAnswer { secret }))
}

/// Set a secret of an environment
///
/// Jobs that deploy to the environment are given it before a repository's or an organization's of the same name.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn environment_secret_put(
    of: ValuesOf<OfEnvironment, EnvWrite>,
    body: Body<PipelineSecretPut>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<Json<PipelineSecretAnswer>> {
    let secret = of.set(ValueKind::Secret, &name.0, Put::value(&body.value), &state).await?.into();
    Ok(Json(PipelineSecretAnswer { secret }))
}

/// Delete a secret of an environment
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn environment_secret_delete(
    of: ValuesOf<OfEnvironment, EnvWrite>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<NoContent> {
    of.delete(ValueKind::Secret, &name.0, &state).await
}

/// The variables of an environment
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables")]
pub(crate) async fn environment_variables_list(
    of: ValuesOf<OfEnvironment, EnvRead>,
    state: State,
) -> Result<Json<PipelineVariablesAnswer>> {
    let found = of.all(ValueKind::Variable, &state).await?;
    Ok(Json(PipelineVariablesAnswer { variables: found.into_iter().map(PipelineVariableBody::from).collect() }))
}

/// One variable of an environment
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}")]
pub(crate) async fn environment_variable_get(
    of: ValuesOf<OfEnvironment, EnvRead>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<Json<PipelineVariableAnswer>> {
    let variable = of.one(ValueKind::Variable, &name.0, &state).await?.into();
    Ok(Json(PipelineVariableAnswer { variable }))
}

/// Set a variable of an environment
///
/// Jobs that deploy to the environment are given it before a repository's or an organization's of the same name.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn environment_variable_put(
    of: ValuesOf<OfEnvironment, EnvWrite>,
    body: Body<PipelineVariablePut>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<Json<PipelineVariableAnswer>> {
    let variable = of.set(ValueKind::Variable, &name.0, Put::value(&body.value), &state).await?.into();
    Ok(Json(PipelineVariableAnswer { variable }))
}

/// Delete a variable of an environment
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn environment_variable_delete(
    of: ValuesOf<OfEnvironment, EnvWrite>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<NoContent> {
    of.delete(ValueKind::Variable, &name.0, &state).await
}
