//! A server that knows nothing but the contract's rows for runners, and that goes away in the middle of things.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The marker of all jobs.
pub const MARKER: &str = "0123456789abcdef0123456789abcdef";
/// The token of all jobs.
pub const JOB_TOKEN: &str = "trp_j_token-of-the-job";
/// What the runner shows.
pub const RUNNER_SECRET: &str = "trp_r_secret-of-the-runner";
/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the server knows, and what it was told.
#[derive(Default)]
pub struct Told {
    /// Plans that no runner has yet.
    pub queued: VecDeque<Value>,
    /// The plan that a runner has.
    pub plan: Value,
    /// The lines that came.
    pub lines: Vec<String>,
    /// How the job ended.
    pub end: Option<Value>,
    /// The last status.
    pub steps: Value,
    /// Whether the job is to be cancelled.
    pub is_cancelled: bool,
    /// Whether connections break: one in three before the request counts, one in three after it.
    pub breaks: bool,
    /// Whether a report with outputs is refused.
    pub refuses_outputs: bool,
    /// What is answered to a path, in place of what the contract says.
    pub answers: BTreeMap<String, (u16, Value)>,
    /// What was asked, by paths.
    pub asked: Vec<(String, Value)>,
    /// Files that jobs put here.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Statuses with which the next requests for files are refused.
    pub file_refusals: VecDeque<u16>,
    /// How the paths begin whose connections hang: what comes is read, and nothing is ever answered.
    pub hangs: Option<&'static str>,
    /// What was asked while they did, by paths.
    pub hung: Vec<String>,
    /// How long a question with lines may be for a proxy, which says no more than that.
    pub log_len_max: Option<usize>,
    requests: usize,
}

/// The server.
#[derive(Clone)]
pub struct Server {
    /// Where it is.
    pub url: String,
    told: Arc<(Mutex<Told>, Condvar)>,
}

