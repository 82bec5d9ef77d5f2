//! Push messages: over Apple's service (APNs), Google's (FCM), the browsers' (Web Push), or to a console that keeps them.
//!
//! A pusher sends once and says what became of it. Trying again, keeping what a console did not send, and removing a
//! registration whose token is dead are the caller's: it has the store.

pub(crate) mod apns;
pub(crate) mod fcm;
mod key;
mod options;
pub(crate) mod web;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use domain::{App, Timestamp, notify::PushPlatform};

use self::{apns::Apns, fcm::Fcm, web::WebPush};
pub use self::{
    key::KeyError,
    options::{ApnsOptions, FcmOptions, PushOptions, PushOptionsError, WebPushOptions},
    web::Reachable,
};
use crate::Delivered;

/// One message to one device.
#[derive(Clone, PartialEq, Eq)]
pub struct PushMessage {
    /// Who carries it.
    pub platform: PushPlatform,
    /// What the device registered: a token of APNs or FCM in their own words, or a browser's subscription
    /// ([`WebSubscription`](domain::notify::WebSubscription)) as JSON.
    pub token: String,
    /// The app that shows it.
    pub app: App,
    /// The headline.
    pub title: String,
    /// What happened, in a sentence or two.
    pub body: String,
    /// What opens when it is tapped.
    pub url: Option<String>,
    /// What the app reads: ids and the like.
    pub data: BTreeMap<String, String>,
    /// A later message with the same id takes the place of an earlier one that is still shown or under way.
    pub collapse_id: Option<String>,
    /// Whether it is delivered at once, rather than when it costs the battery least.
    pub urgent: bool,
    /// How long it is kept for a device that is off; it is of no use afterwards.
    pub keep_for: Duration,
    /// The same for every try of the same message.
    pub idempotency_key: String,
}

/// Why a message was not taken. The words are for the log and for operators.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// Trying again may help: the service is away, busy, or refuses our sign-in.
    #[error("{reason}")]
    Temporary {
        /// What happened.
        reason: String,
        /// How long the service wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// Trying again can't help: the message is refused.
    #[error("{0}")]
    Permanent(String),
    /// The device is not registered any more: nothing shall go to this token again.
    #[error("{0}")]
    DeadToken(String),
}

impl PushError {
    /// Whether trying again may help.
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary { .. })
    }

    fn later(reason: String) -> Self {
        Self::Temporary { reason, retry_after: None }
    }
}

/// A handle to the ways out for push messages; cheap to clone.
#[derive(Clone, Default)]
pub struct Pusher {
    apns: Option<Arc<Apns>>,
    fcm: Option<Arc<Fcm>>,
    web: Option<Arc<WebPush>>,
}

impl Pusher {
    /// A pusher as the options say. Connects when there is something to send.
    pub fn new(options: &PushOptions) -> Result<Self, PushOptionsError> {
        Ok(Self {
            apns: options.apns.as_ref().map(Apns::new).transpose()?.map(Arc::new),
            fcm: options.fcm.as_ref().map(Fcm::new).transpose()?.map(Arc::new),
            web: options.web.as_ref().map(WebPush::new).transpose()?.map(Arc::new),
        })
    }

    /// A pusher that sends nothing: its caller keeps what it would have sent.
    pub fn console() -> Self {
        Self::default()
    }

    /// Whether messages to devices of this platform are kept instead of sent.
    pub const fn is_console(&self, platform: PushPlatform) -> bool {
        match platform {
            PushPlatform::Ios => self.apns.is_none(),
            PushPlatform::Android => self.fcm.is_none(),
            PushPlatform::Web => self.web.is_none(),
        }
    }

    /// By which browsers recognize this server when they subscribe (`applicationServerKey`); `None` without Web Push.
    pub fn web_public_key(&self) -> Option<String> {
        self.web.as_ref().map(|web| web.public_key())
    }

    /// Sends one message, once, at `now`; answers with the service's id of it. After an error with an unknown outcome it
    /// may have gone out all the same; trying again uses the same id where the service knows such a thing.
    pub async fn push(&self, message: &PushMessage, now: Timestamp) -> Result<Delivered, PushError> {
        if message.token.is_empty() {
            return Err(PushError::DeadToken("the registration has no token".to_owned()));
        }
        match (message.platform, &self.apns, &self.fcm, &self.web) {
            (PushPlatform::Ios, Some(apns), ..) => apns.push(message, now).await,
            (PushPlatform::Android, _, Some(fcm), _) => fcm.push(message, now).await,
            (PushPlatform::Web, .., Some(web)) => web.push(message, now).await,
            _ => Ok(Delivered::Keep),
        }
    }

    /// Whether the service for this platform answers and takes our sign-in; always so where there is none to ask. For
    /// `troupe doctor`.
    pub async fn check(&self, platform: PushPlatform, now: Timestamp) -> Result<(), PushError> {
        match (platform, &self.apns, &self.fcm) {
            (PushPlatform::Ios, Some(apns), _) => apns.check(now).await,
            (PushPlatform::Android, _, Some(fcm)) => fcm.check(now).await,
            _ => Ok(()),
        }
    }
}

/// What is sent of a message whose body is cut until it fits; `make` writes it with a body.
fn cut_to_fit(body: &str, bytes_max: usize, make: impl Fn(&str) -> Vec<u8>) -> Result<Vec<u8>, PushError> {
    const CUT: &str = "…";
    let whole = make(body);
    if whole.len() <= bytes_max {
        return Ok(whole);
    }
    // A byte of the body takes at least one of the message, so that cutting as many as are too many is enough.
    let kept = body.len().saturating_sub(whole.len() - bytes_max + CUT.len());
    let cut = make(&format!("{}{CUT}", &body[..body.floor_char_boundary(kept)]));
    if cut.len() <= bytes_max {
        Ok(cut)
    } else {
        Err(PushError::Permanent("the message is too large without its body".to_owned()))
    }
}

impl std::fmt::Debug for Pusher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sends = |platform: &&PushPlatform| !self.is_console(**platform);
        f.debug_set().entries(PushPlatform::ALL.iter().filter(sends)).finish()
    }
}

impl std::fmt::Debug for PushMessage {
    /// Without the token: whoever has it may write to the device.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PushMessage")
            .field("platform", &self.platform)
            .field("app", &self.app)
            .field("title", &self.title)
            .field("collapse_id", &self.collapse_id)
            .field("urgent", &self.urgent)
            .field("idempotency_key", &self.idempotency_key)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_cut_where_the_message_would_be_too_large() {
        let make = |body: &str| format!("<{}>", body.replace('"', "\\\"")).into_bytes();
        assert_eq!(cut_to_fit("1234567890", 12, make), Ok(b"<1234567890>".to_vec()));
        assert_eq!(cut_to_fit("1234567890", 11, make), Ok("<123456…>".as_bytes().to_vec()));
        assert_eq!(cut_to_fit("üüüüüü", 11, make), Ok("<üüü…>".as_bytes().to_vec()));
        assert_eq!(cut_to_fit("üüüüüü", 10, make), Ok("<üü…>".as_bytes().to_vec()));
        assert!(cut_to_fit("\"\"\"\"\"\"", 10, make).unwrap().len() <= 10);
        assert_eq!(cut_to_fit("1234567890", 5, make), Ok("<…>".as_bytes().to_vec()));
        assert!(matches!(cut_to_fit("1234567890", 4, make), Err(PushError::Permanent(_))));
    }
}
