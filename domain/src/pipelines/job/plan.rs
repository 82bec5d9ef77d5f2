//! What a runner is told of a job (contract C 2.1, 4.1).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::JobLimits;
use crate::pipelines::{
    expressions::{ContextName, Surroundings, Template, Value},
    run::{JobPlace, Plan, RunState},
    workflow::{Defaults, Setting, Step, StepKind},
};

/// How a runner and the server talk.
pub const PROTOCOL: u32 = 1;

/// A job as its runner is told of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobPlan {
    /// How a runner and the server talk: 1.
    pub protocol: u32,
    /// The job and its run.
    pub job: JobDescription,
    /// The values of the contexts that the server knows, by their names.
    pub contexts: BTreeMap<String, Box<RawValue>>,
    /// Environment variables of all steps, as text with expressions.
    pub env: BTreeMap<String, String>,
    /// How `run` steps run unless they say otherwise.
    pub defaults: PlannedDefaults,
    /// The steps, in their order.
    pub steps: Vec<PlannedStep>,
    /// What the job hands on, as text with expressions.
    pub outputs: BTreeMap<String, String>,
    /// Where to see what the job deployed, as text with expressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_url: Option<String>,
    /// What a line of the log begins with that is the runner's own.
    pub marker: String,
    /// How much the job may make.
    pub limits: JobLimits,
    /// Where the server is.
    pub server_url: String,
    /// Whether the job says what is for whoever looks for mistakes, too.
    #[serde(default, rename = "debug", skip_serializing_if = "std::ops::Not::not")]
    pub is_debug: bool,
}

/// A job and its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobDescription {
    /// The job's id.
    pub id: String,
    /// The job's name in its file.
    pub key: String,
    /// The job's name.
    pub name: String,
    /// The run's id.
    pub run_id: String,
    /// The run's number.
    pub run_number: u64,
    /// Which attempt of the run it is, from 1.
    pub attempt: u32,
    /// The workflow's name.
    pub workflow: String,
    /// The repository's name.
    pub repository: String,
    /// Minutes that the job may take.
    pub timeout_minutes: u32,
}

/// How `run` steps run unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedDefaults {
    /// The program that runs scripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// The folder in which scripts run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
}

/// A step, with its expressions as text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    /// The step's place, from 0.
    pub index: usize,
    /// The name by which other steps' expressions know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The step's name, which people read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether the step runs, as one expression; `success()` where it is missing.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The program that runs the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// The folder in which the script runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// The action: `checkout`, `cache`, `cache/restore`, `cache/save`, `upload-artifact` or `download-artifact`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<String>,
    /// The action's inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<BTreeMap<String, String>>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Whether the job goes on when the step fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continue_on_error: Option<ContinueOnError>,
    /// Minutes that the step may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_minutes: Option<TimeoutMinutes>,
}

/// Whether the job goes on when a step fails: a boolean, or a text with expressions that gives one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ContinueOnError {
    /// The value.
    Given(bool),
    /// What gives it.
    Evaluated(String),
}

/// Minutes that a step may take: a number, or a text with expressions that gives one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TimeoutMinutes {
    /// The value.
    Given(f64),
    /// What gives it.
    Evaluated(String),
}

/// The facts of a job's plan that its run doesn't know.
#[derive(Clone, Debug)]
pub struct Told {
    /// The job's id.
    pub job_id: String,
    /// The run's id.
    pub run_id: String,
    /// The run's number.
    pub run_number: u64,
    /// Which attempt of the run it is, from 1.
    pub attempt: u32,
    /// The workflow's name.
    pub workflow: String,
    /// The repository's name.
    pub repository: String,
    /// The variables of organization, repository and the job's environment; the narrower ones hold.
    pub vars: Value,
    /// What a line of the log begins with that is the runner's own.
    pub marker: String,
    /// How much the job may make.
    pub limits: JobLimits,
    /// Where the server is.
    pub server_url: String,
    /// Whether the job says what is for whoever looks for mistakes, too.
    pub is_debug: bool,
}

