//! The OpenTelemetry collector, over HTTP.

use std::{error::Error, fmt, fs, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use reqwest::{
    Client, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use tokio::runtime::Handle;

use crate::config;

/// Where a collector takes traces, below its address.
const PATH: &str = "/v1/traces";
/// What OTLP over HTTP is sent as.
const PROTOBUF: &str = "application/x-protobuf";
/// What is read of an answer, at most, in bytes.
const ANSWER_LEN_MAX: usize = 64 * 1024;

/// A way to the collector, with the headers that it asks for.
#[derive(Clone)]
pub struct Collector {
    client: Client,
    url: String,
    timeout: Duration,
    /// Requests are made on it, whoever waits for them.
    runtime: Handle,
}

impl Collector {
    /// The collector that the settings name, if they name one. Opens nothing yet.
    ///
    /// # Errors
    /// Headers that are none, or whose file can't be read. The text tells no secret.
    pub fn new(tracing: &config::Tracing, runtime: &Handle) -> Result<Option<Self>, String> {
        if tracing.otlp.is_empty() {
            return Ok(None);
        }
        // Only an earlier call in this process makes this fail, and then it is the same provider.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::builder()
            .user_agent(concat!("troupe/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(tracing.timeout)
            .timeout(tracing.timeout)
            .default_headers(headers(tracing)?)
            .build()
            .map_err(|error| format!("`tracing.otlp` can't be used: {error}"))?;
        let url = format!("{}{PATH}", tracing.otlp.trim_end_matches('/'));
        Ok(Some(Self { client, url, timeout: tracing.timeout, runtime: runtime.clone() }))
    }

    /// Where traces go.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How long an answer may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Hands the collector an empty export; what it answers, for whoever sets it up.
    ///
    /// # Errors
    /// It doesn't answer, or refuses.
    pub async fn check(&self) -> Result<(), String> {
        let request = self.client.post(&self.url).header(CONTENT_TYPE, PROTOBUF).body(Vec::new());
        let response = request.send().await.map_err(|error| words(&error.without_url()))?;
        match response.status() {
            status if status.is_success() => Ok(()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err("it refuses the headers".into()),
            status => Err(format!("it answers {}", status.as_u16())),
        }
    }
}

/// An error with what caused it.
fn words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn headers(tracing: &config::Tracing) -> Result<HeaderMap, String> {
    let path = &tracing.headers_file;
    let from_file = match path.as_str() {
        "" => String::new(),
        path => fs::read_to_string(path)
            .map_err(|error| format!("the file {path} of `tracing.headers_file` can't be read: {error}"))?,
    };
    let lines = from_file.lines().filter(|line| !line.trim().is_empty());
    let all = tracing.headers.iter().map(String::as_str).chain(lines).map(header).collect::<Option<_>>();
    all.ok_or_else(|| "an entry of `tracing.headers` or `tracing.headers_file` is no header, `Name: value`".to_owned())
}

fn header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    value.set_sensitive(true);
    Some((HeaderName::try_from(name.trim()).ok()?, value))
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collector({})", self.url)
    }
}

/// Spans are handed over by a thread that belongs to no runtime.
#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(async move { Ok(send(&client, request).await?) }).await?
    }
}

async fn send(client: &Client, request: Request<Bytes>) -> reqwest::Result<Response<Bytes>> {
    let mut response = client.execute(request.try_into()?).await?;
    let mut body = Vec::new();
    while body.len() < ANSWER_LEN_MAX
        && let Some(chunk) = response.chunk().await?
    {
        body.extend_from_slice(&chunk[..chunk.len().min(ANSWER_LEN_MAX - body.len())]);
    }
    let mut answer = Response::new(Bytes::from(body));
    *answer.status_mut() = response.status();
    *answer.headers_mut() = response.headers().clone();
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_a_name_and_a_value() {
        let (name, value) = header("Authorization: Basic dXNlcjpwYXNz").expect("a header");
        assert_eq!((name.as_str(), value.to_str().expect("text")), ("authorization", "Basic dXNlcjpwYXNz"));
        assert!(value.is_sensitive());
        assert!(["", "Authorization", "two words: 1", "a: \u{7f}"].iter().all(|line| header(line).is_none()));
    }
}
