//! The program `troupe`: command line, configuration, wiring, first-start set-up.
//!
//! [`program::start`] is the whole server in one call; the command line and the black-box tests both use it.

mod admin;
pub mod cli;
mod client;
pub mod config;
mod copies;
mod doctor;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod logging;
pub mod metrics;
mod post;
pub mod program;
mod runner;
mod s3;
mod secret;
mod serve;
mod traces;
mod wiring;

use std::process::ExitCode;

use store::Clock;

use crate::{
    cli::{Command, CommandLine},
    config::{Config, ConfigError},
    program::StartError,
    traces::Traces,
};

/// Why a command failed. Prints as sentences for the operator.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The log.
    #[error("{0}")]
    Logging(String),
    /// The export of traces.
    #[error("Traces can't be exported: {0}")]
    Traces(String),
    /// No runtime.
    #[error("The operating system gives no threads: {0}")]
    Runtime(#[from] std::io::Error),
    /// What the server needs.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A copy that could not be made or put back.
    #[error(transparent)]
    Copy(#[from] copies::CopyError),
    /// An operator's command was refused.
    #[error("{0}")]
    Refused(#[from] domain::Error),
    /// What somebody does at their own machine.
    #[error(transparent)]
    Client(#[from] client::ClientError),
    /// What a runner does.
    #[error(transparent)]
    Runner(#[from] runner::RunnerError),
}

/// Does what the command line says; the status that the process ends with.
///
/// # Errors
/// See [`RunError`].
pub fn run(line: CommandLine) -> Result<ExitCode, RunError> {
    let command = match line.command.unwrap_or(Command::Serve) {
        // At people's own machines there is no configuration of a server.
        Command::Client(command) => {
            client::run(command)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Runner(command) => return Ok(runner::run(command)?),
        Command::Workflow(command) => return Ok(runner::run_workflow(command)?),
        command => command,
    };
    let config = Config::load(&line.global.sources())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let traces = match command {
        Command::Serve => Traces::start(&config.tracing, runtime.handle()).map_err(RunError::Traces)?,
        _ => None,
    };
    logging::start(&config.log, traces.as_ref()).map_err(RunError::Logging)?;
    // Every command may speak TLS, with the place of the blobs. Only an earlier call in this process makes this fail, and then
    // it is the same provider.
    drop(rustls::crypto::ring::default_provider().install_default());
    runtime.block_on(async {
        match command {
            Command::Serve => serve(&config, traces).await,
            Command::Migrate => migrate(config).await,
            Command::Doctor => Ok(examine(&config).await),
            Command::Backup { folder } => Ok(copies::backup(&config, &folder)?),
            Command::Restore { folder } => Ok(copies::restore(&config, &folder)?),
            Command::Admin(command) => admin::run(&config, command).await,
            Command::Client(_) | Command::Runner(_) | Command::Workflow(_) => Ok(ExitCode::SUCCESS),
        }
    })
}

async fn serve(config: &Config, traces: Option<Traces>) -> Result<ExitCode, RunError> {
    let served = serve::serve(config).await;
    if let Some(traces) = traces {
        traces.finish().await;
    }
    Ok(served?)
}

async fn migrate(mut config: Config) -> Result<ExitCode, RunError> {
    config.database.migrate_at_start = true;
    program::open_store(&config, Clock::system()).await?.close().await;
    println!("The database's schema is current.");
    Ok(ExitCode::SUCCESS)
}

async fn examine(config: &Config) -> ExitCode {
    let findings = doctor::examine(config).await;
    print!("{findings}");
    if findings.is_healthy() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
