//! The workflows of a repository: which are disabled, and the runs that events start of them.
//!
//! Files are read before the turn, by whoever asks; the turn decides which of them start, gives their runs numbers, and has each
//! begin. All of it is one commit.

mod starting;

use std::sync::Arc;

use actors_base::{RepositoryChange, tell_repository};
use domain::{
    Authority, Error, Result, Scope,
    git::{AccessLevel, ObjectId},
    id::{OrgId, ResourceId, UserId},
    pipelines::{
        no_dispatch,
        trigger::{Candidate, Missed, Paths, PushedRef, TriggerEvent, WhyNot, start},
        workflow::{Severity, WorkflowFile},
        workflow_disabled,
    },
    token::sha256_hex,
};
use kernel::{Command, Handle, Resource, Turn};
use serde_json::{Value, json};
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    git::{RepositoryNo, StoredRepository},
    pipelines::{RunProblem, StoredRun, WorkflowState},
};

use self::starting::{Started, Starting};
use crate::{
    PipelineServices,
    access::reaches,
    live::{PipelineChange, tell_changes},
    retention::look_tomorrow,
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

impl FoundFile {
    /// Tells the text from others.
    pub(crate) fn hash(&self) -> String {
        sha256_hex(self.text.as_bytes())
    }

    /// The text as a run keeps it: nothing of what no row can hold, which means nothing anyway.
    fn kept_text(&self) -> String {
        if self.text.contains('\0') { String::new() } else { self.text.clone() }
    }
}

/// An event that may start workflows, with all that was looked up of it.
#[derive(Clone, Debug)]
pub struct Happened {
    /// Names the event among all, where it must start nothing twice.
    pub cause: Option<String>,
    /// Who did it.
    pub by: Option<UserId>,
    /// In whose name runs act where nobody did it.
    pub on_behalf_of: Option<UserId>,
    /// What was done.
    pub what: WhatHappened,
    /// The ref, whole.
    pub full_ref: String,
    /// The branch; of a pull request, its head.
    pub branch: Option<String>,
    /// The commit; of a pull request, the head.
    pub sha: ObjectId,
    /// The commit that merges the head of a pull request into its base, where runs are of that.
    pub merge: Option<ObjectId>,
    /// The title of runs whose files give none: a commit's subject, a pull request's title.
    pub title: Option<String>,
    /// The pull request.
    pub pull: Option<PullEnds>,
    /// What the event says, as `github.event` has it.
    pub event: Value,
    /// The inputs, as JSON.
    pub inputs: String,
}

impl Happened {
    /// What was done to a branch or a tag, whole, that is at this commit; of nobody, and without a title or inputs.
    pub fn to(full_ref: String, sha: ObjectId, what: WhatHappened) -> Self {
        Self {
            cause: None,
            by: None,
            on_behalf_of: None,
            what,
            branch: full_ref.strip_prefix("refs/heads/").map(str::to_owned),
            full_ref,
            sha,
            merge: None,
            title: None,
            pull: None,
            event: Value::Object(serde_json::Map::new()),
            inputs: "{}".to_owned(),
        }
    }
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
        /// What, as workflow files name it: `opened`, `synchronize` and the like.
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
    /// A schedule's time came.
    Schedule {
        /// The schedule, as the file had it.
        cron: String,
        /// The zone, as the file had it.
        timezone: Option<String>,
        /// Whether the commit is the default branch's newest.
        is_default: bool,
    },
    /// Something that starts nothing, whatever the files say.
    Missed(Missed),
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
            Self::Schedule { cron, timezone, is_default } => {
                TriggerEvent::Schedule { cron, timezone: timezone.as_deref(), is_default: *is_default }
            }
            Self::Missed(missed) => TriggerEvent::Missed(*missed),
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

/// Whether somebody disabled a workflow.
pub(crate) async fn is_disabled(store: &Store, no: RepositoryNo, file: &str) -> Result<bool> {
    Ok(state_of(store.workflow_states(no).await?, file).is_disabled)
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
        let Started { mut change, runs, is_queued, changes } = starting.finish();
        if !runs.is_empty() {
            look_tomorrow(&mut change, (*org_id, &turn.key().to_string()), turn.now());
        }
        turn.commit(change).await?;
        started(turn, *org_id, (is_queued, changes));
        Ok(runs)
    }
}

/// Tells whoever watches of new runs, and runners of their jobs.
fn started(
    turn: &Turn<'_, Workflows>,
    org_id: OrgId,
    (is_queued, (changes, statuses)): (bool, (Vec<PipelineChange>, Vec<RepositoryChange>)),
) {
    let hub = &turn.services().services.hub;
    tell_changes(hub, *turn.key(), changes);
    tell_repository(hub, *turn.key(), statuses);
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
        let candidate = Candidate { workflow: file.file.workflow.as_ref(), is_disabled: state.is_disabled };
        let decided = start(candidate, &happened.what.trigger()).map_err(|why| not_started(&why))?;
        let mut starting = Starting::new(turn, &repository, happened);
        starting.add(file, state, decided).await?;
        let Started { mut change, mut runs, is_queued, changes } = starting.finish();
        look_tomorrow(&mut change, (*org_id, &turn.key().to_string()), turn.now());
        audit(&mut change, turn, &repository, ("workflow.dispatched", &file.name));
        turn.commit(change).await?;
        started(turn, *org_id, (is_queued, changes));
        runs.pop().ok_or_else(|| Error::internal("a workflow was started, and there is no run"))
    }
}

/// Why a workflow can't be started by hand.
fn not_started(why: &WhyNot) -> Error {
    match why {
        WhyNot::Disabled => workflow_disabled(),
        WhyNot::Event(_) => no_dispatch(),
        why => Error::bad_request("workflow_invalid", why.to_string()),
    }
}

/// The errors of a file.
pub fn problems_of(file: &WorkflowFile) -> Vec<RunProblem> {
    let errors = file.problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|it| RunProblem { message: it.message.clone(), line: it.line, column: it.column }).collect()
}
