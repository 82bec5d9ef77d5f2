//! How far a run is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    conclusion::{JobConclusion, JobResult, RunConclusion, RunStatus},
    event::Gate,
    plan::Plan,
    settings::GroupWish,
};

/// Jobs of a run, at most, those of its matrices counted.
pub const RUN_JOBS_MAX: usize = 1_000;
/// Bytes of what the jobs of a run hand to others, at most: a run's state is written whole.
pub const RUN_OUTPUTS_LEN_MAX: usize = 16 * 1024 * 1024;
/// How often a job is queued again whose runner was lost before a step began.
pub const LOST_MAX: u8 = 3;

/// Which job of a run: its key's place in the file, and its place in the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobPlace {
    /// The place of the job's key in the file, from 0.
    pub node: usize,
    /// The place in the matrix, from 0.
    pub index: usize,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Whether the run began: what waits for a concurrency group hasn't.
    pub has_begun: bool,
    /// Whether somebody cancelled the run.
    pub is_cancelled: bool,
    /// Whether a runner has started a job.
    pub has_started: bool,
    /// How the run ended, once it has.
    pub conclusion: Option<RunConclusion>,
    /// The jobs of each key, in the order of the file.
    pub(super) nodes: Vec<NodeState>,
}

/// The jobs of a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct NodeState {
    /// The jobs; none before what they need is over.
    pub jobs: Vec<JobState>,
    /// Whether the others are cancelled when one fails.
    pub fail_fast: bool,
    /// How many jobs run at the same time; all where nothing is said.
    pub max_parallel: Option<usize>,
    /// What the jobs came to, once all are over.
    pub settled: Option<Settled>,
}

/// What the jobs of a key came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settled {
    pub result: JobResult,
    /// Whether the key's jobs and all that they need, near and far, succeeded.
    pub all_succeeded: bool,
    /// Whether a job of the key or something that it needs, near or far, failed.
    pub has_failed: bool,
}

/// A job of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobState {
    /// The job's name, which people read.
    pub name: String,
    /// Where the job is in its life.
    pub phase: Phase,
    /// The job's place in its matrix, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<String>,
    /// Labels that a runner has to have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The group of runners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_group: Option<String>,
    /// Where the job deploys to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Which jobs exclude this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<GroupWish>,
    /// Minutes that the job may take.
    pub timeout_minutes: u32,
    /// Whether the run goes on when the job fails.
    #[serde(default)]
    pub continues_on_error: bool,
    /// What the job hands to those that need it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
    /// How often a runner was lost before a step began.
    #[serde(default)]
    pub lost: u8,
    /// Why the job couldn't be run, where it couldn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The job is held back.
    Held(Gate),
    /// Runners may take the job.
    Queued,
    /// A runner has the job.
    Running,
    /// A runner has the job, and is told to stop it.
    Cancelling,
    /// The job is over.
    Completed(JobConclusion),
}

impl JobState {
    /// How the job ended, once it has.
    pub const fn conclusion(&self) -> Option<JobConclusion> {
        match self.phase {
            Phase::Completed(conclusion) => Some(conclusion),
            _ => None,
        }
    }

    /// Whether a runner has the job.
    pub const fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::Cancelling)
    }

    /// Whether nothing but where the job is differs from before, and its row says that. What holds a job back no row says.
    fn has_just_moved(&self, before: &Self) -> bool {
        let Self {
            name,
            phase,
            matrix,
            labels,
            runner_group,
            environment,
            concurrency,
            timeout_minutes,
            continues_on_error,
            outputs,
            lost,
            fault,
        } = self;
        (*phase == before.phase || !matches!(phase, Phase::Held(_)))
            && (name, matrix, labels) == (&before.name, &before.matrix, &before.labels)
            && (runner_group, environment) == (&before.runner_group, &before.environment)
            && (concurrency, timeout_minutes) == (&before.concurrency, &before.timeout_minutes)
            && (continues_on_error, outputs) == (&before.continues_on_error, &before.outputs)
            && (lost, fault) == (&before.lost, &before.fault)
    }

    /// Bytes of what the job hands to others.
    fn outputs_len(&self) -> usize {
        outputs_len(&self.outputs)
    }

    /// How the job counts for its run: a failure that `continue-on-error` forgives is a success.
    pub(super) fn counted(&self) -> Option<JobConclusion> {
        match self.conclusion()? {
            JobConclusion::Failure if self.continues_on_error => Some(JobConclusion::Success),
            conclusion => Some(conclusion),
        }
    }

    /// What jobs that need this one are told.
    pub(super) fn result(&self) -> Option<JobResult> {
        Some(match self.counted()? {
            JobConclusion::Success => JobResult::Success,
            JobConclusion::Failure => JobResult::Failure,
            JobConclusion::Cancelled | JobConclusion::TimedOut => JobResult::Cancelled,
            JobConclusion::Skipped => JobResult::Skipped,
        })
    }
}

