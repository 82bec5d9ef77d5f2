//! Pipelines of servers that are programs of their own.

use std::time::{Duration, Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::Runner;
use crate::harness::{Answer, Client};

/// How long something is waited for that must come.
const PATIENCE: Duration = Duration::from_mins(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A repository `web` whose workflows run.
#[derive(Clone)]
pub struct Outside {
    /// Owns the organization.
    pub ada: Client,
    /// `/v1/orgs/:orgId`
    org: String,
}

impl Outside {
    pub async fn new(client: &Client) -> Self {
        let ada = client.with_authenticator("ada").await;
        let org = format!("/v1/orgs/{}", ada.org("Acme").await);
        ada.post(&format!("{org}/repos")).json(&json!({ "name": "web" })).send().await.expect(201);
        Self { ada, org }
    }

    /// The same, talking to another server.
    pub fn at(&self, client: &Client) -> Self {
        Self { ada: self.ada.at(client.base()), ..self.clone() }
    }

    /// The path of something below the repository's pipelines.
    pub fn path(&self, rest: &str) -> String {
        format!("{}/repos/web/pipelines/{rest}", self.org)
    }

    /// The first commit: this workflow.
    pub async fn push(&self, workflow: &str) {
        let change = json!({ "op": "put", "path": ".service/workflows/ci.yml", "content": STANDARD.encode(workflow) });
        let body = json!({ "branch": "main", "message": "Add ci.yml", "changes": [change] });
        let path = format!("{}/repos/web/contents", self.org);
        until("a commit", async || self.ada.post(&path).json(&body).send().await, |answer| answer.status == 201).await;
    }

    /// The only run, once it is so.
    pub async fn run(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let runs = async || self.ada.get(&self.path("runs")).send().await;
        let is_so = |answer: &Answer| answer.status == 200 && answer.json["runs"].get(0).is_some_and(&holds);
        let answer = until(what, runs, is_so).await;
        let [run] = answer.list("/runs") else { panic!("{}", answer.text) };
        run.clone()
    }

    pub async fn runner(&self, name: &str) -> Runner {
        let path = format!("{}/pipelines/runners/token", self.org);
        let token = self.ada.post(&path).json(&json!({})).send().await.expect(201).str("/token").to_owned();
        let body = json!({ "token": token, "name": name, "labels": [], "os": "linux", "arch": "x64" });
        let made = self.ada.nobody().post("/v1/runner/register").json(&body).send().await.expect(201);
        let (secret, id) = (made.str("/secret").to_owned(), made.str("/runnerId").to_owned());
        Runner { client: self.ada.nobody(), secret, id }
    }
}

/// The first answer that is as wanted.
pub async fn until(what: &str, ask: impl AsyncFn() -> Answer, wanted: impl Fn(&Answer) -> bool) -> Answer {
    let started = Instant::now();
    loop {
        let answer = ask().await;
        if wanted(&answer) {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain for {what}: {} {}", answer.status, answer.text);
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}
