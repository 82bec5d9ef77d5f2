//! A server with repositories whose workflows run, and runners that are programs of this one.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{pushes::Work, wire::Wire};
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
    work: Work,
}

/// Somebody who asks for jobs.
pub struct Runner {
    address: SocketAddr,
    /// Opened when it is used first: a server waits for the first request of a connection for a few seconds only.
    wire: Option<Wire>,
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
        let ask = |target: &str, body: Value| {
            call(server.address(), org.request("POST", target).json(body.to_string().into_bytes()))?.success()
        };
        let made = ask("repos", json!({ "name": REPOSITORY }))?;
        let url = made["repository"]["cloneUrl"].as_str().ok_or("a repository without an address")?;
        let path = url.splitn(4, '/').nth(3).ok_or("an address without a path")?;
        let key = ask("keys", json!({ "name": "bench", "kind": "api", "scopes": ["git:read", "git:write"] }))?;
        let key = key["secret"].as_str().ok_or("a key without a secret")?;
        let work = Work::new(format!("/{path}"), key.to_owned())?;
        Ok(Self { server, org, work })
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

    /// Commits workflow files; the push of it, which says when it was answered.
    pub fn push(&self, files: &[(String, String)]) -> Result<impl FnOnce() -> Result<Instant>> {
        self.work.push(self.address(), files)
    }

    /// A runner with this label.
    pub fn runner(&self, label: &str) -> Result<Runner> {
        let token = self.ask("POST", "pipelines/runners/token", Some(&json!({})))?;
        let body = json!({ "token": token["token"], "name": "bench", "labels": [label], "os": "linux", "arch": "x64" });
        let request = Request::new("POST", "/v1/runner/register").json(body.to_string().into_bytes());
        let made = call(self.address(), request)?.success()?;
        let secret = made["secret"].as_str().ok_or("a runner without a secret")?.to_owned();
        Ok(Runner { address: self.address(), wire: None, secret })
    }

    /// How many jobs of a workflow file's newest run wait for a runner.
    pub fn queued(&self, file: &str) -> Result<usize> {
        let runs = self.ask("GET", &format!("repos/{REPOSITORY}/pipelines/runs?file={file}&limit=1"), None)?;
        let Some(id) = runs.pointer("/runs/0/runId").and_then(Value::as_str) else { return Ok(0) };
        let run = self.ask("GET", &format!("repos/{REPOSITORY}/pipelines/runs/{id}"), None)?;
        let jobs = run["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(jobs.iter().filter(|job| job["status"] == "queued").count())
    }

    /// The run that has a job.
    pub fn runs(&self) -> Result<Vec<Value>> {
        let runs = self.ask("GET", &format!("repos/{REPOSITORY}/pipelines/runs?limit=100"), None)?;
        Ok(runs["runs"].as_array().cloned().unwrap_or_default())
    }
}

impl Runner {
    fn ask(&mut self, request: &Request) -> Result<Option<Value>> {
        let wire = match &mut self.wire {
            Some(wire) => wire,
            none => none.insert(Wire::open(self.address)?),
        };
        wire.ask(request)
    }

    /// A question for a job that waits so many seconds.
    pub fn poll(&self, wait: u64) -> Request {
        poll(&self.secret, wait)
    }

    /// The job that the runner is given within some seconds.
    pub fn take(&mut self, wait: u64) -> Result<Option<Held>> {
        let Some(answer) = self.ask(&self.poll(wait))? else { return Ok(None) };
        let text = |name: &str| answer["job"][name].as_str().map(str::to_owned).ok_or("a job without a token");
        Ok(Some(Held { id: text("jobId")?, token: text("token")? }))
    }

    /// Asks for the plan.
    pub fn start(&mut self, held: &Held) -> Result<()> {
        self.ask(&held.request("GET", "job", None)).map(drop)
    }

    /// Says that the job succeeded.
    pub fn complete(&mut self, held: &Held) -> Result<()> {
        let body = json!({ "conclusion": "success", "steps": [] });
        self.ask(&held.request("POST", "complete", Some(&body))).map(drop)
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
