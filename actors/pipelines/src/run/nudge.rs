//! What runs are told of from outside of their turns.

use std::time::{Duration, Instant};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Origin,
    id::RunId,
    pipelines::{
        concurrency::GroupEffect,
        run::{Gate, RunEvent},
    },
};
use kernel::{Command, Registry};
use serde::{Deserialize, Serialize};
use store::{Change, Permits, pipelines::GroupMember};

use super::Run;

/// What runs are told of other runs in their groups.
pub const PIPELINE_EVENTS: Topic = Topic {
    permits: Permits::with_spare(4, 12),
    goes_on_because: Some("A run waits for this."),
    ..Topic::new("pipelines.event")
};
/// How long a run may take to take something in.
const TURN_MAX: Duration = Duration::from_mins(1);

/// What a run is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nudge {
    /// Its group lets it begin.
    Begin,
    /// Somebody, or another run of its group, cancels it.
    Cancel,
    /// Something happened to one of its jobs.
    Event(RunEvent),
    /// An environment was deleted for which jobs may wait.
    EnvironmentDeleted {
        /// Its name, in small letters.
        environment: String,
    },
}

impl Nudge {
    /// What an effect of a group says to which member.
    pub(super) fn of_group(effect: GroupEffect<GroupMember>) -> (GroupMember, Self) {
        match effect {
            GroupEffect::Go(member) => match member.job {
                Some(job) => (member, Self::Event(RunEvent::Passed { job, gate: Gate::Group })),
                None => (member, Self::Begin),
            },
            GroupEffect::Displace(member) => match member.job {
                Some(job) => (member, Self::Event(RunEvent::Displaced { job })),
                None => (member, Self::Cancel),
            },
            GroupEffect::Refuse(member) => match member.job {
                Some(job) => (member, Self::Event(RunEvent::Refused { job, gate: Gate::Group })),
                None => (member, Self::Cancel),
            },
        }
    }
}

/// What a run is told, as an entry of the work queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunNudge {
    pub run_id: RunId,
    pub nudge: Nudge,
}

/// Tells a run something.
#[derive(Clone, Debug)]
pub struct NudgeRun(pub Nudge);

impl Command for NudgeRun {
    type Reply = ();

    const NAME: &'static str = "nudge_run";
}

/// Tells runs what other runs leave for them.
#[derive(Clone)]
pub struct RunNudges(pub Registry<Run>);

impl Handler for RunNudges {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let RunNudge { run_id, nudge } = job.payload()?;
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        self.0.ask(&run_id, NudgeRun(nudge), context).await?;
        Ok(Change::new())
    }
}
