//! A client: an address and, perhaps, a credential.

use std::time::Duration;

use reqwest::Method;
use serde::Serialize;

use super::Answer;

/// How long a connection without a request is used again: less than the server keeps it, so that it never closes just then.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// Somebody who calls the server.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    pub token: Option<String>,
}

impl Client {
    pub fn new(base: impl Into<String>) -> Self {
        // The program installs the same provider; whoever is first wins, and both are alike.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .pool_idle_timeout(IDLE_MAX)
            // Nothing here speaks TLS, and reading the system's certificates takes as long as many a test.
            .tls_certs_only([])
            .build()
            .expect("a client");
        Self { http, base: base.into(), token: None }
    }

    /// The same client with another credential.
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// The same client, signed out.
    pub fn nobody(&self) -> Self {
        Self { token: None, ..self.clone() }
    }

    /// The same client, talking to another server.
    pub fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn request(&self, method: Method, path: &str) -> Request {
        let asked = format!("{method} {path}");
        let mut builder = self.http.request(method, format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            builder = builder.bearer_auth(token);
        }
        Request { builder, asked }
    }

    pub fn get(&self, path: &str) -> Request {
        self.request(Method::GET, path)
    }

    pub fn post(&self, path: &str) -> Request {
        self.request(Method::POST, path)
    }

    pub fn put(&self, path: &str) -> Request {
        self.request(Method::PUT, path)
    }

    pub fn patch(&self, path: &str) -> Request {
        self.request(Method::PATCH, path)
    }

    pub fn delete(&self, path: &str) -> Request {
        self.request(Method::DELETE, path)
    }
}

/// A request under way to being sent.
#[derive(Debug)]
pub struct Request {
    builder: reqwest::RequestBuilder,
    asked: String,
}

impl Request {
    pub fn json(self, body: &impl Serialize) -> Self {
        Self { builder: self.builder.json(body), ..self }
    }

    /// A body as it is, sent as JSON.
    pub fn raw(self, body: impl Into<reqwest::Body>) -> Self {
        Self { builder: self.builder.header("content-type", "application/json").body(body), ..self }
    }

    /// A body as it is, sent as another kind.
    pub fn body(self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        Self { builder: self.builder.header("content-type", content_type).body(body), ..self }
    }

    /// A body as it is, whose kind a header says.
    pub fn plain(self, body: impl Into<reqwest::Body>) -> Self {
        Self { builder: self.builder.body(body), ..self }
    }

    pub fn header(self, name: &str, value: impl AsRef<str>) -> Self {
        Self { builder: self.builder.header(name, value.as_ref()), ..self }
    }

    /// Sends, and reads the whole answer.
    pub async fn send(self) -> Answer {
        let response = self.builder.send().await.unwrap_or_else(|error| panic!("{}: {error:?}", self.asked));
        Answer::read(self.asked, response).await
    }

    /// Sends; the answer's body is read by whoever asks.
    pub async fn begin(self) -> reqwest::Response {
        self.builder.send().await.unwrap_or_else(|error| panic!("{}: {error:?}", self.asked))
    }

    /// Sends; `None` when the connection failed before a whole answer had come.
    pub async fn try_send(self) -> Option<Answer> {
        let response = self.builder.send().await.ok()?;
        Answer::try_read(self.asked, response).await
    }
}
