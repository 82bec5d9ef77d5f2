//! Rules of a repository's branches and tags.

mod body;
mod explain;

use actors::git::rules::{ChangeRule, DeleteRule, MakeRule};
use domain::{git::rules::BranchRule, id::BranchRuleId};
use http_shell::{
    answer::{Created, Json, NoContent, Object},
    body::Body,
    error::Result,
    owned::Owned,
    path::Path,
    permission::{GitAdmin, GitRead},
    repository::Repository,
    state::State,
};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use self::{body::*, explain::*};

/// One rule.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleAnswer {
    /// The rule.
    rule: BranchRuleBody,
}

/// The rules.
#[derive(Serialize, ToSchema)]
pub(crate) struct RulesAnswer {
    /// The oldest first; at most 100.
    rules: Vec<BranchRuleBody>,
}

/// The rules of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/rules")]
pub(crate) async fn rules_list(repository: Repository<GitRead>, state: State) -> Result<Json<RulesAnswer>> {
    let found = state.store.branch_rules(repository.stored.no).await?;
    Ok(Json(RulesAnswer { rules: found.0.into_iter().map(BranchRuleBody::from).collect() }))
}

/// A rule of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}")]
pub(crate) async fn rule_get(_: Repository<GitRead>, Owned(rule): Owned<BranchRule>) -> Result<Object<RuleAnswer>> {
    Ok(Object(RuleAnswer { rule: rule.into() }))
}

/// Make a rule
///
/// A rule holds for whoever it doesn't name in `bypass`: for pushes, for what is committed, deleted and merged here. What is refused
/// says why, and what passes a rule by stands in the audit trail.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/rules", responses(
    (status = 400, description = "A repository has at most 100 rules."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn rule_create(
    repository: Repository<GitAdmin>,
    body: Body<RuleCreate>,
    state: State,
) -> Result<Created<RuleAnswer>> {
    let command = MakeRule { org_id: repository.org_id(), draft: body.into_inner().draft()? };
    let made = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Created(RuleAnswer { rule: made.into() }))
}

/// Change a rule
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}", responses(
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn rule_patch(
    repository: Repository<GitAdmin>,
    body: Body<RulePatchBody>,
    Path(id): Path<BranchRuleId>,
    state: State,
) -> Result<Json<RuleAnswer>> {
    let command = ChangeRule { org_id: repository.org_id(), id, patch: body.into_inner().read()? };
    let changed = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(RuleAnswer { rule: changed.into() }))
}

/// Delete a rule
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}", responses(
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn rule_delete(
    repository: Repository<GitAdmin>,
    Path(id): Path<BranchRuleId>,
    state: State,
) -> Result<NoContent> {
    let command = DeleteRule { org_id: repository.org_id(), id };
    state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(NoContent)
}
