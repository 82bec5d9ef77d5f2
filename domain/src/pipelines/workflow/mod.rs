//! Workflow files (contract C 1, 2.1): what they may say, what is wrong with one, and what it means.
//!
//! A file is read in three steps. `yaml` makes a tree with places of it, within limits. `check` walks the tree along `schema`,
//! the table of keys, kinds and of what expressions may name at each place. Only when that found no error, `read` makes a
//! [`Workflow`] of the tree, and finds what a table can't say: cycles of `needs`, names that are taken, schedules that mean
//! nothing. Keys and behaviour are those of GitHub Actions; `.ci/pipelines/run` compares what is found wrong, and where, with
//! what `@actions/workflow-parser` finds.

mod beside;
mod check;
mod cron;
mod glob;
mod inputs;
mod matrix;
mod model;
mod needs;
mod problem;
mod read;
mod schema;
mod steps;
mod times;
mod triggers;
mod yaml;

#[cfg(test)]
mod tests;

use self::problem::Problems;
pub use self::{
    beside::{FilesBeside, WORKFLOW_NAME_LEN_MAX},
    glob::Glob,
    inputs::{ActionInput, InputFault, OwnRun},
    matrix::{MATRIX_JOBS_MAX, Matrix, MatrixFault, MatrixTree, Scalar},
    model::{
        Action, Bindings, Concurrency, Condition, Defaults, Environment, JOBS_MAX, Job, JobKey, Permissions, Queue,
        RunsOn, STEPS_MAX, Setting, Step, StepKind, Strategy, Workflow,
    },
    problem::{PROBLEMS_MAX, Severity, WorkflowProblem},
    schema::{OF_JOB_DEFAULTS, OF_JOB_ENV, OF_OUTPUTS, OF_STEP, OF_STEP_IF, OF_URL},
    times::{LATE_MAX, ScheduleTimes},
    triggers::{
        ACTIVITIES_TOLD, DispatchInput, Filter, InputDefault, InputKind, PullRequestTrigger, PushTrigger,
        SCHEDULES_MAX, Schedule, Triggers, Verdict,
    },
    yaml::{YAML_DEPTH_MAX, YAML_LEN_MAX, YAML_NODES_MAX},
};

/// The folder of workflow files in a repository (contract C 1).
pub const WORKFLOW_FOLDER: &str = ".service/workflows";
/// Workflow files of a repository, at most.
pub const WORKFLOW_FILES_MAX: usize = 200;

/// What a file says, as far as it could be read, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct WorkflowFile {
    /// What the file means; none where a problem is an error.
    pub workflow: Option<Workflow>,
    /// What is wrong, in the order of the file.
    pub problems: Vec<WorkflowProblem>,
}

impl WorkflowFile {
    /// Reads a file.
    pub fn read(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut problems = Problems::new(text);
        let root = match yaml::read(text) {
            Ok(root) => root,
            Err(problem) => return Self { workflow: None, problems: vec![problem] },
        };
        check::check(&root, &schema::WORKFLOW, &mut problems);
        let mut workflow = None;
        if !problems.has_errors() {
            let read = read::workflow(&root, &mut problems);
            workflow = Some(read).filter(|_| !problems.has_errors());
        }
        Self { workflow, problems: problems.into_list() }
    }

    /// Whether the path is one of a workflow file.
    pub fn is_path(path: &str) -> bool {
        let name = path.strip_prefix(WORKFLOW_FOLDER).and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(|name| {
            let stem = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"));
            stem.is_some_and(|stem| !stem.is_empty() && !stem.contains('/'))
        })
    }
}
