//! The proof that a request comes from a device that holds the vault's key (`X-Vault-Signature`).
//!
//! The header is `v1;d=<deviceId>;t=<unix ms>;s=<base64url Ed25519 signature>`, written in exactly that way. What is
//! signed is this text, its lines joined by a line feed:
//!
//! ```text
//! troupe-vault/v1
//! <METHOD>
//! <path with query>
//! <deviceId>
//! <t>
//! <lower-case hex SHA-256 of the raw body>
//! ```
//!
//! A signature counts within five minutes of the server's clock, and once. The second is the owner's to keep: it
//! remembers every signature in the same commit as what it signed.

use std::{fmt::Write, str::FromStr, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use super::{DeviceId, SigningKey, not_signed};
use crate::{error::Result, time::Timestamp};

/// How far a signature's time may lie from the server's clock, before or after.
pub const WINDOW: Duration = Duration::from_mins(5);

/// Digits of a time: up to the year 2286, and past it.
const TIME_DIGITS_MAX: usize = 15;

/// The header is not a signature of version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a vault signature")]
pub struct NotASignature;

/// What the header `X-Vault-Signature` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VaultSignature {
    /// The device that signed.
    pub device_id: DeviceId,
    /// When it signed, by its own clock.
    pub signed_at: Timestamp,
    /// The Ed25519 signature.
    pub bytes: [u8; 64],
}

impl VaultSignature {
    /// The name of the header.
    pub const HEADER: &'static str = "X-Vault-Signature";
}

impl FromStr for VaultSignature {
    type Err = NotASignature;

    fn from_str(text: &str) -> std::result::Result<Self, NotASignature> {
        let mut fields = text.split(';');
        let mut field = |name: &str| fields.next().and_then(|field| field.strip_prefix(name)).ok_or(NotASignature);
        if !field("v1")?.is_empty() {
            return Err(NotASignature);
        }
        let device_id = field("d=")?.parse().map_err(|_| NotASignature)?;
        let signed_at = time(field("t=")?).ok_or(NotASignature)?;
        let signature = URL_SAFE_NO_PAD.decode(field("s=")?).map_err(|_| NotASignature)?;
        let bytes = signature.try_into().map_err(|_| NotASignature)?;
        if fields.next().is_some() {
            return Err(NotASignature);
        }
        Ok(Self { device_id, signed_at, bytes })
    }
}

/// Digits only and no leading zero, so that a time has one writing.
fn time(digits: &str) -> Option<Timestamp> {
    let canonical = (1..=TIME_DIGITS_MAX).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    if canonical { digits.parse().ok().map(Timestamp) } else { None }
}

/// A request together with the signature that came with it.
#[derive(Clone, Debug)]
pub struct SignedRequest {
    /// What the header says.
    pub signature: VaultSignature,
    text: String,
}

