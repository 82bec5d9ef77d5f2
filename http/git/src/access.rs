//! Who was granted a part in a repository.

use actors::git::{GrantAccess, WithdrawAccess};
use domain::{
    Error,
    git::{AccessLevel, Principal},
};
use http_shell::{
    answer::{Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    permission::{GitAdmin, GitRead},
    repository::Repository,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::git::RepositoryGrant;
use utoipa::ToSchema;

/// A grant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "principal": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "kind": "person", "name": "Ada", "email": "ada@example.com",
    "level": "write", "grantedBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "grantedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct GrantBody {
    /// The id of the person or of the team.
    principal: String,
    /// `person` or `team`.
    kind: &'static str,
    /// What the person or the team is called.
    name: String,
    /// The person's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// `read`, `write` or `admin`.
    level: &'static str,
    /// The person who granted it last.
    granted_by: String,
    /// When.
    granted_at: i64,
}

impl From<RepositoryGrant> for GrantBody {
    fn from(grant: RepositoryGrant) -> Self {
        Self {
            principal: grant.principal.to_string(),
            kind: match grant.principal {
                Principal::Person(_) => "person",
                Principal::Team(_) => "team",
            },
            name: grant.name,
            email: grant.email,
            level: grant.level.as_str(),
            granted_by: grant.granted_by.to_string(),
            granted_at: grant.granted_at.as_millis(),
        }
    }
}

/// The visibility and the grants of a repository.
#[derive(Serialize, ToSchema)]
pub(crate) struct AccessAnswer {
    /// `organization`, for everybody with the permission, or `restricted`, for whom it was granted to.
    visibility: &'static str,
    /// What was granted; at most 100. It counts while the repository is restricted.
    grants: Vec<GrantBody>,
}

/// The grants of a repository
///
/// Owners and admins of the organization have one in every repository. A grant gives nobody more than their own permissions.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/access")]
pub(crate) async fn repository_access_get(repository: Repository<GitRead>, state: State) -> Result<Json<AccessAnswer>> {
    let grants = state.store.repository_grants(repository.stored.no).await?;
    Ok(Json(AccessAnswer {
        visibility: repository.stored.settings.visibility.as_str(),
        grants: grants.into_iter().map(GrantBody::from).collect(),
    }))
}

/// What somebody is to be granted.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"level": "write"}))]
pub(crate) struct GrantPut {
    /// `read`, `write` or `admin`.
    level: String,
}

impl RequestBody for GrantPut {}

/// Grant a part in a repository
///
/// To a member or to a team of the organization; in the place of what they were granted before.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/access/{principal}", responses(
    (status = 400, description = "A repository has at most 100 grants."),
    (status = 404, description = "Member not found.\n\nTeam not found."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn repository_access_put(
    repository: Repository<GitAdmin>,
    body: Body<GrantPut>,
    Path(principal): Path<Principal>,
    state: State,
) -> Result<Json<Done>> {
    let level = AccessLevel::from_name(&body.into_inner().level)
        .ok_or_else(|| Error::invalid("level", "Use one of: read, write, admin."))?;
    let (org_id, id) = (repository.org_id(), repository.stored.id());
    let command = GrantAccess { org_id, principal, level };
    state.actors.repository.ask(&id, command, repository.context()).await?;
    Ok(Json(Done::new()))
}

/// Take back a part in a repository
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/access/{principal}", responses(
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn repository_access_delete(
    repository: Repository<GitAdmin>,
    Path(principal): Path<Principal>,
    state: State,
) -> Result<NoContent> {
    let (org_id, id) = (repository.org_id(), repository.stored.id());
    state.actors.repository.ask(&id, WithdrawAccess { org_id, principal }, repository.context()).await?;
    Ok(NoContent)
}
