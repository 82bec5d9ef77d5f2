//! Apple's push service: HTTP/2, signed in with a token of our own that lives for an hour.

use std::time::Duration;

use domain::Timestamp;
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, StatusCode, header::HeaderName};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Builder;

use super::{ApnsOptions, PushError, PushMessage, PushOptionsError, cut_to_fit, key::SigningKey};
use crate::{
    Delivered,
    outgoing::{self, Answer},
};

/// Bytes of a payload, at most (Apple, "Generating a remote notification").
const PAYLOAD_BYTES_MAX: usize = 4_096;
/// Bytes of a collapse id, at most.
const COLLAPSE_ID_BYTES_MAX: usize = 64;
/// Apple takes a token for an hour.
const TOKEN_LASTS: Duration = Duration::from_secs(45 * 60);
/// Apple refuses a second token within this time. One that is called expired so soon says that the clocks disagree.
const TOKEN_PAUSE: Duration = Duration::from_secs(20 * 60);
/// How long a connection is kept that nothing goes over; Apple wants few and lasting ones.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// How often it is looked whether the connection still stands.
const PING_EVERY: Duration = Duration::from_secs(60);
/// A token that no device has; what is answered to it shows whether the sign-in is taken.
const NO_DEVICE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[derive(Default, Deserialize)]
struct Refused {
    reason: String,
}

struct Token {
    text: String,
    made_at: Timestamp,
}

pub(super) struct Apns {
    client: Client,
    options: ApnsOptions,
    key: SigningKey,
    token: Mutex<Option<Token>>,
}

impl Apns {
    pub(super) fn new(options: &ApnsOptions) -> Result<Self, PushOptionsError> {
        let key = SigningKey::es256(&options.key).map_err(|error| PushOptionsError::Key("Apple's", error))?;
        let client = outgoing::client(options.timeout)
            .http2_prior_knowledge()
            .http2_keep_alive_interval(PING_EVERY)
            .http2_keep_alive_while_idle(true)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build()
            .map_err(|error| PushOptionsError::Client(error.to_string()))?;
        Ok(Self { client, options: options.clone(), key, token: Mutex::new(None) })
    }

    pub(super) async fn push(&self, message: &PushMessage, now: Timestamp) -> Result<Delivered, PushError> {
        if !is_token(&message.token) {
            return Err(PushError::DeadToken("the registration's token is none of Apple's".to_owned()));
        }
        let payload = cut_to_fit(&message.body, PAYLOAD_BYTES_MAX, |body| payload(message, body))?;
        let request = self.request(message, now).body(payload);
        let answer = self.ask(&request, now).await?;
        if answer.status.is_success() {
            let id = answer.header(&HeaderName::from_static("apns-id")).unwrap_or_default();
            Ok(Delivered::Sent { response: id.to_owned() })
        } else {
            Err(refusal(&answer))
        }
    }

    /// Whether Apple answers and takes our sign-in.
    pub(super) async fn check(&self, now: Timestamp) -> Result<(), PushError> {
        let request = self
            .client
            .post(self.address(NO_DEVICE))
            .header("apns-topic", self.options.topic.replace("{app}", "account"))
            .header("apns-push-type", "alert")
            .body("{}");
        let answer = self.ask(&request, now).await?;
        let refused = answer.json::<Refused>().unwrap_or_default();
        if answer.status.is_success() || refused.reason == "BadDeviceToken" { Ok(()) } else { Err(refusal(&answer)) }
    }

    fn address(&self, device: &str) -> String {
        format!("{}/3/device/{device}", self.options.base_url.trim_end_matches('/'))
    }

    fn request(&self, message: &PushMessage, now: Timestamp) -> RequestBuilder {
        let mut request = self
            .client
            .post(self.address(&message.token))
            .header("apns-id", uuid(&message.idempotency_key))
            .header("apns-topic", self.options.topic.replace("{app}", message.app.as_str()))
            .header("apns-push-type", "alert")
            .header("apns-priority", if message.urgent { "10" } else { "5" })
            .header("apns-expiration", (now.after(message.keep_for).as_millis() / 1_000).to_string());
        if let Some(id) = &message.collapse_id {
            request = request.header("apns-collapse-id", collapse_id(id));
        }
        request
    }

