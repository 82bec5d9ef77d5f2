//! Secrets and variables of an environment.

use http_shell::{
    answer::NoContent,
    body::Body,
    error::Result,
    path::Path,
    permission::{EnvRead, EnvWrite},
    state::State,
};

use super::{
    OfEnvironment, ValuesOf,
    body::{PipelineSecretPut, PipelineVariablePut, Puts},
    endpoints::{All, NameOf, One, Secrets, Variables, endpoints},
};

endpoints! { OfEnvironment, Secrets, PipelineSecretPut:
    /// The secrets of an environment
    ///
    /// Names only: what secrets say is told to jobs.
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets")]
    list environment_secrets_list;

    /// One secret of an environment
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}")]
    get environment_secret_get;

    /// Set a secret of an environment
    ///
    /// Jobs that deploy to the environment are given it before a repository's or an organization's of the same name.
    #[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}", responses(
        (status = 409, description = "This repository is deleted. Restore it first.")))]
    put environment_secret_put;

    /// Delete a secret of an environment
    #[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}", responses(
        (status = 409, description = "This repository is deleted. Restore it first.")))]
    delete environment_secret_delete;
}

endpoints! { OfEnvironment, Variables, PipelineVariablePut:
    /// The variables of an environment
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables")]
    list environment_variables_list;

    /// One variable of an environment
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}")]
    get environment_variable_get;

    /// Set a variable of an environment
    ///
    /// Jobs that deploy to the environment are given it before a repository's or an organization's of the same name.
    #[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}", responses(
        (status = 409, description = "This repository is deleted. Restore it first.")))]
    put environment_variable_put;

    /// Delete a variable of an environment
    #[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}", responses(
        (status = 409, description = "This repository is deleted. Restore it first.")))]
    delete environment_variable_delete;
}
