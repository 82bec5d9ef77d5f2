//! Secrets and variables of a repository.

use http_shell::{
    answer::NoContent,
    body::Body,
    error::Result,
    path::Path,
    permission::{EnvRead, EnvWrite},
    state::State,
};

use super::{
    OfRepository, ValuesOf,
    body::{PipelineSecretPut, PipelineVariablePut, Puts},
    endpoints::{All, NameOf, One, Secrets, Variables, endpoints},
};

endpoints! { OfRepository, Secrets, PipelineSecretPut:
    /// The secrets of a repository
    ///
    /// Names only: what secrets say is told to jobs.
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets")]
    list repository_secrets_list;

    /// One secret of a repository
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}")]
    get repository_secret_get;

    /// Set a secret of a repository
    ///
    /// An environment's secret of the same name holds before it, and it before an organization's.
    #[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}", responses(
        (status = 409, description = "This repository is deleted. Restore it first.")))]
    put repository_secret_put;

    /// Delete a secret of a repository
    #[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}", responses(
        (status = 409, description = "This repository is deleted. Restore it first.")))]
    delete repository_secret_delete;
}

endpoints! { OfRepository, Variables, PipelineVariablePut:
    /// The variables of a repository
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/variables")]
    list repository_variables_list;

    /// One variable of a repository
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}")]
    get repository_variable_get;

    /// Set a variable of a repository
    ///
    /// An environment's variable of the same name holds before it, and it before an organization's.
    #[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}", responses(
        (status = 409, description = "This repository is deleted. Restore it first.")))]
    put repository_variable_put;

    /// Delete a variable of a repository
    #[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}", responses(
        (status = 409, description = "This repository is deleted. Restore it first.")))]
    delete repository_variable_delete;
}