    /// Asks once, and once more with a new token when Apple calls the one in use expired.
    async fn ask(&self, request: &RequestBuilder, now: Timestamp) -> Result<Answer, PushError> {
        let token = self.token(now, None)?;
        let answer = self.ask_with(request, &token).await?;
        let expired = answer.status == StatusCode::FORBIDDEN
            && answer.json::<Refused>().is_some_and(|refused| refused.reason == "ExpiredProviderToken");
        if !expired {
            return Ok(answer);
        }
        let renewed = self.token(now, Some(&token))?;
        if renewed == token { Ok(answer) } else { self.ask_with(request, &renewed).await }
    }

    async fn ask_with(&self, request: &RequestBuilder, token: &str) -> Result<Answer, PushError> {
        // A body that is not a stream can be cloned.
        let request =
            request.try_clone().ok_or_else(|| PushError::Permanent("the message can't be sent".to_owned()))?;
        outgoing::ask(request.bearer_auth(token)).await.map_err(PushError::later)
    }

    /// The token in use, or a new one where that is too old, or is `expired` and not as new as Apple wants it.
    fn token(&self, now: Timestamp, expired: Option<&str>) -> Result<String, PushError> {
        let mut kept = self.token.lock();
        if let Some(token) = &*kept {
            let age = now.since(token.made_at);
            let may_be_expired = expired == Some(token.text.as_str()) && age >= TOKEN_PAUSE;
            if now >= token.made_at && age < TOKEN_LASTS && !may_be_expired {
                return Ok(token.text.clone());
            }
        }
        let claims = json!({ "iss": self.options.team_id, "iat": now.as_millis() / 1_000 });
        let text = self.key.token(json!({ "kid": self.options.key_id }), &claims).map_err(PushError::later)?;
        *kept = Some(Token { text: text.clone(), made_at: now });
        Ok(text)
    }
}

fn is_token(token: &str) -> bool {
    (1..=200).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn payload(message: &PushMessage, body: &str) -> Vec<u8> {
    let level = if message.urgent { "time-sensitive" } else { "active" };
    let payload = json!({
        "aps": {
            "alert": { "title": message.title, "body": body },
            "sound": "default",
            "thread-id": message.app,
            "interruption-level": level,
        },
        "app": message.app,
        "url": message.url,
        "data": message.data,
    });
    payload.to_string().into_bytes()
}

/// The same id for every try of the same message, in the form that Apple wants: a UUID whose bits are a digest (version
/// 8, RFC 9562).
fn uuid(key: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(key).into();
    let (start, _) = digest.split_first_chunk().unwrap_or((&[0; 16], &[]));
    Builder::from_custom_bytes(*start).into_uuid().to_string()
}

/// An id that is too long, or can't stand in a header, gives way to its digest.
fn collapse_id(id: &str) -> String {
    let fits = id.len() <= COLLAPSE_ID_BYTES_MAX && id.bytes().all(|byte| byte.is_ascii_graphic());
    if fits { id.to_owned() } else { uuid(id) }
}

pub(crate) fn refusal(answer: &Answer) -> PushError {
    let Refused { reason } = answer.json().unwrap_or_default();
    let words = answer.refusal("Apple's push service", &reason);
    match (answer.status.as_u16(), reason.as_str()) {
        (410, _) | (400, "BadDeviceToken") => PushError::DeadToken(words),
        // An operator's to mend; the message should go out when it is.
        (400, "BadTopic" | "MissingTopic" | "TopicDisallowed" | "DeviceTokenNotForTopic") | (403, _) => {
            PushError::Temporary { reason: words, retry_after: None }
        }
        (429 | 500..=599, _) => PushError::Temporary { reason: words, retry_after: answer.retry_after() },
        _ => PushError::Permanent(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_and_the_same_for_the_same_key() {
        let id = uuid("dlv_1");
        assert_eq!(id, uuid("dlv_1"));
        assert_ne!(id, uuid("dlv_2"));
        assert_eq!(id.len(), 36);
        assert_eq!(&id[14..15], "8");
        assert!("89ab".contains(&id[19..20]));
    }

    #[test]
    fn a_collapse_id_fits_into_its_header() {
        let longest = "x".repeat(COLLAPSE_ID_BYTES_MAX);
        assert_eq!(collapse_id(&longest), longest);
        for id in [longest + "x", "two words".to_owned(), "über".to_owned()] {
            assert_eq!(collapse_id(&id), uuid(&id));
        }
    }

    #[test]
    fn only_hexadecimal_digits_are_a_token() {
        for token in ["", "../../3/device/aa", "aa?b", "aé", &"a".repeat(201)] {
            assert!(!is_token(token), "{token}");
        }
        assert!(is_token(NO_DEVICE) && is_token(&"a".repeat(200)));
    }
}
