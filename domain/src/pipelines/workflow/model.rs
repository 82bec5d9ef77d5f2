//! What a workflow file means.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{matrix::MatrixTree, triggers::Triggers};
use crate::pipelines::expressions::{ExpressionFault, Function, Part, Surroundings, Template, Usage};

/// Jobs of a file, at most.
pub const JOBS_MAX: usize = 1_000;
/// Steps of a job, at most.
pub const STEPS_MAX: usize = 1_000;

/// A workflow: what starts it, and its jobs. By default it has none, and nothing starts it.
#[derive(Clone, Debug, Default)]
pub struct Workflow {
    /// The name that people gave it; else it goes by its file's.
    pub name: Option<String>,
    /// The titles of its runs.
    pub run_name: Option<Template>,
    /// What starts it.
    pub triggers: Triggers,
    /// What the credentials of its jobs may do.
    pub permissions: Option<Permissions>,
    /// Environment variables of all steps.
    pub env: Bindings,
    /// How all `run` steps run.
    pub defaults: Defaults,
    /// Which runs exclude each other.
    pub concurrency: Option<Concurrency>,
    /// The jobs, in the order of the file.
    pub jobs: Vec<Job>,
}

/// The name of a job in its file: letters, digits, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobKey(pub(super) String);

impl JobKey {
    /// The name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name in the file.
    pub key: JobKey,
    /// What people read; its key where that is missing.
    pub name: Option<Template>,
    /// Jobs that have to be over first.
    pub needs: Vec<JobKey>,
    /// Whether it runs.
    pub condition: Condition,
    /// Which runners may take it.
    pub runs_on: RunsOn,
    /// Where it deploys to.
    pub environment: Option<Environment>,
    /// Which jobs exclude each other.
    pub concurrency: Option<Concurrency>,
    /// What it hands to jobs that need it.
    pub outputs: Bindings,
    /// Environment variables of its steps.
    pub env: Bindings,
    /// How its `run` steps run.
    pub defaults: Defaults,
    /// Minutes that it may take.
    pub timeout_minutes: Option<Setting<f64>>,
    /// Whether the run goes on when it fails.
    pub continue_on_error: Setting<bool>,
    /// Whether it runs several times.
    pub strategy: Option<Strategy>,
    /// What its credential may do.
    pub permissions: Option<Permissions>,
    /// The steps, in their order.
    pub steps: Vec<Step>,
}

/// A step of a job.
#[derive(Clone, Debug)]
pub struct Step {
    /// The name by which other steps' expressions know it.
    pub id: Option<String>,
    /// What people read.
    pub name: Option<Template>,
    /// Whether it runs.
    pub condition: Condition,
    /// Environment variables.
    pub env: Bindings,
    /// Whether the job goes on when it fails.
    pub continue_on_error: Setting<bool>,
    /// Minutes that it may take.
    pub timeout_minutes: Option<Setting<f64>>,
    /// What it does.
    pub kind: StepKind,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// A script.
    Run {
        /// The script.
        script: Template,
        /// The program that runs it.
        shell: Option<Template>,
        /// The folder in which it runs.
        working_directory: Option<Template>,
    },
    /// One of the actions that the runner knows.
    Uses {
        /// Which one.
        action: Action,
        /// Its inputs.
        with: Bindings,
    },
}

/// An action that the runner knows; there are no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Files of the repository.
    Checkout,
    /// Files of earlier runs, and for later ones.
    Cache,
    /// Files of earlier runs.
    CacheRestore,
    /// Files for later runs.
    CacheSave,
    /// Files for whoever asks for them later.
    UploadArtifact,
    /// Files of another job.
    DownloadArtifact,
}

impl Action {
    /// The actions, by their names at GitHub.
    const NAMES: [(&str, Self); 6] = [
        ("actions/checkout", Self::Checkout),
        ("actions/cache", Self::Cache),
        ("actions/cache/restore", Self::CacheRestore),
        ("actions/cache/save", Self::CacheSave),
        ("actions/upload-artifact", Self::UploadArtifact),
        ("actions/download-artifact", Self::DownloadArtifact),
    ];

