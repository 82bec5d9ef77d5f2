//! How jobs and runs end.

use serde::{Deserialize, Serialize};

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobConclusion {
    /// All steps did what they should.
    Success,
    /// A step failed, or the job couldn't be run.
    Failure,
    /// The job was cancelled.
    Cancelled,
    /// The job's condition didn't hold.
    Skipped,
    /// The job took longer than it may.
    TimedOut,
}

impl JobConclusion {
    /// The name in answers and in `needs`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::TimedOut => "timed_out",
        }
    }
}

/// How a job ended, as jobs that need it are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobResult {
    /// The job succeeded, or was allowed to fail.
    Success,
    /// The job failed.
    Failure,
    /// The job was cancelled, or took too long.
    Cancelled,
    /// The job didn't run.
    Skipped,
}

impl JobResult {
    /// The name as expressions compare it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }

    /// What several jobs of one key come to: a failure, else a cancelled job, decides.
    pub(super) fn of_all(results: impl IntoIterator<Item = Self>) -> Self {
        let rank = |result: &Self| match result {
            Self::Failure => 3,
            Self::Cancelled => 2,
            Self::Success => 1,
            Self::Skipped => 0,
        };
        results.into_iter().max_by_key(rank).unwrap_or(Self::Skipped)
    }
}

/// How a run is doing (contract C 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// No job has started.
    Queued,
    /// A job has started.
    InProgress,
    /// Nothing runs, and an approval, a timer or a concurrency group holds what is left.
    Waiting,
    /// Nothing can go on.
    Completed,
}

impl RunStatus {
    /// All of them, as a run goes.
    pub const ALL: [Self; 4] = [Self::Queued, Self::InProgress, Self::Waiting, Self::Completed];

    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
        }
    }
}

/// How a run ended (contract C 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunConclusion {
    /// Nothing failed.
    Success,
    /// A job failed that may not.
    Failure,
    /// No job ran.
    Skipped,
    /// The run was cancelled, or a job of it.
    Cancelled,
    /// A job took too long.
    TimedOut,
    /// The workflow's file means nothing.
    StartupFailure,
}

impl RunConclusion {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Success, Self::Failure, Self::Skipped, Self::Cancelled, Self::TimedOut, Self::StartupFailure];

    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::StartupFailure => "startup_failure",
        }
    }

    /// What the jobs of a run come to, each with what it counts as: failure before timed out before cancelled before success.
    pub(super) fn of_all(conclusions: impl IntoIterator<Item = JobConclusion>) -> Self {
        let rank = |conclusion: &JobConclusion| match conclusion {
            JobConclusion::Failure => 4,
            JobConclusion::TimedOut => 3,
            JobConclusion::Cancelled => 2,
            JobConclusion::Success => 1,
            JobConclusion::Skipped => 0,
        };
        match conclusions.into_iter().max_by_key(rank).unwrap_or(JobConclusion::Skipped) {
            JobConclusion::Failure => Self::Failure,
            JobConclusion::TimedOut => Self::TimedOut,
            JobConclusion::Cancelled => Self::Cancelled,
            JobConclusion::Success => Self::Success,
            JobConclusion::Skipped => Self::Skipped,
        }
    }
}
