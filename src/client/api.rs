//! The endpoints that the command line asks.

use std::{error::Error, time::Duration};

use reqwest::{
    Client, Method, Response, StatusCode,
    header::{CONTENT_TYPE, LOCATION},
    redirect::Policy,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    address::Address,
    error::{ClientError, Refusal, Result},
    kept::SignIn,
    plain::{Plain, sentence},
};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to reach the server.
const CONNECT_PATIENCE: Duration = Duration::from_secs(15);
/// What is read of an answer, at most.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Pages of a list that are read, at most.
const PAGES_MAX: usize = 100;

/// A server, and who asks it.
pub struct Server {
    http: Client,
    address: Address,
    token: Option<Plain>,
}

/// What somebody signs in with.
#[derive(Clone, Copy)]
pub struct Credentials<'c> {
    /// Their e-mail address.
    pub email: &'c str,
    /// Their password.
    pub password: &'c str,
    /// A code of the second factor.
    pub otp: Option<&'c str>,
    /// What this machine calls itself.
    pub install_id: &'c Plain,
}

/// An organization that the person has a part in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Organization {
    /// Its id.
    pub org_id: Plain,
    /// Its other name.
    pub slug: Plain,
}

/// A new key of this machine.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// Its id.
    pub key_id: Plain,
    /// The credential.
    pub key: Plain,
    /// When it ends.
    pub expires_at: Option<i64>,
}

#[derive(Deserialize)]
struct SignedIn {
    token: Plain,
    user: User,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    user_id: Plain,
}

#[derive(Deserialize)]
struct Organizations {
    orgs: Vec<Organization>,
    cursor: Option<String>,
}

/// What an error's body says.
#[derive(Deserialize)]
struct Failure {
    error: String,
    code: String,
    #[serde(default)]
    enrol: bool,
    #[serde(default)]
    problems: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    path: String,
    message: String,
}

/// An answer whose content nobody needs.
#[derive(Deserialize)]
struct Anything {}

impl Server {
    /// The server, asked by nobody yet.
    pub fn new(address: &Address) -> Result<Self> {
        // Only an earlier call in this process makes this fail, and then it is the same provider.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = Client::builder()
            .user_agent(concat!("troupe/", env!("CARGO_PKG_VERSION"), " (command line)"))
            // A credential goes where it was sent to, and nowhere else.
            .redirect(Policy::none())
            .connect_timeout(CONNECT_PATIENCE)
            .timeout(PATIENCE);
        if address.is_loopback() {
            builder = builder.no_proxy();
        }
        if address.as_str().starts_with("http://") {
            // Without TLS nobody needs the system's certificates, which take long to read.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| unreachable(address, &error))?;
        Ok(Self { http, address: address.clone(), token: None })
    }

    /// The server, asked by whoever is signed in so.
    pub fn with(address: &Address, sign_in: &SignIn) -> Result<Self> {
        Ok(Self { token: Some(sign_in.token.clone()), ..Self::new(address)? })
    }

    /// Signs in on the command line.
    pub async fn sign_in(&self, credentials: &Credentials<'_>) -> Result<SignIn> {
        let Credentials { email, password, otp, install_id } = credentials;
        let body = json!({
            "email": email, "password": password, "otp": otp, "app": "account", "platform": "cli",
            "installId": install_id,
        });
        let signed_in: SignedIn = self.ask(Method::POST, "/v1/auth/sign-in", Some(&body)).await?;
        Ok(SignIn { user_id: signed_in.user.user_id, token: signed_in.token, keys: [].into() })
    }

    /// Ends the sign-in.
    pub async fn sign_out(&self) -> Result<()> {
        let _: Anything = self.ask(Method::POST, "/v1/auth/sign-out", None).await?;
        Ok(())
    }

    /// Shows the second factor.
    pub async fn step_up(&self, otp: &str) -> Result<()> {
        let _: Anything = self.ask(Method::POST, "/v1/auth/step-up", Some(&json!({ "otp": otp }))).await?;
        Ok(())
    }

    /// The person's organizations, all of them.
    pub async fn organizations(&self) -> Result<Vec<Organization>> {
        let mut found = Vec::new();
        let mut path = "/v1/orgs?limit=100".to_owned();
        for _ in 0..PAGES_MAX {
            let page: Organizations = self.ask(Method::GET, &path, None).await?;
            found.extend(page.orgs);
            let Some(cursor) = page.cursor else { break };
            let cursor = Plain::try_from(cursor).map_err(|_| self.stranger("a cursor that is none"))?;
            path = format!("/v1/orgs?limit=100&cursor={}", cursor.as_str());
        }
        Ok(found)
    }

    /// Makes this machine's key for an organization, in the place of the one that it had.
    pub async fn key_make(&self, org_id: &Plain, machine_id: &Plain, machine: &str) -> Result<NewKey> {
        let path = format!("/v1/orgs/{}/git-credentials", org_id.as_str());
        self.ask(Method::POST, &path, Some(&json!({ "machineId": machine_id, "machine": machine }))).await
    }

    /// Deletes one of this machine's keys.
    pub async fn key_delete(&self, org_id: &Plain, key_id: &Plain) -> Result<()> {
        let path = format!("/v1/orgs/{}/git-credentials/{}", org_id.as_str(), key_id.as_str());
        self.send(Method::DELETE, &path, None).await.map(drop)
    }

    /// What is answered at a path.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.ask(Method::GET, path, None).await
    }

