//! Runs that begin together: all of a push, or the one that somebody asked for.

use std::{collections::BTreeMap, mem};

use actors_base::RepositoryChange;
use domain::{
    Result, Timestamp,
    git::RefName,
    id::{RunId, UserId},
    pipelines::{
        run::{Plan, RunConclusion, RunState, RunStatus},
        trigger::Start,
        workflow::{WORKFLOW_FOLDER, Workflow},
    },
};
use kernel::Turn;
use serde_json::{Value, json};
use store::{
    Change,
    git::StoredRepository,
    pipelines::{RunActor, RunPlan, StoredGroup, StoredRun, WorkflowState},
};

use super::{FoundFile, Happened, Workflows, problems_of};
use crate::{
    PipelineServices,
    events::run_ended,
    live::PipelineChange,
    run::{Deciding, contexts_of},
    secrets::run_variables,
    status::put_status,
};

/// Runs that are started together.
pub(super) struct Starting<'a> {
    services: &'a PipelineServices,
    now: Timestamp,
    repository: &'a StoredRepository,
    happened: &'a Happened,
    /// Whether an enabled rule covers the ref, once that was looked up.
    is_protected: Option<bool>,
    /// The groups that the runs enter: each is read once, and written once.
    groups: BTreeMap<String, StoredGroup>,
    change: Change,
    runs: Vec<StoredRun>,
    is_queued: bool,
    changes: Vec<PipelineChange>,
    statuses: Vec<RepositoryChange>,
}

/// Runs that were started together.
pub(super) struct Started {
    pub(super) change: Change,
    pub(super) runs: Vec<StoredRun>,
    pub(super) is_queued: bool,
    pub(super) changes: (Vec<PipelineChange>, Vec<RepositoryChange>),
}

impl<'a> Starting<'a> {
    pub(super) fn new(turn: &Turn<'a, Workflows>, repository: &'a StoredRepository, happened: &'a Happened) -> Self {
        let (services, now) = (turn.services(), turn.now());
        Self {
            services,
            now,
            repository,
            happened,
            is_protected: None,
            groups: BTreeMap::new(),
            change: Change::new(),
            runs: Vec::new(),
            is_queued: false,
            changes: Vec::new(),
            statuses: Vec::new(),
        }
    }

    /// What is to be committed.
    pub(super) fn finish(mut self) -> Started {
        for (name, group) in &self.groups {
            self.change.concurrency_group_put(self.repository.no, name, group);
        }
        let Self { change, runs, is_queued, changes, statuses, .. } = self;
        Started { change, runs, is_queued, changes: (changes, statuses) }
    }

    /// What a run of the file follows from.
    pub(super) fn cause(&self, file: &str) -> Option<String> {
        self.happened.cause.as_ref().map(|cause| format!("{cause} {} {file}", self.happened.full_ref))
    }

    /// Adds the run of a file.
    pub(super) async fn add(&mut self, found: &FoundFile, mut state: WorkflowState, decided: Start) -> Result<()> {
        state.last_number += 1;
        let mut run = self.run_of(found, &state).await?;
        let contexts = self.contexts(&run).await?;
        let empty = Plan::of(Workflow::default(), contexts_of_nothing());
        let mut decides_on =
            RunPlan { text: found.kept_text(), contexts, state: RunState::new(&empty), attempts: Vec::new() };
        let plan = match decided {
            Start::Run => {
                let workflow = found.file.workflow.clone().unwrap_or_default();
                Plan::of(workflow, contexts_of(&run, &decides_on)?)
            }
            Start::Broken => empty,
        };
        decides_on.state = RunState::new(&plan);
        if let Some(title) = plan.title() {
            run.title = title;
        }
        let store = &self.services.services.store;
        let mut deciding = Deciding::new((store, self.now), (run, decides_on), &plan, BTreeMap::new());
        deciding.groups = mem::take(&mut self.groups);
        match decided {
            Start::Run => deciding.begin().await?,
            Start::Broken => {
                deciding.run.problems = Some(problems_of(&found.file));
                deciding.end(RunConclusion::StartupFailure);
            }
        }
        self.groups = mem::take(&mut deciding.groups);
        let decided = deciding.finish()?;
        self.change.run_add(&decided.run, &decided.decides_on);
        self.change.append(decided.change);
        run_ended(&mut self.change, store, (&decided.run, &decided.decides_on), self.now).await?;
        self.change.workflow_state_put(self.repository.no, &state);
        self.statuses.extend(put_status(&mut self.change, self.services, &decided.run, self.now).await?);
        self.is_queued |= decided.is_queued;
        self.changes.push(PipelineChange::Run { run_id: decided.run.id, version: decided.run.version });
        self.changes.extend(decided.changes);
        self.runs.push(decided.run);
        Ok(())
    }

