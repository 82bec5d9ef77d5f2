//! Pipelines (contract C 2.1): workflow files and what they mean, what starts them, and how their runs go.

pub mod artifacts;
pub mod caches;
pub mod checkout;
pub mod concurrency;
pub mod environments;
pub mod expressions;
pub mod job;
pub mod logs;
pub mod queue;
mod refusal;
pub mod run;
pub mod runner;
pub mod trigger;
pub mod values;
pub mod workflow;

pub use self::refusal::{
    JOB_NOT_FOUND, JOB_OVER, JOB_UNKNOWN, REGISTRATION_UNKNOWN, RUN_NOT_FOUND, RUNNER_NOT_FOUND, RUNNER_UNKNOWN,
    WORKFLOW_NOT_FOUND, job_not_found, job_over, job_unknown, no_dispatch, registration_unknown, run_completed,
    run_not_completed, run_not_found, runner_not_found, runner_unknown, workflow_disabled, workflow_not_found,
};
