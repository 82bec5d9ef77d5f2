//! A server's job, from its plan to its end.

use std::{collections::BTreeMap, fs, path::PathBuf, time::Duration};

use domain::pipelines::job::{JOB_ERROR_LEN_MAX, JobPlan, JobStatus, PROTOCOL, StepReport};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

use super::{
    Taken,
    home::Home,
    log,
    spool::{Spool, SpoolWriter},
};
use crate::runner::{
    server::{AskError, Backoff, JOB_HEADER, Question, Server},
    supervisor::{Ended, Supervised, cancelled},
    words::{Assignment, Files},
};

/// How long between two reports of a job at least, however fast its steps come and go, and at most.
const STATUS_SPAN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(2));
/// How long a change waits for what comes with it: where a step ends, the next one begins.
const STATUS_GATHERED: Duration = Duration::from_millis(50);
/// How long a report's answer may take: a connection that hangs must not outlast a job's lease.
const STATUS_PATIENCE: Duration = Duration::from_secs(15);
/// How long the server may be asked for the plan of a job: then another runner may have it.
const PLAN_PATIENCE: Duration = Duration::from_secs(30);

/// What all jobs of a runner have in common.
pub struct Duty {
    /// Where the server is.
    pub server: String,
    /// The runner's name.
    pub name: String,
    /// The runner's folder.
    pub home: Home,
    /// The folder of the jobs' own.
    pub folder: PathBuf,
    /// A command before each step.
    pub wrapper: Vec<String>,
    /// How long a minute of a job's time is, in milliseconds.
    pub minute_ms: u64,
    /// How many jobs have a worker.
    pub working: watch::Sender<usize>,
}

/// A job that has a worker.
struct Working<'d>(&'d watch::Sender<usize>);

