//! Environments of a repository: what protects each. They belong to the owner of its workflows.

use domain::{
    Error, Result, Scope,
    git::{AccessLevel, Principal},
    id::OrgId,
    pipelines::environments::{
        ENVIRONMENTS_MAX, EnvironmentName, Protection, environment_not_found, too_many_environments,
    },
    problems::Problems,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, NewWork, Store,
    audit::{AuditEntry, AuditTarget},
    git::StoredRepository,
    pipelines::StoredEnvironment,
};

use crate::{
    access::reaches,
    run::{Nudge, PIPELINE_EVENTS, RunNudge},
    workflows::Workflows,
};

/// Makes an environment, or changes what protects it.
#[derive(Clone, Debug)]
pub struct SetEnvironment {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which environment.
    pub name: EnvironmentName,
    /// What protects it.
    pub protection: Protection,
}

/// Deletes an environment. Jobs that wait for it fail.
#[derive(Clone, Debug)]
pub struct DeleteEnvironment {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which environment.
    pub name: EnvironmentName,
}

impl Command for SetEnvironment {
    type Reply = StoredEnvironment;

    const NAME: &'static str = "set_environment";
}

impl Command for DeleteEnvironment {
    type Reply = ();

    const NAME: &'static str = "delete_environment";
}

/// The repository, where the caller runs it.
async fn administered(turn: &Turn<'_, Workflows>, org_id: OrgId) -> Result<StoredRepository> {
    let authority = turn.authority(org_id).await?;
    authority.require(Scope::GitAdmin)?;
    reaches(&turn.services().services.store, &authority, *turn.key(), AccessLevel::Admin).await
}

fn audit(
    change: &mut Change,
    turn: &Turn<'_, Workflows>,
    repository: &StoredRepository,
    (action, environment): (&'static str, &StoredEnvironment),
) {
    let StoredEnvironment { name, protection, .. } = environment;
    let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(repository.resource.org_id);
    let about = json!({
        "environment": name.as_str(), "reviewers": protection.reviewers, "waitMinutes": protection.wait_minutes,
        "preventSelfReview": protection.prevents_self_review, "branches": protection.branches,
    });
    change.audit_add(turn.now(), entry.with_metadata(about));
}

impl Handle<SetEnvironment> for Workflows {
    async fn handle(&mut self, command: &SetEnvironment, turn: &mut Turn<'_, Self>) -> Result<StoredEnvironment> {
        let SetEnvironment { org_id, name, protection } = command;
        let repository = administered(turn, *org_id).await?;
        let store = turn.services().services.store.clone();
        let found = store.environment(repository.no, name).await?;
        let is_new = found.is_none();
        let mut environment = found.unwrap_or_else(|| StoredEnvironment::new(name.clone(), turn.now()));
        if environment.protection == *protection && !is_new {
            return Ok(environment);
        }
        if is_new && store.environments_count(repository.no).await? >= ENVIRONMENTS_MAX {
            return Err(Error::bad_request("limit_reached", too_many_environments()));
        }
        are_there(&store, *org_id, &protection.reviewers, &environment.protection.reviewers).await?;
        environment.protection = protection.clone();
        let mut change = Change::new();
        change.environment_put(repository.no, &environment);
        let action = if is_new { "environment.created" } else { "environment.changed" };
        audit(&mut change, turn, &repository, (action, &environment));
        turn.commit(change).await?;
        environment.version += 1;
        Ok(environment)
    }
}

/// 400 for reviewers who aren't in the organization, unless they were asked before.
async fn are_there(store: &Store, org_id: OrgId, reviewers: &[Principal], before: &[Principal]) -> Result<()> {
    let mut problems = Problems::new();
    for (at, reviewer) in reviewers.iter().enumerate().filter(|(_, reviewer)| !before.contains(reviewer)) {
        let (is_there, what) = match reviewer {
            Principal::Person(id) => (store.membership(org_id, *id).await?.is_some(), "member"),
            Principal::Team(id) => (store.team(org_id, *id).await?.is_some(), "team"),
        };
        problems.require(is_there, format!("reviewers[{at}]"), format!("{reviewer} is no {what} of the organization."));
    }
    problems.into_result()
}

impl Handle<DeleteEnvironment> for Workflows {
    async fn handle(&mut self, command: &DeleteEnvironment, turn: &mut Turn<'_, Self>) -> Result<()> {
        let repository = administered(turn, command.org_id).await?;
        let store = turn.services().services.store.clone();
        let found = store.environment(repository.no, &command.name).await?;
        let environment = found.ok_or_else(environment_not_found)?;
        let key = environment.name.key();
        let mut change = Change::new();
        change.environment_remove(&repository, &environment);
        for run_id in store.runs_waiting_for(repository.no, &key).await? {
            let nudge = Nudge::EnvironmentDeleted { environment: key.clone() };
            let told = RunNudge { run_id, nudge };
            change.work_add(turn.now(), NewWork::new(PIPELINE_EVENTS.name, command.org_id, &told));
        }
        audit(&mut change, turn, &repository, ("environment.deleted", &environment));
        turn.commit(change).await
    }
}
