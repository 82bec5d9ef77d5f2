//! `troupe run watch`: the logs of a run in the terminal, as they are written.

use std::{collections::BTreeMap, time::Duration};

use domain::{git::RepositoryName, id::RunId, pipelines::logs::shown};
use serde::Deserialize;
use tokio::time::sleep;

use super::{
    api::Server,
    error::{ClientError, Result},
    git_setup::wanted,
    kept::Place,
    plain::sentence,
    say, warn,
};

/// How long to wait before looking again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(300);
/// How long to wait for a server that can't be reached, and how often.
const PAUSE: Duration = Duration::from_secs(2);
const PAUSES_MAX: u32 = 60;
/// Looks for a run where there is none yet: one follows a push in a moment.
const LOOKS_FOR_RUN: u32 = 30;
/// Looks for the last lines of a run that is over.
const LAST_LOOKS: u32 = 30;
/// Lines that are asked for at once.
const LINES: u32 = 500;

/// A run that is to be followed.
pub struct Watch {
    /// The organization and the repository.
    pub repository: String,
    /// The run; the newest where it isn't said.
    pub run: Option<String>,
    /// The server; the only one that somebody is signed in at where it isn't said.
    pub server: Option<String>,
}

#[derive(Deserialize)]
struct Runs {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    #[serde(rename = "runId")]
    id: String,
    workflow_name: String,
    number: i64,
    status: String,
    conclusion: Option<String>,
}

#[derive(Deserialize)]
struct Detail {
    run: Run,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    #[serde(rename = "jobId")]
    id: String,
    name: String,
    conclusion: Option<String>,
}

#[derive(Deserialize)]
struct Log {
    lines: Vec<Line>,
    next: u64,
    complete: bool,
}

#[derive(Deserialize)]
struct Line {
    m: String,
}

/// How far a job's log was read.
#[derive(Default)]
struct Read {
    next: u64,
    is_complete: bool,
    is_ended: bool,
}

impl Watch {
    /// Shows lines until the run is over.
    pub async fn run(self, place: &Place) -> Result<()> {
        let (address, sign_in) = place.read()?.server(self.server.as_deref())?;
        let server = Server::with(&address, &sign_in)?;
        let (organization, name) = self.repository.split_once('/').ok_or(ClientError::Repository)?;
        let name = RepositoryName::parse("repository", name).map_err(|_| ClientError::Repository)?;
        let all = server.organizations().await?;
        let asked = [organization.to_owned()];
        let organization = wanted(&all, &asked)?.first().map(|it| it.org_id.as_str()).ok_or(ClientError::Repository)?;
        let path = format!("/v1/orgs/{organization}/repos/{}/pipelines/runs", name.as_str());
        let id = match self.run {
            Some(text) => text.parse().map_err(|_| ClientError::Run)?,
            None => newest(&server, &path, &self.repository).await?,
        };
        follow(&server, &format!("{path}/{id}")).await
    }
}

/// The newest run, which a push may just be about to start.
async fn newest(server: &Server, path: &str, repository: &str) -> Result<RunId> {
    for _ in 0..LOOKS_FOR_RUN {
        let found: Runs = server.get(&format!("{path}?limit=1")).await?;
        if let Some(run) = found.runs.first() {
            return run.id.parse().map_err(|_| ClientError::Run);
        }
        sleep(BETWEEN_LOOKS).await;
    }
    Err(ClientError::NoRun(repository.to_owned()))
}

/// Shows what comes until the run is over, also while the server is away for a while.
async fn follow(server: &Server, path: &str) -> Result<()> {
    let (mut read, mut pauses, mut looks, mut is_named) = (BTreeMap::new(), 0, 0, false);
    loop {
        let detail = match look(server, path, &mut read, &mut is_named).await {
            Ok(detail) => detail,
            Err(why @ ClientError::Unreachable { .. }) if pauses < PAUSES_MAX => {
                if pauses == 0 {
                    warn(&why);
                }
                pauses += 1;
                sleep(PAUSE).await;
                continue;
            }
            Err(why) => return Err(why),
        };
        pauses = 0;
        if detail.run.status == "completed" {
            looks += 1;
            if looks >= LAST_LOOKS || read.values().all(|it: &Read| it.is_complete) {
                return over(&detail.run);
            }
        }
        sleep(BETWEEN_LOOKS).await;
    }
}

fn over(run: &Run) -> Result<()> {
    match run.conclusion.as_deref().map(sentence) {
        Some(conclusion) if matches!(conclusion.as_str(), "success" | "skipped") => {
            say(format_args!("The run ended as {conclusion}."));
            Ok(())
        }
        conclusion => Err(ClientError::RunEnded(conclusion.unwrap_or_default())),
    }
}

/// Shows what is new.
async fn look(server: &Server, path: &str, read: &mut BTreeMap<String, Read>, is_named: &mut bool) -> Result<Detail> {
    let detail: Detail = server.get(path).await?;
    if !*is_named {
        say(format_args!(
            "{} #{} ({})",
            sentence(&detail.run.workflow_name),
            detail.run.number,
            sentence(&detail.run.id)
        ));
        *is_named = true;
    }
    let several = detail.jobs.len() > 1;
    for job in &detail.jobs {
        let name = sentence(&job.name);
        let before = if several { format!("{name} | ") } else { String::new() };
        let so_far = read.entry(job.id.clone()).or_default();
        let is_plain = job.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        while is_plain && !so_far.is_complete {
            let log: Log =
                server.get(&format!("{path}/jobs/{}/log?from={}&limit={LINES}", job.id, so_far.next)).await?;
            for line in &log.lines {
                say(format_args!("{before}{}", shown(&line.m)));
            }
            let is_new = log.next > so_far.next;
            so_far.next = log.next.max(so_far.next);
            so_far.is_complete = log.complete && !is_new;
            if !is_new {
                break;
            }
        }
        if let Some(conclusion) = job.conclusion.as_deref().filter(|_| !so_far.is_ended) {
            say(format_args!("{name}: {}", sentence(conclusion)));
            so_far.is_ended = true;
        }
    }
    Ok(detail)
}