    async fn ask<T: DeserializeOwned>(&self, method: Method, path: &str, body: Option<&Value>) -> Result<T> {
        let answer = self.send(method, path, body).await?;
        serde_json::from_slice(&answer).map_err(|_| self.stranger("with something else than it was asked for"))
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Vec<u8>> {
        let mut request = self.http.request(method, format!("{}{path}", self.address));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.as_str());
        }
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let response = request.send().await.map_err(|error| unreachable(&self.address, &error))?;
        let (status, elsewhere) = (response.status(), location(&response));
        let answer = self.read(response).await?;
        if status.is_success() { Ok(answer) } else { Err(self.refusal(status, elsewhere, &answer)) }
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>> {
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&self.address, &error))? {
            if answer.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(self.stranger("more than was asked for"));
            }
            answer.extend_from_slice(&chunk);
        }
        Ok(answer)
    }

    fn refusal(&self, status: StatusCode, elsewhere: Option<String>, answer: &[u8]) -> ClientError {
        let Ok(failure) = serde_json::from_slice::<Failure>(answer) else {
            let elsewhere = elsewhere.map_or_else(String::new, |address| format!(", to {address}"));
            return self.stranger(&format!("status {}{elsewhere}", status.as_u16()));
        };
        // Whoever shows a token and reads 401 has one that is no more.
        if status == StatusCode::UNAUTHORIZED && self.token.is_some() {
            return ClientError::SignInEnded(self.address.clone());
        }
        let fields = failure.problems.iter().map(|problem| format!(" {}: {}", problem.path, problem.message));
        let message = sentence(&(failure.error + &fields.collect::<String>()));
        ClientError::Refused(Refusal { status: status.as_u16(), code: failure.code, message, enrol: failure.enrol })
    }

    fn stranger(&self, what: &str) -> ClientError {
        ClientError::Stranger { address: self.address.clone(), what: what.to_owned() }
    }
}

/// Where an answer sends whoever asked.
fn location(response: &Response) -> Option<String> {
    let value = response.headers().get(LOCATION)?.to_str().ok()?;
    Some(sentence(value))
}

fn unreachable(address: &Address, error: &reqwest::Error) -> ClientError {
    let why = if error.is_timeout() { "it took too long".to_owned() } else { innermost(error) };
    ClientError::Unreachable { address: address.clone(), why }
}

/// What an error comes down to: what is around it says which library was at work.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    sentence(&cause.to_string())
}
