//! Devices for push messages (contract A 4.3): what may be registered.

use std::ops::RangeInclusive;

use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::{Deserialize, Serialize};

use super::reach::PushPlatform;
use crate::{Error, Platform, Result, account::INSTALL_ID_LEN, token::sha256_hex};

/// Registrations of one person; a further one takes the place of the one longest ago refreshed.
pub const DEVICES_MAX: usize = 50;
/// Characters of a push token: web push's, which has an address in it, is the longest.
pub const TOKEN_LEN: RangeInclusive<usize> = 1..=4_096;
/// Bytes of what a device may say of itself in one field, as JSON.
pub const DEVICE_ATTR_BYTES_MAX: usize = 1_024;
/// Characters of the address that a browser's maker takes push messages at.
const ENDPOINT_LEN_MAX: usize = 2_048;
/// Bytes of an uncompressed point on P-256 (RFC 8291).
const P256DH_BYTES: usize = 65;
/// Bytes of the secret that a browser shares (RFC 8291).
const AUTH_BYTES: usize = 16;

/// Browsers write base64url with padding or without.
const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Whether the text can be the id of an app's install on a phone or browser, or that of a live activity.
pub fn is_install_id(text: &str) -> bool {
    INSTALL_ID_LEN.contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':'))
}

/// Passes where a sign-in on `signed_in` may register a device that `platform` carries messages to: phones what phones
/// have, browsers themselves.
pub fn platform_check(signed_in: Platform, platform: PushPlatform) -> Result<()> {
    match (signed_in.is_mobile(), platform) {
        (true, PushPlatform::Ios | PushPlatform::Android) => Ok(()),
        (true, PushPlatform::Web) => Err(Error::invalid("platform", "Use one of: ios, android.")),
        (false, PushPlatform::Web) if signed_in == Platform::Web => Ok(()),
        (false, _) => Err(not_the_mobile_app()),
    }
}

/// 403 `Register devices from the mobile app.`
pub fn not_the_mobile_app() -> Error {
    Error::forbidden("mobile_app_only", "Register devices from the mobile app.")
}

/// 403 `Register Live Activities from the iPhone app.`
pub fn not_the_iphone_app() -> Error {
    Error::forbidden("iphone_app_only", "Register Live Activities from the iPhone app.")
}

/// What a token is found by: its SHA-256, in hexadecimal.
pub fn push_token_hash(token: &str) -> String {
    sha256_hex(token.as_bytes())
}

/// What a browser's push subscription is made of: the token of a registration on `web`, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSubscription {
    /// Where its maker takes messages for it.
    pub endpoint: String,
    /// Its public key, base64url.
    pub p256dh: String,
    /// The secret that it shares, base64url.
    pub auth: String,
}

impl WebSubscription {
    /// Reads a token.
    pub fn parse(path: &str, token: &str) -> Result<Self> {
        let wrong = || Error::invalid(path, "Use the JSON text of {endpoint, p256dh, auth} of a push subscription.");
        let read: Self = serde_json::from_str(token).map_err(|_| wrong())?;
        let has_bytes = |text: &str, bytes: usize| BASE64URL.decode(text).is_ok_and(|decoded| decoded.len() == bytes);
        let host = read.endpoint.strip_prefix("https://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let fits = !host.is_empty()
            && read.endpoint.len() <= ENDPOINT_LEN_MAX
            && read.endpoint.bytes().all(|byte| byte.is_ascii_graphic())
            && has_bytes(&read.p256dh, P256DH_BYTES)
            && has_bytes(&read.auth, AUTH_BYTES);
        if fits { Ok(read) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_register_themselves_and_so_do_browsers() {
        assert!(platform_check(Platform::Ios, PushPlatform::Ios).is_ok());
        assert!(platform_check(Platform::Android, PushPlatform::Android).is_ok());
        assert!(platform_check(Platform::Web, PushPlatform::Web).is_ok());
        assert!(matches!(platform_check(Platform::Ios, PushPlatform::Web), Err(Error::Invalid { .. })));
        for (signed_in, platform) in [
            (Platform::Web, PushPlatform::Ios),
            (Platform::Cli, PushPlatform::Web),
            (Platform::Cli, PushPlatform::Android),
        ] {
            assert!(matches!(platform_check(signed_in, platform), Err(Error::Forbidden { .. })));
        }
    }

    #[test]
    fn install_ids_are_short_and_plain() {
        for text in ["a", "6F9619FF-8B86-D011-B42D-00C04FC964FF", &"x".repeat(128)] {
            assert!(is_install_id(text), "{text}");
        }
        for text in ["", " ", "a b", "a/b", "ä", &"x".repeat(129)] {
            assert!(!is_install_id(text), "{text}");
        }
    }

    #[test]
    fn a_subscription_is_read_from_the_json_of_its_three_parts() {
        let key = BASE64URL.encode([4_u8; 65]);
        let token = |endpoint: &str, key: &str, auth: &str| {
            serde_json::json!({ "endpoint": endpoint, "p256dh": key, "auth": auth }).to_string()
        };
        let auth = "AAAAAAAAAAAAAAAAAAAAAA";
        assert!(WebSubscription::parse("token", &token("https://push.example.com/x", &key, auth)).is_ok());
        assert!(
            WebSubscription::parse("token", &token("https://push.example.com/x", &key, &format!("{auth}=="))).is_ok()
        );
        for wrong in [
            "abc".to_owned(),
            token("http://push.example.com/x", &key, auth),
            token("https:///x", &key, auth),
            token("https://push.example.com/ x", &key, auth),
            token("https://push.example.com/x", "AAAA", auth),
            token("https://push.example.com/x", &key, "AAAA"),
            token(&format!("https://push.example.com/{}", "x".repeat(2_048)), &key, auth),
        ] {
            assert!(WebSubscription::parse("token", &wrong).is_err(), "{wrong}");
        }
    }
}
