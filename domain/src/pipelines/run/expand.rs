//! From a job of the file to the jobs of its matrix.

use std::collections::BTreeMap;

use super::{
    conclusion::JobConclusion,
    contexts::JobSurroundings,
    event::Gate,
    name,
    plan::{Plan, strategy},
    settings::{self, JobFault, TIMEOUT_MINUTES, TIMEOUT_MINUTES_MAX},
    state::{JobState, NodeState, Phase, RUN_JOBS_MAX, RunState},
};
use crate::pipelines::{
    expressions::{Surroundings, Template, Value},
    workflow::{Job, MATRIX_JOBS_MAX, Matrix, MatrixFault, RunsOn, Setting},
};

/// Labels that a job asks of its runner, at most.
pub const LABELS_MAX: usize = 100;
/// Characters of a label, of a group of runners and of an environment's name, at most.
pub const LABEL_LEN_MAX: usize = 255;
/// Characters of a concurrency group's name, at most.
pub const GROUP_LEN_MAX: usize = 400;
/// Bytes of what a matrix says of one job, at most.
pub const MATRIX_ROW_LEN_MAX: usize = 64 * 1024;

/// What becomes of a job of the file when all that it needs is over.
pub(super) fn node(plan: &Plan, state: &RunState, node: usize) -> NodeState {
    let job = &plan.workflow.jobs[node];
    let mut surroundings = plan.surroundings(state, node);
    match job.condition.evaluate(&surroundings) {
        Ok(false) => alone(ended(job, JobConclusion::Skipped, None)),
        Err(fault) => alone(failed(job, &JobFault::Expression { key: "if", fault })),
        Ok(true) => expanded(state, job, &mut surroundings).unwrap_or_else(|fault| alone(failed(job, &fault))),
    }
}

/// A job that is over before it began.
pub(super) fn ended(job: &Job, conclusion: JobConclusion, fault: Option<String>) -> JobState {
    JobState {
        name: name::unevaluated(job),
        phase: Phase::Completed(conclusion),
        matrix: None,
        labels: Vec::new(),
        runner_group: None,
        environment: None,
        concurrency: None,
        timeout_minutes: TIMEOUT_MINUTES,
        continues_on_error: false,
        outputs: BTreeMap::new(),
        lost: 0,
        fault,
    }
}

/// A key that has this one job.
pub(super) fn alone(job: JobState) -> NodeState {
    NodeState { jobs: vec![job], fail_fast: true, max_parallel: None, settled: None }
}

fn failed(job: &Job, fault: &JobFault) -> JobState {
    ended(job, JobConclusion::Failure, Some(fault.to_string().replace('\0', "")))
}

fn expanded(state: &RunState, job: &Job, surroundings: &mut JobSurroundings<'_>) -> Result<NodeState, JobFault> {
    let rows = rows(job, surroundings)?;
    let total = rows.as_ref().map_or(1, Vec::len);
    if state.jobs().count() + total > RUN_JOBS_MAX {
        return Err(JobFault::other("strategy", format!("A run has at most {RUN_JOBS_MAX} jobs")));
    }
    let (fail_fast, max_parallel) = limits(job, surroundings)?;
    let mut of = NodeState { jobs: Vec::with_capacity(total), fail_fast, max_parallel, settled: None };
    for (index, row) in rows.unwrap_or_else(|| vec![Value::Null]).into_iter().enumerate() {
        surroundings.strategy = strategy(&of, index, total);
        surroundings.matrix = row;
        let made = made(job, surroundings).unwrap_or_else(|fault| failed(job, &fault));
        of.jobs.push(made);
    }
    Ok(of)
}

/// What the jobs of the matrix are for; none where there is no matrix.
fn rows(job: &Job, surroundings: &impl Surroundings) -> Result<Option<Vec<Value>>, JobFault> {
    const KEY: &str = "strategy.matrix";
    let Some(tree) = job.strategy.as_ref().and_then(|strategy| strategy.matrix.as_ref()) else { return Ok(None) };
    let value = tree.evaluate(surroundings).map_err(JobFault::expression(KEY))?;
    match Matrix::expand(&value) {
        // Everything was excluded.
        Ok(matrix) if matrix.rows.is_empty() => Err(JobFault::other(KEY, MatrixFault::Empty.to_string())),
        Ok(matrix) => Ok(Some(matrix.rows)),
        Err(fault) => Err(JobFault::other(KEY, fault.to_string())),
    }
}

fn limits(job: &Job, surroundings: &impl Surroundings) -> Result<(bool, Option<usize>), JobFault> {
    let Some(strategy) = &job.strategy else { return Ok((true, None)) };
    let fail_fast = settings::flag("strategy.fail-fast", &strategy.fail_fast, surroundings)?;
    let max_parallel = strategy.max_parallel.as_ref();
    let max_parallel = max_parallel.map(|it| settings::count("strategy.max-parallel", it, surroundings)).transpose()?;
    Ok((fail_fast, max_parallel.map(|it| usize::try_from(it).unwrap_or(MATRIX_JOBS_MAX))))
}