    /// The action's name in a job's plan (contract C 2.1, which doesn't know the two halves of `cache`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checkout => "checkout",
            Self::Cache => "cache",
            Self::CacheRestore => "cache/restore",
            Self::CacheSave => "cache/save",
            Self::UploadArtifact => "upload-artifact",
            Self::DownloadArtifact => "download-artifact",
        }
    }

    /// The action of this name in a job's plan.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().map(|(_, action)| *action).find(|action| action.name() == name)
    }

    /// The condition of what the action does once the job's steps are over, where it does something then.
    pub const fn post_condition(self) -> Option<&'static str> {
        match self {
            Self::Checkout => Some("always()"),
            Self::Cache => Some("success()"),
            Self::CacheRestore | Self::CacheSave | Self::UploadArtifact | Self::DownloadArtifact => None,
        }
    }

    /// The action that `uses` names, of whatever version.
    pub fn read(uses: &str) -> Option<Self> {
        let (name, version) = uses.split_once('@')?;
        let known = Self::NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        known.filter(|_| !version.is_empty()).map(|(_, action)| *action)
    }
}

/// A value that stands in the file, or that an expression gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting<T> {
    /// The value.
    Given(T),
    /// What gives it.
    Evaluated(Template),
}

/// Values by name, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Bindings {
    /// Each with its name.
    Each(Vec<(String, Template)>),
    /// What gives an object.
    Evaluated(Template),
}

/// The name under which values stand that an expression gives all at once, as at GitHub.
const INSERT: &str = "${{ insert }}";

impl Default for Bindings {
    fn default() -> Self {
        Self::Each(Vec::new())
    }
}

impl Bindings {
    /// Each value's text by its name.
    pub fn texts(&self) -> BTreeMap<String, String> {
        match self {
            Self::Each(values) => values.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
            Self::Evaluated(template) => BTreeMap::from([(INSERT.to_owned(), template.to_string())]),
        }
    }

    /// Adds what the expressions name.
    pub(super) fn add_usage(&self, usage: &mut Usage) {
        match self {
            Self::Each(values) => values.iter().for_each(|(_, value)| usage.merge(value.usage())),
            Self::Evaluated(template) => usage.merge(template.usage()),
        }
    }
}

/// Whether something runs. Where no function is named that says how the run is doing, nothing may have failed before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub(super) given: Option<Template>,
    pub(super) wants_success: bool,
}

impl Condition {
    /// What holds where nothing is said: `success()`.
    pub(super) const SUCCESS: Self = Self { given: None, wants_success: true };

    /// Whether the condition holds.
    pub fn evaluate(&self, surroundings: &impl Surroundings) -> Result<bool, ExpressionFault> {
        if self.wants_success && !surroundings.status(Function::Success, &[]) {
            return Ok(false);
        }
        self.given.as_ref().map_or(Ok(true), |given| given.evaluate(surroundings).map(|value| value.is_truthy()))
    }

    /// The condition as one expression, as the runner is told it.
    pub fn text(&self) -> String {
        let given = self.given.as_ref().map(|given| match given.parts() {
            [Part::Expression(expression)] => expression.to_string(),
            _ => "true".to_owned(),
        });
        match (given, self.wants_success) {
            (None, _) => "success()".to_owned(),
            (Some(given), true) => format!("success() && ({given})"),
            (Some(given), false) => given,
        }
    }

    /// Whether nothing more is said than what holds where nothing is said.
    pub const fn is_default(&self) -> bool {
        self.given.is_none()
    }

    /// What the condition names.
    pub fn usage(&self) -> Usage {
        self.given.as_ref().map(Template::usage).unwrap_or_default()
    }
}