    async fn run_of(&mut self, found: &FoundFile, state: &WorkflowState) -> Result<StoredRun> {
        let Happened { by, on_behalf_of, full_ref, branch, sha, merge, title, pull, what, .. } = self.happened;
        let label = match by {
            Some(by) => self.services.services.store.person(*by).await?.map(|person| person.name),
            None => None,
        };
        let id_of = |person: Option<UserId>| person.map(|id| id.to_string());
        let name = found.file.workflow.as_ref().and_then(|it| it.name.clone());
        let workflow = name.unwrap_or_else(|| found.name.clone());
        Ok(StoredRun {
            id: RunId::new(self.now),
            org_id: self.repository.resource.org_id,
            repository_id: self.repository.id(),
            no: self.repository.no,
            cause: self.cause(&found.name),
            file: found.name.clone(),
            title: title.clone().unwrap_or_else(|| workflow.clone()).replace('\0', ""),
            workflow,
            number: state.last_number,
            attempt: 1,
            event: what.trigger().name().unwrap_or_default().to_owned(),
            full_ref: full_ref.clone(),
            branch: branch.clone(),
            sha: *sha,
            merge: *merge,
            actor: RunActor { id: id_of(*by), label, on_behalf_of: id_of(*on_behalf_of) },
            status: RunStatus::Queued,
            conclusion: None,
            pull_number: pull.as_ref().map(|pull| pull.number),
            is_cancel_requested: false,
            waits_for_group: false,
            problems: None,
            version: 1,
            created_at: self.now,
            started_at: None,
            completed_at: None,
        })
    }

    /// What the event says, with whose repository it is and who did it.
    fn event(&self, run: &StoredRun, owner: &str) -> Value {
        let StoredRepository { resource, settings, .. } = self.repository;
        let repository = json!({
            "id": run.repository_id.to_string(), "name": resource.name, "full_name": format!("{owner}/{}", resource.name),
            "private": true, "default_branch": settings.default_branch.as_str(),
            "owner": { "id": run.org_id.to_string(), "login": owner },
        });
        let mut event = self.happened.event.clone();
        if let Some(pull) = event.get_mut("pull_request") {
            for end in ["head", "base"] {
                pull[end]["repo"] = repository.clone();
            }
        }
        if run.event == "push" {
            event["pusher"] = json!({ "name": run.actor.label });
        }
        event["sender"] = json!({ "id": run.actor.id, "login": run.actor.label });
        event["repository"] = repository;
        event
    }

    /// Whether an enabled rule covers the ref, which all of these runs are of.
    async fn is_protected(&mut self) -> Result<bool> {
        if let Some(is_protected) = self.is_protected {
            return Ok(is_protected);
        }
        let rules = self.services.services.store.branch_rules(self.repository.no).await?;
        let full_ref = RefName::parse(self.happened.full_ref.as_bytes());
        let is_protected = full_ref.is_some_and(|full_ref| rules.protects(&full_ref));
        self.is_protected = Some(is_protected);
        Ok(is_protected)
    }

    /// The contexts that stay the same throughout the run, as JSON.
    async fn contexts(&mut self, run: &StoredRun) -> Result<String> {
        let is_protected = self.is_protected().await?;
        let services = &self.services.services;
        let organization = services.store.organization(run.org_id).await?;
        let owner = organization.map(|it| it.slug.as_str().to_owned()).unwrap_or_default();
        let name = &self.repository.resource.name;
        let ref_name = run.full_ref.splitn(3, '/').nth(2).unwrap_or_default();
        let ref_type = if run.full_ref.starts_with("refs/tags/") { "tag" } else { "branch" };
        let pull = self.happened.pull.as_ref();
        let url = &services.settings.public_url;
        let inputs: Value = serde_json::from_str(&self.happened.inputs).unwrap_or_default();
        let event = self.event(run, &owner);
        let workflow_ref = format!("{owner}/{name}/{WORKFLOW_FOLDER}/{}@{}", run.file, run.full_ref);
        let contexts = json!({
            "github": {
                "event_name": run.event, "event": event, "ref": run.full_ref, "ref_name": ref_name,
                "ref_type": ref_type, "ref_protected": is_protected, "sha": run.commit().to_string(),
                "repository": format!("{owner}/{name}"), "repository_owner": owner,
                "repository_id": run.repository_id.to_string(),
                "actor": run.actor.label, "actor_id": run.actor.id, "triggering_actor": run.actor.label,
                "workflow": run.workflow, "workflow_ref": workflow_ref, "workflow_sha": run.commit().to_string(),
                "run_id": run.id.to_string(), "run_number": run.number.to_string(), "server_url": url,
                "api_url": format!("{url}/v1"), "head_ref": pull.map(|it| &it.head).map_or("", String::as_str),
                "base_ref": pull.map(|it| &it.base).map_or("", String::as_str),
            },
            "inputs": inputs,
            "vars": run_variables(&services.store, self.repository).await?,
        });
        Ok(contexts.to_string())
    }
}

fn contexts_of_nothing() -> domain::pipelines::run::RunContexts {
    use domain::pipelines::expressions::Value;
    domain::pipelines::run::RunContexts { github: Value::Null, inputs: Value::Null, vars: Value::Null }
}