impl SignedRequest {
    /// Puts the signature beside what it must cover. `target` is the path with its query, as it was sent.
    pub fn new(signature: VaultSignature, method: &str, target: &str, body: &[u8]) -> Self {
        let (device_id, signed_at) = (signature.device_id, signature.signed_at);
        let mut text = format!("troupe-vault/v1\n{method}\n{target}\n{device_id}\n{signed_at}\n");
        for byte in Sha256::digest(body) {
            // Writing to a String does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self { signature, text }
    }

    /// The text that is signed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Passes when the vault's key made the signature, and not more than [`WINDOW`] ago or ahead.
    pub fn verify(&self, key: &SigningKey, now: Timestamp) -> Result<()> {
        let distance = now.since(self.signature.signed_at).max(self.signature.signed_at.since(now));
        if distance <= WINDOW && key.verifies(self.text.as_bytes(), &self.signature.bytes) {
            Ok(())
        } else {
            Err(not_signed())
        }
    }
}

/// What a request shows of the vault's key.
#[derive(Clone, Debug)]
pub enum Proof {
    /// No signature at all.
    Missing,
    /// A header that is no signature, or several headers.
    Malformed,
    /// A signature, still to be verified.
    Signed(Box<SignedRequest>),
}

impl Proof {
    /// The signed request; 403 where there is none.
    pub fn signed(&self) -> Result<&SignedRequest> {
        match self {
            Self::Signed(request) => Ok(request),
            Self::Missing | Self::Malformed => Err(not_signed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use ed25519_dalek::{Signer, SigningKey as SecretKey};
    use proptest::prelude::*;

    use super::*;

    const DEVICE: &str = "DDDDDDDDDDDDDDDDDDDDDD";
    const NOW: i64 = 1_700_000_000_000;

    fn header(device: &str, time: &str, signature: &str) -> String {
        format!("v1;d={device};t={time};s={signature}")
    }

    fn zeroes() -> String {
        URL_SAFE_NO_PAD.encode([0_u8; 64])
    }

    fn signed(at: i64, body: &[u8]) -> (SignedRequest, SigningKey) {
        let secret = SecretKey::from_bytes(&[7; 32]);
        let unsigned = VaultSignature { device_id: DEVICE.parse().unwrap(), signed_at: Timestamp(at), bytes: [0; 64] };
        let text = SignedRequest::new(unsigned, "PUT", "/v1/me/vault/keyset?x=1", body).text;
        let signature = VaultSignature { bytes: secret.sign(text.as_bytes()).to_bytes(), ..unsigned };
        let key = SigningKey::parse("k", &STANDARD.encode(secret.verifying_key().as_bytes())).unwrap();
        (SignedRequest::new(signature, "PUT", "/v1/me/vault/keyset?x=1", body), key)
    }

    #[test]
    fn the_signed_text_is_what_the_documentation_says() {
        let (request, _) = signed(NOW, b"");
        assert_eq!(
            request.text(),
            "troupe-vault/v1\nPUT\n/v1/me/vault/keyset?x=1\nDDDDDDDDDDDDDDDDDDDDDD\n1700000000000\n\
             e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn a_header_reads_as_its_three_fields() {
        let read: VaultSignature = header(DEVICE, "1700000000000", &zeroes()).parse().unwrap();
        assert_eq!(
            read,
            VaultSignature { device_id: DEVICE.parse().unwrap(), signed_at: Timestamp(NOW), bytes: [0; 64] }
        );
    }

    #[test]
    fn any_other_writing_is_malformed() {
        let s = zeroes();
        let good = header(DEVICE, "1", &s);
        for text in [
            String::new(),
            "v1".into(),
            good.replace("v1", "v2"),
            good.replace("v1", "V1"),
            good.replace(";t=", "; t="),
            format!(" {good}"),
            format!("{good};"),
            format!("{good};x=1"),
            format!("v1;t=1;d={DEVICE};s={s}"),
            format!("v1;d={DEVICE};t=1"),
            header("DDDD", "1", &s),
            header(DEVICE, "", &s),
            header(DEVICE, "01", &s),
            header(DEVICE, "+1", &s),
            header(DEVICE, "-1", &s),
            header(DEVICE, "1.0", &s),
            header(DEVICE, "1234567890123456", &s),
            header(DEVICE, "1", ""),
            header(DEVICE, "1", &s[1..]),
            header(DEVICE, "1", &format!("{s}==")),
            header(DEVICE, "1", &format!("{s}A")),
            header(DEVICE, "1", &format!("{}B", &s[1..])),
            header(DEVICE, "1", &format!("{}/", &s[1..])),
        ] {
            assert_eq!(text.parse::<VaultSignature>(), Err(NotASignature), "{text}");
        }
    }

    #[test]
    fn a_signature_counts_within_five_minutes_on_either_side() {
        let (request, key) = signed(NOW, b"body");
        for now in [NOW, NOW - 300_000, NOW + 300_000] {
            assert!(request.verify(&key, Timestamp(now)).is_ok(), "{now}");
        }
        for now in [NOW - 300_001, NOW + 300_001, 0, i64::MAX, i64::MIN] {
            assert!(request.verify(&key, Timestamp(now)).is_err(), "{now}");
        }
    }

    #[test]
    fn a_signature_covers_method_target_device_time_and_body() {
        let (request, key) = signed(NOW, b"body");
        let signature = request.signature;
        let target = "/v1/me/vault/keyset?x=1";
        let other_device = VaultSignature { device_id: "EEEEEEEEEEEEEEEEEEEEEE".parse().unwrap(), ..signature };
        let other_time = VaultSignature { signed_at: Timestamp(NOW + 1), ..signature };
        assert!(SignedRequest::new(signature, "PUT", target, b"body").verify(&key, Timestamp(NOW)).is_ok());
        for changed in [
            SignedRequest::new(signature, "POST", target, b"body"),
            SignedRequest::new(signature, "PUT", "/v1/me/vault/keyset?x=2", b"body"),
            SignedRequest::new(signature, "PUT", target, b"Body"),
            SignedRequest::new(other_device, "PUT", target, b"body"),
            SignedRequest::new(other_time, "PUT", target, b"body"),
        ] {
            assert!(changed.verify(&key, Timestamp(NOW)).is_err(), "{}", changed.text());
        }
    }

    #[test]
    fn a_request_without_a_signature_or_with_a_malformed_one_is_not_signed() {
        assert_eq!(Proof::Missing.signed().unwrap_err().code(), "vault_signature");
        assert_eq!(Proof::Malformed.signed().unwrap_err().code(), "vault_signature");
        assert!(Proof::Signed(Box::new(signed(NOW, b"").0)).signed().is_ok());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in ".{0,200}") {
            let _ = text.parse::<VaultSignature>();
        }

        #[test]
        fn a_header_has_one_writing(bytes in proptest::collection::vec(any::<u8>(), 64), at in 0_i64..1_000_000_000_000_000) {
            let text = header(DEVICE, &at.to_string(), &URL_SAFE_NO_PAD.encode(&bytes));
            let read: VaultSignature = text.parse().unwrap();
            prop_assert_eq!(header(read.device_id.as_str(), &read.signed_at.to_string(), &URL_SAFE_NO_PAD.encode(read.bytes)), text);
        }

        #[test]
        fn a_damaged_header_is_never_read_as_another_signature_of_the_same_request(place in 0_usize..130, byte in 33_u8..127) {
            let (request, key) = signed(NOW, b"body");
            let good = header(DEVICE, &NOW.to_string(), &URL_SAFE_NO_PAD.encode(request.signature.bytes));
            let mut bytes = good.clone().into_bytes();
            let place = place % bytes.len();
            bytes[place] = byte;
            let damaged = String::from_utf8(bytes).unwrap();
            let passes = damaged.parse().is_ok_and(|signature| {
                SignedRequest::new(signature, "PUT", "/v1/me/vault/keyset?x=1", b"body").verify(&key, Timestamp(NOW)).is_ok()
            });
            prop_assert_eq!(passes, damaged == good);
        }
    }
}
