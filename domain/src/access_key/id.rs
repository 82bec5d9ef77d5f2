//! Ids of access keys: `TRPA` and 16 characters of base32, 80 random bits, so that nobody meets another's by chance.

use std::{fmt, str::FromStr};

use crate::{error::Result, token::random_bytes};

/// What ids begin with.
const PREFIX: &[u8; 4] = b"TRPA";
/// Random characters behind it.
const RANDOM_LEN: usize = 16;
/// Characters of an id.
const LEN: usize = PREFIX.len() + RANDOM_LEN;
/// Base32 (RFC 4648).
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The id of an access key. It is no secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessKeyId([u8; LEN]);

/// The text is no id of an access key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an access key")]
pub struct NotAnAccessKeyId;

impl AccessKeyId {
    /// A new one. Fails only where the operating system has no randomness to give.
    pub fn generate() -> Result<Self> {
        let mut text = [0; LEN];
        text[..PREFIX.len()].copy_from_slice(PREFIX);
        for (character, random) in text[PREFIX.len()..].iter_mut().zip(random_bytes::<RANDOM_LEN>()?) {
            *character = ALPHABET[usize::from(random % 32)];
        }
        Ok(Self(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // Prefix and alphabet are ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for AccessKeyId {
    type Err = NotAnAccessKeyId;

    fn from_str(text: &str) -> Result<Self, NotAnAccessKeyId> {
        let bytes: [u8; LEN] = text.as_bytes().try_into().map_err(|_| NotAnAccessKeyId)?;
        let is_id = bytes.starts_with(PREFIX) && bytes[PREFIX.len()..].iter().all(|byte| ALPHABET.contains(byte));
        if is_id { Ok(Self(bytes)) } else { Err(NotAnAccessKeyId) }
    }
}

impl fmt::Display for AccessKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for AccessKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_is_another_one_each_time() {
        let (one, other) = (AccessKeyId::generate().unwrap(), AccessKeyId::generate().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.to_string().len(), 20);
        assert_eq!(one.as_str().parse(), Ok(one));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let id = AccessKeyId::generate().unwrap().to_string();
        let wrong = ["", "TRPA", &id[1..], &format!("{id}A"), &id.to_lowercase(), "TRPAAAAAAAAAAAAAAAA1"];
        for text in wrong.into_iter().chain(["AKIAAAAAAAAAAAAAAAAA", "TRPAAAAAAAAAAAAAAAé"]) {
            assert_eq!(text.parse::<AccessKeyId>(), Err(NotAnAccessKeyId), "{text}");
        }
    }
}
