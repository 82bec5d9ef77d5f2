//! The runner against the real server: each is the program itself, in processes of its own.

mod cases;
mod deaths;
mod disk;
mod files;
mod jobs;
mod lines;
mod network;
mod pushing;
mod secrets;
mod watching;

use std::{
    fs,
    net::TcpListener,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use store::testing::Scratch;
use tempfile::TempDir;

use super::{Runner, registered, run};
use crate::{
    crash::stage::Stage,
    harness::{Answer, Client},
};

/// How long something is waited for that must come.
const PATIENCE: Duration = Duration::from_mins(3);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A server with an organization, whose jobs machines do.
struct Works {
    stage: Stage,
}

/// A repository of the organization's.
#[derive(Clone)]
struct Repository {
    client: Client,
    /// `/v1/orgs/:orgId/repos/:name`
    path: String,
}

/// A machine, with a runner's folder and its program.
struct Machine {
    home: TempDir,
    arguments: Vec<String>,
    runner: Option<Runner>,
}

impl Works {
    async fn new() -> Self {
        Self::on(Scratch::new().await.unwrap(), &[]).await
    }

    /// On this database, with these settings beside the usual ones.
    async fn on(scratch: Scratch, settings: &[String]) -> Self {
        // A runner knows its server by an address, which a server that was killed has to have again.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut all = vec![format!("server.listen={address}")];
        all.extend(settings.iter().cloned());
        Self { stage: Stage::on(scratch, &all).await }
    }

    async fn repository(&self, name: &str) -> Repository {
        let (client, path) = (self.stage.client.clone(), format!("{}/repos", self.stage.org));
        client.post(&path).json(&json!({ "name": name })).send().await.expect(201);
        Repository { client, path: format!("{path}/{name}") }
    }

    /// A machine that does jobs with these labels.
    async fn machine(&self, labels: &str, arguments: &[&str]) -> Machine {
        let mut machine = self.idle_machine(labels, arguments).await;
        machine.start();
        machine
    }

    /// The same, where the runner isn't started yet.
    async fn idle_machine(&self, labels: &str, arguments: &[&str]) -> Machine {
        let path = format!("{}/pipelines/runners/token", self.stage.org);
        let token = self.stage.client.post(&path).json(&json!({})).send().await.expect(201);
        let home = registered(self.stage.client.base(), token.str("/token"), labels);
        Machine { home, arguments: arguments.iter().map(|it| (*it).to_owned()).collect(), runner: None }
    }
}

impl Machine {
    fn start(&mut self) {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        self.runner = Some(run(&self.home, &arguments));
    }

    /// SIGKILL.
    fn kill(&mut self) {
        drop(self.runner.take());
    }
}

impl Repository {
    /// Commits files to `main`.
    async fn commit(&self, message: &str, files: &[(&str, &str)]) {
        let changes: Vec<Value> = files
            .iter()
            .map(|(path, text)| json!({ "op": "put", "path": path, "content": STANDARD.encode(text) }))
            .collect();
        let branches = self.client.get(&format!("{}/branches", self.path)).send().await.expect(200);
        let mut body = json!({ "branch": "main", "message": message, "changes": changes });
        if let Some(tip) = branches.json.pointer("/branches/0/commit/id") {
            body["parentCommitId"] = tip.clone();
        }
        self.client.post(&format!("{}/contents", self.path)).json(&body).send().await.expect(201);
    }

    /// Commits a workflow, which then runs; the run's id.
    async fn start(&self, workflow: &str) -> String {
        let before = self.runs().await.len();
        self.commit("Change ci.yml", &[(".service/workflows/ci.yml", workflow)]).await;
        let newest = async || Some(self.runs().await).filter(|runs| runs.len() > before);
        let runs = until("a run", newest).await;
        runs[0]["runId"].as_str().unwrap().to_owned()
    }

    async fn runs(&self) -> Vec<Value> {
        self.get("runs").await.list("/runs").to_vec()
    }

    /// What is answered for something of the pipelines', once there is a server that answers.
    async fn get(&self, rest: &str) -> Answer {
        let path = format!("{}/pipelines/{rest}", self.path);
        let asked = async || self.client.get(&path).try_send().await.filter(|answer| answer.status != 503);
        until("an answer", asked).await.expect(200)
    }

    async fn post(&self, rest: &str, body: Value) -> Answer {
        self.client.post(&format!("{}/pipelines/{rest}", self.path)).json(&body).send().await
    }

    /// The run, and its jobs.
    async fn detail(&self, run: &str) -> Value {
        self.get(&format!("runs/{run}")).await.json
    }

    /// The same, once the run is over.
    async fn ended(&self, run: &str) -> Value {
        let over = async || Some(self.detail(run).await).filter(|detail| detail["run"]["status"] == "completed");
        until("the end of a run", over).await
    }

    /// The id of the job of this name, once there is one.
    async fn job_id(&self, run: &str, name: &str) -> String {
        let found = async || {
            let detail = self.detail(run).await;
            let job = detail["jobs"].as_array()?.iter().find(|job| job["name"] == name)?;
            job["jobId"].as_str().map(str::to_owned)
        };
        until("a job", found).await
    }

    /// The job, and its steps.
    async fn job(&self, run: &str, id: &str) -> Value {
        self.get(&format!("runs/{run}/jobs/{id}")).await.json
    }

    /// Waits until a step of a job runs.
    async fn running(&self, run: &str, id: &str, step: usize) {
        let runs = async || {
            let job = self.job(run, id).await;
            (job["steps"][step]["status"] == "in_progress").then_some(())
        };
        until("a running step", runs).await;
    }

    /// The lines of a job's log, as it is now.
    async fn lines(&self, run: &str, id: &str) -> Vec<String> {
        let (mut lines, mut from) = (Vec::new(), 0);
        loop {
            let page = self.get(&format!("runs/{run}/jobs/{id}/log?from={from}&limit=5000")).await;
            for line in page.list("/lines") {
                assert_eq!(line["n"], lines.len(), "lines are numbered without gaps");
                lines.push(line["m"].as_str().unwrap().to_owned());
            }
            if page.int("/next") == from {
                return lines;
            }
            from = page.int("/next");
        }
    }
}

/// Waits until `found` answers something.
async fn until<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(it) = found().await {
            return it;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

/// The worker of a job that runs a step: the leader of the session in which something works in the job's folder.
fn worker_of(job: &str) -> Option<String> {
    let inside = format!("/jobs/{job}/");
    fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        fs::read_link(entry.path().join("cwd")).ok()?.to_str().filter(|cwd| cwd.contains(&inside))?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(3).map(str::to_owned)
    })
}

/// A number that the environment says, or this one.
fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
