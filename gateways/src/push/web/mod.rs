//! Browsers' push services (RFC 8030). Where they are, the browser says: its endpoint is somebody else's choice, and so is
//! what it answers.

mod encryption;
mod subscription;

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::Timestamp;
use reqwest::{
    Client,
    header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION},
};
use serde_json::json;
use sha2::{Digest, Sha256};

pub use self::subscription::Reachable;
use self::{
    encryption::{PLAIN_BYTES_MAX, encrypt},
    subscription::Subscription,
};
use super::{PushError, PushMessage, PushOptionsError, WebPushOptions, cut_to_fit, key::SigningKey};
use crate::{
    Delivered,
    outgoing::{self, Answer, cut},
    public_address::PublicOnly,
};

/// How long a token holds; services take 24 hours at most (RFC 8292, 2).
const TOKEN_LASTS: Duration = Duration::from_secs(12 * 3_600);
/// Characters of a topic, at most (RFC 8030, 5.4).
const TOPIC_LEN_MAX: usize = 32;
/// Characters of the address of a message that are kept.
const RECEIPT_LEN_MAX: usize = 300;

pub(super) struct WebPush {
    client: Client,
    key: SigningKey,
    contact: String,
    reachable: Reachable,
}

impl WebPush {
    pub(super) fn new(options: &WebPushOptions) -> Result<Self, PushOptionsError> {
        let key = SigningKey::es256(&options.key).map_err(|error| PushOptionsError::Key("the browsers'", error))?;
        if !["mailto:", "https://"].iter().any(|scheme| options.contact.starts_with(scheme)) {
            return Err(PushOptionsError::Contact(options.contact.clone()));
        }
        // A proxy would resolve names itself.
        let mut client = outgoing::client(options.timeout).no_proxy();
        if options.reachable == Reachable::Public {
            client = client.https_only(true).dns_resolver(Arc::new(PublicOnly));
        }
        let client = client.build().map_err(|error| PushOptionsError::Client(error.to_string()))?;
        Ok(Self { client, key, contact: options.contact.clone(), reachable: options.reachable })
    }

    /// By which browsers recognize us when they subscribe (`applicationServerKey`).
    pub(super) fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.key.public())
    }

    pub(super) async fn push(&self, message: &PushMessage, now: Timestamp) -> Result<Delivered, PushError> {
        let dead = |reason: &str| PushError::DeadToken(reason.to_owned());
        let subscription = Subscription::parse(&message.token, self.reachable).map_err(dead)?;
        let plain = cut_to_fit(&message.body, PLAIN_BYTES_MAX, |body| content(message, body))?;
        let sealed = encrypt(&plain, &subscription.reader)
            .map_err(|_| dead("the registration's key `p256dh` is no public key"))?;
        let mut request = self
            .client
            .post(subscription.endpoint.clone())
            .header(AUTHORIZATION, self.authorization(&subscription, now)?)
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("TTL", message.keep_for.as_secs())
            .header("Urgency", if message.urgent { "high" } else { "normal" });
        if let Some(id) = &message.collapse_id {
            request = request.header("Topic", topic(id));
        }
        let answer = outgoing::ask(request.body(sealed)).await.map_err(PushError::later)?;
        if answer.status.is_success() {
            let receipt = answer.header(&LOCATION).unwrap_or_default();
            Ok(Delivered::Sent { response: cut(receipt, RECEIPT_LEN_MAX) })
        } else {
            Err(refusal(&answer))
        }
    }

    /// Who we are (VAPID, RFC 8292), for that service only.
    fn authorization(&self, subscription: &Subscription, now: Timestamp) -> Result<String, PushError> {
        let claims = json!({
            "aud": subscription.origin(),
            "exp": now.after(TOKEN_LASTS).as_millis() / 1_000,
            "sub": self.contact,
        });
        let token = self.key.token(json!({ "typ": "JWT" }), &claims).map_err(PushError::later)?;
        Ok(format!("vapid t={token}, k={}", self.public_key()))
    }
}

fn content(message: &PushMessage, body: &str) -> Vec<u8> {
    let content = json!({
        "title": message.title,
        "body": body,
        "app": message.app,
        "url": message.url,
        "tag": message.collapse_id,
        "data": message.data,
    });
    content.to_string().into_bytes()
}

/// A name of the characters that a topic may have, the same for the same id.
fn topic(id: &str) -> String {
    cut(&URL_SAFE_NO_PAD.encode(Sha256::digest(id)), TOPIC_LEN_MAX)
}

/// The service's words are left out: whoever chose the endpoint chose them.
pub(crate) fn refusal(answer: &Answer) -> PushError {
    let reason = answer.refusal("the browser's push service", "");
    match answer.status.as_u16() {
        404 | 410 => PushError::DeadToken(reason),
        408 | 425 | 429 | 500..=599 => PushError::Temporary { reason, retry_after: answer.retry_after() },
        _ => PushError::Permanent(reason),
    }
}

/// What a browser registers, for fuzzing: what can be written to is an address of the internet, and a message fits.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzzing(token: &str) {
    let Ok(subscription) = Subscription::parse(token, Reachable::Public) else { return };
    assert!(subscription.origin().starts_with("https://") && subscription.endpoint.password().is_none());
    // Most of what has the form of a key is no point on the curve.
    let sealed = encrypt(&[b'x'; PLAIN_BYTES_MAX], &subscription.reader);
    assert!(sealed.is_ok_and(|sealed| sealed.len() == 4_096) || encrypt(b"", &subscription.reader).is_err());
}