/// A job whose settings are evaluated, and that waits for its turn.
fn made(job: &Job, surroundings: &JobSurroundings<'_>) -> Result<JobState, JobFault> {
    let name = name::evaluated(job, &surroundings.matrix, surroundings);
    let name = name.map_err(JobFault::expression("name"))?;
    let (labels, runner_group) = runs_on(&job.runs_on, surroundings)?;
    let minutes = |setting: &Setting<f64>| settings::count("timeout-minutes", setting, surroundings);
    let timeout_minutes = job.timeout_minutes.as_ref().map(minutes).transpose()?.unwrap_or(TIMEOUT_MINUTES);
    let environment = job.environment.as_ref().map(|it| text("environment", &it.name, surroundings)).transpose()?;
    let group = |wanted| settings::group(wanted, GROUP_LEN_MAX, surroundings);
    Ok(JobState {
        name,
        phase: Phase::Held(Gate::Slot),
        matrix: matrix(&surroundings.matrix)?,
        labels,
        runner_group,
        environment: environment.filter(|name| !name.is_empty()),
        concurrency: job.concurrency.as_ref().map(group).transpose()?.flatten(),
        timeout_minutes: timeout_minutes.min(TIMEOUT_MINUTES_MAX),
        continues_on_error: settings::flag("continue-on-error", &job.continue_on_error, surroundings)?,
        outputs: BTreeMap::new(),
        lost: 0,
        fault: None,
    })
}

fn matrix(row: &Value) -> Result<Option<String>, JobFault> {
    if matches!(row, Value::Null) {
        return Ok(None);
    }
    let text = row.print_json().ok().filter(|text| text.len() <= MATRIX_ROW_LEN_MAX);
    let message = || format!("What a matrix says of one job takes at most {MATRIX_ROW_LEN_MAX} bytes");
    text.map(Some).ok_or_else(|| JobFault::other("strategy.matrix", message()))
}

fn text(key: &'static str, template: &Template, surroundings: &impl Surroundings) -> Result<String, JobFault> {
    let value = template.evaluate(surroundings).map_err(JobFault::expression(key))?;
    label(key, &value)
}

fn label(key: &'static str, value: &Value) -> Result<String, JobFault> {
    if !value.is_primitive() {
        return Err(JobFault::other(key, "A text was expected"));
    }
    let text = value.to_text().replace('\0', "").trim().to_owned();
    if text.chars().count() > LABEL_LEN_MAX {
        return Err(JobFault::other(key, format!("At most {LABEL_LEN_MAX} characters were expected")));
    }
    Ok(text)
}

const RUNS_ON: &str = "runs-on";

/// The labels and the group of runners that a job asks for.
fn runs_on(wanted: &RunsOn, surroundings: &impl Surroundings) -> Result<(Vec<String>, Option<String>), JobFault> {
    let (labels, group) = match wanted {
        RunsOn::Labels { labels, group } => {
            let labels: Result<Vec<_>, _> = labels.iter().map(|label| text(RUNS_ON, label, surroundings)).collect();
            (labels?, group.as_ref().map(|group| text(RUNS_ON, group, surroundings)).transpose()?)
        }
        RunsOn::Evaluated(template) => {
            let value = template.evaluate(surroundings);
            evaluated_runs_on(&value.map_err(JobFault::expression(RUNS_ON))?)?
        }
    };
    let labels: Vec<String> = labels.into_iter().filter(|label| !label.is_empty()).collect();
    let group = group.filter(|group| !group.is_empty());
    if labels.is_empty() && group.is_none() {
        return Err(JobFault::other(RUNS_ON, "No label and no group of runners is named"));
    }
    if labels.len() > LABELS_MAX {
        return Err(JobFault::other(RUNS_ON, format!("At most {LABELS_MAX} labels were expected")));
    }
    Ok((labels, group))
}

fn evaluated_runs_on(value: &Value) -> Result<(Vec<String>, Option<String>), JobFault> {
    match value {
        Value::Array(array) => {
            let labels: Result<Vec<_>, _> = array.items().iter().map(|item| label(RUNS_ON, item)).collect();
            Ok((labels?, None))
        }
        Value::Object(object) => {
            let labels = match object.get("labels") {
                Some(Value::Object(_)) => return Err(JobFault::other(RUNS_ON, "Labels are texts")),
                Some(labels) => evaluated_runs_on(labels)?.0,
                None => Vec::new(),
            };
            Ok((labels, object.get("group").map(|group| label(RUNS_ON, group)).transpose()?))
        }
        other => Ok((vec![label(RUNS_ON, other)?], None)),
    }
}
