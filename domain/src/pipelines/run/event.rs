//! The events of a run, and their effects.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    conclusion::{JobConclusion, RunConclusion},
    state::JobPlace,
};

/// A reason to hold a job back that could run otherwise; a job comes to them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// As many jobs of the matrix run as may at the same time.
    Slot,
    /// The concurrency group is taken.
    Group,
    /// The environment's reviewers haven't agreed, or its timer runs.
    Environment,
}

/// Whether a lost job had begun a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Begun {
    /// No step had begun.
    Nothing,
    /// A step had begun.
    Step,
}

/// An event in a run's life. One that comes too late, or twice, changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunEvent {
    /// The run, or another attempt of it, begins.
    Begun,
    /// A gate lets a job through.
    Passed {
        /// The job.
        job: JobPlace,
        /// What held the job.
        gate: Gate,
    },
    /// A gate never lets the job through: a newer one took its place in the group, or a reviewer said no.
    Refused {
        /// The job.
        job: JobPlace,
        /// What held the job.
        gate: Gate,
    },
    /// A runner asked for the job's plan.
    Started {
        /// The job.
        job: JobPlace,
    },
    /// A runner says that the job is over.
    Completed {
        /// The job.
        job: JobPlace,
        /// How it ended.
        conclusion: JobConclusion,
        /// What the job hands to jobs that need it.
        outputs: BTreeMap<String, String>,
    },
    /// The job took longer than it may, and the runner didn't say so.
    TimedOut {
        /// The job.
        job: JobPlace,
    },
    /// No runner took the job for as long as it may wait.
    Unclaimed {
        /// The job.
        job: JobPlace,
    },
    /// The job's runner stopped answering.
    Lost {
        /// The job.
        job: JobPlace,
        /// How far it had come.
        begun: Begun,
    },
    /// The job has to make way for another one of its group.
    Displaced {
        /// The job.
        job: JobPlace,
    },
    /// The run was cancelled. Jobs whose condition still holds go on.
    Cancelled,
    /// The run was cancelled by force: no job goes on, whatever its condition says.
    ForceCancelled,
}

/// An act that the run's owner has to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// The job asks to pass its group, or its environment; `Passed` or `Refused` answers.
    Ask {
        /// The job.
        job: JobPlace,
        /// What holds the job.
        gate: Gate,
    },
    /// Runners may take the job.
    Queue {
        /// The job.
        job: JobPlace,
    },
    /// The job's runner has to stop it.
    Cancel {
        /// The job.
        job: JobPlace,
    },
    /// The job is over: it leaves its group, its environment and the queue.
    Complete {
        /// The job.
        job: JobPlace,
        /// How it ended.
        conclusion: JobConclusion,
    },
    /// The run is over.
    End {
        /// How it ended.
        conclusion: RunConclusion,
    },
}