impl Server {
    /// A server at work.
    pub fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// The same, at this address.
    pub fn on(listener: TcpListener) -> Self {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { url, told: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = serving.clone();
                thread::spawn(move || server.serve(&stream));
            }
        });
        server
    }

    /// Changes what the server knows.
    pub fn with<T>(&self, change: impl FnOnce(&mut Told) -> T) -> T {
        let changed = change(&mut self.told.0.lock().unwrap());
        self.told.1.notify_all();
        changed
    }

    /// Waits until something is so.
    pub fn until(&self, what: &str, mut is_so: impl FnMut(&Told) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut told = self.told.0.lock().unwrap();
        while !is_so(&told) {
            let left = deadline.checked_duration_since(Instant::now());
            let left = left.unwrap_or_else(|| panic!("{what}: {:?} {}", told.lines.last(), told.steps));
            told = self.told.1.wait_timeout(told, left).unwrap().0;
        }
    }

    fn serve(&self, mut stream: &TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let Some((head, body)) = read(&mut reader) else { return };
        let path = head.split_whitespace().nth(1).unwrap_or_default();
        let (request, hangs) = self.with(|told| {
            told.requests += usize::from(told.breaks);
            (told.requests, told.hangs.is_some_and(|begin| path.starts_with(begin)))
        });
        if hangs {
            self.with(|told| told.hung.push(path.to_owned()));
            // The connection stands for longer than anybody waits.
            return thread::sleep(2 * PATIENCE);
        }
        // An odd cycle, so that each request comes through some time.
        if request % 3 == 1 {
            return;
        }
        if path.starts_with("/files/") {
            return self.file(stream, &head, path, body);
        }
        let (status, answer) = self.answer(&head, &serde_json::from_slice(&body).unwrap_or_default());
        if request % 3 == 2 && !head.contains("/poll") && !head.contains("/register") {
            return;
        }
        let text = if status == 204 { String::new() } else { answer.to_string() };
        let answer = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        drop(stream.write_all(answer.as_bytes()));
    }

    /// Keeps a file, or gives it back.
    fn file(&self, mut stream: &TcpStream, head: &str, path: &str, body: Vec<u8>) {
        let (status, bytes) = self.with(|told| {
            if let Some(refusal) = told.file_refusals.pop_front() {
                return (refusal, Vec::new());
            }
            if head.starts_with("PUT") {
                told.files.insert(path.to_owned(), body);
                return (200, Vec::new());
            }
            (200, told.files.get(path).cloned().unwrap_or_default())
        });
        let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", bytes.len());
        drop(stream.write_all(answer.as_bytes()).and_then(|()| stream.write_all(&bytes)));
    }

    fn answer(&self, head: &str, body: &Value) -> (u16, Value) {
        let path = head.split_whitespace().nth(1).unwrap();
        let given = self.with(|told| {
            told.asked.push((path.to_owned(), body.clone()));
            told.answers.get(path).cloned()
        });
        if let Some(answer) = given {
            return answer;
        }
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let credential = if matches!(path, "/v1/runner/register" | "/v1/runner/poll") { "" } else { JOB_TOKEN };
        assert!(credential.is_empty() || header("x-service-job:") == Some(credential), "{head}");
        match path {
            "/v1/runner/register" => (201, json!({ "runnerId": "rnr_1", "labels": [], "secret": RUNNER_SECRET })),
            "/v1/runner/poll" => self.poll(header("x-service-runner:")),
            "/v1/runner/job" => self.with(|told| (200, json!({ "plan": told.plan, "secrets": {"WORD": "swordfish"} }))),
            "/v1/runner/status" => self.with(|told| {
                told.steps = body["steps"].clone();
                (200, json!({ "cancel": told.is_cancelled }))
            }),
            "/v1/runner/logs" => self.log(header("x-service-log-first:").unwrap().parse().unwrap(), body),
            "/v1/runner/complete" if self.refuses(body) => {
                (400, json!({ "error": "These outputs are too large.", "code": "invalid_request" }))
            }
            "/v1/runner/complete" => self.with(|told| {
                told.end.get_or_insert_with(|| body.clone());
                (200, json!({ "ok": true }))
            }),
            path => (404, json!({ "error": path, "code": "not_found" })),
        }
    }

    fn refuses(&self, body: &Value) -> bool {
        self.with(|told| told.refuses_outputs && body["outputs"].is_object())
    }

    fn poll(&self, runner: Option<&str>) -> (u16, Value) {
        if runner != Some(RUNNER_SECRET) {
            return (401, json!({ "error": "No runner goes by this.", "code": "runner_unknown" }));
        }
        let (lock, changed) = &*self.told;
        let told = lock.lock().unwrap();
        let (mut told, _) =
            changed.wait_timeout_while(told, Duration::from_secs(5), |told| told.queued.is_empty()).unwrap();
        match told.queued.pop_front() {
            None => (204, Value::Null),
            Some(plan) => {
                told.plan = plan;
                (200, json!({ "job": { "jobId": "job_1", "token": JOB_TOKEN } }))
            }
        }
    }

    fn log(&self, first: usize, body: &Value) -> (u16, Value) {
        self.with(|told| {
            if told.log_len_max.is_some_and(|len_max| body.to_string().len() > len_max) {
                return (413, Value::Null);
            }
            if first > told.lines.len() {
                return (409, json!({ "error": "gap", "code": "log_gap", "next": told.lines.len() }));
            }
            let known = told.lines.len() - first;
            let lines = body["lines"].as_array().unwrap().iter().skip(known);
            told.lines.extend(lines.map(|line| line["m"].as_str().unwrap().to_owned()));
            (200, json!({ "ok": true, "next": told.lines.len() }))
        })
    }
}

fn read(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).ok()? > 2 {
        head.push_str(&line);
        line.clear();
    }
    let head = head.lines().map(|line| {
        line.split_once(": ").map_or(line.to_owned(), |(name, value)| format!("{}:{value}", name.to_lowercase()))
    });
    let head = head.collect::<Vec<_>>().join("\n");
    let len =
        head.lines().find_map(|line| line.strip_prefix("content-length:")).map_or(0, |len| len.trim().parse().unwrap());
    let mut body = vec![0; len];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// The plan of a job of these scripts.
pub fn plan(scripts: &[&str]) -> Value {
    let steps: Vec<_> = (0..).zip(scripts).map(|(index, script)| json!({ "index": index, "run": script })).collect();
    json!({
        "protocol": 1,
        "job": {
            "id": "job_1", "key": "a", "name": "a", "runId": "run_1", "runNumber": 1, "attempt": 1, "workflow": "ci",
            "repository": "site", "timeoutMinutes": 10
        },
        "contexts": { "github": { "event_name": "push" } }, "env": {}, "defaults": {}, "steps": steps,
        "outputs": { "said": "${{ job.status }}" }, "marker": MARKER,
        "limits": { "logBytes": 67_108_864, "summaryBytes": 65_536, "artifactBytes": 1_000_000, "cacheBytes": 1_000_000 },
        "serverUrl": "http://localhost"
    })
}
