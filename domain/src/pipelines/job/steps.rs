//! The steps of a job: which one comes next, whether it runs, and what they come to.
//!
//! The rules are those of GitHub's runner. A step's outcome is how it ended; its conclusion is that, but for a failure that the step
//! may have, which is a success. Only conclusions count for the job. An action that began, however it ended, may have a part that
//! runs once the steps are over; the last one that began goes first.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{plan::PlannedStep, report::STEP_NAME_LEN_MAX};
use crate::{
    pipelines::{
        expressions::{Function, Value},
        workflow::Action,
    },
    time::Timestamp,
};

/// How a job is doing: its `job.status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Nothing has failed.
    #[default]
    Success,
    /// A step has failed.
    Failure,
    /// The job was cancelled.
    Cancelled,
}

impl JobStatus {
    /// The name in `job.status`, and as conclusion (contract C 4.1).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Where a step is in its life (contract C 2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// The step's turn hasn't come.
    #[default]
    Pending,
    /// The step runs.
    InProgress,
    /// The step is over.
    Completed,
}

/// How a step ended (contract C 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepConclusion {
    /// The step did what it should.
    Success,
    /// The step failed, or took too long.
    Failure,
    /// The step was stopped, because the job was cancelled.
    Cancelled,
    /// The step didn't run.
    Skipped,
}

impl StepConclusion {
    /// The name in reports and in `steps`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }
}

/// Which part of a step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What the step does when its turn comes.
    Main,
    /// What the step's action does once the steps are over.
    Post,
}

/// A step whose turn has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTurn {
    /// The place among the reports.
    pub index: usize,
    /// The place among the plan's steps.
    pub step: usize,
    /// Which part of the step.
    pub part: Part,
    /// What has to hold for the step to run: one expression.
    pub condition: String,
}

/// What a cancelled job's running step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCancel {
    /// The step's condition still holds.
    GoOn,
    /// The step has to be stopped.
    Stop,
}

/// What a failed step means for its job: its `continue-on-error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The job has failed.
    Fail,
    /// The job goes on as if the step had succeeded.
    GoOn,
}

/// How a step is doing, as a runner reports it (contract C 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// The place among the reports.
    pub index: usize,
    /// What people read.
    pub name: String,
    /// Where the step is in its life.
    pub status: StepStatus,
    /// How the step ended, as it counts for the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<StepConclusion>,
    /// How the step ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<StepConclusion>,
    /// When the step began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When the step was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Whether this is what an action does once the steps are over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<bool>,
}

/// How far a job's steps are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepsState {
    status: JobStatus,
    /// The steps, and behind them what actions do once the steps are over, as soon as that is known.
    entries: Vec<Entry>,
    /// How many of them are steps.
    steps: usize,
}

/// A step, or what its action does once the steps are over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    step: usize,
    part: Part,
    id: Option<String>,
    condition: String,
    /// The condition of what the step's action does once the steps are over.
    post_condition: Option<String>,
    outputs: BTreeMap<String, String>,
    report: StepReport,
}

impl StepsState {
    /// The steps of a job before the first one's turn.
    pub fn new(steps: &[PlannedStep]) -> Self {
        let entries: Vec<Entry> = steps.iter().map(Entry::main).collect();
        Self { status: JobStatus::Success, steps: entries.len(), entries }
    }

    /// The step that is next; none once the job is over. Asking again gives the same until that step began.
    pub fn turn(&mut self) -> Option<StepTurn> {
        let pending = |entries: &[Entry]| entries.iter().position(|entry| entry.report.status == StepStatus::Pending);
        let mut index = pending(&self.entries);
        if index.is_none() && self.entries.len() == self.steps && self.running().is_none() {
            self.add_posts();
            index = pending(&self.entries);
        }
        let index = index?;
        let entry = self.entries.get(index)?;
        Some(StepTurn { index, step: entry.step, part: entry.part, condition: entry.condition.clone() })
    }

    /// Adds the last parts of the actions that began, the last one's first.
    fn add_posts(&mut self) {
        let began = self.entries.iter().filter(|entry| entry.report.started_at.is_some());
        let posts: Vec<_> = began.filter_map(Entry::post).collect();
        self.entries.extend(posts.into_iter().rev());
        for (index, entry) in self.entries.iter_mut().enumerate() {
            entry.report.index = index;
        }
    }

    /// Begins a step, and says whether it runs. `holds` is what its condition came to, none where it couldn't be evaluated: a
    /// failure that `continue-on-error` doesn't forgive.
    pub fn begin(&mut self, index: usize, holds: Option<bool>, now: Timestamp) -> bool {
        let Some(entry) = self.entries.get_mut(index) else { return false };
        if entry.report.status != StepStatus::Pending {
            return false;
        }
        match holds {
            Some(true) => {
                entry.report.status = StepStatus::InProgress;
                entry.report.started_at = Some(now);
                true
            }
            Some(false) => {
                entry.complete(StepConclusion::Skipped, StepConclusion::Skipped, now);
                false
            }
            None => {
                entry.complete(StepConclusion::Failure, StepConclusion::Failure, now);
                self.fail();
                false
            }
        }
    }

