//! The runner: what does the jobs of pipelines, on a machine of one's own, for a server or without one.
//!
//! Nothing here knows the server from inside: what it shares with it is the rules in `domain`, and else it asks over HTTP as
//! anybody does. A job is planned by [`domain::pipelines::run`], done by a [`worker`] process of its own, and watched over by a
//! [`supervisor`], which hears what the job prints with a [`listener`].

mod check;
mod error;
mod exec;
mod listener;
mod server;
mod service;
mod supervisor;
mod words;
mod worker;

use std::{collections::BTreeMap, io, process::ExitCode, thread};

pub use error::RunnerError;
#[cfg(any(test, feature = "fuzzing"))]
pub use listener::fuzzing::printed;

use self::{
    error::Result,
    exec::{Exec, Shows},
    service::{Registration, Service},
};
use crate::cli::{ExecOptions, RunnerCommand, WorkflowCommand};

/// Random bytes of a marker.
const RANDOM_BYTES: usize = 16;
/// Jobs that run here at the same time where nobody says how many, at least.
const JOBS_MIN: usize = 4;
/// What stands between the words of a command before each step.
const WRAPPER_VARIABLE: &str = "TROUPE_RUNNER_WRAPPER";

/// Does what somebody asked of a runner.
///
/// # Errors
/// See [`RunnerError`].
pub fn run(command: RunnerCommand) -> Result<ExitCode> {
    match command {
        RunnerCommand::Exec(options) => threads(exec(options)?.run()),
        RunnerCommand::Register { url, token, name, labels, insecure_http, folder } => {
            let registration = Registration { url, token, name, labels, insecure_http };
            let home = service::folder(folder)?;
            threads(async move { registration.run(&home).await })
        }
        RunnerCommand::Run { jobs, ephemeral, wrapper: given, folder, minute_ms } => {
            let home = service::folder(folder)?;
            let wrapper = wrapper(given.as_deref());
            threads(Service { home, jobs, is_ephemeral: ephemeral, wrapper, minute_ms }.run())
        }
        RunnerCommand::Worker => worker::work(),
    }
}

/// Does what somebody asked of a workflow file.
///
/// # Errors
/// See [`RunnerError`].
pub fn run_workflow(command: WorkflowCommand) -> Result<ExitCode> {
    match command {
        WorkflowCommand::Check { file } => check::check(&file),
    }
}

fn threads(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

fn exec(options: ExecOptions) -> Result<Exec> {
    let secret =
        |name: &String| Ok((name.clone(), std::env::var(name).map_err(|_| RunnerError::NoSecret(name.clone()))?));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Ok(Exec {
        secrets: options.secrets.iter().map(secret).collect::<Result<_>>()?,
        file: options.file,
        job: options.job,
        jobs: options.jobs.unwrap_or_else(|| cores.max(JOBS_MIN)),
        event: options.event,
        inputs: pairs(&options.inputs)?,
        vars: pairs(&options.vars)?,
        shows: if options.json { Shows::Json } else { Shows::Text },
        minute_ms: options.minute_ms,
        wrapper: wrapper(options.wrapper.as_deref()),
        is_debug: options.debug,
    })
}

/// The words of a command that stands before each step's.
fn wrapper(given: Option<&str>) -> Vec<String> {
    let variable = std::env::var(WRAPPER_VARIABLE).ok();
    let text = given.map(str::to_owned).or(variable).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

fn pairs(given: &[String]) -> Result<BTreeMap<String, String>> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| RunnerError::NoPair(text.clone()))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    given.iter().map(pair).collect()
}

/// Hexadecimal digits that nobody guesses.
fn random() -> Result<String> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(worker::hex(&bytes))
}
