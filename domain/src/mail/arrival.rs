//! Messages on their way in.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use super::Verdict;
use crate::{
    Timestamp,
    id::{MailArrivalId, MailboxId, OrgId},
};

/// The name of a message's bytes as they came: their SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RawId([u8; 32]);

/// The text is no SHA-256 in small hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a message's bytes")]
pub struct NotARawId;

impl RawId {
    /// The name of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for RawId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RawId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl FromStr for RawId {
    type Err = NotARawId;

    fn from_str(text: &str) -> Result<Self, NotARawId> {
        let is_digits = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)).take_while(|_| is_digits) {
            let digits = std::str::from_utf8(digits).map_err(|_| NotARawId)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NotARawId)?;
        }
        if is_digits { Ok(Self(bytes)) } else { Err(NotARawId) }
    }
}

/// A message on its way into a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its id; ids ascend in the order in which messages came.
    pub id: MailArrivalId,
    /// Whose mailbox it is.
    pub org_id: OrgId,
    /// Where it goes.
    pub mailbox_id: MailboxId,
    /// Its bytes.
    pub raw_id: RawId,
    /// Who sent it by the envelope; empty for the null sender.
    pub envelope_from: String,
    /// To whom it was sent by the envelope.
    pub envelope_to: String,
    /// When it came.
    pub received_at: Timestamp,
    /// The lines that stand before its bytes when they are read, each with its CR LF: `Return-Path`, `Received`,
    /// `Authentication-Results`.
    pub head: String,
    /// What it was found to be.
    pub verdict: Verdict,
    /// How often filing it failed.
    pub tries: u32,
}
