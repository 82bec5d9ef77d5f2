//! Where a browser wants its messages, as it registered it.

use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use domain::notify::WebSubscription;
use reqwest::Url;

use super::encryption::Reader;
use crate::public_address::is_public;

/// Browsers leave the padding out; some libraries add it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A subscription that can be written to.
pub(super) struct Subscription {
    pub endpoint: Url,
    pub reader: Reader,
}

/// Which endpoints are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reachable {
    /// Those of the public internet, over https.
    Public,
    /// Whatever a browser names. For tests and closed networks: it lets everybody who may register a browser have
    /// requests made to what stands beside the server.
    Anything,
}

impl Subscription {
    /// Reads what a browser registered.
    ///
    /// # Errors
    /// It is none, or its endpoint is not one that may be asked.
    pub fn parse(token: &str, reachable: Reachable) -> Result<Self, &'static str> {
        let WebSubscription { endpoint, p256dh, auth } =
            serde_json::from_str(token).map_err(|_| "the registration is no push subscription")?;
        let reader = Reader {
            public_key: bytes(&p256dh).ok_or("the registration's key `p256dh` is no public key")?,
            auth: bytes(&auth).ok_or("the registration's key `auth` is no secret")?,
        };
        let endpoint = Url::parse(&endpoint).map_err(|_| "the registration's endpoint is no address")?;
        if may_ask(&endpoint, reachable) {
            Ok(Self { endpoint, reader })
        } else {
            Err("the registration's endpoint is no https address of the internet")
        }
    }

    /// Scheme, host and port: whom a token of ours is for.
    pub fn origin(&self) -> String {
        self.endpoint.origin().ascii_serialization()
    }
}

/// An address in the endpoint itself is never resolved, so it is looked at here; names are when they are resolved.
fn may_ask(endpoint: &Url, reachable: Reachable) -> bool {
    if reachable == Reachable::Anything {
        return matches!(endpoint.scheme(), "http" | "https");
    }
    let host = endpoint.host_str().unwrap_or_default();
    let is_bare = endpoint.username().is_empty() && endpoint.password().is_none();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    endpoint.scheme() == "https" && is_bare && !host.is_empty() && address.map_or(true, is_public)
}

fn bytes<const LEN: usize>(text: &str) -> Option<[u8; LEN]> {
    BASE64.decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(endpoint: &str, reachable: Reachable) -> Result<String, &'static str> {
        let token = serde_json::json!({
            "endpoint": endpoint,
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg==",
        });
        Subscription::parse(&token.to_string(), reachable).map(|subscription| subscription.origin())
    }

    #[test]
    fn only_endpoints_of_the_internet_over_https_are_asked() {
        let hostile = [
            "http://push.example.org/x",
            "https://127.0.0.1/x",
            "https://127.1/x",
            "https://2130706433/x",
            "https://0x7f.1/x",
            "https://[::1]/x",
            "https://[::ffff:10.0.0.1]/x",
            "https://169.254.169.254/latest/meta-data",
            "https://user:password@push.example.org/x",
            "file:///etc/passwd",
            "ftp://push.example.org/x",
            "data:text/plain,x",
            "push.example.org",
            "",
        ];
        for endpoint in hostile {
            assert!(parse(endpoint, Reachable::Public).is_err(), "{endpoint}");
        }
        assert_eq!(parse("https://push.example.org/x?y", Reachable::Public).unwrap(), "https://push.example.org");
        assert_eq!(parse("https://1.1.1.1:8443/x", Reachable::Public).unwrap(), "https://1.1.1.1:8443");
        assert_eq!(parse("http://127.0.0.1:8080/x", Reachable::Anything).unwrap(), "http://127.0.0.1:8080");
        assert!(parse("file:///etc/passwd", Reachable::Anything).is_err());
    }

    #[test]
    fn a_registration_that_is_none_is_refused() {
        for token in ["", "{}", "abc", r#"{"endpoint": "https://push.example.org", "p256dh": "AA", "auth": "AA"}"#] {
            assert!(Subscription::parse(token, Reachable::Public).is_err(), "{token}");
        }
    }
}
