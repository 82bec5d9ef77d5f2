//! `troupe runner run`: asks a server for jobs, and does them.

mod home;
mod job;
mod log;
mod spool;

use std::{
    env,
    future::pending,
    io,
    path::PathBuf,
    pin::pin,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use domain::pipelines::runner::POLL_SECONDS_MAX;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    select,
    signal::unix::{Signal, SignalKind, signal},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

pub use self::home::Home;
use self::{home::Settings, job::Duty, spool::Spool};
use super::{
    error::{Result, RunnerError},
    server::{AskError, Backoff, Question, RUNNER_HEADER, Server, understood},
    supervisor::cancelled,
};
use crate::client::{ClientError, address::Address};

/// How long a registration may take: as long as the server works at a question. Somebody waits for it.
const REGISTRATION_PATIENCE: Duration = Duration::from_secs(30);
/// How long the server waits for a job before it answers that there is none.
const POLL_WAIT: Duration = Duration::from_secs(POLL_SECONDS_MAX);
/// Half minutes for which a runner that is asked to end, and has no worker left, sends what is left to send: where it was asked
/// once, and where it was asked again. The rest stands in its folder, and its next start sends it.
const UNSENT_HALF_MINUTES: (u64, u64) = (20, 1);

/// How a machine becomes a runner.
pub struct Registration {
    /// Where the server is.
    pub url: String,
    /// What the server gave for one registration.
    pub token: String,
    /// The runner's name; the machine's where nothing is said.
    pub name: Option<String>,
    /// Labels beside those that say what the machine is.
    pub labels: Vec<String>,
    /// Whether secrets may go through a network unencrypted.
    pub insecure_http: bool,
}

/// How jobs are done.
pub struct Service {
    /// The runner's folder.
    pub home: Home,
    /// Jobs at the same time.
    pub jobs: usize,
    /// Whether the runner ends after its first job, and does one at a time.
    pub is_ephemeral: bool,
    /// A command before each step.
    pub wrapper: Vec<String>,
    /// How long a minute of a job's time is, in milliseconds.
    pub minute_ms: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Registered {
    runner_id: String,
    secret: String,
}

/// A job that the runner was given.
#[derive(Deserialize)]
struct Polled {
    job: Taken,
}

/// A job, and what the runner shows in its name.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Taken {
    job_id: String,
    token: String,
}

impl Registration {
    /// Registers the machine, and keeps what the server says.
    pub async fn run(self, home: &Home) -> Result<ExitCode> {
        let address = Address::parse(&self.url)?;
        if address.is_cleartext() && !self.insecure_http {
            return Err(ClientError::Cleartext(address).into());
        }
        let server = Server::new(address.as_str(), RUNNER_HEADER, "")?;
        let name = self.name.unwrap_or_else(host);
        let body = json!({
            "token": self.token, "name": name, "labels": self.labels, "os": env::consts::OS, "arch": architecture(),
        });
        let registered = registered(&server, &body).await?;
        let settings = Settings { server: address.as_str().to_owned(), name, secret: registered.secret };
        home.keep(&settings)?;
        println!(
            "{} is registered as {} at {address}. `troupe runner run` does its jobs.",
            settings.name, registered.runner_id
        );
        Ok(ExitCode::SUCCESS)
    }
}

/// Asks to be registered, again as long as the server can't be reached. A token registers one runner: a question that may have come
/// through isn't asked again.
async fn registered(server: &Server, body: &Value) -> Result<Registered> {
    let until = Instant::now() + REGISTRATION_PATIENCE;
    let mut backoff = Backoff::default();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let answer = server.ask(Question::new("/v1/runner/register", body).within(left)).await;
        match answer.and_then(understood) {
            Ok(registered) => return Ok(registered),
            Err(AskError::Unreachable { why, is_asked: true }) => return Err(RunnerError::Unanswered(why)),
            Err(error @ AskError::Unreachable { .. }) => {
                let span = backoff.span();
                if Instant::now() + span >= until {
                    return Err(error.into());
                }
                eprintln!("troupe: {error}; the server is asked again.");
                sleep(span).await;
            }
            Err(refused) => return Err(refused.into()),
        }
    }
}

/// What this machine is called.
fn host() -> String {
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    Some(name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "runner".to_owned())
}

fn architecture() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}

impl Service {
    /// Does jobs until somebody ends the runner.
    pub async fn run(self) -> Result<ExitCode> {
        let settings = self.home.settings()?;
        let _lock = self.home.lock()?;
        let server = Server::new(&settings.server, RUNNER_HEADER, &settings.secret)?;
        let (cancel, is_cancelled) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for spool in Spool::left(&self.home)? {
            tasks.spawn(job::finish(settings.server.clone(), spool, self.home.jobs()));
        }
        let duty = Arc::new(Duty {
            server: settings.server.clone(),
            name: settings.name.clone(),
            folder: self.home.jobs(),
            home: self.home.clone(),
            wrapper: self.wrapper.clone(),
            minute_ms: self.minute_ms,
            working: watch::Sender::new(0),
        });
        let mut signals = Signals::new()?;
        println!("{} waits for jobs of {}.", settings.name, settings.server);
        let polled = select! {
            polled = self.poll(&server, &duty, &mut tasks, &is_cancelled) => Some(polled),
            () = signals.asked() => None,
        };
        if polled.is_none() {
            leave(&settings.name);
        }
        let given_up = self.given_up(polled.is_none(), is_cancelled, &duty.working);
        // What runs may end; who asks again doesn't wait for that.
        finish(&mut tasks, &mut signals, &cancel, given_up).await;
        polled.unwrap_or(Ok(())).map(|()| ExitCode::SUCCESS)
    }

