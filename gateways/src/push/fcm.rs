//! Google's push service (FCM, HTTP v1), signed in with an access token that a service account's key is exchanged for.

use std::{fmt, time::Duration};

use domain::Timestamp;
use reqwest::{Client, StatusCode, header::CONTENT_TYPE};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::{FcmOptions, PushError, PushMessage, PushOptionsError, cut_to_fit, key::SigningKey};
use crate::{
    Delivered,
    outgoing::{self, Answer},
};

/// What the access token is for.
const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
/// How the service account's token is exchanged (RFC 7523).
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// How long the service account's token holds; Google takes an hour at most.
const ASSERTION_LASTS: Duration = Duration::from_secs(3_600);
/// An access token is renewed this long before its end.
const RENEW_BEFORE: Duration = Duration::from_secs(300);
/// Bytes of a message's content, at most; what is around it stays below what Google adds to its own count.
const CONTENT_BYTES_MAX: usize = 4_000;
/// Keys of the data that Google keeps for itself start so, or are these.
const RESERVED_PREFIXES: [&str; 2] = ["google", "gcm"];
const RESERVED_KEYS: [&str; 3] = ["from", "message_type", "collapse_key"];

/// The file of a service account, as the Google Cloud console gives it out.
#[derive(Clone, Deserialize)]
struct ServiceAccount {
    project_id: String,
    client_email: String,
    private_key_id: String,
    private_key: String,
    token_uri: String,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: u64,
}

#[derive(Deserialize)]
struct Sent {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Refused {
    error: Refusal,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    message: String,
    status: String,
    details: Vec<Detail>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Detail {
    error_code: String,
    field_violations: Vec<Violation>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Violation {
    field: String,
}

struct AccessToken {
    text: String,
    renew_at: Timestamp,
}

pub(super) struct Fcm {
    client: Client,
    address: String,
    account: ServiceAccount,
    key: SigningKey,
    /// Held while it is fetched, so that it is fetched once.
    token: Mutex<Option<AccessToken>>,
}

impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount").field("client_email", &self.client_email).finish_non_exhaustive()
    }
}

impl Fcm {
    pub(super) fn new(options: &FcmOptions) -> Result<Self, PushOptionsError> {
        let account: ServiceAccount = serde_json::from_str(&options.service_account)
            .map_err(|error| PushOptionsError::ServiceAccount(error.to_string()))?;
        let key = SigningKey::rs256(&account.private_key).map_err(|error| PushOptionsError::Key("Google's", error))?;
        let client = outgoing::client(options.timeout);
        let client = client.build().map_err(|error| PushOptionsError::Client(error.to_string()))?;
        let base = options.base_url.trim_end_matches('/');
        let address = format!("{base}/v1/projects/{}/messages:send", account.project_id);
        Ok(Self { client, address, account, key, token: Mutex::new(None) })
    }

    pub(super) async fn push(&self, message: &PushMessage, now: Timestamp) -> Result<Delivered, PushError> {
        let content = cut_to_fit(&message.body, CONTENT_BYTES_MAX, |body| content(message, body))?;
        let answer = self.ask(&content, now).await?;
        if answer.status.is_success() {
            // It was taken, whatever the body looks like: an error here would send it again.
            Ok(Delivered::Sent { response: answer.json::<Sent>().map(|sent| sent.name).unwrap_or_default() })
        } else {
            Err(refusal(&answer))
        }
    }

    /// Whether Google answers and takes our sign-in.
    pub(super) async fn check(&self, now: Timestamp) -> Result<(), PushError> {
        self.access_token(now, None).await.map(drop)
    }

    /// Asks once, and once more with a new access token when Google refuses the one in use.
    async fn ask(&self, content: &[u8], now: Timestamp) -> Result<Answer, PushError> {
        let token = self.access_token(now, None).await?;
        let answer = self.ask_with(content, &token).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        let renewed = self.access_token(now, Some(&token)).await?;
        self.ask_with(content, &renewed).await
    }