/// Which runners may take a job: those that have all labels.
#[derive(Clone, Debug, PartialEq)]
pub enum RunsOn {
    /// The labels, each a text or what gives one, and the group.
    Labels {
        /// The labels.
        labels: Vec<Template>,
        /// The group of runners.
        group: Option<Template>,
    },
    /// What gives a text or an array of them.
    Evaluated(Template),
}

/// What excludes each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Concurrency {
    /// The group: one of it runs, the others wait.
    pub group: Template,
    /// Whether what runs makes way.
    pub cancel_in_progress: Setting<bool>,
    /// How many wait.
    pub queue: Queue,
}

/// How many of a group wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// The newest.
    #[default]
    Single,
    /// As many as may.
    Max,
}

/// Where a job deploys to.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// The environment's name.
    pub name: Template,
    /// Where to see what was deployed.
    pub url: Option<Template>,
}

/// How `run` steps run unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defaults {
    /// The program that runs scripts.
    pub shell: Option<Template>,
    /// The folder in which they run.
    pub working_directory: Option<Template>,
}

/// What the credential of a job may do. What isn't named is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// Everything can be read.
    ReadAll,
    /// Everything can be written.
    WriteAll,
    /// By kind of thing: `read`, `write` or `none`.
    Each(BTreeMap<String, String>),
}

impl Permissions {
    /// Whether the job may write to its repository.
    pub fn may_write_contents(&self) -> bool {
        match self {
            Self::ReadAll => false,
            Self::WriteAll => true,
            Self::Each(levels) => levels.get("contents").is_some_and(|level| level == "write"),
        }
    }
}

/// How often a job runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    /// What it runs for.
    pub matrix: Option<MatrixTree>,
    /// Whether the others are cancelled when one fails.
    pub fail_fast: Setting<bool>,
    /// How many run at the same time.
    pub max_parallel: Option<Setting<f64>>,
}

impl Workflow {
    /// What the texts of a job that travel to the runner name: the job is given these secrets, and no others.
    pub fn usage(&self, job: &Job) -> Usage {
        let mut usage = job.usage();
        self.env.add_usage(&mut usage);
        usage
    }

    /// Whether the job of this key may write to its repository: as it says itself, else as the workflow does; by default not.
    pub fn may_write_contents(&self, key: &str) -> bool {
        let job = self.jobs.iter().find(|job| job.key.as_str() == key);
        let permissions = job.and_then(|job| job.permissions.as_ref().or(self.permissions.as_ref()));
        permissions.is_some_and(Permissions::may_write_contents)
    }
}

impl Job {
    /// What the texts that travel to the runner name: the job is given these secrets, and no others.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.env.add_usage(&mut usage);
        self.outputs.add_usage(&mut usage);
        let defaults = [&self.defaults.shell, &self.defaults.working_directory];
        let url = self.environment.as_ref().and_then(|it| it.url.as_ref());
        defaults.into_iter().flatten().chain(url).for_each(|it| usage.merge(it.usage()));
        self.steps.iter().for_each(|step| step.add_usage(&mut usage));
        usage
    }
}

impl Step {
    fn add_usage(&self, usage: &mut Usage) {
        self.env.add_usage(usage);
        usage.merge(self.condition.usage());
        let mut add = |template: &Option<Template>| template.iter().for_each(|it| usage.merge(it.usage()));
        add(&self.name);
        add(&self.continue_on_error.template().cloned());
        add(&self.timeout_minutes.as_ref().and_then(Setting::template).cloned());
        match &self.kind {
            StepKind::Run { script, shell, working_directory } => {
                add(shell);
                add(working_directory);
                usage.merge(script.usage());
            }
            StepKind::Uses { with, .. } => with.add_usage(usage),
        }
    }
}

impl<T> Setting<T> {
    /// What gives the value, where it isn't given.
    pub const fn template(&self) -> Option<&Template> {
        match self {
            Self::Given(_) => None,
            Self::Evaluated(template) => Some(template),
        }
    }
}