    /// Waits until a runner that is asked to end has tried long enough to send what its jobs left.
    async fn given_up(&self, is_asked: bool, mut is_cancelled: watch::Receiver<bool>, working: &watch::Sender<usize>) {
        let (once, again) = UNSENT_HALF_MINUTES;
        let span = |half_minutes: u64| Duration::from_millis((self.minute_ms / 2).saturating_mul(half_minutes));
        let asked_once = async {
            if !is_asked {
                pending::<()>().await;
            }
            idle(working.subscribe(), span(once)).await;
        };
        let asked_again = async {
            if !cancelled(&mut is_cancelled).await {
                pending::<()>().await;
            }
            idle(working.subscribe(), span(again)).await;
        };
        select! {
            () = asked_once => {}
            () = asked_again => {}
        }
    }

    async fn poll(
        &self,
        server: &Server,
        duty: &Arc<Duty>,
        tasks: &mut JoinSet<()>,
        is_cancelled: &watch::Receiver<bool>,
    ) -> Result<()> {
        let jobs = if self.is_ephemeral { 1 } else { self.jobs.max(1) };
        let places = Arc::new(Semaphore::new(jobs));
        // A job that was given to another runner before this one learned what is to be done doesn't count.
        let has_had_one = Arc::new(AtomicBool::new(false));
        let mut backoff = Backoff::default();
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
            if self.is_ephemeral && has_had_one.load(Ordering::Relaxed) {
                return Ok(());
            }
            let running = jobs - places.available_permits() - 1;
            let body = json!({ "version": env!("CARGO_PKG_VERSION"), "running": running });
            match server.ask(Question::new("/v1/runner/poll", &body).waits(POLL_WAIT)).await {
                Ok(None) => backoff = Backoff::default(),
                Ok(Some(answer)) => {
                    backoff = Backoff::default();
                    let Some(taken) = taken(answer) else { continue };
                    let (duty, is_cancelled) = (Arc::clone(duty), is_cancelled.clone());
                    let has_had_one = Arc::clone(&has_had_one);
                    tasks.spawn(async move {
                        if duty.run(taken, is_cancelled).await {
                            has_had_one.store(true, Ordering::Relaxed);
                        }
                        drop(place);
                    });
                }
                Err(AskError::Refused { status: 401 | 403 | 404, message, .. }) => {
                    return Err(RunnerError::Forgotten(message));
                }
                Err(error) => {
                    eprintln!("troupe: {error}; the server is asked again.");
                    backoff.wait().await;
                }
            }
            while tasks.try_join_next().is_some() {}
        }
    }
}

/// What asks a runner to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits until the runner is asked to end.
    async fn asked(&mut self) {
        select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Waits for all jobs, and cancels them once the runner is asked to end. Leaves what isn't sent once that was tried long enough.
async fn finish(
    tasks: &mut JoinSet<()>,
    signals: &mut Signals,
    cancel: &watch::Sender<bool>,
    given_up: impl Future<Output = ()>,
) {
    let mut given_up = pin!(given_up);
    let mut is_given_up = false;
    loop {
        select! {
            done = tasks.join_next() => if done.is_none() {
                return;
            },
            () = signals.asked() => drop(cancel.send_replace(true)),
            () = &mut given_up, if !is_given_up => {
                eprintln!("troupe: not all is sent. The rest is sent when the runner is started again.");
                is_given_up = true;
                tasks.abort_all();
            }
        }
    }
}

/// Waits until no job had a worker for so long.
async fn idle(mut working: watch::Receiver<usize>, span: Duration) {
    loop {
        drop(working.wait_for(|count| *count == 0).await);
        let begun = async { working.wait_for(|count| *count > 0).await.is_ok() };
        if !timeout(span, begun).await.unwrap_or(false) {
            return;
        }
    }
}

/// Says what becomes of a runner that is asked to end.
fn leave(name: &str) {
    println!("{name} takes no more jobs and ends with those that run. Asked again, it cancels them.");
}

fn taken(answer: Value) -> Option<Taken> {
    let polled = serde_json::from_value::<Polled>(answer).ok()?;
    // The id becomes a folder's name.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let id = &polled.job.job_id;
    ((1..=64).contains(&id.len()) && id.bytes().all(is_plain)).then_some(polled.job)
}

/// The folder that is a runner's where nobody says another.
pub fn folder(given: Option<PathBuf>) -> Result<Home> {
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = || variable("HOME").map(|home| home.join(".local/share"));
    let folder = given.or_else(|| variable("XDG_DATA_HOME").or_else(home).map(|data| data.join("troupe/runner")));
    folder.map(Home::new).ok_or(RunnerError::Client(ClientError::NoFolder))
}
