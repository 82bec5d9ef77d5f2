//! The workflows of a repository: which are disabled, and the runs that events start of them.
//!
//! Files are read before the turn, by whoever asks; the turn decides which of them start, gives their runs numbers, and has each
//! begin. All of it is one commit.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    Authority, Error, Result, Scope, Timestamp,
    git::{AccessLevel, ObjectId},
    id::{OrgId, ResourceId, RunId, UserId},
    pipelines::{
        run::{Plan, RunConclusion, RunState, RunStatus},
        trigger::{Candidate, Paths, PushedRef, Start, TriggerEvent, start},
        workflow::{Severity, Workflow, WorkflowFile},
        workflow_disabled,
    },
};
use kernel::{Command, Handle, Resource, Turn};
use serde_json::{Value, json};
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    git::StoredRepository,
    pipelines::{RunActor, RunPlan, RunProblem, StoredRun, WorkflowState},
};

use crate::{
    PipelineServices,
    access::reaches,
    run::{Deciding, plan_of},
    status::put_status,
};

/// The workflows of a repository.
#[derive(Debug)]
pub struct Workflows;

impl Resource for Workflows {
    type Key = ResourceId;
    type Services = PipelineServices;

    const KIND: &'static str = "workflows";

    async fn load(_: &ResourceId, _: &PipelineServices) -> Result<Self> {
        Ok(Self)
    }
}

/// Enables or disables a workflow of the default branch.
#[derive(Clone, Debug)]
pub struct SetWorkflow {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The file's name.
    pub file: String,
    /// What it is to be.
    pub to: Enabled,
}

/// Whether a workflow is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enabled {
    /// Events start it.
    Yes,
    /// No event starts it.
    No,
}

impl Command for SetWorkflow {
    type Reply = WorkflowState;

    const NAME: &'static str = "set_workflow";
}

/// A workflow file of a commit.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// The file's name.
    pub name: String,
    /// What it says.
    pub text: String,
    /// What it means.
    pub file: Arc<WorkflowFile>,
}

/// An event that may start workflows, with all that was looked up of it.
#[derive(Clone, Debug)]
pub struct Happened {
    /// Names the event among all, where it must start nothing twice.
    pub cause: Option<String>,
    /// Who did it.
    pub by: Option<UserId>,
    /// What was done.
    pub what: WhatHappened,
    /// The ref, whole.
    pub full_ref: String,
    /// The branch; of a pull request, its head.
    pub branch: Option<String>,
    /// The commit.
    pub sha: ObjectId,
    /// The title of runs whose files give none: a commit's subject, a pull request's title.
    pub title: Option<String>,
    /// The pull request.
    pub pull: Option<PullEnds>,
    /// What the event says, as `github.event` has it.
    pub event: Value,
    /// The inputs, as JSON.
    pub inputs: String,
}

/// A pull request, and its branches.
#[derive(Clone, Debug)]
pub struct PullEnds {
    /// Its number.
    pub number: i64,
    /// The branch that it brings.
    pub head: String,
    /// The branch that it goes into.
    pub base: String,
}

/// What was done that may start workflows.
#[derive(Clone, Debug)]
pub enum WhatHappened {
    /// A branch was pushed.
    Branch {
        /// Its name.
        name: String,
        /// The files that were changed; none where they aren't known.
        paths: Option<Vec<String>>,
        /// The commit's message.
        message: String,
    },
    /// A tag was pushed.
    Tag {
        /// Its name.
        name: String,
        /// The commit's message.
        message: String,
    },
    /// Something happened to a pull request.
    Pull {
        /// What: `opened`, `synchronize` or `reopened`.
        activity: String,
        /// The branch that it goes into.
        base: String,
        /// The files that it changes; none where they aren't known.
        paths: Option<Vec<String>>,
        /// The message of its newest commit.
        message: String,
    },
    /// The pull request can't be merged.
    Conflict,
    /// Somebody started the workflow by hand.
    Dispatch,
}

impl WhatHappened {
    /// The event as it is decided on.
    pub fn trigger(&self) -> TriggerEvent<'_> {
        fn known(paths: Option<&Vec<String>>) -> Paths<'_> {
            paths.map_or(Paths::Unknown, |paths| Paths::Known(paths))
        }
        match self {
            Self::Branch { name, paths, message } => {
                TriggerEvent::Push { to: PushedRef::Branch(name), paths: known(paths.as_ref()), message }
            }
            Self::Tag { name, message } => {
                TriggerEvent::Push { to: PushedRef::Tag(name), paths: Paths::Unknown, message }
            }
            Self::Pull { activity, base, paths, message } => {
                TriggerEvent::PullRequest { activity, base, paths: known(paths.as_ref()), message }
            }
            Self::Conflict => TriggerEvent::Conflict,
            Self::Dispatch => TriggerEvent::Dispatch,
        }
    }
}

/// Starts the workflows that an event starts.
#[derive(Clone, Debug)]
pub struct StartRuns {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The event.
    pub happened: Happened,
    /// The workflow files of its commit.
    pub files: Vec<FoundFile>,
}

