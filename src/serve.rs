//! `troupe serve`: starts, says what to open next, and stops when told to.

use std::{io, process::ExitCode};

use store::Clock;

use crate::{
    config::Config,
    program::{self, Running, StartError},
};

/// Runs the server until Ctrl-C or SIGTERM.
pub async fn serve(config: &Config) -> Result<ExitCode, StartError> {
    let running = program::start(config, Clock::system()).await?;
    print!("{}", welcome(config, &running));
    io::Write::flush(&mut io::stdout()).unwrap_or_else(|error| tracing::warn!(%error, "standard output is closed"));
    told_to_stop().await.map_err(StartError::Signals)?;
    tracing::info!("stopping");
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// What a person reads after the start. Scripts read it too: the first two words of a line stay what they are.
fn welcome(config: &Config, running: &Running) -> String {
    let (version, address) = (env!("CARGO_PKG_VERSION"), running.address);
    let operators = running.operators.map_or_else(String::new, |operators| {
        format!("  Operators  http://{operators}/metrics  also /readyz, /healthz, /kept\n")
    });
    let (database, folder) = (config.database_name(), config.data_folder().display());
    let first_start = running.first_start.as_ref().map_or_else(String::new, |made| {
        format!(
            "\nThis is the first start: an owner and the platform organization were made.\n\
             Keep these; they are not shown again.\n\n  \
             Owner      {}\n  Password   {}\n  Token      {}\n",
            made.email.as_str(),
            made.password.reveal(),
            made.token.reveal()
        )
    });
    format!(
        "Troupe {version} is up.\n\n  \
         API        http://{address}/v1/openapi.json\n  \
         Reference  http://{address}/docs\n\
         {operators}  Data       {folder} ({database})\n\
         {first_start}\n\
         Press Ctrl-C to stop.\n"
    )
}

#[cfg(unix)]
async fn told_to_stop() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn told_to_stop() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
