//! Secrets and variables of an organization, its repositories and their environments, and what jobs are given of them.

use std::collections::BTreeMap;

use actors_base::Services;
use domain::{
    Authority, Error, Result, Scope,
    git::{AccessLevel, level_of},
    id::{OrgId, ResourceId},
    pipelines::{
        environments::{environment_key, environment_not_found},
        job::JobPlan,
        values::{
            JOB_SECRETS_LEN_MAX, ORGANIZATION_VALUES_MAX, VALUE_REPOSITORIES_MAX, VALUES_MAX, ValueKind, ValueName,
            ValueText, variables_of_run,
        },
    },
};
use kernel::{Command, Handle, Resource, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    git::StoredRepository,
    pipelines::{GivenToJob, StoredJob, StoredValue, ValueGiven, ValueLimit, ValueScope},
};

use crate::access::reaches;

/// The secrets and variables of an organization, those of its repositories and their environments among them.
#[derive(Debug)]
pub struct PipelineValues;

impl Resource for PipelineValues {
    type Key = OrgId;
    type Services = Services;

    const KIND: &'static str = "pipeline_values";

    async fn load(_: &OrgId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// Which repositories a value of an organization is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForRepositories {
    /// As before; of a new one, all.
    Unsaid,
    /// All.
    All,
    /// These.
    These(Vec<ResourceId>),
}

/// Sets a secret or a variable. Answers it, a secret without its value.
#[derive(Clone, Debug)]
pub struct SetValue {
    /// Which of both.
    pub kind: ValueKind,
    /// Whose it is.
    pub scope: ValueScope,
    /// The name.
    pub name: ValueName,
    /// What it says; without it, only which repositories it is for is changed.
    pub value: Option<ValueText>,
    /// Which repositories it is for, where it is an organization's.
    pub repositories: ForRepositories,
}

/// Deletes a secret or a variable.
#[derive(Clone, Debug)]
pub struct DeleteValue {
    /// Which of both.
    pub kind: ValueKind,
    /// Whose it is.
    pub scope: ValueScope,
    /// The name.
    pub name: ValueName,
}

impl Command for SetValue {
    type Reply = StoredValue;

    const NAME: &'static str = "set_pipeline_value";
}

impl Command for DeleteValue {
    type Reply = ();

    const NAME: &'static str = "delete_pipeline_value";
}

/// What is changed, and who may change it.
struct Changing {
    authority: Authority,
    repository: Option<StoredRepository>,
}

impl Changing {
    /// 404 or 403 for who may not change the values of this scope, 404 where the scope is gone.
    async fn of(turn: &Turn<'_, PipelineValues>, scope: &ValueScope) -> Result<Self> {
        let store = &turn.services().store;
        let authority = turn.authority(*turn.key()).await?;
        authority.require(Scope::EnvWrite)?;
        let repository = match scope {
            ValueScope::Organization(_) => None,
            ValueScope::Repository { id, .. } | ValueScope::Environment { id, .. } => {
                Some(reaches(store, &authority, *id, AccessLevel::Write).await?)
            }
        };
        if let ValueScope::Environment { no, key, .. } = scope
            && !store.environment_is_there(*no, key).await?
        {
            return Err(environment_not_found());
        }
        Ok(Self { authority, repository })
    }

    fn audit(&self, change: &mut Change, turn: &Turn<'_, PipelineValues>, what: Audited<'_>) {
        let Audited { kind, verb, scope, name, repositories } = what;
        let target = match &self.repository {
            Some(repository) => AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name),
            None => AuditTarget::new("organization", *turn.key()),
        };
        let environment = match scope {
            ValueScope::Environment { key, .. } => Some(key),
            _ => None,
        };
        let about = json!({ "name": name.as_str(), "environment": environment, "repositories": repositories });
        let entry = AuditEntry::new(turn.context(), action(kind, verb), target).in_org(*turn.key());
        change.audit_add(turn.now(), entry.with_metadata(about));
    }
}

