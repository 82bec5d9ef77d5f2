//! Concurrency groups of the jobs of one run.

use std::collections::BTreeMap;

use domain::pipelines::{
    concurrency::{Group, GroupEffect},
    run::{Gate, GroupWish, JobPlace, RunEvent},
};

/// The groups in which a run's jobs are.
#[derive(Default)]
pub struct Groups(BTreeMap<String, Group<JobPlace>>);

impl Groups {
    /// A job wants to be in a group.
    pub fn enter(&mut self, job: JobPlace, wish: &GroupWish) -> Vec<RunEvent> {
        events(self.0.entry(wish.group.clone()).or_default().enter(job, wish))
    }

    /// A job is over.
    pub fn leave(&mut self, job: JobPlace, group: &str) -> Vec<RunEvent> {
        self.0.get_mut(group).map(|group| events(group.leave(&job))).unwrap_or_default()
    }
}

fn events(effects: Vec<GroupEffect<JobPlace>>) -> Vec<RunEvent> {
    let event = |effect| match effect {
        GroupEffect::Go(job) => RunEvent::Passed { job, gate: Gate::Group },
        GroupEffect::Displace(job) => RunEvent::Displaced { job },
        GroupEffect::Refuse(job) => RunEvent::Refused { job, gate: Gate::Group },
    };
    effects.into_iter().map(event).collect()
}
