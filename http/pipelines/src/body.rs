//! Runs, jobs and workflows as clients read them (contract C 2.1).

use domain::{
    Timestamp,
    pipelines::{
        job::StepReport,
        run::{JobConclusion, RunConclusion},
        workflow::{DispatchInput, InputDefault, Severity, WorkflowFile, WorkflowProblem},
    },
};
use serde::Serialize;
use store::pipelines::{JobStage, RunProblem, StoredJob, StoredRun};
use utoipa::ToSchema;

/// The person that a run is of.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunActorBody {
    /// The person; null of a schedule.
    id: Option<String>,
    /// How people call them.
    label: Option<String>,
}

/// A fault in the file of a run.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunProblemBody {
    /// What is wrong.
    message: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The character of the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

impl From<RunProblem> for RunProblemBody {
    fn from(RunProblem { message, line, column }: RunProblem) -> Self {
        Self { message, line, column }
    }
}

/// A run of a workflow.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "runId": "run_01jd7rt4m5e9fv2w8x3c6k0hqz", "number": 7, "attempt": 1, "workflowFile": "ci.yml", "workflowName": "CI",
    "event": "push", "ref": "refs/heads/main", "branch": "main", "sha": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
    "title": "Say hello", "actor": {"id": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "label": "Ada"}, "status": "completed",
    "conclusion": "success", "pullNumber": null, "cancelRequested": false, "waitingForConcurrency": false, "problems": null,
    "createdAt": 1_767_225_600_000_i64, "startedAt": 1_767_225_601_000_i64, "completedAt": 1_767_225_660_000_i64
}))]
pub(crate) struct RunBody {
    /// The run's id.
    run_id: String,
    /// The run's number among those of its file, from 1.
    number: i64,
    /// The attempt, from 1.
    attempt: u32,
    /// The file's name.
    workflow_file: String,
    /// The workflow's name.
    workflow_name: String,
    /// `push`, `pull_request`, `schedule` or `workflow_dispatch`.
    event: String,
    /// The ref, whole.
    #[serde(rename = "ref")]
    full_ref: String,
    /// The branch, or the tag; of a pull request, its head.
    branch: String,
    /// The commit.
    sha: String,
    /// What people read.
    title: String,
    /// The person that the run is of.
    actor: RunActorBody,
    /// `queued`, `in_progress`, `waiting` or `completed`.
    status: &'static str,
    /// `success`, `failure`, `skipped`, `cancelled`, `timed_out` or `startup_failure`; null before the end.
    conclusion: Option<&'static str>,
    /// The pull request's number.
    pull_number: Option<i64>,
    /// Whether somebody cancelled the run.
    cancel_requested: bool,
    /// Whether the run waits for its concurrency group.
    waiting_for_concurrency: bool,
    /// What is wrong with the file, where the run ended because of it.
    problems: Option<Vec<RunProblemBody>>,
    /// When the run was made.
    created_at: i64,
    /// When its first job started.
    started_at: Option<i64>,
    /// When the run was over.
    completed_at: Option<i64>,
}

impl From<StoredRun> for RunBody {
    fn from(run: StoredRun) -> Self {
        let short = run.full_ref.splitn(3, '/').nth(2).unwrap_or_default().to_owned();
        Self {
            run_id: run.id.to_string(),
            number: run.number,
            attempt: run.attempt,
            workflow_file: run.file,
            workflow_name: run.workflow,
            event: run.event,
            branch: run.branch.unwrap_or(short),
            full_ref: run.full_ref,
            sha: run.sha.to_string(),
            title: run.title,
            actor: RunActorBody { id: run.actor.id, label: run.actor.label },
            status: run.status.name(),
            conclusion: run.conclusion.map(RunConclusion::name),
            pull_number: run.pull_number,
            cancel_requested: run.is_cancel_requested,
            waiting_for_concurrency: run.waits_for_group,
            problems: run.problems.map(|problems| problems.into_iter().map(RunProblemBody::from).collect()),
            created_at: run.created_at.as_millis(),
            started_at: run.started_at.map(Timestamp::as_millis),
            completed_at: run.completed_at.map(Timestamp::as_millis),
        }
    }
}

/// One run.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunAnswer {
    /// The run as it is now.
    pub run: RunBody,
}

/// A job of a run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobBody {
    /// The job's id.
    job_id: String,
    /// The run's id.
    run_id: String,
    /// The attempt in which the job ran.
    attempt: u32,
    /// The job's name in its file.
    key: String,
    /// The job's name.
    name: String,
    /// `queued`, `in_progress`, `waiting` or `completed`.
    status: &'static str,
    /// `success`, `failure`, `skipped`, `cancelled` or `timed_out`; null before the end.
    conclusion: Option<&'static str>,
    /// Labels that a runner has to have.
    labels: Vec<String>,
    /// Where the job deploys to.
    environment: Option<String>,
    /// Where to see what the job deployed, once it is over: an http or https address.
    environment_url: Option<String>,
    /// Why the job couldn't be run, where it couldn't.
    fault: Option<String>,
    /// The runner's id, once a runner was given the job.
    runner_id: Option<String>,
    /// The runner's name.
    runner_name: Option<String>,
    /// When the job was made.
    created_at: i64,
    /// Since when runners may take it.
    queued_at: Option<i64>,
    /// When a runner started it.
    started_at: Option<i64>,
    /// When it was over.
    completed_at: Option<i64>,
}

/// How people read where a job is.
const fn status_of(stage: JobStage) -> &'static str {
    match stage {
        JobStage::Held => "waiting",
        JobStage::Queued | JobStage::Reserved => "queued",
        JobStage::Running | JobStage::Cancelling => "in_progress",
        JobStage::Completed => "completed",
    }
}

