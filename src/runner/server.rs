//! The server's endpoints for runners (contract C 4.1).

use std::{
    error::Error,
    fmt::Display,
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
/// How long an answer may take beside what the server is asked to wait: longer than the server works at one, so that nothing is
/// asked again while it still does.
const ANSWER_PATIENCE: Duration = Duration::from_secs(45);
/// Bytes of a question for which an answer may take a second longer: the way to the server may be a slow one.
const SENT_A_SECOND: u64 = 32 * 1024;
/// How long to wait before asking again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// How long what an action needs is asked for again. A job that ends earlier takes its actions with it.
const OUTAGE_MAX: Duration = Duration::from_secs(10 * 60);

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody answered, or it wasn't the server, or it has trouble of its own: asking again may do.
    #[error("{why}")]
    Unreachable {
        /// Why.
        why: String,
        /// Whether the question may have come through, and may have been followed.
        is_asked: bool,
    },
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

impl AskError {
    /// An answer that means nothing.
    fn meaningless(error: &serde_json::Error) -> Self {
        Self::Unreachable { why: format!("an answer means nothing: {error}"), is_asked: true }
    }
}

/// Why something that needs the server failed.
#[derive(Debug)]
pub enum Failure<E = String> {
    /// Tried again, it may succeed.
    Passing {
        /// Why.
        why: E,
        /// Whether bytes moved for a while: then the server is there, and what was, is no outage.
        has_moved: bool,
    },
    /// Tried again, it fails as well.
    Final(E),
}

impl<E> Failure<E> {
    /// One in which nothing moved.
    pub fn passing(why: E) -> Self {
        Self::Passing { why, has_moved: false }
    }
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
        let Question { path, body, header, patience } = question;
        let body = body.to_string();
        let on_the_way = Duration::from_secs(body.len() as u64 / SENT_A_SECOND);
        let request = self.request(Method::POST, path, patience + on_the_way);
        let mut request = request.header("content-type", "application/json").body(body);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        answer(request).await?.map(|bytes| read(&bytes)).transpose()
    }

    /// Asks once, for so long, and reads the answer as it was written: the names of a plan's contexts keep their order.
    pub async fn get<T: DeserializeOwned>(&self, path: &str, patience: Duration) -> Result<T, AskError> {
        read(&answer(self.request(Method::GET, path, patience)).await?.unwrap_or_default())
    }

    fn request(&self, method: Method, path: &str, patience: Duration) -> RequestBuilder {
        let (name, token) = &self.credential;
        self.http.request(method, format!("{}{path}", self.url)).header(*name, token).timeout(patience)
    }

    /// Posts, again as long as an outage may last where the server can't be reached, and reads the answer.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, AskError> {
        let body = serde_json::to_value(body);
        let body = body.map_err(|error| AskError::Unreachable { why: error.to_string(), is_asked: false })?;
        again("The server is asked again", || self.post_once(path, &body)).await
    }

    async fn post_once<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure<AskError>> {
        match self.ask(Question::new(path, body)).await {
            Ok(answer) => understood(answer).map_err(Failure::Final),
            Err(error @ AskError::Unreachable { .. }) => Err(Failure::passing(error)),
            Err(refused) => Err(Failure::Final(refused)),
        }
    }
}

/// What an answer says.
pub fn understood<T: DeserializeOwned>(answer: Option<Value>) -> Result<T, AskError> {
    serde_json::from_value(answer.unwrap_or_default()).map_err(|error| AskError::meaningless(&error))
}

/// What the server is asked, by a POST.
#[derive(Debug)]
pub struct Question<'q> {
    path: &'q str,
    body: &'q Value,
    header: Option<(&'static str, String)>,
    patience: Duration,
}

impl<'q> Question<'q> {
    /// A question that the server answers at once.
    pub fn new(path: &'q str, body: &'q Value) -> Self {
        Self { path, body, header: None, patience: ANSWER_PATIENCE }
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
        self.patience += span;
        self
    }

