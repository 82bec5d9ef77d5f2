//! The plan of a run, as far as its text says.

use std::{collections::HashMap, sync::Arc};

use super::{
    contexts::{Health, JobSurroundings, RunContexts},
    expand::GROUP_LEN_MAX,
    settings::{self, GroupWish},
    state::{JobPlace, NodeState, RunState},
};
use crate::pipelines::{
    expressions::{Surroundings, Usage, Value},
    workflow::{Job, Workflow},
};

/// Characters of a run's title, at most; a longer one is cut.
pub const TITLE_LEN_MAX: usize = 1_000;

/// The plan of a run. The same text and contexts always make the same plan.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) workflow: Workflow,
    pub(super) contexts: RunContexts,
    /// For each job of the file, the places of those that it needs.
    pub(super) needs: Vec<Vec<usize>>,
    /// For each job of the file, the places of those that need it.
    pub(super) dependents: Vec<Vec<usize>>,
}

impl Plan {
    /// The plan of a workflow's run with these contexts, the event's among them.
    pub fn of(workflow: Workflow, contexts: RunContexts) -> Self {
        let places: HashMap<&str, usize> =
            workflow.jobs.iter().enumerate().map(|(at, job)| (job.key.as_str(), at)).collect();
        let needs: Vec<Vec<usize>> = workflow.jobs.iter().map(|job| needed(job, &places)).collect();
        let mut dependents = vec![Vec::new(); needs.len()];
        for (at, needed) in needs.iter().enumerate() {
            for place in needed {
                dependents[*place].push(at);
            }
        }
        Self { workflow, contexts, needs, dependents }
    }

    /// The workflow.
    pub const fn workflow(&self) -> &Workflow {
        &self.workflow
    }

    /// The contexts that stay the same throughout the run.
    pub const fn contexts(&self) -> &RunContexts {
        &self.contexts
    }

    /// How many jobs the file has.
    pub(super) fn nodes(&self) -> usize {
        self.workflow.jobs.len()
    }

    /// The title that the workflow gives its runs; none where it gives none, or what it says comes to nothing.
    pub fn title(&self) -> Option<String> {
        let surroundings = self.surroundings_of_run();
        let title = self.workflow.run_name.as_ref()?.evaluate(&surroundings).ok()?.to_text().replace('\0', "");
        Some(title.trim().chars().take(TITLE_LEN_MAX).collect::<String>()).filter(|title| !title.is_empty())
    }

    /// The concurrency group that the run wants to be in; why there is none, where what the file says can't be evaluated.
    pub fn concurrency(&self) -> Result<Option<GroupWish>, String> {
        let Some(wanted) = &self.workflow.concurrency else { return Ok(None) };
        settings::group(wanted, GROUP_LEN_MAX, &self.surroundings_of_run()).map_err(|fault| fault.to_string())
    }

    /// What the texts of a job name that travel to its runner.
    pub fn usage(&self, node: usize) -> Option<Usage> {
        self.workflow.jobs.get(node).map(|job| self.workflow.usage(job))
    }

    fn surroundings_of_run(&self) -> JobSurroundings<'_> {
        JobSurroundings {
            contexts: &self.contexts,
            needs: Value::Null,
            strategy: Value::Null,
            matrix: Value::Null,
            health: Health::default(),
        }
    }

    /// What a job's expressions look at before its matrix is known.
    pub(super) fn surroundings(&self, state: &RunState, node: usize) -> JobSurroundings<'_> {
        let needed = || self.needs[node].iter().filter_map(|place| Some((*place, state.nodes.get(*place)?)));
        let settled = || needed().filter_map(|(_, of)| of.settled);
        let key = |place: usize| Arc::<str>::from(self.workflow.jobs[place].key.as_str());
        JobSurroundings {
            contexts: &self.contexts,
            needs: Value::object(needed().map(|(place, of)| (key(place), need(of)))),
            strategy: Value::Null,
            matrix: Value::Null,
            health: Health {
                is_cancelled: state.is_cancelled,
                all_succeeded: settled().all(|it| it.all_succeeded),
                has_failed: settled().any(|it| it.has_failed),
                needs: needed().filter_map(|(place, of)| Some((key(place), of.settled?.result))).collect(),
            },
        }
    }

    /// What a job's expressions look at once its matrix is known; none where there is no such job.
    pub(in crate::pipelines) fn surroundings_of_job(
        &self,
        state: &RunState,
        place: JobPlace,
    ) -> Option<impl Surroundings + '_> {
        let of = state.nodes.get(place.node)?;
        let job = of.jobs.get(place.index)?;
        let mut surroundings = self.surroundings(state, place.node);
        surroundings.strategy = strategy(of, place.index, of.jobs.len());
        if let Some(row) = &job.matrix {
            surroundings.matrix = Value::read_json(row).ok()?;
        }
        Some(surroundings)
    }
}

/// The places of the jobs that a job needs, each once.
fn needed(job: &Job, places: &HashMap<&str, usize>) -> Vec<usize> {
    let mut needed: Vec<usize> = job.needs.iter().filter_map(|key| places.get(key.as_str()).copied()).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// What a job is told of one that it needs. Of outputs that several jobs of a matrix set, the last job's in the matrix's order
/// holds; an empty one doesn't take another's place.
fn need(of: &NodeState) -> Value {
    let mut outputs: Vec<(&str, &str)> = Vec::new();
    for (name, value) in of.jobs.iter().flat_map(|job| &job.outputs) {
        match outputs.iter_mut().find(|(known, _)| known == name) {
            Some((_, there)) if !value.is_empty() => *there = value,
            Some(_) => {}
            None => outputs.push((name, value)),
        }
    }
    let outputs = Value::object(outputs.into_iter().map(|(name, value)| (name, Value::text(value))));
    let result = of.settled.map_or(Value::Null, |settled| Value::text(settled.result.name()));
    Value::object([("result", result), ("outputs", outputs)])
}

/// The `strategy` of a job.
pub(super) fn strategy(of: &NodeState, index: usize, total: usize) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "a matrix has few jobs")]
    let number = |count: usize| Value::Number(count as f64);
    Value::object([
        ("fail-fast", Value::Boolean(of.fail_fast)),
        ("job-index", number(index)),
        ("job-total", number(total)),
        ("max-parallel", number(of.max_parallel.unwrap_or(total))),
    ])
}
