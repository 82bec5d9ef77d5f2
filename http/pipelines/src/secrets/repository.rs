//! Secrets and variables of a repository.

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
    OfRepository, PipelineSecretAnswer, PipelineSecretBody, PipelineSecretPut, PipelineSecretsAnswer,
    PipelineVariableAnswer, PipelineVariableBody, PipelineVariablePut, PipelineVariablesAnswer, Put, SecretName,
    ValuesOf, VariableName,
};

/// The secrets of a repository
///
/// Names only: what secrets say is told to jobs.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets")]
pub(crate) async fn repository_secrets_list(
    of: ValuesOf<OfRepository, EnvRead>,
    state: State,
) -> Result<Json<PipelineSecretsAnswer>> {
    let found = of.all(ValueKind::Secret, &state).await?;
    Ok(Json(PipelineSecretsAnswer { secrets: found.into_iter().map(PipelineSecretBody::from).collect() }))
}

/// One secret of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}")]
pub(crate) async fn repository_secret_get(
    of: ValuesOf<OfRepository, EnvRead>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<Json<PipelineSecretAnswer>> {
    let secret = of.one(ValueKind::Secret, &name.0, &state).await?.into();
    Ok(Json(PipelineSecretAnswer { secret }))
}

/// Set a secret of a repository
///
/// An environment's secret of the same name holds before it, and it before an organization's.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn repository_secret_put(
    of: ValuesOf<OfRepository, EnvWrite>,
    body: Body<PipelineSecretPut>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<Json<PipelineSecretAnswer>> {
    let secret = of.set(ValueKind::Secret, &name.0, Put::value(&body.value), &state).await?.into();
    Ok(Json(PipelineSecretAnswer { secret }))
}

/// Delete a secret of a repository
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn repository_secret_delete(
    of: ValuesOf<OfRepository, EnvWrite>,
    Path(name): Path<SecretName>,
    state: State,
) -> Result<NoContent> {
    of.delete(ValueKind::Secret, &name.0, &state).await
}

/// The variables of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/variables")]
pub(crate) async fn repository_variables_list(
    of: ValuesOf<OfRepository, EnvRead>,
    state: State,
) -> Result<Json<PipelineVariablesAnswer>> {
    let found = of.all(ValueKind::Variable, &state).await?;
    Ok(Json(PipelineVariablesAnswer { variables: found.into_iter().map(PipelineVariableBody::from).collect() }))
}

/// One variable of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}")]
pub(crate) async fn repository_variable_get(
    of: ValuesOf<OfRepository, EnvRead>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<Json<PipelineVariableAnswer>> {
    let variable = of.one(ValueKind::Variable, &name.0, &state).await?.into();
    Ok(Json(PipelineVariableAnswer { variable }))
}

/// Set a variable of a repository
///
/// An environment's variable of the same name holds before it, and it before an organization's.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn repository_variable_put(
    of: ValuesOf<OfRepository, EnvWrite>,
    body: Body<PipelineVariablePut>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<Json<PipelineVariableAnswer>> {
    let variable = of.set(ValueKind::Variable, &name.0, Put::value(&body.value), &state).await?.into();
    Ok(Json(PipelineVariableAnswer { variable }))
}

/// Delete a variable of a repository
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn repository_variable_delete(
    of: ValuesOf<OfRepository, EnvWrite>,
    Path(name): Path<VariableName>,
    state: State,
) -> Result<NoContent> {
    of.delete(ValueKind::Variable, &name.0, &state).await
}