impl<'d> Working<'d> {
    fn begin(working: &'d watch::Sender<usize>) -> Self {
        working.send_modify(|count| *count += 1);
        Self(working)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// The server's answer to a question for a plan (contract C 4.1).
#[derive(Deserialize)]
struct Told {
    plan: JobPlan,
    #[serde(default)]
    secrets: BTreeMap<String, String>,
}

impl Duty {
    /// Does a job. Answers whether the runner learned what is to be done.
    pub(super) async fn run(&self, taken: Taken, runner_cancels: watch::Receiver<bool>) -> bool {
        let asked = self.ask(&taken).await;
        let has_begun = asked.is_ok();
        match asked {
            Ok((server, told)) => {
                if let Err(why) = self.done(&server, told, &taken, runner_cancels).await {
                    eprintln!("troupe: {}: {why}", taken.job_id);
                    fail(&server, &taken.job_id, &why).await;
                }
            }
            Err(why) => eprintln!("troupe: {}: {why}", taken.job_id),
        }
        drop(fs::remove_dir_all(self.folder.join(&taken.job_id)));
        has_begun
    }

    /// Asks what is to be done.
    async fn ask(&self, taken: &Taken) -> Result<(Server, Told), String> {
        let server = Server::new(&self.server, JOB_HEADER, &taken.token).map_err(|error| error.to_string())?;
        let told = timeout(PLAN_PATIENCE, plan(&server)).await.map_err(|_| "nobody says what is to be done")??;
        Ok((server, told))
    }

    async fn done(
        &self,
        server: &Server,
        told: Told,
        taken: &Taken,
        runner_cancels: watch::Receiver<bool>,
    ) -> Result<(), String> {
        let folder = self.folder.join(&taken.job_id);
        let spool = Spool::make(&self.home, taken).map_err(|error| error.to_string())?;
        println!("{}: {}", taken.job_id, told.plan.job.name);
        let (steps, told_steps) = watch::channel(Vec::new());
        let last_steps = told_steps.clone();
        let (cancel, is_cancelled) = watch::channel(false);
        let status = status(server, &spool, told_steps, &cancel);
        let ending = cancel_with(runner_cancels, &cancel);
        let work = async {
            let (writer, counted) = spool.writer(&told.plan).map_err(|error| error.to_string())?;
            let job = async {
                let working = Working::begin(&self.working);
                let ended = self.work(self.assignment(told, &taken.token, folder), writer, steps, is_cancelled).await;
                let end = end(ended, last_steps.borrow().clone());
                // Before its log is sent, so that nothing is lost where the server is away and the runner is to end. On a disk
                // that is full the end isn't kept. The server can hear of it all the same.
                if let Err(error) = spool.keep_end(&end) {
                    eprintln!("troupe: {}: the job's end can't be kept: {error}", spool.job_id);
                }
                drop(working);
                end
            };
            let (end, sent) = tokio::join!(job, log::send(server, &spool, counted, Some(0)));
            sent.map_err(|error| format!("The job's log can't be read: {error}"))?;
            complete(server, &spool, &end).await;
            println!("{}: {}", taken.job_id, end["conclusion"].as_str().unwrap_or_default());
            Ok(())
        };
        tokio::select! {
            done = work => done,
            never = status => never,
            never = ending => never,
        }
    }

    /// Has a worker do what it is assigned.
    async fn work(
        &self,
        assignment: Result<Assignment, String>,
        writer: SpoolWriter,
        steps: watch::Sender<Vec<StepReport>>,
        is_cancelled: watch::Receiver<bool>,
    ) -> Result<Ended, String> {
        let supervised = Supervised::start(assignment?, writer, steps).await.map_err(|error| error.to_string())?;
        supervised.follow(is_cancelled).await.map_err(|error| format!("The job's log can't be kept: {error}"))
    }

    fn assignment(&self, told: Told, token: &str, folder: PathBuf) -> Result<Assignment, String> {
        if told.plan.protocol != PROTOCOL {
            return Err(format!("This runner doesn't know protocol {}. Use a newer one.", told.plan.protocol));
        }
        let is_asked = told.secrets.get("ACTIONS_STEP_DEBUG").is_some_and(|debug| debug == "true");
        let is_debug = told.plan.is_debug || is_asked;
        Ok(Assignment {
            plan: told.plan,
            secrets: told.secrets,
            closed: Some(self.home.folder().to_owned()),
            runner: self.name.clone(),
            folder,
            wrapper: self.wrapper.clone(),
            is_debug,
            minute_ms: self.minute_ms,
            files: Files::Server { token: token.to_owned() },
        })
    }
}

/// Asks what is to be done, until somebody answers.
async fn plan(server: &Server) -> Result<Told, String> {
    let mut backoff = Backoff::default();
    loop {
        match server.get("/v1/runner/job", PLAN_PATIENCE).await {
            Ok(told) => return Ok(told),
            Err(AskError::Unreachable { .. }) => backoff.wait().await,
            Err(refused) => return Err(refused.to_string()),
        }
    }
}

/// Cancels a job once its runner is to end. Never ends.
async fn cancel_with(mut runner_cancels: watch::Receiver<bool>, cancel: &watch::Sender<bool>) -> Result<(), String> {
    if cancelled(&mut runner_cancels).await {
        cancel.send_replace(true);
    }
    std::future::pending().await
}

/// Says how the steps do, when that changes and every other second, and hears whether the job is cancelled. Never ends.
async fn status(
    server: &Server,
    spool: &Spool,
    mut steps: watch::Receiver<Vec<StepReport>>,
    cancel: &watch::Sender<bool>,
) -> Result<(), String> {
    let (span_min, span_max) = STATUS_SPAN;
    let begun = async { steps.wait_for(|steps| steps.iter().any(|step| step.started_at.is_some())).await.is_ok() };
    drop(timeout(span_min, begun).await);
    let mut backoff = Backoff::default();
    loop {
        let now = steps.borrow_and_update().clone();
        drop(spool.keep_steps(&now));
        let asked_at = Instant::now();
        if say_steps(server, &now, cancel).await {
            backoff = Backoff::default();
            changed(&mut steps, asked_at + span_min, asked_at + span_max).await;
        } else {
            // A connection that hung has used up this time: the server's patience with a silent runner doesn't stand still.
            sleep_until(asked_at + backoff.span()).await;
        }
    }
}

/// Says how the steps do; whether the server answered.
async fn say_steps(server: &Server, steps: &[StepReport], cancel: &watch::Sender<bool>) -> bool {
    let body = json!({ "steps": steps });
    match server.ask(Question::new("/v1/runner/status", &body).within(STATUS_PATIENCE)).await {
        Ok(answer) => {
            if answer.is_some_and(|answer| answer["cancel"] == true) {
                cancel.send_replace(true);
            }
        }
        Err(AskError::Refused { code, .. }) => {
            if is_over(&code) {
                cancel.send_replace(true);
            }
        }
        Err(AskError::Unreachable { .. }) => return false,
    }
    true
}

/// Waits until the steps have changed: until the first moment in any case, until the second one at most.
async fn changed(steps: &mut watch::Receiver<Vec<StepReport>>, first: Instant, last: Instant) {
    sleep_until(first).await;
    let change = async {
        match steps.changed().await {
            Ok(()) => sleep(STATUS_GATHERED).await,
            // Nobody changes them any more.
            Err(_) => std::future::pending().await,
        }
    };
    drop(timeout_at(last, change).await);
}

/// How a job ended, as the server is told (contract C 4.1).
fn end(ended: Result<Ended, String>, last: Vec<StepReport>) -> Value {
    let failed = |why: String, steps: Vec<StepReport>| json!({ "conclusion": "failure", "steps": steps, "error": why });
    match ended {
        Err(why) => failed(why, last),
        Ok(Ended { over: None, steps, annotations }) => {
            let mut end = failed("The job's worker ended before the job did.".to_owned(), steps);
            end["annotations"] = json!(annotations);
            end
        }
        Ok(Ended { over: Some(over), annotations, .. }) => {
            let mut end = json!({
                "conclusion": over.status.name(), "steps": over.steps, "outputs": over.outputs,
                "annotations": annotations, "summary": over.summary,
            });
            if let Some(url) = over.environment_url {
                end["environmentUrl"] = json!(url);
            }
            if let Some(error) = over.error {
                end["error"] = json!(error.chars().take(JOB_ERROR_LEN_MAX).collect::<String>());
            }
            if over.has_timed_out && over.status == JobStatus::Cancelled {
                end["timedOut"] = json!(true);
            }
            end
        }
    }
}

/// Says how a job ended. Where the server doesn't take the report, it hears that the job failed, and why.
async fn complete(server: &Server, spool: &Spool, end: &Value) {
    if let Err((code, message)) = say_end(server, end).await {
        eprintln!("troupe: {}: {message}", spool.job_id);
        if !is_over(&code) {
            fail(server, &spool.job_id, &format!("The server refused the report of the job: {message}")).await;
        }
    }
    spool.remove();
}

/// Says that a job failed, and only why.
async fn fail(server: &Server, job_id: &str, why: &str) {
    let end = json!({ "conclusion": "failure", "error": why.chars().take(JOB_ERROR_LEN_MAX).collect::<String>() });
    if let Err((_, message)) = say_end(server, &end).await {
        eprintln!("troupe: {job_id}: {message}");
    }
}

/// Whether the server refuses because a job is of no use to anybody.
fn is_over(code: &str) -> bool {
    matches!(code, "job_over" | "job_unknown")
}

/// Says how a job ended, until the server answers; its code and words where it refuses.
async fn say_end(server: &Server, end: &Value) -> Result<(), (String, String)> {
    let mut backoff = Backoff::default();
    loop {
        match server.ask(Question::new("/v1/runner/complete", end)).await {
            Ok(_) => return Ok(()),
            Err(AskError::Refused { code, message, .. }) => return Err((code, message)),
            Err(AskError::Unreachable { .. }) => backoff.wait().await,
        }
    }
}

/// Sends what a runner that died left behind.
pub(super) async fn finish(url: String, spool: Spool, folder: PathBuf) {
    drop(fs::remove_dir_all(folder.join(&spool.job_id)));
    let Ok(server) = Server::new(&url, JOB_HEADER, &spool.token) else { return };
    let Ok(count) = spool.count() else { return };
    // Nobody writes it any more.
    let (_, counted) = watch::channel(count);
    if let Err(error) = log::send(&server, &spool, counted, None).await {
        eprintln!("troupe: {}: the log can't be read: {error}", spool.job_id);
    }
    let end = spool.end().unwrap_or_else(
        || json!({ "conclusion": "failure", "steps": spool.steps(), "error": "The runner ended before the job did." }),
    );
    complete(&server, &spool, &end).await;
}
