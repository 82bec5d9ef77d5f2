//! The programs that a plan runs on.

use serde_json::json;
use store::testing::{SECRET_KEY_TEXT, Scratch};

use crate::harness::{Client, Launch, Process};

/// Programs on one database, each of which may be killed and started again.
pub struct Nodes {
    launches: Vec<Launch>,
    running: Vec<Option<Process>>,
    /// Somebody who owns the organization; addresses no node that is sure to run.
    pub owner: Client,
    pub org: String,
    // Dropped after the programs that use it.
    _scratch: Scratch,
}

impl Nodes {
    /// Starts them all. More than one needs a `PostgreSQL` database in `scratch` and `redis`.
    pub async fn start(scratch: Scratch, count: usize, redis: &str) -> Self {
        let prefix = scratch.folder().file_name().unwrap().to_string_lossy().into_owned();
        let launches = (0..count).map(|node| {
            let data = scratch.folder().join(format!("node-{node}"));
            std::fs::create_dir_all(&data).unwrap();
            Launch::in_folder(&data)
                .set(format!("database.url={}", scratch.url()))
                .set(format!("redis.url={redis}"))
                .set(format!("redis.prefix={prefix}"))
                .set(format!("secrets.keys={SECRET_KEY_TEXT}"))
                .set("shutdown.grace=5s")
                .set("server.workers=1")
                .set("actors.threads=1")
        });
        let launches: Vec<_> = launches.collect();
        let running: Vec<_> = launches.iter().map(|launch| Some(launch.start())).collect();
        let client = running[0].as_ref().expect("a node").client();
        let owner = client.with_authenticator("owner").await;
        let org = owner.org("Plans").await;
        Self { launches, running, owner, org, _scratch: scratch }
    }

    /// How to reach a node; `None` while it doesn't run.
    pub fn client(&self, node: usize) -> Option<Client> {
        self.running[node].as_ref().map(|process| self.owner.at(&process.url))
    }

    /// SIGKILL, unless the node has ended already.
    pub fn kill(&mut self, node: usize) {
        if let Some(process) = self.running[node].take() {
            process.kill();
        }
    }

    /// SIGTERM, and waits until the node has ended.
    pub async fn stop(&mut self, node: usize) {
        if let Some(process) = self.running[node].take() {
            let status = tokio::task::spawn_blocking(move || process.terminate()).await.unwrap();
            assert_eq!(status, Some(0), "a node that stops in order");
        }
    }

    /// Starts a node that doesn't run.
    pub async fn start_again(&mut self, node: usize) {
        if self.running[node].is_none() {
            let launch = self.launches[node].clone();
            self.running[node] = Some(tokio::task::spawn_blocking(move || launch.start()).await.unwrap());
        }
    }

    pub async fn start_all(&mut self) {
        for node in 0..self.launches.len() {
            self.start_again(node).await;
        }
    }

    /// Makes a page; all nodes must run.
    pub async fn page(&self) -> String {
        let client = self.client(0).expect("a node that runs");
        let body = json!({ "parentId": "root", "title": "A plan's page", "kind": "doc" });
        let answer = client.post(&format!("/v1/orgs/{}/pages", self.org)).json(&body).send().await.expect(201);
        answer.str("/page/pageId").to_owned()
    }

    /// The Markdown that the server keeps as a page's content.
    pub async fn markdown(&self, page: &str) -> String {
        let client = self.client(0).expect("a node that runs");
        let answer = client.get(&format!("/v1/orgs/{}/pages/{page}", self.org)).send().await.expect(200);
        answer.str("/content/markdown").to_owned()
    }
}
