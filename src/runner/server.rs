//! The server's endpoints for runners (contract C 4.1).

use std::{
    error::Error,
    io::{self, Write},
    time::Duration,
};

use reqwest::{Client, Method, RequestBuilder, StatusCode, redirect::Policy};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// The header that says which runner asks.
pub const RUNNER_HEADER: &str = "x-service-runner";
/// The header that says which job is asked about.
pub const JOB_HEADER: &str = "x-service-job";
/// The header that says which line of the log a body begins with.
pub const LOG_FIRST_HEADER: &str = "x-service-log-first";

/// How long it may take to reach the server.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long an answer may take beside what the server is asked to wait: a connection that hangs must not outlast a job's lease.
const ANSWER_PATIENCE: Duration = Duration::from_secs(15);
/// Bytes of a question for which an answer may take a second longer: the way to the server may be a slow one.
const SENT_A_SECOND: u64 = 32 * 1024;
/// How long to wait before asking again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// How long what an action needs is asked for again. A job that ends earlier takes its actions with it.
pub const OUTAGE_MAX: Duration = Duration::from_secs(10 * 60);

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody answered, or it wasn't the server, or it has trouble of its own: asking again may do.
    #[error("{0}")]
    Unreachable(String),
    /// The server's own words.
    #[error("{message}")]
    Refused {
        /// The status.
        status: u16,
        /// The slug for programs.
        code: String,
        /// The sentence for people.
        message: String,
        /// All that was answered.
        body: Value,
    },
}

/// A server, and who asks it.
#[derive(Clone, Debug)]
pub struct Server {
    http: Client,
    url: String,
    credential: (&'static str, String),
}

impl Server {
    /// The server at an address, asked with a header.
    pub fn new(url: &str, header: &'static str, token: &str) -> Result<Self, AskError> {
        let http = client(url)?;
        Ok(Self { http, url: url.trim_end_matches('/').to_owned(), credential: (header, token.to_owned()) })
    }

    /// Asks once; none where the answer is empty.
    pub async fn ask(&self, question: Question<'_>) -> Result<Option<Value>, AskError> {
        let Question { path, body, header, waits } = question;
        let body = body.to_string();
        let on_the_way = Duration::from_secs(body.len() as u64 / SENT_A_SECOND);
        let request = self.request(Method::POST, path, waits + ANSWER_PATIENCE + on_the_way);
        let mut request = request.header("content-type", "application/json").body(body);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        answer(request).await?.map(|bytes| read(&bytes)).transpose()
    }

    /// Asks once, and reads the answer as it was written: the names of a plan's contexts keep their order.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, AskError> {
        read(&answer(self.request(Method::GET, path, ANSWER_PATIENCE)).await?.unwrap_or_default())
    }

    fn request(&self, method: Method, path: &str, patience: Duration) -> RequestBuilder {
        let (name, token) = &self.credential;
        self.http.request(method, format!("{}{path}", self.url)).header(*name, token).timeout(patience)
    }

    /// Posts, again as long as an outage may last where the server can't be reached, and reads the answer.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, AskError> {
        self.post_within(OUTAGE_MAX, path, body).await
    }

    /// The same, again for so long.
    pub async fn post_within<T: DeserializeOwned>(
        &self,
        span: Duration,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, AskError> {
        let body = serde_json::to_value(body).map_err(|error| AskError::Unreachable(error.to_string()))?;
        let mut patience = Patience::of(span);
        loop {
            match self.ask(Question::new(path, &body)).await {
                Ok(answer) => {
                    let answer = serde_json::from_value(answer.unwrap_or_default());
                    return answer.map_err(|error| AskError::Unreachable(format!("an answer means nothing: {error}")));
                }
                Err(AskError::Unreachable(why)) => {
                    if !patience.again("The server is asked again", &why).await {
                        return Err(AskError::Unreachable(why));
                    }
                }
                Err(refused) => return Err(refused),
            }
        }
    }
}

/// What the server is asked, by a POST.
#[derive(Debug)]
pub struct Question<'q> {
    path: &'q str,
    body: &'q Value,
    header: Option<(&'static str, String)>,
    waits: Duration,
}

