//! Runs, from what happens to what follows. Whole workflows and what they come to stand in `cases`.

mod cases;
mod follows;
mod random;
mod runner;

use std::collections::BTreeMap;

use super::*;
use crate::pipelines::{
    expressions::Value,
    workflow::{Workflow, WorkflowFile},
};

/// A workflow that has to be right.
fn read(text: &str) -> Workflow {
    let file = WorkflowFile::read(text);
    file.workflow.unwrap_or_else(|| panic!("{text}\n{:?}", file.problems))
}

/// The contexts of a push to `main`.
fn contexts() -> RunContexts {
    let github = r#"{"event_name": "push", "ref": "refs/heads/main", "ref_name": "main", "actor": "ada"}"#;
    RunContexts {
        github: Value::read_json(github).unwrap(),
        inputs: Value::Null,
        vars: Value::read_json("{}").unwrap(),
    }
}

/// A run of these jobs.
struct Run {
    plan: Plan,
    state: RunState,
}

impl Run {
    fn of(jobs: &str) -> Self {
        let plan = Plan::of(read(&format!("on: push\njobs:\n{jobs}\n")), contexts());
        let state = RunState::new(&plan);
        Self { plan, state }
    }

    /// A run of these jobs that has begun.
    fn begun(jobs: &str) -> (Self, Vec<Effect>) {
        let mut run = Self::of(jobs);
        let effects = run.decide(RunEvent::Begun);
        (run, effects)
    }

    fn decide(&mut self, event: RunEvent) -> Vec<Effect> {
        self.state.decide(&self.plan, event)
    }

    fn start(&mut self, node: usize, index: usize) -> Vec<Effect> {
        self.decide(RunEvent::Started { job: JobPlace { node, index } })
    }

    fn complete(&mut self, node: usize, index: usize, conclusion: JobConclusion) -> Vec<Effect> {
        self.start(node, index);
        self.decide(RunEvent::Completed { job: JobPlace { node, index }, conclusion, outputs: BTreeMap::new() })
    }

    fn names(&self) -> Vec<&str> {
        self.state.jobs().map(|(_, job)| job.name.as_str()).collect()
    }

    fn fault(&self) -> String {
        self.state.jobs().find_map(|(_, job)| job.fault.clone()).unwrap_or_default()
    }
}
