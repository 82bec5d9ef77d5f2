//! Secrets and variables of an organization, and which repositories they are for.

use http_shell::{
    answer::NoContent,
    body::Body,
    error::Result,
    path::Path,
    permission::{EnvRead, EnvWrite},
    state::State,
};

use super::{
    OfOrganization, ValuesOf,
    body::{OrganizationSecretPut, OrganizationVariablePut, Puts},
    endpoints::{All, NameOf, One, Secrets, Variables, endpoints},
};

endpoints! { OfOrganization, Secrets, OrganizationSecretPut:
    /// The secrets of an organization
    ///
    /// Names only: what secrets say is told to jobs.
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/secrets")]
    list organization_secrets_list;

    /// One secret of an organization
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/secrets/{secret}")]
    get organization_secret_get;

    /// Set a secret of an organization
    ///
    /// A repository's secret of the same name holds before it.
    #[utoipa::path(put, path = "/v1/orgs/{orgId}/pipelines/secrets/{secret}")]
    put organization_secret_put;

    /// Delete a secret of an organization
    #[utoipa::path(delete, path = "/v1/orgs/{orgId}/pipelines/secrets/{secret}")]
    delete organization_secret_delete;
}

endpoints! { OfOrganization, Variables, OrganizationVariablePut:
    /// The variables of an organization
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/variables")]
    list organization_variables_list;

    /// One variable of an organization
    #[utoipa::path(get, path = "/v1/orgs/{orgId}/pipelines/variables/{variable}")]
    get organization_variable_get;

    /// Set a variable of an organization
    ///
    /// A repository's variable of the same name holds before it.
    #[utoipa::path(put, path = "/v1/orgs/{orgId}/pipelines/variables/{variable}")]
    put organization_variable_put;

    /// Delete a variable of an organization
    #[utoipa::path(delete, path = "/v1/orgs/{orgId}/pipelines/variables/{variable}")]
    delete organization_variable_delete;
}
