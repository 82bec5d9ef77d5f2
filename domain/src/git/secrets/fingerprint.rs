//! What a secret is known by where nobody is to read it.

use std::{fmt, str::FromStr};

use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::SecretRule;
use crate::{id::ResourceId, signed_cursor::keyed};

/// Bytes of a fingerprint: half of the HMAC that it is cut from.
const LEN: usize = 16;
/// What the key of fingerprints is made of, beside the server's secret.
const KEY_LABEL: &[u8] = b"troupe-secret-fingerprint/v1";

/// A secret of a repository, as it is named: an HMAC of the repository, the rule and the secret. The same secret has another one in
/// every repository, and nobody can tell by it whether a guess is right.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; LEN]);

/// The text is no fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a fingerprint")]
pub struct NotAFingerprint;

impl Fingerprint {
    /// The fingerprint with these bytes.
    pub const fn of_bytes(bytes: [u8; LEN]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        if text.len() != 2 * LEN || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(NotAFingerprint);
        }
        let number = u128::from_str_radix(text, 16).map_err(|_| NotAFingerprint)?;
        Ok(Self(number.to_be_bytes()))
    }
}

/// What fingerprints are made with.
#[derive(Clone)]
pub(super) struct FingerprintKey(Hmac<Sha256>);

impl FingerprintKey {
    /// The key that belongs to the server's secret.
    pub fn new(secret: &[u8]) -> Self {
        Self(keyed(KEY_LABEL, secret))
    }

    /// The fingerprint of a repository's secret.
    pub fn of(&self, repository: ResourceId, rule: SecretRule, secret: &[u8]) -> Fingerprint {
        let mut mac = self.0.clone();
        // Neither an id nor a rule has a line's end in it.
        mac.update(format!("{repository}\n{rule}\n").as_bytes());
        mac.update(secret);
        let whole: [u8; 32] = mac.finalize().into_bytes().into();
        let mut cut = [0; LEN];
        cut.copy_from_slice(&whole[..LEN]);
        Fingerprint(cut)
    }
}

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_fingerprint_is_written_as_32_hexadecimal_digits() {
        let text = "00ff7f80123456789abcdef0fedcba98";
        let read: Fingerprint = text.parse().unwrap();
        assert_eq!(read.to_string(), text);
        assert_eq!(Fingerprint::of_bytes(*read.as_bytes()), read);
        for bad in ["", &text[1..], &format!("{text}0"), &text.to_uppercase(), &text.replace("00", "+1")] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(NotAFingerprint), "{bad}");
        }
    }

    #[test]
    fn a_secret_has_another_fingerprint_in_another_repository_by_another_rule_and_on_another_server() {
        let (here, there) = (ResourceId::new(Timestamp(0)), ResourceId::new(Timestamp(1)));
        let key = FingerprintKey::new(b"the server's");
        let of = |key: &FingerprintKey, repository, rule| key.of(repository, rule, b"secret");
        let known = of(&key, here, SecretRule::StripeKey);
        assert_eq!(of(&FingerprintKey::new(b"the server's"), here, SecretRule::StripeKey), known);
        assert_ne!(of(&key, there, SecretRule::StripeKey), known);
        assert_ne!(of(&key, here, SecretRule::GithubToken), known);
        assert_ne!(of(&FingerprintKey::new(b"another's"), here, SecretRule::StripeKey), known);
        assert_ne!(key.of(here, SecretRule::StripeKey, b"secret2"), known);
    }
}
