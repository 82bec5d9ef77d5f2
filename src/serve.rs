//! `troupe serve`: starts, says what to open next, and stops when told to.

use std::{io, process::ExitCode};

use crate::{
    config::Config,
    program::{self, Running, StartError},
};

/// Runs the server until Ctrl-C or SIGTERM.
pub async fn serve(config: &Config) -> Result<ExitCode, StartError> {
    // Before anybody is told that it is up: who stops it then has it stop in order.
    let signals = Signals::listen().map_err(StartError::Signals)?;
    raise_open_files();
    let running = program::start(config, config.faults.clock()).await?;
    print!("{}", welcome(config, &running));
    io::Write::flush(&mut io::stdout()).unwrap_or_else(|error| tracing::warn!(%error, "standard output is closed"));
    signals.told_to_stop().await.map_err(StartError::Signals)?;
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
    let s3 = running.s3.as_ref().map_or_else(String::new, |s3| {
        let address = s3.address();
        let url = Some(config.s3.public_url.as_str()).filter(|url| !url.is_empty());
        let url = url.map_or_else(|| format!("http://{address}"), str::to_owned);
        format!("  S3         AWS_ENDPOINT_URL_S3={url}\n")
    });
    let post = &running.post;
    let listeners = [
        ("Mail       smtp", &post.smtp),
        ("Submission smtps", &post.submissions),
        ("Clients    smtp", &post.submission),
    ];
    let line = |(what, listener): (&str, &Option<http_post::Listener>)| {
        listener.as_ref().map(|it| format!("  {what}://{}\n", it.address()))
    };
    let mail: String = listeners.into_iter().filter_map(line).collect();
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
         Reference  http://{address}/docs\n  \
         Notes      http://{address}/docs/co-editing\n  \
         Console    http://{address}/console\n\
         {s3}{mail}{operators}  Data       {folder} ({database})\n\
         {first_start}\n\
         Press Ctrl-C to stop.\n"
    )
}

/// Each connection is an open file, and many systems give a program few of them unless it asks for all that it may have.
fn raise_open_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // A system that doesn't is left with what it gives.
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit of open files stays as it is");
        }
    }
}

/// The signals that end the program.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// From here on they are heard, instead of killing the process.
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn told_to_stop(mut self) -> io::Result<()> {
        tokio::select! {
            _ = self.interrupt.recv() => Ok(()),
            _ = self.terminate.recv() => Ok(()),
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn told_to_stop(self) -> io::Result<()> {
        tokio::signal::ctrl_c().await
    }
}
