//! Workflows of a repository: what there is, enabling and disabling, starting by hand (contract C 4.2).

use std::collections::{BTreeMap, BTreeSet};

use actors::{
    GitSources,
    pipelines::{Dispatch, Enabled, FoundFile, Happened, SetWorkflow, Sources, WhatHappened},
};
use domain::{
    Error, Timestamp,
    git::{ObjectId, RefKind, RefName, Revision, revision_not_found},
    id::UserId,
    pipelines::{
        WORKFLOW_NOT_FOUND, no_dispatch,
        trigger::{DispatchValue, dispatch_inputs},
        workflow::{ScheduleTimes, WORKFLOW_FOLDER, Workflow, WorkflowFile},
        workflow_not_found,
    },
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    path::{Path, PathParameter},
    permission::{GitRead, GitWrite},
    query::{Query, RequestQuery},
    repository::Repository,
    state::{AppState, State},
};
use serde::{Deserialize, Serialize};
use store::git::{RepositoryNo, StoredRepository};
use utoipa::{IntoParams, ToSchema};

use super::body::{RunAnswer, WorkflowBody, WorkflowProblemBody};

/// Characters of a ref.
const REF_LEN_MAX: usize = 255;
/// Times at which schedules start runs that are told.
const NEXT_RUNS_MAX: usize = 5;
/// Characters of an input's text.
const INPUT_LEN_MAX: usize = 10_000;

/// A workflow file's name.
pub(crate) struct WorkflowName(pub String);

impl PathParameter for WorkflowName {
    const NAME: &'static str = "file";
    const DESCRIPTION: &'static str = "A workflow: the name of its file in `.service/workflows`.";
    const EXAMPLE: &'static str = "ci.yml";
    const NOT_FOUND: &'static str = WORKFLOW_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        WorkflowFile::is_path(&format!("{WORKFLOW_FOLDER}/{text}")).then(|| Self(text.to_owned()))
    }
}

/// `?ref=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct RefQuery {
    /// A branch, a tag or a commit: 1 to 255 characters; the default branch where it isn't said.
    #[param(min_length = 1, max_length = 255)]
    r#ref: Option<String>,
}

impl RequestQuery for RefQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.r#ref.as_ref().is_none_or(|text| (1..=REF_LEN_MAX).contains(&text.chars().count()));
        problems.require(fits, "ref", "Use 1 to 255 characters.");
    }
}

/// The workflows of a commit.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorkflowsAnswer {
    /// The ref: whole, where a branch or a tag was named.
    #[serde(rename = "ref")]
    full_ref: String,
    /// The commit.
    sha: String,
    /// In the order of their files' names.
    workflows: Vec<WorkflowBody>,
}

/// What a text names in a repository: the ref, whole, and its commit; 404 `Branch or tag not found`.
pub(super) async fn named(state: &AppState, repository: &StoredRepository, text: &str) -> Result<(String, ObjectId)> {
    let (_, commit) = state.git.commit_named(repository, text).await?;
    let refs = state.git.refs(repository.no).await?;
    let full = match Revision::find(&refs, text) {
        Revision::Ref(listing) => listing.name.to_string(),
        _ => commit.id.to_string(),
    };
    Ok((full, commit.id))
}

/// What is read of repositories.
pub(super) fn sources(state: &AppState) -> GitSources {
    GitSources { git: state.git.clone(), cpu: state.actors.kernel.cpu().clone() }
}

/// The workflow files of a commit.
async fn files_of(state: &AppState, repository: &StoredRepository, commit: ObjectId) -> Result<Vec<FoundFile>> {
    Ok(sources(state).files(repository, commit).await?)
}

/// The workflows of a repository
///
/// Files that mean nothing are listed with what is wrong with them.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows",
    responses((status = 404, description = "Branch or tag not found")))]
pub(crate) async fn workflows_list(
    repository: Repository<GitRead>,
    query: Query<RefQuery>,
    state: State,
) -> Result<Json<WorkflowsAnswer>> {
    let stored = &repository.stored;
    let text = query.r#ref.clone().unwrap_or_else(|| stored.settings.default_branch.as_str().to_owned());
    let (full_ref, commit) = named(&state, stored, &text).await?;
    let states = state.store.workflow_states(stored.no).await?;
    let mut workflows = Vec::new();
    for found in files_of(&state, stored, commit).await? {
        let is_disabled = states.iter().any(|state| state.file == found.name && state.is_disabled);
        let last = state.store.run_last(stored.no, &found.name).await?;
        workflows.push(WorkflowBody::new(found.name, &found.file, is_disabled, last));
    }
    Ok(Json(WorkflowsAnswer { full_ref, sha: commit.to_string(), workflows }))
}