/// Bytes of outputs.
pub(super) fn outputs_len(outputs: &BTreeMap<String, String>) -> usize {
    outputs.iter().map(|(name, value)| name.len() + value.len()).sum()
}

impl NodeState {
    fn has_just_moved(&self, before: &Self) -> bool {
        let Self { jobs, fail_fast, max_parallel, settled } = self;
        (fail_fast, max_parallel, settled) == (&before.fail_fast, &before.max_parallel, &before.settled)
            && jobs.len() == before.jobs.len()
            && jobs.iter().zip(&before.jobs).all(|(job, before)| job.has_just_moved(before))
    }
}

impl RunState {
    /// Whether nothing but where jobs are differs from before, and their rows say that: such a state needn't be written
    /// ([`move_jobs`](Self::move_jobs)).
    pub fn has_just_moved(&self, before: &Self) -> bool {
        let Self { has_begun, is_cancelled, has_started, conclusion, nodes } = self;
        (has_begun, is_cancelled) == (&before.has_begun, &before.is_cancelled)
            && (has_started, conclusion) == (&before.has_started, &before.conclusion)
            && nodes.len() == before.nodes.len()
            && nodes.iter().zip(&before.nodes).all(|(node, before)| node.has_just_moved(before))
    }

    /// Puts jobs where their rows say that they are.
    pub fn move_jobs(&mut self, jobs: impl IntoIterator<Item = (JobPlace, Phase)>) {
        for (place, phase) in jobs {
            if let Some(job) = self.nodes.get_mut(place.node).and_then(|node| node.jobs.get_mut(place.index)) {
                job.phase = phase;
            }
        }
    }

    /// Bytes of what the jobs hand to others.
    pub(super) fn outputs_len(&self) -> usize {
        self.jobs().map(|(_, job)| job.outputs_len()).sum()
    }

    /// A run that hasn't begun.
    pub fn new(plan: &Plan) -> Self {
        Self {
            has_begun: false,
            is_cancelled: false,
            has_started: false,
            conclusion: None,
            nodes: vec![NodeState::default(); plan.nodes()],
        }
    }

    /// A job.
    pub fn job(&self, place: JobPlace) -> Option<&JobState> {
        self.nodes.get(place.node)?.jobs.get(place.index)
    }

    /// The jobs that there are so far, in the order of the file and of their matrices.
    pub fn jobs(&self) -> impl Iterator<Item = (JobPlace, &JobState)> {
        self.nodes
            .iter()
            .enumerate()
            .flat_map(|(node, of)| of.jobs.iter().enumerate().map(move |(index, job)| (JobPlace { node, index }, job)))
    }

    /// Notes why a job can't be run, before it is refused.
    pub fn fault_put(&mut self, place: JobPlace, fault: String) {
        if let Some(job) = self.nodes.get_mut(place.node).and_then(|node| node.jobs.get_mut(place.index)) {
            job.fault = Some(fault);
        }
    }

    /// How the run is doing.
    pub fn status(&self) -> RunStatus {
        if self.conclusion.is_some() {
            return RunStatus::Completed;
        }
        let is_any = |wanted: fn(&JobState) -> bool| self.jobs().any(|(_, job)| wanted(job));
        if is_any(JobState::is_running) {
            return RunStatus::InProgress;
        }
        let is_held = is_any(|job| matches!(job.phase, Phase::Held(Gate::Group | Gate::Environment)));
        let is_queued = is_any(|job| job.phase == Phase::Queued);
        match (is_held && !is_queued, self.has_started) {
            (true, _) => RunStatus::Waiting,
            (false, true) => RunStatus::InProgress,
            (false, false) => RunStatus::Queued,
        }
    }
}
