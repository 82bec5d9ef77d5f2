//! The public key that every change of a vault is signed with.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signature, VerifyingKey};

use crate::error::{Error, Result};

/// An Ed25519 public key: 32 bytes, base64 on the wire.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SigningKey(VerifyingKey);

impl SigningKey {
    /// Reads a key that a device made; `path` names the field in the 400.
    ///
    /// A point of small order is refused, as every message has a valid signature under it; so is any writing of a
    /// point but the canonical one.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let key =
            Self::read(text).ok_or_else(|| Error::invalid(path, "Must be an Ed25519 public key: 32 bytes, base64."))?;
        if key.0.is_weak() || key.0.to_edwards().compress().as_bytes() != key.0.as_bytes() {
            return Err(Error::invalid(path, "Must be an Ed25519 public key that is safe to sign with."));
        }
        Ok(key)
    }

    /// A key that was checked when it was stored.
    pub fn from_stored(text: &str) -> Result<Self> {
        Self::read(text).ok_or_else(|| Error::internal("a stored signing key is no Ed25519 public key"))
    }

    fn read(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = STANDARD.decode(text).ok()?.try_into().ok()?;
        VerifyingKey::from_bytes(&bytes).ok().map(Self)
    }

    /// Whether `signature` is this key's over `message`, and the only one of its writings (RFC 8032, strict).
    pub fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Display for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0.as_bytes()))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signer, SigningKey as SecretKey};

    use super::*;

    #[test]
    fn a_key_reads_back_as_it_was_written() {
        let text = STANDARD.encode(SecretKey::from_bytes(&[7; 32]).verifying_key().as_bytes());
        assert_eq!(SigningKey::parse("k", &text).unwrap().to_string(), text);
    }

    #[test]
    fn only_32_bytes_that_are_a_point_are_a_key() {
        let mut not_a_point = [0_u8; 32];
        not_a_point[0] = 2;
        for bytes in [&[7_u8; 31][..], &[7; 33], &not_a_point, &[]] {
            assert!(SigningKey::parse("k", &STANDARD.encode(bytes)).is_err(), "{bytes:?}");
        }
        assert!(SigningKey::parse("k", "not base64").is_err());
    }

    #[test]
    fn points_of_small_order_are_refused() {
        // The identity, the point of order two, a point of order four, and the identity written as p + 1.
        let identity = {
            let mut bytes = [0_u8; 32];
            bytes[0] = 1;
            bytes
        };
        let order_two = {
            let mut bytes = [0xff_u8; 32];
            bytes[0] = 0xec;
            bytes[31] = 0x7f;
            bytes
        };
        let order_four = [0_u8; 32];
        let odd_identity = {
            let mut bytes = [0xff_u8; 32];
            bytes[0] = 0xee;
            bytes[31] = 0x7f;
            bytes
        };
        for bytes in [identity, order_two, order_four, odd_identity] {
            assert!(SigningKey::parse("k", &STANDARD.encode(bytes)).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_signature_holds_for_its_key_and_its_message_only() {
        let secret = SecretKey::from_bytes(&[7; 32]);
        let key = SigningKey(secret.verifying_key());
        let other = SigningKey(SecretKey::from_bytes(&[8; 32]).verifying_key());
        let signature = secret.sign(b"message").to_bytes();
        assert!(key.verifies(b"message", &signature));
        assert!(!key.verifies(b"massage", &signature));
        assert!(!other.verifies(b"message", &signature));
        assert!(!key.verifies(b"message", &[0xff; 64]));
    }
}