/// What a workflow is to be.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"enabled": false}))]
pub(crate) struct WorkflowPut {
    /// Whether events start it.
    enabled: bool,
}

impl RequestBody for WorkflowPut {}

/// What a workflow is.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"file": "ci.yml", "disabled": true}))]
pub(crate) struct WorkflowPutAnswer {
    /// The file's name.
    file: String,
    /// Whether no event starts it.
    disabled: bool,
}

/// The default branch's workflow file of this name; 404 where there is none.
async fn default_file(state: &AppState, repository: &StoredRepository, name: &str) -> Result<FoundFile> {
    let text = repository.settings.default_branch.as_str();
    let refs = state.git.refs(repository.no).await?;
    let Revision::Ref(listing) = Revision::find(&refs, text) else { return Err(workflow_not_found().into()) };
    let commit = listing.oid;
    Ok(sources(state).file(repository, commit, name).await?.ok_or_else(workflow_not_found)?)
}

/// Enable or disable a workflow
///
/// No event starts a disabled workflow. The file has to be on the default branch.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn workflow_put(
    repository: Repository<GitWrite>,
    body: Body<WorkflowPut>,
    Path(WorkflowName(file)): Path<WorkflowName>,
    state: State,
) -> Result<Json<WorkflowPutAnswer>> {
    default_file(&state, &repository.stored, &file).await?;
    let to = if body.enabled { Enabled::Yes } else { Enabled::No };
    let command = SetWorkflow { org_id: repository.org_id(), file, to };
    let set = state.actors.workflows.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(WorkflowPutAnswer { file: set.file, disabled: set.is_disabled }))
}

/// A value for an input: a text of up to 10,000 characters, a number or a boolean.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum InputValue {
    /// A text.
    Text(String),
    /// A boolean.
    Boolean(bool),
    /// A number.
    Number(f64),
}

/// What a workflow is started with.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"ref": "main", "inputs": {"environment": "staging"}}))]
pub(crate) struct WorkflowDispatch {
    /// A branch or a tag: 1 to 255 characters.
    #[serde(rename = "ref")]
    named: String,
    /// Values for the workflow's inputs, by their names.
    #[serde(default)]
    inputs: BTreeMap<String, InputValue>,
}

impl RequestBody for WorkflowDispatch {
    fn check(&self, problems: &mut Problems) {
        let fits = (1..=REF_LEN_MAX).contains(&self.named.trim().chars().count());
        problems.require(fits, "ref", "Use 1 to 255 characters.");
        for (name, value) in &self.inputs {
            let fits = !matches!(value, InputValue::Text(text) if text.chars().count() > INPUT_LEN_MAX);
            problems.require(fits, format!("inputs.{name}"), "Use at most 10000 characters.");
        }
    }
}

/// Start a workflow by hand
///
/// The file of the branch or tag that is named says which inputs there are.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}/dispatches", responses(
    (status = 400, description = "This workflow has no workflow_dispatch trigger.\n\nThe workflow file has errors."),
    (status = 404, description = "Branch or tag not found"),
    (status = 409, description = "This workflow is disabled.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn workflow_dispatch(
    repository: Repository<GitWrite>,
    body: Body<WorkflowDispatch>,
    Path(WorkflowName(name)): Path<WorkflowName>,
    state: State,
) -> Result<Created<RunAnswer>> {
    let by = repository.org().authority().on_behalf_of()?;
    let (happened, file) = starting(&state, (&repository.stored, by), &name, &body).await?;
    let command = Dispatch { org_id: repository.org_id(), happened, file };
    let run = state.actors.workflows.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Created(RunAnswer { run: run.into() }))
}