    /// Ends the running step.
    pub fn end(&mut self, outcome: StepConclusion, on_failure: OnFailure, now: Timestamp) {
        let Some(entry) = self.running().and_then(|index| self.entries.get_mut(index)) else { return };
        let conclusion = match (outcome, on_failure) {
            (StepConclusion::Failure, OnFailure::GoOn) => StepConclusion::Success,
            _ => outcome,
        };
        entry.complete(outcome, conclusion, now);
        match conclusion {
            StepConclusion::Failure => self.fail(),
            StepConclusion::Cancelled => self.status = JobStatus::Cancelled,
            StepConclusion::Success | StepConclusion::Skipped => {}
        }
    }

    /// Cancels the job, also because its time is over. `holds` evaluates the running step's condition again: where it holds no
    /// longer, the step is to be stopped, and then to [`end`](Self::end) as `cancelled`.
    pub fn cancel(&mut self, holds: impl FnOnce(&Self) -> bool) -> OnCancel {
        self.status = JobStatus::Cancelled;
        if self.running().is_none() || holds(self) { OnCancel::GoOn } else { OnCancel::Stop }
    }

    /// Fails the job beside its steps, as where its outputs can't be evaluated. A cancelled job stays cancelled.
    pub fn fail(&mut self) {
        if self.status == JobStatus::Success {
            self.status = JobStatus::Failure;
        }
    }

    /// The step that runs.
    pub fn running(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.report.status == StepStatus::InProgress)
    }

    /// Names a step as people read it.
    pub fn name(&mut self, index: usize, name: &str) {
        if let Some(entry) = self.entries.get_mut(index) {
            entry.report.name = name.chars().take(STEP_NAME_LEN_MAX).collect();
        }
    }

    /// Notes an output that a step hands to those behind it.
    pub fn output(&mut self, index: usize, name: impl Into<String>, value: impl Into<String>) {
        if let Some(entry) = self.entries.get_mut(index) {
            entry.outputs.insert(name.into(), value.into());
        }
    }

    /// How the job is doing; how it ended, once [`turn`](Self::turn) has nothing more.
    pub const fn status(&self) -> JobStatus {
        self.status
    }

    /// What a status function in a step's condition gives.
    pub fn holds(&self, function: Function) -> bool {
        match function {
            Function::Always => true,
            Function::Success => self.status == JobStatus::Success,
            Function::Failure => self.status == JobStatus::Failure,
            Function::Cancelled => self.status == JobStatus::Cancelled,
            _ => false,
        }
    }

    /// The `steps` context: the steps that are over and have an id.
    pub fn context(&self) -> Value {
        let named = self.entries.iter().filter(|entry| entry.part == Part::Main).filter_map(Entry::context);
        Value::object(named)
    }

    /// How all steps are doing.
    pub fn reports(&self) -> impl Iterator<Item = &StepReport> {
        self.entries.iter().map(|entry| &entry.report)
    }
}

impl Entry {
    fn main(step: &PlannedStep) -> Self {
        let action = step.uses.as_deref().and_then(Action::named);
        let name = step.name.clone().unwrap_or_else(|| default_name(step));
        Self {
            step: step.index,
            part: Part::Main,
            id: step.id.clone(),
            condition: step.condition.clone().unwrap_or_else(|| "success()".to_owned()),
            post_condition: action.and_then(Action::post_condition).map(str::to_owned),
            outputs: BTreeMap::new(),
            report: StepReport {
                index: step.index,
                name: name.chars().take(STEP_NAME_LEN_MAX).collect(),
                status: StepStatus::Pending,
                conclusion: None,
                outcome: None,
                started_at: None,
                completed_at: None,
                post: None,
            },
        }
    }

    /// What the step's action does once the steps are over.
    fn post(&self) -> Option<Self> {
        let report = StepReport {
            name: format!("Post {}", self.report.name).chars().take(STEP_NAME_LEN_MAX).collect(),
            status: StepStatus::Pending,
            conclusion: None,
            outcome: None,
            started_at: None,
            completed_at: None,
            post: Some(true),
            ..self.report
        };
        let condition = self.post_condition.clone()?;
        Some(Self {
            part: Part::Post,
            id: None,
            condition,
            post_condition: None,
            report,
            outputs: BTreeMap::new(),
            ..*self
        })
    }

    fn complete(&mut self, outcome: StepConclusion, conclusion: StepConclusion, now: Timestamp) {
        self.report.status = StepStatus::Completed;
        self.report.outcome = Some(outcome);
        self.report.conclusion = Some(conclusion);
        self.report.completed_at = Some(now);
    }

    fn context(&self) -> Option<(Arc<str>, Value)> {
        let (outcome, conclusion) = (self.report.outcome?, self.report.conclusion?);
        let outputs = self.outputs.iter().map(|(name, value)| (name.as_str(), Value::text(value.as_str())));
        let value = Value::object([
            ("outputs", Value::object(outputs)),
            ("outcome", Value::text(outcome.name())),
            ("conclusion", Value::text(conclusion.name())),
        ]);
        Some((self.id.as_deref()?.into(), value))
    }
}

/// The name of a step that has none, as at GitHub.
fn default_name(step: &PlannedStep) -> String {
    let what = step.run.as_deref().or(step.uses.as_deref()).unwrap_or_default();
    format!("Run {}", what.trim_start().lines().next().unwrap_or_default())
}
