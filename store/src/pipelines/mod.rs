//! Pipelines: what is known of workflows, their runs and jobs, and the runners of organizations (contract C 2.1, 4.1, 4.2).
//!
//! A run has a row that lists are made of, and one more of what its owner decides on. A job has a row for each attempt of the run
//! in which it ran; what its runner said of it stands beside it.

mod approvals;
mod artifacts;
mod caches;
mod checkout;
mod environments;
mod failing;
mod file_address;
mod file_removal;
mod groups;
mod jobs;
mod logs;
mod queue;
mod registrations;
mod reports;
mod run_row;
mod runners;
mod runs;
mod schedules;
mod secrets;
mod triggers;
mod workflows;

use domain::git::ObjectId;
use serde::de::DeserializeOwned;

pub use self::{
    approvals::StoredApproval,
    artifacts::StoredArtifact,
    caches::{CacheList, CacheUsage, StoredCache},
    environments::StoredEnvironment,
    failing::{FileOnBranch, failing_branches_over},
    file_address::{JobFile, JobFileAct, JobFileAddress, JobFileQuery, NotAJobFile},
    groups::{GroupMember, StoredGroup},
    jobs::{JobStage, QueuedLabels, StoredJob},
    logs::{LogChunk, SealedChunk, SealedLog, StoredLog, log_chunks_sealed},
    queue::{PlaceInQueue, RunnerCounts},
    registrations::{RunnerRegistration, registrations_over},
    reports::JobReport,
    runners::StoredRunner,
    runs::{EndedAttempt, RunActor, RunList, RunPlan, RunProblem, StoredRun},
    schedules::StoredSchedule,
    secrets::{GivenToJob, StoredValue, ValueGiven, ValueLimit, ValueScope, job_secrets_over},
    triggers::{PIPELINE_TRIGGERS, PipelineTrigger, Triggered},
    workflows::WorkflowState,
};
use crate::StoreError;

/// The value of a column that holds one of a few names.
fn named<T: DeserializeOwned>(column: &'static str, name: &str) -> Result<T, StoreError> {
    let value = serde_json::Value::String(name.to_owned());
    serde_json::from_value(value).map_err(|_| StoreError::corrupt(column))
}

fn commit_of(bytes: Vec<u8>) -> Result<ObjectId, StoreError> {
    bytes.try_into().map(ObjectId::of_bytes).map_err(|_| StoreError::corrupt("runs.sha"))
}