/// What the audit trail is told.
#[derive(Clone, Copy)]
struct Audited<'a> {
    kind: ValueKind,
    verb: Verb,
    scope: &'a ValueScope,
    name: &'a ValueName,
    repositories: Option<&'a Vec<ResourceId>>,
}

#[derive(Clone, Copy)]
enum Verb {
    Set,
    Deleted,
}

const fn action(kind: ValueKind, verb: Verb) -> &'static str {
    match (kind, verb) {
        (ValueKind::Secret, Verb::Set) => "pipeline_secret.set",
        (ValueKind::Secret, Verb::Deleted) => "pipeline_secret.deleted",
        (ValueKind::Variable, Verb::Set) => "pipeline_variable.set",
        (ValueKind::Variable, Verb::Deleted) => "pipeline_variable.deleted",
    }
}

const fn most(scope: &ValueScope) -> u64 {
    match scope {
        ValueScope::Organization(_) => ORGANIZATION_VALUES_MAX,
        ValueScope::Repository { .. } | ValueScope::Environment { .. } => VALUES_MAX,
    }
}

/// The repositories that a value will be for: each of the organization's that the caller has a part in, or that it was for before.
async fn limited_to(
    store: &Store,
    authority: &Authority,
    wanted: &ForRepositories,
    before: Option<&StoredValue>,
) -> Result<Option<Vec<ResourceId>>> {
    let before = before.and_then(|it| it.repositories.clone());
    let ids = match wanted {
        ForRepositories::Unsaid => return Ok(before),
        ForRepositories::All => return Ok(None),
        ForRepositories::These(ids) => ids,
    };
    if ids.len() > VALUE_REPOSITORIES_MAX {
        let message = format!("Name at most {VALUE_REPOSITORIES_MAX} repositories.");
        return Err(Error::invalid("repositories", message));
    }
    let mut limited: Vec<ResourceId> = Vec::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        let was_there = before.as_ref().is_some_and(|before| before.contains(id));
        if !was_there && !is_seen(store, authority, *id).await? {
            return Err(Error::invalid(format!("repositories[{at}]"), "There is no such repository."));
        }
        if !limited.contains(id) {
            limited.push(*id);
        }
    }
    Ok(Some(limited))
}

/// Whether the caller has a part in a repository of the organization.
async fn is_seen(store: &Store, authority: &Authority, id: ResourceId) -> Result<bool> {
    let found = store.repository(authority.org_id(), id).await?.filter(|found| !found.is_gone());
    let Some(repository) = found else { return Ok(false) };
    let granted = match authority.on_behalf_of() {
        Ok(user_id) => store.repository_granted(repository.no, authority.org_id(), user_id).await?,
        Err(_) => None,
    };
    Ok(level_of(authority, repository.settings.visibility, granted).is_some())
}

impl Handle<SetValue> for PipelineValues {
    async fn handle(&mut self, command: &SetValue, turn: &mut Turn<'_, Self>) -> Result<StoredValue> {
        let SetValue { kind, scope, name, value, repositories } = command;
        let changing = Changing::of(turn, scope).await?;
        let (store, now, org_id) = (&turn.services().store, turn.now(), *turn.key());
        let version = store.pipeline_values_version(org_id).await?;
        let before = store.pipeline_value(*kind, scope, name.as_str()).await?;
        if before.is_none() && store.pipeline_values_count(*kind, scope).await? >= most(scope) {
            return Err(kind.too_many(most(scope)));
        }
        let repositories = limited_to(store, &changing.authority, repositories, before.as_ref()).await?;
        let by = changing.authority.on_behalf_of()?;
        let mut change = Change::new();
        change.pipeline_values_decided(org_id, version);
        let audited = Audited { kind: *kind, verb: Verb::Set, scope, name, repositories: repositories.as_ref() };
        changing.audit(&mut change, turn, audited);
        let said = match (value, before) {
            (Some(value), _) => {
                let given = ValueGiven {
                    scope: scope.clone(),
                    org_id,
                    name: name.clone(),
                    value: value.clone(),
                    repositories: repositories.clone(),
                    by,
                };
                change.pipeline_value_put(*kind, &given, now);
                (*kind == ValueKind::Variable).then(|| value.reveal().to_owned())
            }
            (None, Some(before)) => {
                let limit = ValueLimit { repositories: repositories.clone(), now, by };
                change.pipeline_value_limit(*kind, scope, name.as_str(), limit);
                before.value
            }
            (None, None) => return Err(Error::invalid("value", "Say what it is.")),
        };
        turn.commit(change).await?;
        Ok(StoredValue { name: name.as_str().to_owned(), value: said, repositories, updated_at: now, updated_by: by })
    }
}

