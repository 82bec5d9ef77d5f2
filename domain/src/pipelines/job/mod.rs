//! One job: what its runner is told, and what its steps come to.
//!
//! The server evaluates what decides on jobs; all else travels as text in a [`JobPlan`] (contract C 2.1), and the runner evaluates
//! it with the same code. [`StepsState`] is the runner's: which step comes next, whether it runs, and how step and job ended.

mod command;
mod file_command;
mod limits;
mod plan;
mod report;
mod steps;

pub use self::{
    command::{CommandName, WorkflowCommand, resumes},
    file_command::{FileFault, read_values},
    limits::{ARTIFACT_LEN_MAX, CACHE_LEN_MAX, JobLimits, LOG_LEN_MAX, SUMMARY_LEN_MAX, sized},
    plan::{ContinueOnError, JobDescription, JobPlan, PROTOCOL, PlannedDefaults, PlannedStep, TimeoutMinutes, Told},
    report::{
        ANNOTATION_FILE_LEN_MAX, ANNOTATION_MESSAGE_LEN_MAX, ANNOTATION_TITLE_LEN_MAX, ANNOTATIONS_MAX,
        ENVIRONMENT_URL_LEN_MAX, JOB_ERROR_LEN_MAX, JOB_OUTPUT_LEN_MAX, JOB_OUTPUTS_LEN_MAX, JOB_SUMMARY_LEN_MAX,
        STEP_INDEX_MAX, STEP_NAME_LEN_MAX, STEP_REPORTS_MAX, environment_address,
    },
    steps::{JobStatus, OnCancel, OnFailure, Part, StepConclusion, StepReport, StepStatus, StepTurn, StepsState},
};