impl<'q> Question<'q> {
    /// A question that the server answers at once.
    pub fn new(path: &'q str, body: &'q Value) -> Self {
        Self { path, body, header: None, waits: Duration::ZERO }
    }

    /// With a header beside.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: String) -> Self {
        self.header = Some((name, value));
        self
    }

    /// One before whose answer the server may wait for so long.
    #[must_use]
    pub fn waits(mut self, span: Duration) -> Self {
        self.waits = span;
        self
    }
}

async fn answer(request: RequestBuilder) -> Result<Option<Vec<u8>>, AskError> {
    let answer = request.send().await.map_err(|error| unreachable(&error))?;
    let status = answer.status();
    let bytes = answer.bytes().await.map_err(|error| unreachable(&error))?;
    if status == StatusCode::NO_CONTENT {
        return Ok(None);
    }
    if status.is_success() {
        return Ok(Some(bytes.to_vec()));
    }
    Err(refusal(status, serde_json::from_slice(&bytes).unwrap_or_default()))
}

/// A client for a server, or for where it has files. It waits without end for who took a connection: whoever asks sets a limit.
pub fn client(url: &str) -> Result<Client, AskError> {
    // Only an earlier call in this process makes this fail, and then it is the same provider.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = Client::builder()
        .user_agent(concat!("troupe/", env!("CARGO_PKG_VERSION"), " (runner)"))
        // A credential goes where it was sent to, and nowhere else.
        .redirect(Policy::none())
        .connect_timeout(CONNECT_PATIENCE);
    if url.starts_with("http://") {
        // Without TLS nobody needs the system's certificates, which take long to read.
        builder = builder.tls_certs_only([]);
    }
    let host = url.split("://").nth(1).unwrap_or_default();
    if ["127.", "localhost", "[::1]"].iter().any(|own| host.starts_with(own)) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| unreachable(&error))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, AskError> {
    serde_json::from_slice(bytes).map_err(|error| AskError::Unreachable(format!("an answer means nothing: {error}")))
}

fn refusal(status: StatusCode, body: Value) -> AskError {
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
    let (code, message) = (text("code"), text("error"));
    match (code, message) {
        (Some(code), Some(message)) if !is_passing(status) => {
            AskError::Refused { status: status.as_u16(), code, message, body }
        }
        _ => AskError::Unreachable(format!("the server answered {status}")),
    }
}

/// Whether an answer is no refusal: asked again, the server may say something else.
pub fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429)
}

/// What an error comes down to: what is around it says which library was at work.
pub fn unreachable(error: &reqwest::Error) -> AskError {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    AskError::Unreachable(cause.to_string())
}

/// How long to wait before asking again: longer each time, and never as long as others.
#[derive(Debug)]
pub struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(BACKOFF.0)
    }
}

impl Backoff {
    /// How long to wait now; the next time twice as long.
    pub fn span(&mut self) -> Duration {
        let mut byte = [0];
        // Without randomness everybody waits as long.
        let _ = getrandom::fill(&mut byte);
        let span = self.0.mul_f64(0.5 + f64::from(byte[0]) / 512.0);
        self.0 = (self.0 * 2).min(BACKOFF.1);
        span
    }

    /// Waits; the next time twice as long.
    pub async fn wait(&mut self) {
        sleep(self.span()).await;
    }
}

/// Tries that are repeated for a while.
#[derive(Debug)]
pub struct Patience {
    backoff: Backoff,
    span: Duration,
    until: Option<Instant>,
}

impl Patience {
    /// For so long from the first try that fails.
    pub fn of(span: Duration) -> Self {
        Self { backoff: Backoff::default(), span, until: None }
    }

    /// Waits for the next try and says so, with why the last one failed; false at once where none is left. What is said goes to
    /// standard error, which is the job's log where a worker asks, and the terminal where a person does.
    pub async fn again(&mut self, what: &str, why: &str) -> bool {
        let now = Instant::now();
        let span = self.span;
        if now >= *self.until.get_or_insert_with(|| now + span) {
            return false;
        }
        // In one write, so that no step's lines come between.
        drop(io::stderr().lock().write_all(format!("{what}: {why}\n").as_bytes()));
        self.backoff.wait().await;
        true
    }
}