    async fn ask_with(&self, content: &[u8], token: &str) -> Result<Answer, PushError> {
        let request = self.client.post(&self.address).bearer_auth(token).header(CONTENT_TYPE, "application/json");
        outgoing::ask(request.body(content.to_vec())).await.map_err(PushError::later)
    }

    /// The access token in use, or a new one where that ends soon or is `refused`.
    async fn access_token(&self, now: Timestamp, refused: Option<&str>) -> Result<String, PushError> {
        let mut kept = self.token.lock().await;
        if let Some(token) = &*kept
            && now < token.renew_at
            && refused != Some(token.text.as_str())
        {
            return Ok(token.text.clone());
        }
        let granted = self.exchange(now).await?;
        let lasts = Duration::from_secs(granted.expires_in).saturating_sub(RENEW_BEFORE);
        *kept = Some(AccessToken { text: granted.access_token.clone(), renew_at: now.after(lasts) });
        Ok(granted.access_token)
    }

    async fn exchange(&self, now: Timestamp) -> Result<Granted, PushError> {
        let seconds = |at: Timestamp| at.as_millis() / 1_000;
        let claims = json!({
            "iss": self.account.client_email,
            "scope": SCOPE,
            "aud": self.account.token_uri,
            "iat": seconds(now),
            "exp": seconds(now.after(ASSERTION_LASTS)),
        });
        let header = json!({ "typ": "JWT", "kid": self.account.private_key_id });
        let assertion = self.key.token(header, &claims).map_err(PushError::later)?;
        let form: String = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("grant_type", GRANT), ("assertion", &assertion)])
            .finish();
        let request = self.client.post(&self.account.token_uri).body(form);
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = outgoing::ask(request).await.map_err(PushError::later)?;
        // Whatever is wrong with our sign-in is an operator's to mend; the message should go out when it is.
        answer.json().filter(|_| answer.status.is_success()).ok_or_else(|| {
            let error = answer.json::<Value>().map(|body| body["error"].as_str().unwrap_or_default().to_owned());
            let reason = answer.refusal("Google's sign-in", &error.unwrap_or_default());
            PushError::Temporary { reason, retry_after: answer.retry_after() }
        })
    }
}

fn content(message: &PushMessage, body: &str) -> Vec<u8> {
    let is_reserved =
        |key: &str| RESERVED_KEYS.contains(&key) || RESERVED_PREFIXES.iter().any(|prefix| key.starts_with(prefix));
    // A key that Google keeps for itself would have the whole message refused.
    let own = message.data.iter().filter(|(key, _)| !is_reserved(key));
    let mut data: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    data.insert("app".to_owned(), message.app.as_str().into());
    data.extend(message.url.as_deref().map(|url| ("url".to_owned(), url.into())));
    let mut android = json!({
        "priority": if message.urgent { "HIGH" } else { "NORMAL" },
        "ttl": format!("{}s", message.keep_for.as_secs()),
    });
    if let Some(id) = &message.collapse_id {
        android["collapse_key"] = id.as_str().into();
        android["notification"] = json!({ "tag": id });
    }
    let notification = json!({ "title": message.title, "body": body });
    json!({ "message": { "token": message.token, "notification": notification, "data": data, "android": android } })
        .to_string()
        .into_bytes()
}

pub(crate) fn refusal(answer: &Answer) -> PushError {
    let Refused { error } = answer.json().unwrap_or_default();
    let code = error.details.iter().map(|detail| detail.error_code.as_str()).find(|code| !code.is_empty());
    let words = format!("{} {}", code.unwrap_or(&error.status), error.message);
    let reason = answer.refusal("Google's push service", words.trim());
    let blames_token =
        error.details.iter().flat_map(|detail| &detail.field_violations).any(|it| it.field == "message.token");
    match answer.status.as_u16() {
        404 if code == Some("UNREGISTERED") => PushError::DeadToken(reason),
        400 if blames_token => PushError::DeadToken(reason),
        // A project that is not there or not ours is an operator's to mend, and no device's fault.
        401 | 403 | 404 => PushError::Temporary { reason, retry_after: None },
        429 | 500..=599 => PushError::Temporary { reason, retry_after: answer.retry_after() },
        _ => PushError::Permanent(reason),
    }
}
