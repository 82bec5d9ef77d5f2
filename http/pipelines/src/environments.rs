//! Environments of a repository, and what protects them (contract C 2.1).

use actors::pipelines::{DeleteEnvironment, SetEnvironment};
use domain::{
    git::{Principal, rules::RefPattern},
    pipelines::environments::{ENVIRONMENT_BRANCHES_MAX, EnvironmentName, Protection, REVIEWERS_MAX},
    problems::Problems,
};
use http_shell::{
    answer::{Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    owned::Owned,
    path::Path,
    permission::{GitAdmin, GitRead},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::pipelines::StoredEnvironment;
use utoipa::ToSchema;

/// An environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "name": "production", "reviewers": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"], "preventSelfReview": true, "waitMinutes": 0,
    "branches": ["main", "release/*"], "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct EnvironmentBody {
    /// The name, as it was first written.
    name: String,
    /// Ids of the people and teams of whom one has to agree before a job goes on; nobody has to where there are none.
    reviewers: Vec<String>,
    /// Whether whoever started a run can't approve it.
    prevent_self_review: bool,
    /// Minutes for which each job waits.
    wait_minutes: u32,
    /// Patterns of the branches that may deploy; every branch and tag may where there are none.
    branches: Vec<String>,
    /// Since when there is the environment.
    created_at: i64,
}

impl From<StoredEnvironment> for EnvironmentBody {
    fn from(environment: StoredEnvironment) -> Self {
        let StoredEnvironment { name, protection, created_at, .. } = environment;
        Self {
            name: name.as_str().to_owned(),
            reviewers: protection.reviewers.iter().map(ToString::to_string).collect(),
            prevent_self_review: protection.prevents_self_review,
            wait_minutes: protection.wait_minutes,
            branches: protection.branches.iter().map(ToString::to_string).collect(),
            created_at: created_at.as_millis(),
        }
    }
}

/// One environment.
#[derive(Serialize, ToSchema)]
pub(crate) struct EnvironmentAnswer {
    /// The environment.
    environment: EnvironmentBody,
}

/// The environments.
#[derive(Serialize, ToSchema)]
pub(crate) struct EnvironmentsAnswer {
    /// In the order of their names; at most 1,000.
    environments: Vec<EnvironmentBody>,
}

/// The environments of a repository
///
/// An environment is made when a job first names it, and lets every job pass until somebody protects it.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments")]
pub(crate) async fn environments_list(
    repository: Repository<GitRead>,
    state: State,
) -> Result<Json<EnvironmentsAnswer>> {
    let found = state.store.environments(repository.stored.no).await?;
    Ok(Json(EnvironmentsAnswer { environments: found.into_iter().map(EnvironmentBody::from).collect() }))
}

/// An environment of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}")]
pub(crate) async fn environment_get(
    _: Repository<GitRead>,
    Owned(environment): Owned<StoredEnvironment>,
) -> Result<Json<EnvironmentAnswer>> {
    Ok(Json(EnvironmentAnswer { environment: environment.into() }))
}

/// What protects an environment; what isn't said protects nothing.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({
    "reviewers": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"], "preventSelfReview": true, "waitMinutes": 30, "branches": ["main"]
}))]
pub(crate) struct EnvironmentPut {
    /// Ids of people and teams of the organization, at most 6, of whom one has to agree before a job goes on.
    #[serde(default)]
    reviewers: Vec<String>,
    /// Whether whoever started a run can't approve it.
    #[serde(default)]
    prevent_self_review: bool,
    /// Minutes for which each job waits: 0 to 43,200, which are 30 days.
    #[serde(default)]
    #[schema(maximum = 43_200)]
    wait_minutes: u32,
    /// Patterns of the branches that may deploy, at most 100 of 1 to 256 characters. `*` stands for anything but a `/`, `**` for any
    /// number of segments. A branch goes by its name, all else by the whole name of the ref, as `refs/tags/v*`.
    #[serde(default)]
    branches: Vec<String>,
}

impl RequestBody for EnvironmentPut {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.reviewers.len() <= REVIEWERS_MAX, "reviewers", "Use at most 6.");
        problems.require(self.branches.len() <= ENVIRONMENT_BRANCHES_MAX, "branches", "Use at most 100.");
    }
}

impl EnvironmentPut {
    fn protection(self) -> domain::Result<Protection> {
        let mut problems = Problems::new();
        let mut reviewers = Vec::new();
        for (at, text) in self.reviewers.iter().enumerate() {
            match text.parse::<Principal>() {
                Ok(reviewer) => reviewers.push(reviewer),
                Err(_) => problems.add(format!("reviewers[{at}]"), "This is no id of a person or a team."),
            }
        }
        let mut branches = Vec::new();
        for (at, text) in self.branches.iter().enumerate() {
            branches.extend(problems.keep(RefPattern::parse(format!("branches[{at}]"), text))?);
        }
        let (prevents_self_review, wait_minutes) = (self.prevent_self_review, self.wait_minutes);
        let checked = Protection { reviewers, prevents_self_review, wait_minutes, branches }.check();
        let protection = problems.keep(checked)?;
        problems.into_result()?;
        protection.ok_or_else(|| domain::Error::internal("what protects an environment is neither right nor wrong"))
    }
}

/// Make or change an environment
///
/// What protects it is replaced as a whole. Jobs that wait already go on waiting for their timer; who reviews them is looked up when
/// somebody does.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}", responses(
    (status = 400, description = "A repository has at most 1000 environments."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn environment_put(
    repository: Repository<GitAdmin>,
    body: Body<EnvironmentPut>,
    Path(name): Path<EnvironmentName>,
    state: State,
) -> Result<Json<EnvironmentAnswer>> {
    let protection = body.into_inner().protection()?;
    let command = SetEnvironment { org_id: repository.org_id(), name, protection };
    let set = state.actors.workflows.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(EnvironmentAnswer { environment: set.into() }))
}

/// Delete an environment
///
/// Jobs that wait for it fail.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}", responses(
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn environment_delete(
    repository: Repository<GitAdmin>,
    Path(name): Path<EnvironmentName>,
    state: State,
) -> Result<NoContent> {
    let command = DeleteEnvironment { org_id: repository.org_id(), name };
    state.actors.workflows.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(NoContent)
}
