//! The contexts and status functions that the expressions of a run and its jobs look at.

use std::sync::Arc;

use super::conclusion::JobResult;
use crate::pipelines::expressions::{ContextName, Function, Surroundings, Value};

/// The contexts that stay the same throughout a run.
#[derive(Clone, Debug)]
pub struct RunContexts {
    /// The event, the ref, the actor.
    pub github: Value,
    /// The inputs that the run was dispatched with.
    pub inputs: Value,
    /// Variables of the repository and the organization.
    pub vars: Value,
}

/// The facts on which `success()` and its like decide.
#[derive(Clone, Debug, Default)]
pub(super) struct Health {
    /// Whether somebody cancelled the run.
    pub is_cancelled: bool,
    /// Whether all ancestors succeeded.
    pub all_succeeded: bool,
    /// Whether an ancestor failed.
    pub has_failed: bool,
    /// The jobs that are needed, and how they ended.
    pub needs: Vec<(Arc<str>, JobResult)>,
}

impl Health {
    fn holds(&self, function: Function, of: &[Arc<str>]) -> bool {
        let is = |job: &Arc<str>, wanted: JobResult| {
            self.needs.iter().any(|(key, result)| key.eq_ignore_ascii_case(job) && *result == wanted)
        };
        match function {
            Function::Always => true,
            Function::Cancelled => self.is_cancelled,
            _ if self.is_cancelled => false,
            Function::Success if of.is_empty() => self.all_succeeded,
            Function::Success => of.iter().all(|job| is(job, JobResult::Success)),
            Function::Failure if of.is_empty() => self.has_failed,
            Function::Failure => of.iter().any(|job| is(job, JobResult::Failure)),
            _ => false,
        }
    }
}

/// What one job's expressions look at, as far as the server evaluates them.
pub(super) struct JobSurroundings<'a> {
    pub contexts: &'a RunContexts,
    pub needs: Value,
    pub strategy: Value,
    pub matrix: Value,
    pub health: Health,
}

impl Surroundings for JobSurroundings<'_> {
    fn context(&self, name: ContextName) -> Value {
        match name {
            ContextName::Github => self.contexts.github.clone(),
            ContextName::Inputs => self.contexts.inputs.clone(),
            ContextName::Vars => self.contexts.vars.clone(),
            ContextName::Needs => self.needs.clone(),
            ContextName::Strategy => self.strategy.clone(),
            ContextName::Matrix => self.matrix.clone(),
            _ => Value::Null,
        }
    }

    fn status(&self, function: Function, of: &[Arc<str>]) -> bool {
        self.health.holds(function, of)
    }

    fn hash_files(&self, _: &[Arc<str>]) -> Result<String, String> {
        Err("there are files on a runner only".to_owned())
    }
}
