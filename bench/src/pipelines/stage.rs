//! A server with repositories whose workflows run, and runners that are programs of this one.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::wire::Wire;
use crate::{
    load::Request,
    report::Result,
    server::{
        Program, Server, call,
        program::{Org, Person},
    },
};

/// How long something may take that must come.
const PATIENCE: Duration = Duration::from_mins(2);
/// The repository.
pub const REPOSITORY: &str = "bench";

/// The server.
pub struct Stage {
    pub server: Server,
    org: Org,
}

/// Somebody who asks for jobs.
pub struct Runner {
    wire: Wire,
    secret: String,
}

/// A job that a runner has.
pub struct Held {
    pub id: String,
    pub token: String,
}

impl Stage {
    pub fn new(program: &Program) -> Result<Self> {
        let server = program.start()?;
        let org = Org::new(&server, Person::sign_in(&server, "ada")?)?;
        let stage = Self { server, org };
        stage.ask("POST", "repos", Some(&json!({ "name": REPOSITORY })))?;
        Ok(stage)
    }

    pub const fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// What is answered below the organization's path.
    pub fn ask(&self, method: &str, target: &str, body: Option<&Value>) -> Result<Value> {
        let request = self.org.request(method, target);
        let request = match body {
            Some(body) => request.json(body.to_string().into_bytes()),
            None => request,
        };
        call(self.address(), request)?.success()
    }

    /// Pushes workflow files in a commit; the body that does so is put together before the clock starts.
    pub fn push(&self, files: &[(String, String)]) -> Result<impl FnOnce() -> Result<Instant>> {
        let branches = self.ask("GET", &format!("repos/{REPOSITORY}/branches"), None)?;
        let change = |(name, text): &(String, String)| json!({ "op": "put", "path": format!(".service/workflows/{name}"), "content": STANDARD.encode(text) });
        let changes: Vec<Value> = files.iter().map(change).collect();
        let mut body = json!({ "branch": "main", "message": "Change", "changes": changes });
        if let Some(tip) = branches.pointer("/branches/0/commit/id") {
            body["parentCommitId"] = tip.clone();
        }
        let target = format!("repos/{REPOSITORY}/contents");
        let request = self.org.request("POST", &target).json(body.to_string().into_bytes());
        let address = self.address();
        Ok(move || {
            call(address, request)?.success()?;
            Ok(Instant::now())
        })
    }

    /// A runner with this label.
    pub fn runner(&self, label: &str) -> Result<Runner> {
        let token = self.ask("POST", "pipelines/runners/token", Some(&json!({})))?;
        let body = json!({ "token": token["token"], "name": "bench", "labels": [label], "os": "linux", "arch": "x64" });
        let request = Request::new("POST", "/v1/runner/register").json(body.to_string().into_bytes());
        let made = call(self.address(), request)?.success()?;
        let secret = made["secret"].as_str().ok_or("a runner without a secret")?.to_owned();
        Ok(Runner { wire: Wire::open(self.address())?, secret })
    }

    /// How many jobs wait for a runner, up to 200.
    pub fn queued(&self) -> Result<usize> {
        let queue = self.ask("GET", "pipelines/queue", None)?;
        Ok(queue["jobs"].as_array().map_or(0, Vec::len))
    }

    /// The run that has a job.
    pub fn runs(&self) -> Result<Vec<Value>> {
        let runs = self.ask("GET", &format!("repos/{REPOSITORY}/pipelines/runs?limit=100"), None)?;
        Ok(runs["runs"].as_array().cloned().unwrap_or_default())
    }
}

impl Runner {
    /// A question for a job that waits so many seconds.
    pub fn poll(&self, wait: u64) -> Request {
        poll(&self.secret, wait)
    }

    /// The job that the runner is given within some seconds.
    pub fn take(&mut self, wait: u64) -> Result<Option<Held>> {
        let Some(answer) = self.wire.ask(&poll(&self.secret, wait))? else { return Ok(None) };
        let text = |name: &str| answer["job"][name].as_str().map(str::to_owned).ok_or("a job without a token");
        Ok(Some(Held { id: text("jobId")?, token: text("token")? }))
    }

    /// Asks for the plan.
    pub fn start(&mut self, held: &Held) -> Result<()> {
        self.wire.ask(&held.request("GET", "job", None)).map(drop)
    }

    /// Says that the job succeeded.
    pub fn complete(&mut self, held: &Held) -> Result<()> {
        let body = json!({ "conclusion": "success", "steps": [] });
        self.wire.ask(&held.request("POST", "complete", Some(&body))).map(drop)
    }
}

impl Held {
    /// What a runner asks or says for the job.
    pub fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Request {
        let request = Request::new(method, &format!("/v1/runner/{path}")).header("x-service-job", &self.token);
        match body {
            Some(body) => request.json(body.to_string().into_bytes()),
            None => request,
        }
    }
}

fn poll(secret: &str, wait: u64) -> Request {
    let body = json!({ "version": "bench", "running": 0, "wait": wait });
    let request = Request::new("POST", "/v1/runner/poll").header("x-service-runner", secret);
    request.json(body.to_string().into_bytes())
}

/// A workflow whose only job, for a label, has a matrix of so many.
pub fn matrix(label: &str, count: usize) -> String {
    let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    format!(
        "on: push\njobs:\n  a:\n    strategy: {{matrix: {{n: [{}]}}}}\n    runs-on: {label}\n    steps: [{{run: 'true'}}]\n",
        numbers.join(", ")
    )
}

/// Waits until something is so.
pub fn until(what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let started = Instant::now();
    while !holds()? {
        if started.elapsed() > PATIENCE {
            return Err(format!("waited in vain for {what}").into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