impl From<StoredJob> for JobBody {
    fn from(job: StoredJob) -> Self {
        let (runner_id, runner_name) = job.runner.map(|(id, name)| (id.to_string(), name)).unzip();
        Self {
            job_id: job.id.to_string(),
            run_id: job.run_id.to_string(),
            attempt: job.attempt,
            key: job.key,
            name: job.name,
            status: status_of(job.stage),
            conclusion: job.conclusion.map(JobConclusion::name),
            labels: job.labels,
            environment: job.environment,
            environment_url: job.environment_url,
            fault: job.fault,
            runner_id,
            runner_name,
            created_at: job.created_at.as_millis(),
            queued_at: job.queued_at.map(Timestamp::as_millis),
            started_at: job.started_at.map(Timestamp::as_millis),
            completed_at: job.completed_at.map(Timestamp::as_millis),
        }
    }
}

/// How a step of a job is doing.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobStepBody {
    /// The place among the steps.
    index: usize,
    /// What people read.
    name: String,
    /// `pending`, `in_progress` or `completed`.
    #[schema(value_type = String)]
    status: domain::pipelines::job::StepStatus,
    /// How the step counts for the job: `success`, `failure`, `cancelled` or `skipped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    conclusion: Option<domain::pipelines::job::StepConclusion>,
    /// How the step ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    outcome: Option<domain::pipelines::job::StepConclusion>,
    /// When the step began.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    /// When the step was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<i64>,
    /// Whether this is what an action does once the steps are over.
    #[serde(skip_serializing_if = "Option::is_none")]
    post: Option<bool>,
}

impl From<StepReport> for JobStepBody {
    fn from(step: StepReport) -> Self {
        Self {
            index: step.index,
            name: step.name,
            status: step.status,
            conclusion: step.conclusion,
            outcome: step.outcome,
            started_at: step.started_at.map(Timestamp::as_millis),
            completed_at: step.completed_at.map(Timestamp::as_millis),
            post: step.post,
        }
    }
}

/// A fault in a workflow file.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorkflowProblemBody {
    /// The file's name, where a text was checked as that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// What is wrong.
    message: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The character of the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// `error`, where the file means nothing because of it, or `warning`.
    severity: &'static str,
}

impl From<&WorkflowProblem> for WorkflowProblemBody {
    fn from(problem: &WorkflowProblem) -> Self {
        let severity = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        Self { file: None, message: problem.message.clone(), line: problem.line, column: problem.column, severity }
    }
}

impl WorkflowProblemBody {
    /// The same of a file of this name.
    pub(super) fn of_file(self, name: &str) -> Self {
        Self { file: Some(name.to_owned()), ..self }
    }
}

/// An input that is asked for when a workflow is started by hand.
#[derive(Serialize, ToSchema)]
pub(crate) struct DispatchInputBody {
    /// The input's name.
    name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// `string`, `number`, `boolean`, `environment` or `choice`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Whether something has to be given.
    required: bool,
    /// What holds where nothing is: a text, a number or a boolean.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    default: Option<serde_json::Value>,
    /// What may be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Vec<String>>,
}

impl From<&DispatchInput> for DispatchInputBody {
    fn from(input: &DispatchInput) -> Self {
        let default = input.default.as_ref().map(|default| match default {
            InputDefault::Text(text) => serde_json::json!(text),
            InputDefault::Number(number) => serde_json::json!(number),
            InputDefault::Boolean(value) => serde_json::json!(value),
        });
        Self {
            name: input.name.clone(),
            description: input.description.clone(),
            kind: input.kind.name(),
            required: input.required,
            default,
            options: (!input.options.is_empty()).then(|| input.options.clone()),
        }
    }
}

/// What somebody is asked for who starts a workflow by hand.
#[derive(Serialize, ToSchema)]
pub(crate) struct DispatchBody {
    /// The inputs, in the order of the file.
    inputs: Vec<DispatchInputBody>,
}

/// A workflow of a commit.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "file": "ci.yml", "name": "CI", "triggers": ["push", "workflow_dispatch"], "dispatch": {"inputs": []},
    "problems": [], "disabled": false, "lastRun": null
}))]
pub(crate) struct WorkflowBody {
    /// The file's name.
    file: String,
    /// The workflow's name; the file's where it has none.
    name: String,
    /// The events that start it.
    triggers: Vec<String>,
    /// What is asked for when it is started by hand; null where it can't be.
    dispatch: Option<DispatchBody>,
    /// What is wrong with the file.
    problems: Vec<WorkflowProblemBody>,
    /// Whether somebody disabled it.
    disabled: bool,
    /// The newest run.
    last_run: Option<RunBody>,
}

impl WorkflowBody {
    pub(super) fn new(name: String, file: &WorkflowFile, is_disabled: bool, last_run: Option<StoredRun>) -> Self {
        let workflow = file.workflow.as_ref();
        let triggers = workflow.map(|it| &it.triggers);
        let dispatch = triggers.and_then(|it| it.dispatch.as_ref());
        Self {
            name: workflow.and_then(|it| it.name.clone()).unwrap_or_else(|| name.clone()),
            file: name,
            triggers: triggers.map(|it| it.names.clone()).unwrap_or_default(),
            dispatch: dispatch
                .map(|inputs| DispatchBody { inputs: inputs.iter().map(DispatchInputBody::from).collect() }),
            problems: file.problems.iter().map(WorkflowProblemBody::from).collect(),
            disabled: is_disabled,
            last_run: last_run.map(RunBody::from),
        }
    }
}
