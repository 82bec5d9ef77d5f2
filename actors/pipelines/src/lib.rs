//! Pipelines: who owns what (contract C 2.1, 4.1, 4.2).
//!
//! [`Workflows`] decides what events start in a repository, [`Run`] how a run goes on, [`RunnerPool`] which runner of an organization
//! is given which job. Pushes and pull requests leave entries of the work queue, which [`Triggers`] takes up: it reads the
//! workflow files of the commit, outside of any turn, and asks [`Workflows`]. What runs of one concurrency group do to each other
//! goes over the queue, too.

mod access;
mod environments;
mod events;
mod happening;
mod live;
mod masks;
mod pool;
mod retention;
mod run;
mod schedules;
mod secrets;
mod services;
mod sources;
mod status;
mod triggers;
mod waiting;
mod workflows;

pub mod files;
pub mod logs;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};
use store::pipelines::{ValueScope, failing_branches_over, job_secrets_over, registrations_over};

pub use self::{
    environments::{DeleteEnvironment, SetEnvironment},
    happening::{PullHappened, PushHappened},
    live::{PipelineChange, pipelines_channel},
    masks::JobMasks,
    pool::{
        ChangeRunner, DeleteRunner, MadeRegistration, MakeRegistration, RegisterRunner, RegisteredRunner, RunnerPool,
        TakeJob, TakenJob,
    },
    run::{
        CancelRun, CompleteJob, DeleteRun, How, JobEnd, LEASE, Lease, Nudge, NudgeRun, PIPELINE_EVENTS, QUEUED_MAX,
        ReportStatus, RerunJobs, RerunLogs, RerunRun, ReviewRun, Run, RunNudges, Speaker, StartJob, StartedJob,
        TIMEOUT_GRACE, group_of_run,
    },
    secrets::{DeleteValue, ForRepositories, PipelineValues, SetValue},
    services::{LostRunners, PipelineServices},
    sources::{COMMITS_MAX, PATHS_MAX, Sources, TestMerging},
    triggers::{PIPELINE_TRIGGERS, Triggers},
    waiting::{Sign, Waiter, WaitingRunners},
    workflows::{
        Dispatch, Enabled, FoundFile, Happened, PullEnds, SetWorkflow, StartRuns, WhatHappened, Workflows, problems_of,
    },
};

/// What goes over all areas knows of pipelines.
pub const AREA: Area = Area {
    lanes,
    purges: |now| vec![registrations_over(now), job_secrets_over(now), failing_branches_over(now)],
    jobs: &[PIPELINE_TRIGGERS, PIPELINE_EVENTS, logs::LOG_SEALING],
    deletes_organization: |change, org_id, _now| {
        change.runners_end(org_id);
        change.pipeline_values_end(&ValueScope::Organization(org_id));
    },
    ..Area::named("pipelines")
};

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), logs::LOG_SEALING, logs::LogSealing)]
}
