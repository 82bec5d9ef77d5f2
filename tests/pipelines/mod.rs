//! Pipelines: workflows, their runs, and runners (contract C 2.1, 3, 4.1, 4.2; `docs/decisions/pipelines.md`).

mod access;
mod artifacts;
mod caches;
mod cancelling;
mod checkout;
mod environments;
mod floods;
mod groups;
mod limits;
mod live;
mod logs;
mod merges;
pub mod outside;
mod parked;
mod polling;
mod reports;
mod retention;
mod runs;
mod schedules;
mod secrets;
mod sent;
mod tokens;
mod told;
mod triggers;
mod watched;
mod why;
mod workflows;

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Client, Person, Request, Server},
};

/// A repository `web` whose workflows run, and runners for them.
struct Works {
    server: Server,
    /// Owns the organization.
    ada: Person,
    /// `/v1/orgs/:orgId`
    org: String,
}

/// A runner, as a program.
#[derive(Clone)]
pub struct Runner {
    client: Client,
    secret: String,
    id: String,
}

/// A job that a runner has.
#[derive(Clone)]
pub struct Held {
    client: Client,
    token: String,
    pub id: String,
}

/// A file with one job `test`, which any runner may take.
const CI: &str = "name: CI
on: push
jobs:
  test:
    runs-on: linux
    steps:
      - run: make test
";

impl Works {
    async fn new() -> Self {
        Self::on(Server::start().await).await
    }

    async fn on(server: Server) -> Self {
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        let works = Self { server, ada, org };
        works.ada.client.post(&format!("{}/repos", works.org)).json(&json!({ "name": "web" })).send().await.expect(201);
        works
    }

    /// With a workflow file, pushed.
    async fn with(file: &str, text: &str) -> Self {
        let works = Self::new().await;
        works.put(file, text).await;
        works
    }

    /// Somebody else in the organization.
    async fn member(&self, name: &str, role: &str) -> Person {
        let person = self.server.person(name).await;
        join(&self.ada, &self.org, &person, role).await;
        person
    }

    /// The path of something below the repository.
    fn at(&self, rest: &str) -> String {
        format!("{}/repos/web/{rest}", self.org)
    }

    /// The path of something below the repository's pipelines.
    fn pipelines(&self, rest: &str) -> String {
        self.at(&format!("pipelines/{rest}"))
    }

    async fn get(&self, rest: &str) -> Answer {
        self.ada.client.get(&self.pipelines(rest)).send().await
    }

    async fn post(&self, rest: &str, body: Value) -> Answer {
        self.ada.client.post(&self.pipelines(rest)).json(&body).send().await
    }

    /// The commit that a branch names; none where there is no such branch.
    async fn tip(&self, branch: &str) -> Option<String> {
        let answer = self.ada.client.get(&self.at("branches")).send().await.expect(200);
        let found = answer.list("/branches").iter().find(|it| it["name"] == branch).cloned();
        found.map(|it| it["commit"]["id"].as_str().unwrap().to_owned())
    }

    /// Commits files to a branch; the commit.
    async fn commit(&self, branch: &str, message: &str, files: &[(&str, &str)]) -> String {
        // Ids of one moment have no order.
        self.server.clock.advance(Duration::from_millis(1));
        let changes: Vec<Value> = files
            .iter()
            .map(|(path, text)| json!({ "op": "put", "path": path, "content": STANDARD.encode(text) }))
            .collect();
        let mut body = json!({ "branch": branch, "message": message, "changes": changes });
        if let Some(tip) = self.tip(branch).await {
            body["parentCommitId"] = json!(tip);
        }
        let made = self.ada.client.post(&self.at("contents")).json(&body).send().await.expect(201);
        made.str("/commitId").to_owned()
    }

    /// Commits a workflow file to `main`; the commit.
    async fn put(&self, file: &str, text: &str) -> String {
        self.commit("main", &format!("Change {file}"), &[(&format!(".service/workflows/{file}"), text)]).await
    }

    async fn runs(&self, query: &str) -> Vec<Value> {
        self.get(&format!("runs{query}")).await.expect(200).list("/runs").to_vec()
    }

