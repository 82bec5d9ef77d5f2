//! Why something isn't done to a workflow, a run, a job or a runner.

use super::run::JobConclusion;
use crate::Error;

/// The message of the 401 for a token that no job has.
pub const JOB_UNKNOWN: &str = "No job goes by this token.";
/// The message of the 409 for a job that is over.
pub const JOB_OVER: &str = "This job is over.";
/// The message of the 401 for a secret that no runner has.
pub const RUNNER_UNKNOWN: &str = "No runner goes by this token.";
/// The message of the 401 for a token that registers no runner.
pub const REGISTRATION_UNKNOWN: &str = "This token registers no runner.";
/// The message of the 404 for a workflow file that isn't there (contract C 4.2).
pub const WORKFLOW_NOT_FOUND: &str = "Workflow not found";
/// The message of the 404 for a run that isn't there.
pub const RUN_NOT_FOUND: &str = "Run not found";
/// The message of the 404 for a job that isn't there.
pub const JOB_NOT_FOUND: &str = "Job not found";
/// The message of the 404 for a runner that isn't there.
pub const RUNNER_NOT_FOUND: &str = "Runner not found";

/// 401: the token is missing, or no job has it.
pub const fn job_unknown() -> Error {
    Error::SignInFailed { code: "job_unknown", message: std::borrow::Cow::Borrowed(JOB_UNKNOWN) }
}

/// 409: the job is over.
pub fn job_over(conclusion: JobConclusion) -> Error {
    Error::conflict("job_over", JOB_OVER).adding("conclusion", conclusion.name())
}

/// 401: the secret is missing, or no runner has it.
pub const fn runner_unknown() -> Error {
    Error::SignInFailed { code: "runner_unknown", message: std::borrow::Cow::Borrowed(RUNNER_UNKNOWN) }
}

/// 401: the token was used, is over, or never was one.
pub const fn registration_unknown() -> Error {
    Error::SignInFailed { code: "registration_unknown", message: std::borrow::Cow::Borrowed(REGISTRATION_UNKNOWN) }
}

/// 404: the repository has no such workflow file.
pub fn workflow_not_found() -> Error {
    Error::not_found(WORKFLOW_NOT_FOUND)
}

/// 404: the repository has no such run.
pub fn run_not_found() -> Error {
    Error::not_found(RUN_NOT_FOUND)
}

/// 404: the run has no such job.
pub fn job_not_found() -> Error {
    Error::not_found(JOB_NOT_FOUND)
}

/// 404: the organization has no such runner.
pub fn runner_not_found() -> Error {
    Error::not_found(RUNNER_NOT_FOUND)
}

/// 400: the workflow can't be started by hand.
pub fn no_dispatch() -> Error {
    Error::bad_request("no_dispatch", "This workflow has no workflow_dispatch trigger.")
}

/// 409: nothing starts a disabled workflow.
pub fn workflow_disabled() -> Error {
    Error::conflict("workflow_disabled", "This workflow is disabled.")
}

/// 409: the run is over, or is being cancelled.
pub fn run_completed() -> Error {
    Error::conflict("run_completed", "This run is over.")
}

/// 409: only what is over is deleted or run again.
pub fn run_not_completed() -> Error {
    Error::conflict("run_not_completed", "This run isn't over.")
}
