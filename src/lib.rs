//! The program `troupe`: command line, configuration, wiring, first-start set-up.
//!
//! [`program::start`] is the whole server in one call; the command line and the black-box tests both use it.

mod admin;
pub mod cli;
pub mod config;
mod doctor;
mod logging;
mod metrics;
pub mod program;
mod secret;
mod serve;
mod wiring;

use std::process::ExitCode;

use store::Clock;

use crate::{
    cli::{Command, CommandLine},
    config::{Config, ConfigError},
    program::StartError,
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
    /// No runtime.
    #[error("The operating system gives no threads: {0}")]
    Runtime(#[from] std::io::Error),
    /// What the server needs.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An operator's command was refused.
    #[error("{0}")]
    Refused(#[from] domain::Error),
}

/// Does what the command line says; the status that the process ends with.
///
/// # Errors
/// See [`RunError`].
pub fn run(line: CommandLine) -> Result<ExitCode, RunError> {
    let config = Config::load(&line.global.sources())?;
    logging::start(&config.log).map_err(RunError::Logging)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match line.command.unwrap_or(Command::Serve) {
            Command::Serve => Ok(serve::serve(&config).await?),
            Command::Migrate => migrate(config).await,
            Command::Doctor => Ok(examine(&config).await),
            Command::Admin(command) => admin::run(&config, command).await,
        }
    })
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
