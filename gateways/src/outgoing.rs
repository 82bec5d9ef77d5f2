//! Requests to other people's services, bounded in time and in what is read of the answer.

use std::{error::Error, sync::LazyLock, time::Duration};

use reqwest::{
    Certificate, ClientBuilder, RequestBuilder, Response, StatusCode,
    header::{DATE, HeaderMap, HeaderName, RETRY_AFTER},
    redirect::Policy,
};
use rustls::{RootCertStore, pki_types::CertificateDer};
use serde::de::DeserializeOwned;

/// What is read of an answer, at most.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// The longest pause that a service may ask for; an answer that wants more is taken for a mistake.
const PAUSE_MAX: Duration = Duration::from_secs(24 * 3600);
/// Characters of a service's own words that go to the log.
const WORDS_LEN_MAX: usize = 300;

/// A service's answer.
pub(crate) struct Answer {
    pub status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// What the system believes in, read once: each client would read and decode the same again.
static ROOTS: LazyLock<Vec<Certificate>> = LazyLock::new(|| {
    // One that can't be used is left out, as if it were not there: it would keep any client from being built.
    let is_usable = |der: &CertificateDer<'static>| RootCertStore::empty().add(der.clone()).is_ok();
    let believed = rustls_native_certs::load_native_certs().certs.into_iter().filter(is_usable);
    believed.filter_map(|der| Certificate::from_der(&der).ok()).collect()
});

/// A client that believes in what the system believes in, that follows no redirect, as none of these services redirects and
/// a credential must not travel, and that gives up after `timeout`.
pub(crate) fn client(timeout: Duration) -> ClientBuilder {
    // Only an earlier call in this process makes this fail, and then it is the same provider.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder()
        .user_agent(concat!("troupe/", env!("CARGO_PKG_VERSION")))
        .tls_certs_only(ROOTS.iter().cloned())
        .redirect(Policy::none())
        .connect_timeout(timeout)
        .timeout(timeout)
}

/// Sends a request and reads its answer. An error is for the log, and names no address: those of push messages are
/// secrets.
pub(crate) async fn ask(request: RequestBuilder) -> Result<Answer, String> {
    let response = request.send().await.map_err(words)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let body = read(response).await.map_err(words)?;
    Ok(Answer::new(status, headers, body))
}

async fn read(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let free = ANSWER_BYTES_MAX - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(free)]);
        if chunk.len() >= free {
            break;
        }
    }
    Ok(body)
}

fn words(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return "the service did not answer in time".to_owned();
    }
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    cut(&text, WORDS_LEN_MAX)
}

impl Answer {
    pub const fn new(status: StatusCode, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self { status, headers, body }
    }

    /// What the service says in a header, if it is text.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body, if it is JSON of that form.
    pub fn json<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The body, if it is text.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.body).ok()
    }

    /// How long the service wants to be left alone. A point in time is read against the service's own clock.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.header(&RETRY_AFTER)?.trim();
        let pause = if let Ok(seconds) = text.parse() {
            Duration::from_secs(seconds)
        } else {
            let now = httpdate::parse_http_date(self.header(&DATE)?).ok()?;
            httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()
        };
        (pause <= PAUSE_MAX).then_some(pause)
    }

    /// Status and words of a refusal.
    pub fn refusal(&self, service: &str, words: &str) -> String {
        let status = self.status.as_u16();
        let words = cut(words, WORDS_LEN_MAX);
        if words.is_empty() {
            format!("{service} answered {status}")
        } else {
            format!("{service} answered {status}: {words}")
        }
    }
}

/// The first `chars` characters of a text.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(headers: &[(HeaderName, &str)]) -> Option<u64> {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        let answer = Answer::new(StatusCode::TOO_MANY_REQUESTS, headers, Vec::new());
        answer.retry_after().map(|pause| pause.as_secs())
    }

    #[test]
    fn a_pause_is_seconds_or_a_time_on_the_services_clock() {
        let date = (DATE, "Sat, 21 Nov 2026 10:00:00 GMT");
        assert_eq!(pause(&[(RETRY_AFTER, "30")]), Some(30));
        assert_eq!(pause(&[(RETRY_AFTER, "86400")]), Some(86_400));
        assert_eq!(pause(&[(RETRY_AFTER, "86401")]), None);
        assert_eq!(pause(&[(RETRY_AFTER, "soon")]), None);
        assert_eq!(pause(&[(RETRY_AFTER, "Sat, 21 Nov 2026 10:01:30 GMT"), date.clone()]), Some(90));
        assert_eq!(pause(&[(RETRY_AFTER, "Sat, 21 Nov 2026 09:00:00 GMT"), date]), Some(0));
        assert_eq!(pause(&[(RETRY_AFTER, "Sat, 21 Nov 2026 10:01:30 GMT")]), None);
        assert_eq!(pause(&[]), None);
    }
}