    /// One whose answer is waited for no longer than this.
    #[must_use]
    pub fn within(mut self, span: Duration) -> Self {
        self.patience = span;
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
    serde_json::from_slice(bytes).map_err(|error| AskError::meaningless(&error))
}

fn refusal(status: StatusCode, body: Value) -> AskError {
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
    let (code, message) = (text("code"), text("error"));
    let answered = format!("the server answered {status}");
    match (code, message) {
        (Some(code), Some(message)) if !is_passing(status) => {
            AskError::Refused { status: status.as_u16(), code, message, body }
        }
        _ if is_faulty(status) => {
            AskError::Refused { status: status.as_u16(), code: String::new(), message: answered, body }
        }
        _ => AskError::Unreachable { why: answered, is_asked: status != StatusCode::TOO_MANY_REQUESTS },
    }
}

/// Whether an answer says what is wrong with the question, whoever gave it: a proxy says the same the next time. Other refusals
/// without the server's words, such as 404, may come from a proxy that doesn't find its server for a while.
fn is_faulty(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 405 | 411 | 413 | 414 | 415 | 431)
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
    AskError::Unreachable { why: cause.to_string(), is_asked: !error.is_connect() && !error.is_builder() }
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

/// Does something that needs the server, again as long as an outage may last; `what` is said before each further try.
pub async fn again<T, E, F>(what: &str, once: impl Fn() -> F) -> Result<T, E>
where
    E: Display,
    F: Future<Output = Result<T, Failure<E>>>,
{
    again_for(OUTAGE_MAX, what, once).await
}

async fn again_for<T, E, F>(span: Duration, what: &str, once: impl Fn() -> F) -> Result<T, E>
where
    E: Display,
    F: Future<Output = Result<T, Failure<E>>>,
{
    let mut patience = Patience::of(span);
    loop {
        match once().await {
            Ok(done) => return Ok(done),
            Err(Failure::Final(why)) => return Err(why),
            Err(Failure::Passing { why, has_moved }) => {
                if has_moved {
                    patience = Patience::of(span);
                }
                if !patience.again(what, &why).await {
                    return Err(why);
                }
            }
        }
    }
}

/// Tries that are repeated for a while.
struct Patience {
    backoff: Backoff,
    span: Duration,
    until: Option<Instant>,
}

impl Patience {
    /// For so long from the first try that fails.
    fn of(span: Duration) -> Self {
        Self { backoff: Backoff::default(), span, until: None }
    }

    /// Waits for the next try and says so, with why the last one failed; false at once where none is left. What is said goes to
    /// standard error, which is the job's log where a worker asks, and the terminal where a person does.
    async fn again(&mut self, what: &str, why: &impl Display) -> bool {
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn an_outage_begins_anew_where_bytes_moved() {
        for (moved, wanted) in [(vec![false, false, false], 2), (vec![true, true, false], 3)] {
            let tries = Cell::new(0);
            let once = || async {
                let has_moved = moved[tries.get()];
                tries.set(tries.get() + 1);
                Err::<(), _>(Failure::Passing { why: "away", has_moved })
            };
            // Shorter than any wait between two tries.
            let ended = again_for(Duration::from_millis(1), "Again", once).await;
            assert_eq!((ended, tries.get()), (Err("away"), wanted), "{moved:?}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_question_is_a_refusal_without_the_servers_words_too() {
        let refusal = |status: u16| refusal(StatusCode::from_u16(status).unwrap(), Value::Null);
        for status in [400, 405, 411, 413, 414, 415, 431] {
            assert!(matches!(refusal(status), AskError::Refused { .. }), "{status}");
        }
        for status in [401, 403, 404, 408, 429, 500, 502, 503] {
            assert!(matches!(refusal(status), AskError::Unreachable { .. }), "{status}");
        }
    }
}