/// What is started, where the file of the ref that is named can be started by hand.
async fn starting(
    state: &AppState,
    (stored, by): (&StoredRepository, UserId),
    name: &str,
    body: &WorkflowDispatch,
) -> Result<(Happened, FoundFile)> {
    let (full_ref, commit) = named(state, stored, body.named.trim()).await?;
    let ref_name = RefName::parse(full_ref.as_bytes()).ok_or_else(revision_not_found)?;
    if !matches!(ref_name.kind(), RefKind::Branch | RefKind::Tag) {
        return Err(revision_not_found().into());
    }
    let file = sources(state).file(stored, commit, name).await?.ok_or_else(workflow_not_found)?;
    let workflow = file.file.workflow.as_ref().ok_or_else(|| workflow_invalid(&file.file))?;
    let environments: BTreeSet<String> =
        state.store.environments(stored.no).await?.iter().map(|it| it.name.key()).collect();
    let inputs = inputs_of(workflow, &body.inputs, &environments)?;
    let event = serde_json::json!({ "ref": full_ref, "workflow": format!("{WORKFLOW_FOLDER}/{name}"),
                                    "inputs": serde_json::from_str::<serde_json::Value>(&inputs).unwrap_or_default() });
    let happened = Happened { by: Some(by), event, inputs, ..Happened::to(full_ref, commit, WhatHappened::Dispatch) };
    Ok((happened, file))
}

/// The values of the inputs, as JSON.
fn inputs_of(
    workflow: &Workflow,
    given: &BTreeMap<String, InputValue>,
    environments: &BTreeSet<String>,
) -> Result<String> {
    let inputs = workflow.triggers.dispatch.as_ref().ok_or_else(no_dispatch)?;
    let value = |value: &InputValue| match value {
        InputValue::Text(text) => DispatchValue::Text(text.clone()),
        InputValue::Number(number) => DispatchValue::Number(*number),
        InputValue::Boolean(value) => DispatchValue::Boolean(*value),
    };
    let given = given.iter().map(|(name, given)| (name.clone(), value(given))).collect();
    let values = dispatch_inputs(inputs, &given, |name| environments.contains(&name.trim().to_lowercase()))?;
    Ok(values.print_json().map_err(|_| Error::too_large("The inputs are too large."))?)
}

/// 400: the file means nothing.
fn workflow_invalid(file: &WorkflowFile) -> Error {
    let first = actors::pipelines::problems_of(file).into_iter().next();
    let place = |line: Option<usize>| line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let said = first.map(|it| format!(" {}{}", it.message, place(it.line))).unwrap_or_default();
    Error::bad_request("workflow_invalid", format!("The workflow file has errors.{said}"))
}

/// A workflow of the default branch, with its text.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowTextAnswer {
    /// The file's name.
    file: String,
    /// What it says.
    text: String,
    /// What is wrong with it.
    problems: Vec<WorkflowProblemBody>,
    /// The names of its jobs, in the order of the file.
    jobs: Vec<String>,
    /// When its schedules start the next runs: up to 5 times, in milliseconds; none of a disabled workflow.
    next_runs: Vec<i64>,
}

/// When the schedules of a file come next.
async fn next_runs(state: &AppState, no: RepositoryNo, file: &str) -> Result<Vec<i64>> {
    let states = state.store.workflow_states(no).await?;
    if states.iter().any(|it| it.file == file && it.is_disabled) {
        return Ok(Vec::new());
    }
    let mut times = BTreeSet::new();
    for planned in state.store.schedules_of(no, file).await? {
        let Some(of) = ScheduleTimes::of(&planned.schedule) else { continue };
        let following = std::iter::successors(Some(planned.next_at), |at| of.next_start(*at));
        times.extend(following.take(NEXT_RUNS_MAX).map(Timestamp::as_millis));
    }
    Ok(times.into_iter().take(NEXT_RUNS_MAX).collect())
}

/// The names of a file's jobs, in its order.
pub(super) fn jobs_of(file: &WorkflowFile) -> Vec<String> {
    file.workflow.iter().flat_map(|it| &it.jobs).map(|job| job.key.as_str().to_owned()).collect()
}

/// A workflow's file
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}")]
pub(crate) async fn workflow_get(
    repository: Repository<GitRead>,
    Path(WorkflowName(file)): Path<WorkflowName>,
    state: State,
) -> Result<Json<WorkflowTextAnswer>> {
    let found = default_file(&state, &repository.stored, &file).await?;
    let problems = found.file.problems.iter().map(WorkflowProblemBody::from).collect();
    let next_runs = next_runs(&state, repository.stored.no, &file).await?;
    Ok(Json(WorkflowTextAnswer { file, text: found.text, problems, jobs: jobs_of(&found.file), next_runs }))
}