impl Handle<DeleteValue> for PipelineValues {
    async fn handle(&mut self, command: &DeleteValue, turn: &mut Turn<'_, Self>) -> Result<()> {
        let DeleteValue { kind, scope, name } = command;
        let changing = Changing::of(turn, scope).await?;
        let (store, org_id) = (&turn.services().store, *turn.key());
        let version = store.pipeline_values_version(org_id).await?;
        let found = store.pipeline_value(*kind, scope, name.as_str()).await?.ok_or_else(|| kind.not_found())?;
        let mut change = Change::new();
        change.pipeline_values_decided(org_id, version);
        change.pipeline_value_remove(*kind, scope, name.as_str());
        let audited =
            Audited { kind: *kind, verb: Verb::Deleted, scope, name, repositories: found.repositories.as_ref() };
        changing.audit(&mut change, turn, audited);
        turn.commit(change).await
    }
}

/// The variables of organization and repository that a run is given.
pub(crate) async fn run_variables(store: &Store, repository: &StoredRepository) -> Result<BTreeMap<String, String>> {
    let (id, org_id) = (repository.id(), repository.resource.org_id);
    let organization = store.pipeline_variables_for(&ValueScope::Organization(org_id), id).await?;
    let scope = ValueScope::Repository { id, no: repository.no };
    Ok(variables_of_run(organization, store.pipeline_variables_for(&scope, id).await?))
}

/// The environment of a job as a scope, where the repository has it.
async fn environment_of(store: &Store, job: &StoredJob) -> Result<Option<ValueScope>> {
    let Some(name) = &job.environment else { return Ok(None) };
    let (key, id, no) = (environment_key(name), job.repository_id, job.no);
    Ok(store.environment_is_there(no, &key).await?.then_some(ValueScope::Environment { id, no, key }))
}

/// What a job is given when it starts, as of now.
pub(crate) async fn given_now(store: &Store, job: &StoredJob, plan: &JobPlan) -> Result<GivenToJob> {
    let repository = ValueScope::Repository { id: job.repository_id, no: job.no };
    let environment = environment_of(store, job).await?;
    let variables = match &environment {
        Some(scope) => store.pipeline_variables_for(scope, job.repository_id).await?,
        None => BTreeMap::new(),
    };
    let scopes: Vec<_> = [ValueScope::Organization(job.org_id), repository].into_iter().chain(environment).collect();
    let secrets = store.pipeline_secrets_for(&scopes, job.repository_id, &plan.secrets_named()).await?;
    Ok(GivenToJob { secrets, variables })
}

/// Why a job can't be given its secrets; none where it can.
pub(crate) fn too_much(given: &GivenToJob) -> Option<String> {
    let bytes: usize = given.secrets.values().map(String::len).sum();
    (bytes > JOB_SECRETS_LEN_MAX).then(|| {
        format!("The secrets that this job uses have {bytes} bytes, and a job is given at most {JOB_SECRETS_LEN_MAX}.")
    })
}
