//! What running jobs send and fetch: a repository with jobs whose rows stand as a runner's polling leaves them.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    Token, TokenKind,
    id::{JobId, RunId},
    pipelines::run::{JobConclusion, JobPlace, RunStatus},
};
use serde_json::{Value, json};
use store::{
    Change, Store,
    git::StoredRepository,
    pipelines::{JobStage, RunActor, RunPlan, StoredJob, StoredRun},
    testing::recount::{self, Depth},
};

use crate::{
    accounts::org,
    harness::{Answer, Client, Person, Request, Server},
};

/// What a line begins with that is the runner's own.
pub const MARKER: &str = "0123456789abcdef0123456789abcdef";

/// A repository `web` with one commit.
pub struct Sent {
    pub server: Server,
    /// Owns the organization.
    pub ada: Person,
    /// `/v1/orgs/:orgId`
    pub org: String,
    pub store: Store,
    pub repository: StoredRepository,
    /// What `main` names.
    pub sha: String,
}

/// A job that a runner has.
pub struct Job {
    pub client: Client,
    pub token: String,
    pub row: StoredJob,
}

impl Sent {
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// On a server with these settings beside the usual ones.
    pub async fn with(settings: &[&str]) -> Self {
        let server = Server::with(settings).await;
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        let made = ada.client.post(&format!("{org}/repos")).json(&json!({ "name": "web" })).send().await.expect(201);
        let body = json!({
            "branch": "main", "message": "Begin",
            "changes": [{ "op": "put", "path": "README.md", "content": STANDARD.encode("Hello\n") }]
        });
        let committed = ada.client.post(&format!("{org}/repos/web/contents")).json(&body).send().await.expect(201);
        let store = server.store().await;
        let org_id = org.rsplit('/').next().unwrap().parse().unwrap();
        let id = made.str("/repository/resourceId").parse().unwrap();
        let repository = store.repository(org_id, id).await.unwrap().unwrap();
        Self { sha: committed.str("/commitId").to_owned(), server, ada, org, store, repository }
    }

    /// A job of a new run on a ref.
    pub async fn job(&self, full_ref: &str) -> Job {
        // Ids of one moment have no order.
        self.server.clock.advance(Duration::from_millis(1));
        let now = self.store.now();
        let run = StoredRun {
            id: RunId::new(now),
            org_id: self.repository.resource.org_id,
            repository_id: self.repository.id(),
            no: self.repository.no,
            cause: None,
            file: "ci.yml".to_owned(),
            workflow: "CI".to_owned(),
            number: 1,
            attempt: 2,
            event: "push".to_owned(),
            full_ref: full_ref.to_owned(),
            branch: full_ref.strip_prefix("refs/heads/").map(str::to_owned),
            sha: self.sha.parse().unwrap(),
            merge: None,
            title: "Begin".to_owned(),
            actor: RunActor::default(),
            status: RunStatus::InProgress,
            conclusion: None,
            pull_number: None,
            is_cancel_requested: false,
            waits_for_group: false,
            problems: None,
            version: 1,
            created_at: now,
            started_at: Some(now),
            completed_at: None,
        };
        let state = json!({
            "has_begun": true, "is_cancelled": false, "has_started": true, "conclusion": null, "nodes": []
        });
        let plan = RunPlan {
            text: String::new(),
            contexts: "{}".to_owned(),
            state: serde_json::from_value(state).unwrap(),
            attempts: Vec::new(),
        };
        let mut change = Change::new();
        change.run_add(&run, &plan);
        self.store.commit(change).await.unwrap();
        self.job_of(&run.id.to_string(), 1).await
    }

    /// A job of an attempt of a run that is there.
    pub async fn job_of(&self, run_id: &str, attempt: u32) -> Job {
        self.server.clock.advance(Duration::from_millis(1));
        let now = self.store.now();
        let token = Token::generate(TokenKind::Job).unwrap();
        let row = StoredJob {
            id: JobId::new(now),
            org_id: self.repository.resource.org_id,
            repository_id: self.repository.id(),
            no: self.repository.no,
            run_id: run_id.parse().unwrap(),
            attempt,
            place: JobPlace { node: 0, index: 0 },
            key: "test".to_owned(),
            name: "test / ../linux".to_owned(),
            labels: Vec::new(),
            environment: None,
            environment_url: None,
            timeout_minutes: 360,
            stage: JobStage::Running,
            conclusion: None,
            fault: None,
            token: Some(token.hash()),
            marker: MARKER.to_owned(),
            runner: None,
            version: 1,
            created_at: now,
            queued_at: Some(now),
            reserved_until: None,
            started_at: Some(now),
            seen_at: Some(now),
            completed_at: None,
        };
        let mut change = Change::new();
        change.job_add(&row);
        self.store.commit(change).await.unwrap();
        Job { client: self.server.client(), token: token.reveal().to_owned(), row }
    }

    /// Ends a job.
    pub async fn end(&self, job: &Job) {
        let row = StoredJob {
            stage: JobStage::Completed,
            conclusion: Some(JobConclusion::Success),
            completed_at: Some(self.store.now()),
            ..job.row.clone()
        };
        let mut change = Change::new();
        change.job_set(&row);
        self.store.commit(change).await.unwrap();
    }

    /// The path of something below the repository's pipelines.
    pub fn at(&self, rest: &str) -> String {
        format!("{}/repos/web/pipelines/{rest}", self.org)
    }

    pub async fn get(&self, rest: &str) -> Answer {
        self.ada.client.get(&self.at(rest)).send().await
    }

    /// Sends bytes to an address.
    pub async fn put(&self, url: &str, bytes: &[u8]) -> Answer {
        let client = self.server.client();
        let path = url.strip_prefix(client.base()).expect("an address of the server's").to_owned();
        client.put(&path).body("application/octet-stream", bytes.to_vec()).send().await
    }

    /// The bytes at an address.
    pub async fn fetch(&self, url: &str) -> Result<Vec<u8>, u16> {
        let client = self.server.client();
        let path = url.strip_prefix(client.base()).expect("an address of the server's").to_owned();
        let response = client.get(&path).begin().await;
        match response.status().as_u16() {
            200 => Ok(response.bytes().await.unwrap().to_vec()),
            status => Err(status),
        }
    }

    /// Contents have as many references as there are rows that name them, and blobs have contents.
    pub async fn counted(&self) {
        let wrong = recount::storage(&self.store, Depth::Bytes).await.unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

impl Job {
    /// Something that the runner asks for the job.
    pub fn post(&self, path: &str) -> Request {
        self.client.post(&format!("/v1/runner/{path}")).header("x-service-job", &self.token)
    }

    pub async fn ask(&self, path: &str, body: Value) -> Answer {
        self.post(path).json(&body).send().await
    }

    /// Where its log is, below the repository's pipelines.
    pub fn log(&self, rest: &str) -> String {
        format!("runs/{}/jobs/{}/log{rest}", self.row.run_id, self.row.id)
    }
}