/// Starts one workflow by hand.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The event.
    pub happened: Happened,
    /// The workflow's file.
    pub file: FoundFile,
}

impl Command for StartRuns {
    type Reply = Vec<StoredRun>;

    const NAME: &'static str = "start_runs";
}

impl Command for Dispatch {
    type Reply = StoredRun;

    const NAME: &'static str = "dispatch";
}

impl Handle<SetWorkflow> for Workflows {
    async fn handle(&mut self, command: &SetWorkflow, turn: &mut Turn<'_, Self>) -> Result<WorkflowState> {
        let SetWorkflow { org_id, file, to } = command;
        let authority = turn.authority(*org_id).await?;
        authority.require(Scope::GitWrite)?;
        let store = turn.services().services.store.clone();
        let repository = reaches(&store, &authority, *turn.key(), AccessLevel::Write).await?;
        let mut state = state_of(store.workflow_states(repository.no).await?, file);
        let is_disabled = *to == Enabled::No;
        if state.is_disabled == is_disabled {
            return Ok(state);
        }
        state.is_disabled = is_disabled;
        let mut change = Change::new();
        change.workflow_state_put(repository.no, &state);
        let action = if is_disabled { "workflow.disabled" } else { "workflow.enabled" };
        audit(&mut change, turn, &repository, (action, file));
        turn.commit(change).await?;
        state.version += 1;
        Ok(state)
    }
}

fn audit(
    change: &mut Change,
    turn: &Turn<'_, Workflows>,
    repository: &StoredRepository,
    (action, file): (&'static str, &str),
) {
    let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(repository.resource.org_id);
    change.audit_add(turn.now(), entry.with_metadata(json!({ "file": file })));
}

/// What is known of a file; nothing yet, where there is no row.
fn state_of(states: Vec<WorkflowState>, file: &str) -> WorkflowState {
    let found = states.into_iter().find(|state| state.file == file);
    found.unwrap_or_else(|| WorkflowState { file: file.to_owned(), ..WorkflowState::default() })
}

impl Handle<StartRuns> for Workflows {
    async fn handle(&mut self, command: &StartRuns, turn: &mut Turn<'_, Self>) -> Result<Vec<StoredRun>> {
        let StartRuns { org_id, happened, files } = command;
        let authority = Authority::of(&turn.context().caller, *org_id, None)?;
        let store = turn.services().services.store.clone();
        let repository = reaches(&store, &authority, *turn.key(), AccessLevel::Write).await?;
        let states = store.workflow_states(repository.no).await?;
        let mut starting = Starting::new(turn, &repository, happened);
        for found in files {
            let state = state_of(states.clone(), &found.name);
            let candidate = Candidate { workflow: found.file.workflow.as_ref(), is_disabled: state.is_disabled };
            let Ok(decided) = start(candidate, &happened.what.trigger()) else { continue };
            if let Some(cause) = starting.cause(&found.name)
                && store.run_caused_by(repository.no, &cause).await?.is_some()
            {
                continue;
            }
            starting.add(found, state, decided).await?;
        }
        let (change, runs, is_queued) = (starting.change, starting.runs, starting.is_queued);
        turn.commit(change).await?;
        wake(turn, *org_id, is_queued);
        Ok(runs)
    }
}

fn wake(turn: &Turn<'_, Workflows>, org_id: OrgId, is_queued: bool) {
    if is_queued {
        turn.services().waiting.wake(org_id);
    }
}

impl Handle<Dispatch> for Workflows {
    async fn handle(&mut self, command: &Dispatch, turn: &mut Turn<'_, Self>) -> Result<StoredRun> {
        let Dispatch { org_id, happened, file } = command;
        let authority = turn.authority(*org_id).await?;
        authority.require(Scope::GitWrite)?;
        let store = turn.services().services.store.clone();
        let repository = reaches(&store, &authority, *turn.key(), AccessLevel::Write).await?;
        let state = state_of(store.workflow_states(repository.no).await?, &file.name);
        if state.is_disabled {
            return Err(workflow_disabled());
        }
        let mut starting = Starting::new(turn, &repository, happened);
        starting.add(file, state, Start::Run).await?;
        let (mut change, mut runs, is_queued) = (starting.change, starting.runs, starting.is_queued);
        audit(&mut change, turn, &repository, ("workflow.dispatched", &file.name));
        turn.commit(change).await?;
        wake(turn, *org_id, is_queued);
        runs.pop().ok_or_else(|| Error::internal("a workflow was started, and there is no run"))
    }
}

/// Runs that are started together.
struct Starting<'a> {
    services: &'a PipelineServices,
    now: Timestamp,
    repository: &'a StoredRepository,
    happened: &'a Happened,
    change: Change,
    runs: Vec<StoredRun>,
    is_queued: bool,
}

impl<'a> Starting<'a> {
    fn new(turn: &Turn<'a, Workflows>, repository: &'a StoredRepository, happened: &'a Happened) -> Self {
        let (services, now) = (turn.services(), turn.now());
        Self { services, now, repository, happened, change: Change::new(), runs: Vec::new(), is_queued: false }
    }

