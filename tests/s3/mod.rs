//! S3's protocol (contract C 4.4): what clients of it do, and what hostile ones do.

mod forms;
mod hostile;
mod lists;
mod objects;
mod settings;
mod signer;
mod uploads;

use std::time::{Duration, SystemTime};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;
use sha2::{Digest, Sha256};

use self::signer::{Signed, Signer, sha256};
use crate::{
    accounts::org,
    harness::{Answer, Client, Person, Server},
};

/// A server with an organization, an access key that may everything there, and a bucket `files`.
struct Shop {
    server: Server,
    ada: Person,
    /// `/v1/orgs/:orgId`
    org: String,
    signer: Signer,
    client: Client,
}

/// A request over S3.
struct Call<'c> {
    shop: &'c Shop,
    method: &'c str,
    target: String,
    headers: Vec<(&'c str, String)>,
    body: Vec<u8>,
    payload: Option<String>,
    at: SystemTime,
    signer: Option<Signer>,
    is_streamed: bool,
}

impl Shop {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[&str]) -> Self {
        let server = Server::with(settings).await;
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        let signer = key(&ada, &org, json!({ "name": "all", "access": "write" })).await;
        let client = Client::new(&server.s3_url);
        let shop = Self { server, ada, org, signer, client };
        shop.put("/files").send().await.expect(200);
        shop
    }

    fn call<'c>(&'c self, method: &'c str, target: impl Into<String>) -> Call<'c> {
        Call {
            shop: self,
            method,
            target: target.into(),
            headers: Vec::new(),
            body: Vec::new(),
            payload: None,
            at: SystemTime::now(),
            signer: Some(self.signer.clone()),
            is_streamed: false,
        }
    }

    fn get(&self, target: impl Into<String>) -> Call<'_> {
        self.call("GET", target)
    }

    fn put(&self, target: impl Into<String>) -> Call<'_> {
        self.call("PUT", target)
    }

    fn post(&self, target: impl Into<String>) -> Call<'_> {
        self.call("POST", target)
    }

    fn delete(&self, target: impl Into<String>) -> Call<'_> {
        self.call("DELETE", target)
    }

    fn host(&self) -> &str {
        self.server.s3_url.trim_start_matches("http://")
    }

    /// Writes a file into `files`.
    async fn file(&self, key: &str, body: &str) -> Answer {
        self.put(format!("/files/{key}")).body(body).send().await.expect(200)
    }

    /// Switches versioning of `files`.
    async fn versioning(&self, status: &str) {
        let body = format!("<VersioningConfiguration><Status>{status}</Status></VersioningConfiguration>");
        self.put("/files?versioning").body(body).send().await.expect(200);
    }

    /// An address that is signed in advance.
    fn presigned(&self, method: &str, target: &str, seconds: u64, at: SystemTime) -> String {
        let signed = Signed { method, host: self.host(), target, headers: &[], payload: "", at };
        self.signer.presign(&signed, seconds)
    }
}

/// An access key of the organization.
async fn key(by: &Person, org: &str, body: serde_json::Value) -> Signer {
    let made = by.client.post(&format!("{org}/access-keys")).json(&body).send().await.expect(201);
    Signer { id: made.str("/accessKey/accessKeyId").to_owned(), secret: made.str("/secretAccessKey").to_owned() }
}

impl Call<'_> {
    fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With the checksum of the body.
    fn summed(self) -> Self {
        let sum = STANDARD.encode(Sha256::digest(&self.body));
        self.header("x-amz-checksum-sha256", sum)
    }

    /// Signs this in the body's place.
    fn payload(self, payload: impl Into<String>) -> Self {
        Self { payload: Some(payload.into()), ..self }
    }

    fn by(self, signer: &Signer) -> Self {
        Self { signer: Some(signer.clone()), ..self }
    }

    /// In chunks of HTTP, which say no length of the whole.
    fn streamed(self) -> Self {
        Self { is_streamed: true, ..self }
    }

    fn unsigned(self) -> Self {
        Self { signer: None, ..self }
    }

    /// Signed so long ago.
    fn ago(self, span: Duration) -> Self {
        Self { at: SystemTime::now() - span, ..self }
    }

    async fn send(self) -> Answer {
        let Self { shop, method, target, headers, body, payload, at, signer, is_streamed } = self;
        let payload = payload.unwrap_or_else(|| sha256(&body));
        let signed = Signed { method, host: shop.host(), target: &target, headers: &headers, payload: &payload, at };
        let added = signer.map(|signer| signer.headers(&signed)).unwrap_or_default();
        let mut request = shop.client.request(method.parse().unwrap(), &target);
        for (name, value) in headers.iter().map(|(name, value)| (*name, value)) {
            request = request.header(name, value);
        }
        for (name, value) in &added {
            request = request.header(name, value);
        }
        if is_streamed {
            let pieces = futures::stream::iter([Ok::<_, std::io::Error>(body)]);
            request = request.plain(reqwest::Body::wrap_stream(pieces));
        } else if !body.is_empty() {
            let content_type = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            request = match content_type {
                Some(_) => request.plain(body),
                None => request.body("application/octet-stream", body),
            };
        } else if method == "PUT" || method == "POST" {
            request = request.header("content-length", "0");
        }
        request.send().await
    }
}

/// What stands in the first element of this name.
fn element<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let rest = answer.text.split_once(&start).unwrap_or_else(|| panic!("no {name} in {}", answer.text)).1;
    rest.split_once(&end).unwrap().0
}

/// What stands in all elements of this name.
fn elements(answer: &Answer, name: &str) -> Vec<String> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    answer.text.split(&start).skip(1).map(|rest| rest.split(&end).next().unwrap_or_default().to_owned()).collect()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).unwrap_or_else(|| panic!("no {name}: {:?}", answer.headers)).to_str().unwrap()
}

/// The answer, when it is an error of this status and code.
#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, element(answer, "Code")), (status, code), "{}", answer.text);
    assert_eq!(element(answer, "RequestId"), header(answer, "x-amz-request-id"));
    assert!(!element(answer, "Message").is_empty());
}