    /// The newest run of the query, once there is one.
    async fn run(&self, query: &str) -> Value {
        self.server.eventually("a run", async || self.runs(query).await.first().cloned()).await
    }

    async fn detail(&self, run: &Value) -> Value {
        self.get(&format!("runs/{}", run["runId"].as_str().unwrap())).await.expect(200).json
    }

    /// The run once it stands so.
    async fn once(&self, run: &Value, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let looked = async || Some(self.detail(run).await).filter(|detail| holds(detail));
        self.server.eventually(what, looked).await
    }

    /// How the run ended, once it has, and each of its jobs.
    async fn ended(&self, run: &Value) -> (String, Vec<(String, String)>) {
        let detail = self.once(run, "the end of a run", |detail| detail["run"]["status"] == "completed").await;
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let jobs = detail["jobs"].as_array().unwrap().iter().map(|it| (text(&it["name"]), text(&it["conclusion"])));
        (text(&detail["run"]["conclusion"]), jobs.collect())
    }

    /// A token that registers a runner.
    async fn registration(&self, body: Value) -> String {
        let path = format!("{}/pipelines/runners/token", self.org);
        self.ada.client.post(&path).json(&body).send().await.expect(201).str("/token").to_owned()
    }

    /// A runner on Linux with these labels.
    async fn runner(&self, name: &str, labels: &[&str]) -> Runner {
        let token = self.registration(json!({})).await;
        let body = json!({ "token": token, "name": name, "labels": labels, "os": "linux", "arch": "x64" });
        let made = self.server.client().post("/v1/runner/register").json(&body).send().await.expect(201);
        self.server.clock.advance(Duration::from_millis(1));
        Runner {
            client: self.server.client(),
            secret: made.str("/secret").to_owned(),
            id: made.str("/runnerId").to_owned(),
        }
    }
}

impl Runner {
    /// Asks for a job, for so many seconds.
    pub fn asking(&self, wait: u64) -> Request {
        let body = json!({ "version": "0.1.0", "labels": [], "running": 0, "wait": wait });
        self.client.post("/v1/runner/poll").header("x-service-runner", &self.secret).json(&body)
    }

    /// The job that it is given, as soon as there is one.
    pub async fn take(&self) -> Held {
        self.try_take(20).await.expect("a job")
    }

    pub async fn try_take(&self, wait: u64) -> Option<Held> {
        let answer = self.asking(wait).send().await;
        (answer.status != 204).then(|| self.held(&answer.expect(200)))
    }

    /// The job that an answer hands over.
    pub fn held(&self, answer: &Answer) -> Held {
        Held {
            client: self.client.clone(),
            token: answer.str("/job/token").to_owned(),
            id: answer.str("/job/jobId").to_owned(),
        }
    }

    /// The same, asking another server.
    pub fn at(&self, client: &Client) -> Self {
        Self { client: self.client.at(client.base()), ..self.clone() }
    }

    /// The job that it is given, started.
    async fn start(&self) -> Held {
        let held = self.take().await;
        held.plan().await.expect(200);
        held
    }
}

impl Held {
    /// The same, talking to another server.
    pub fn at(&self, client: &Client) -> Self {
        Self { client: self.client.at(client.base()), ..self.clone() }
    }

    pub async fn plan(&self) -> Answer {
        self.client.get("/v1/runner/job").header("x-service-job", &self.token).send().await
    }

    pub async fn say(&self, path: &str, body: &Value) -> Answer {
        self.client.post(&format!("/v1/runner/{path}")).header("x-service-job", &self.token).json(body).send().await
    }

    pub async fn status(&self) -> Answer {
        self.say("status", &json!({ "steps": [step(0, "in_progress", None)] })).await
    }

    pub async fn complete(&self, conclusion: &str) {
        self.say("complete", &json!({ "conclusion": conclusion })).await.expect(200);
    }
}

fn step(index: i64, status: &str, conclusion: Option<&str>) -> Value {
    let mut step = json!({ "index": index, "name": format!("Step {index}"), "status": status });
    if let Some(conclusion) = conclusion {
        step["conclusion"] = json!(conclusion);
        step["outcome"] = json!(conclusion);
    }
    step
}