/// The contexts whose values the server knows.
const KNOWN_CONTEXTS: [ContextName; 6] = [
    ContextName::Github,
    ContextName::Inputs,
    ContextName::Vars,
    ContextName::Needs,
    ContextName::Strategy,
    ContextName::Matrix,
];

impl Plan {
    /// The plan that a job's runner is told; none where there is no such job, or its contexts take more than they may.
    pub fn told(&self, state: &RunState, place: JobPlace, told: Told) -> Option<JobPlan> {
        let job = state.job(place)?;
        let of = self.workflow().jobs.get(place.node)?;
        let surroundings = self.surroundings_of_job(state, place)?;
        let value = |name: ContextName| match name {
            ContextName::Vars => told.vars.clone(),
            name => surroundings.context(name),
        };
        let context = |name: ContextName| {
            Some((name.name().to_owned(), RawValue::from_string(value(name).print_json().ok()?).ok()?))
        };
        let contexts = KNOWN_CONTEXTS.into_iter().map(context).collect::<Option<_>>()?;
        let mut env = self.workflow().env.texts();
        env.extend(of.env.texts());
        Some(JobPlan {
            protocol: PROTOCOL,
            job: JobDescription {
                id: told.job_id,
                key: of.key.as_str().to_owned(),
                name: job.name.clone(),
                run_id: told.run_id,
                run_number: told.run_number,
                attempt: told.attempt,
                workflow: told.workflow,
                repository: told.repository,
                timeout_minutes: job.timeout_minutes,
            },
            contexts,
            env,
            defaults: defaults(&of.defaults, &self.workflow().defaults),
            steps: of.steps.iter().enumerate().map(|(index, step)| planned(index, step)).collect(),
            outputs: of.outputs.texts(),
            environment_url: of.environment.as_ref().and_then(|it| it.url.as_ref()).map(Template::to_string),
            marker: told.marker,
            limits: told.limits,
            server_url: told.server_url,
            is_debug: told.is_debug,
        })
    }
}

impl JobPlan {
    /// The value of a context that the server knows; null of any other.
    pub fn context(&self, name: ContextName) -> Value {
        let text = self.contexts.get(name.name()).map(|raw| raw.get());
        text.and_then(|text| Value::read_json(text).ok()).unwrap_or(Value::Null)
    }
}

/// A job's defaults, and the workflow's where the job says nothing.
fn defaults(job: &Defaults, workflow: &Defaults) -> PlannedDefaults {
    let text =
        |one: &Option<Template>, other: &Option<Template>| one.as_ref().or(other.as_ref()).map(Template::to_string);
    PlannedDefaults {
        shell: text(&job.shell, &workflow.shell),
        working_directory: text(&job.working_directory, &workflow.working_directory),
    }
}

fn planned(index: usize, step: &Step) -> PlannedStep {
    let env = step.env.texts();
    let common = PlannedStep {
        index,
        id: step.id.clone(),
        name: step.name.as_ref().map(Template::to_string),
        condition: (!step.condition.is_default()).then(|| step.condition.text()),
        env: (!env.is_empty()).then_some(env),
        continue_on_error: match &step.continue_on_error {
            Setting::Given(false) => None,
            Setting::Given(value) => Some(ContinueOnError::Given(*value)),
            Setting::Evaluated(template) => Some(ContinueOnError::Evaluated(template.to_string())),
        },
        timeout_minutes: step.timeout_minutes.as_ref().map(|setting| match setting {
            Setting::Given(value) => TimeoutMinutes::Given(*value),
            Setting::Evaluated(template) => TimeoutMinutes::Evaluated(template.to_string()),
        }),
        ..PlannedStep::default()
    };
    match &step.kind {
        StepKind::Run { script, shell, working_directory } => PlannedStep {
            run: Some(script.to_string()),
            shell: shell.as_ref().map(Template::to_string),
            working_directory: working_directory.as_ref().map(Template::to_string),
            ..common
        },
        StepKind::Uses { action, with } => {
            let with = with.texts();
            PlannedStep { uses: Some(action.name().to_owned()), with: (!with.is_empty()).then_some(with), ..common }
        }
    }
}