    /// What a run of the file follows from.
    fn cause(&self, file: &str) -> Option<String> {
        self.happened.cause.as_ref().map(|cause| format!("{cause} {} {file}", self.happened.full_ref))
    }

    /// Adds the run of a file.
    async fn add(&mut self, found: &FoundFile, mut state: WorkflowState, decided: Start) -> Result<()> {
        state.last_number += 1;
        let mut run = self.run_of(found, &state).await?;
        let contexts = self.contexts(&run).await?;
        let empty = Plan::of(Workflow::default(), contexts_of_nothing());
        let mut decides_on =
            RunPlan { text: found.text.clone(), contexts, state: RunState::new(&empty), attempts: Vec::new() };
        let plan = match decided {
            Start::Run => plan_of(&run, &decides_on)?,
            Start::Broken => empty,
        };
        decides_on.state = RunState::new(&plan);
        if let Some(title) = plan.title() {
            run.title = title;
        }
        let store = &self.services.services.store;
        let mut deciding = Deciding::new((store, self.now), (run, decides_on), &plan, BTreeMap::new());
        match decided {
            Start::Run => deciding.begin().await?,
            Start::Broken => {
                deciding.run.problems = Some(problems_of(&found.file));
                deciding.end(RunConclusion::StartupFailure);
            }
        }
        let decided = deciding.finish()?;
        self.change.run_add(&decided.run, &decided.decides_on);
        self.change.append(decided.change);
        self.change.workflow_state_put(self.repository.no, &state);
        put_status(&mut self.change, self.services, &decided.run, self.now).await?;
        self.is_queued |= decided.is_queued;
        self.runs.push(decided.run);
        Ok(())
    }

    async fn run_of(&mut self, found: &FoundFile, state: &WorkflowState) -> Result<StoredRun> {
        let Happened { by, full_ref, branch, sha, title, pull, what, .. } = self.happened;
        let label = match by {
            Some(by) => self.services.services.store.person(*by).await?.map(|person| person.name),
            None => None,
        };
        let name = found.file.workflow.as_ref().and_then(|it| it.name.clone());
        let workflow = name.unwrap_or_else(|| found.name.clone());
        Ok(StoredRun {
            id: RunId::new(self.now),
            org_id: self.repository.resource.org_id,
            repository_id: self.repository.id(),
            no: self.repository.no,
            cause: self.cause(&found.name),
            file: found.name.clone(),
            title: title.clone().unwrap_or_else(|| workflow.clone()),
            workflow,
            number: state.last_number,
            attempt: 1,
            event: what.trigger().name().unwrap_or_default().to_owned(),
            full_ref: full_ref.clone(),
            branch: branch.clone(),
            sha: *sha,
            actor: RunActor { id: by.map(|by| by.to_string()), label },
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

    /// The contexts that stay the same throughout the run, as JSON.
    async fn contexts(&mut self, run: &StoredRun) -> Result<String> {
        let services = &self.services.services;
        let organization = services.store.organization(run.org_id).await?;
        let owner = organization.map(|it| it.slug.as_str().to_owned()).unwrap_or_default();
        let name = &self.repository.resource.name;
        let ref_name = run.full_ref.splitn(3, '/').nth(2).unwrap_or_default();
        let ref_type = if run.full_ref.starts_with("refs/tags/") { "tag" } else { "branch" };
        let pull = self.happened.pull.as_ref();
        let url = &services.settings.public_url;
        let inputs: Value = serde_json::from_str(&self.happened.inputs).unwrap_or_default();
        let contexts = json!({
            "github": {
                "event_name": run.event, "event": self.happened.event, "ref": run.full_ref, "ref_name": ref_name,
                "ref_type": ref_type, "sha": run.sha.to_string(), "repository": format!("{owner}/{name}"),
                "repository_owner": owner, "repository_id": run.repository_id.to_string(),
                "actor": run.actor.label, "actor_id": run.actor.id, "triggering_actor": run.actor.label,
                "workflow": run.workflow, "workflow_ref": format!("{owner}/{name}/{}@{}", run.file, run.full_ref),
                "run_id": run.id.to_string(), "run_number": run.number.to_string(), "server_url": url,
                "api_url": format!("{url}/v1"), "head_ref": pull.map(|it| &it.head).map_or("", String::as_str),
                "base_ref": pull.map(|it| &it.base).map_or("", String::as_str),
            },
            "inputs": inputs,
            "vars": {},
        });
        Ok(contexts.to_string())
    }
}

fn contexts_of_nothing() -> domain::pipelines::run::RunContexts {
    use domain::pipelines::expressions::Value;
    domain::pipelines::run::RunContexts { github: Value::Null, inputs: Value::Null, vars: Value::Null }
}

/// The errors of a file.
pub fn problems_of(file: &WorkflowFile) -> Vec<RunProblem> {
    let errors = file.problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|it| RunProblem { message: it.message.clone(), line: it.line, column: it.column }).collect()
}
