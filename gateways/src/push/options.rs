//! How push messages leave.

use std::{fmt, time::Duration};

use super::{KeyError, Reachable};

/// The services that push messages leave over. Where there is none, they are kept and shown.
#[derive(Clone, Debug, Default)]
pub struct PushOptions {
    /// To iPhones and iPads.
    pub apns: Option<ApnsOptions>,
    /// To Android.
    pub fcm: Option<FcmOptions>,
    /// To browsers.
    pub web: Option<WebPushOptions>,
}

/// Apple's push service.
#[derive(Clone)]
pub struct ApnsOptions {
    /// Where it is: `https://api.push.apple.com`, for apps in development `https://api.sandbox.push.apple.com`.
    pub base_url: String,
    /// The developer team.
    pub team_id: String,
    /// The id of the key.
    pub key_id: String,
    /// The key, as the `.p8` file holds it (PEM).
    pub key: String,
    /// The apps' bundle id; `{app}` in it stands for the app identifier.
    pub topic: String,
    /// The longest that handing in one message takes, connecting included.
    pub timeout: Duration,
}

/// Google's push service.
#[derive(Clone)]
pub struct FcmOptions {
    /// Where it is: `https://fcm.googleapis.com`.
    pub base_url: String,
    /// The service account, as the JSON file of its key.
    pub service_account: String,
    /// The longest that handing in one message takes, connecting included; signing in takes as long once more.
    pub timeout: Duration,
}

/// The browsers' push services.
#[derive(Clone)]
pub struct WebPushOptions {
    /// The key by which they know us, on the curve P-256 (PKCS#8, PEM).
    pub key: String,
    /// Whom they write to when something is wrong: `mailto:…` or `https://…`.
    pub contact: String,
    /// Which endpoints are asked.
    pub reachable: Reachable,
    /// The longest that handing in one message takes, connecting included.
    pub timeout: Duration,
}

/// The options can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PushOptionsError {
    /// A key can't be read.
    #[error("the key for {0} push service can't be used: {1}")]
    Key(&'static str, KeyError),
    /// The file of the service account is none.
    #[error("the service account for Google's push service can't be read: {0}")]
    ServiceAccount(String),
    /// Nobody to write to.
    #[error("the contact `{0}` starts with neither mailto: nor https://")]
    Contact(String),
    /// The system's part of TLS can't be set up.
    #[error("requests can't be made: {0}")]
    Client(String),
}

impl fmt::Debug for ApnsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApnsOptions")
            .field("base_url", &self.base_url)
            .field("team_id", &self.team_id)
            .field("key_id", &self.key_id)
            .field("topic", &self.topic)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FcmOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FcmOptions").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl fmt::Debug for WebPushOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebPushOptions")
            .field("contact", &self.contact)
            .field("reachable", &self.reachable)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_printed() {
        let (key, timeout) = ("hunter2".to_owned(), Duration::from_secs(10));
        let text = String::new;
        let options = PushOptions {
            apns: Some(ApnsOptions {
                base_url: text(),
                team_id: text(),
                key_id: text(),
                key: key.clone(),
                topic: text(),
                timeout,
            }),
            fcm: Some(FcmOptions { base_url: text(), service_account: key.clone(), timeout }),
            web: Some(WebPushOptions { key, contact: text(), reachable: Reachable::Public, timeout }),
        };
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
