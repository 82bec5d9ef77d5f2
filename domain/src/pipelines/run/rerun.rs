//! Re-runs: what the next attempt keeps of the one before.

use super::{
    conclusion::JobConclusion,
    event::Gate,
    plan::Plan,
    state::{JobPlace, NodeState, Phase, RunState},
};

/// Which jobs run again. Jobs that need them, near or far, do too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rerun {
    /// All jobs.
    All,
    /// The jobs that failed, were cancelled or took too long.
    Failed,
    /// The jobs at these places.
    Jobs(Vec<JobPlace>),
}

impl Rerun {
    fn wants(&self, place: JobPlace, conclusion: Option<JobConclusion>) -> bool {
        match self {
            Self::All => true,
            Self::Failed => {
                matches!(conclusion, Some(JobConclusion::Failure | JobConclusion::Cancelled | JobConclusion::TimedOut))
            }
            Self::Jobs(places) => places.contains(&place),
        }
    }
}

impl RunState {
    /// The next attempt, before it begins: jobs that don't run again keep how they ended and what they handed on. None where
    /// nothing would run, or the run isn't over.
    pub fn again(&self, plan: &Plan, rerun: &Rerun) -> Option<Self> {
        if self.conclusion.is_none() || self.nodes.len() != plan.nodes() {
            return None;
        }
        let mut next = Self { nodes: self.nodes.clone(), ..Self::new(plan) };
        let mut open = Vec::new();
        for (node, of) in next.nodes.iter_mut().enumerate() {
            if of.reset(node, rerun) {
                open.push(node);
            }
        }
        if open.is_empty() {
            return None;
        }
        let mut is_reset = vec![false; next.nodes.len()];
        while let Some(node) = open.pop() {
            for dependent in &plan.dependents[node] {
                if !std::mem::replace(&mut is_reset[*dependent], true) {
                    next.nodes[*dependent] = NodeState::default();
                    open.push(*dependent);
                }
            }
        }
        Some(next)
    }
}

impl NodeState {
    /// Puts the jobs back that run again, and says whether there are any.
    fn reset(&mut self, node: usize, rerun: &Rerun) -> bool {
        let jobs = self.jobs.iter().enumerate();
        let wanted: Vec<bool> =
            jobs.map(|(index, job)| rerun.wants(JobPlace { node, index }, job.conclusion())).collect();
        if !wanted.contains(&true) {
            return false;
        }
        // A job that never came to its settings has none to start with.
        let is_unmade = self
            .jobs
            .iter()
            .zip(&wanted)
            .any(|(job, wanted)| *wanted && job.labels.is_empty() && job.runner_group.is_none());
        if is_unmade || !wanted.contains(&false) {
            *self = Self::default();
            return true;
        }
        self.settled = None;
        for (job, _) in self.jobs.iter_mut().zip(&wanted).filter(|(_, wanted)| **wanted) {
            job.phase = Phase::Held(Gate::Slot);
            job.outputs.clear();
            job.lost = 0;
            job.fault = None;
        }
        true
    }
}
