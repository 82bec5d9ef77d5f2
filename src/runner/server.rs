//! The server's endpoints for runners (contract C 4.1).

use std::{error::Error, time::Duration};

use reqwest::{Client, Method, StatusCode, redirect::Policy};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::time::sleep;

/// The header that says which runner asks.
pub const RUNNER_HEADER: &str = "x-service-runner";
/// The header that says which job is asked about.
pub const JOB_HEADER: &str = "x-service-job";
/// The header that says which line of the log a body begins with.
pub const LOG_FIRST_HEADER: &str = "x-service-log-first";

/// How long it may take to reach the server.
const CONNECT_PATIENCE: Duration = Duration::from_secs(15);
/// How long an answer may take. Polls take 50 seconds.
const PATIENCE: Duration = Duration::from_secs(90);
/// How long the server may say nothing while a file goes or comes.
const SILENCE: Duration = Duration::from_secs(60);
/// How long to wait before asking again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(15));
/// How often an action's question is asked until it is given up.
const TRIES_MAX: u32 = 6;

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
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        header: Option<(&'static str, String)>,
    ) -> Result<Option<Value>, AskError> {
        let answer = self.ask_bytes(method, path, body, header).await?;
        answer.map(|bytes| read(&bytes)).transpose()
    }

    /// Asks once, and reads the answer as it was written: the names of a plan's contexts keep their order.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, AskError> {
        read(&self.ask_bytes(Method::GET, path, None, None).await?.unwrap_or_default())
    }

    async fn ask_bytes(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        header: Option<(&'static str, String)>,
    ) -> Result<Option<Vec<u8>>, AskError> {
        let (name, token) = &self.credential;
        let mut request =
            self.http.request(method, format!("{}{path}", self.url)).header(*name, token).timeout(PATIENCE);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
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

    /// Posts, again where the server can't be reached, and reads the answer.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, AskError> {
        let body = serde_json::to_value(body).map_err(|error| AskError::Unreachable(error.to_string()))?;
        let mut backoff = Backoff::default();
        for attempt in 1.. {
            match self.ask(Method::POST, path, Some(&body), None).await {
                Ok(answer) => {
                    let answer = serde_json::from_value(answer.unwrap_or_default());
                    return answer.map_err(|error| AskError::Unreachable(format!("an answer means nothing: {error}")));
                }
                Err(AskError::Unreachable(_)) if attempt < TRIES_MAX => backoff.wait().await,
                Err(error) => return Err(error),
            }
        }
        Err(AskError::Unreachable("nobody answers".to_owned()))
    }
}

/// A client for a server, or for where it has files.
pub fn client(url: &str) -> Result<Client, AskError> {
    // Only an earlier call in this process makes this fail, and then it is the same provider.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = Client::builder()
        .user_agent(concat!("troupe/", env!("CARGO_PKG_VERSION"), " (runner)"))
        // A credential goes where it was sent to, and nowhere else.
        .redirect(Policy::none())
        .connect_timeout(CONNECT_PATIENCE)
        .read_timeout(SILENCE + PATIENCE);
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
    let is_passing = status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429);
    match (code, message) {
        (Some(code), Some(message)) if !is_passing => {
            AskError::Refused { status: status.as_u16(), code, message, body }
        }
        _ => AskError::Unreachable(format!("the server answered {status}")),
    }
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
    /// Waits; the next time twice as long.
    pub async fn wait(&mut self) {
        let mut byte = [0];
        // Without randomness everybody waits as long.
        let _ = getrandom::fill(&mut byte);
        sleep(self.0.mul_f64(0.5 + f64::from(byte[0]) / 512.0)).await;
        self.0 = (self.0 * 2).min(BACKOFF.1);
    }
}
