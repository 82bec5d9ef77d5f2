//! How much a bucket may keep.

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    storage::bucket_full,
};

/// Bytes of a quota, at most: what fits a signed column, and JSON's numbers exactly (8 PiB).
const QUOTA_BYTES_MAX: u64 = 1 << 53;

/// Bytes that a bucket may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quota(u64);

/// How much of a quota is used, as the alarm `bucket_quota` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QuotaLevel {
    /// Less than nine tenths.
    Free,
    /// Nine tenths or more.
    Near,
    /// All of it.
    Full,
}

impl Quota {
    /// Reads a number of bytes; `path` names the field in the 400.
    pub fn parse(path: &str, bytes: u64) -> Result<Self> {
        if (1..=QUOTA_BYTES_MAX).contains(&bytes) {
            Ok(Self(bytes))
        } else {
            Err(Error::invalid(path, "Must be 1 to 9007199254740992."))
        }
    }

    /// The bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// Passes where `adds` more bytes fit beside the `used` ones; 403 otherwise. What adds nothing always passes, so that a
    /// full bucket can be put in order.
    pub fn check_room(self, used: u64, adds: u64) -> Result<()> {
        if adds == 0 || used.saturating_add(adds) <= self.0 { Ok(()) } else { Err(bucket_full()) }
    }

    /// How much of it is used.
    pub const fn level(self, used: u64) -> QuotaLevel {
        if used >= self.0 {
            QuotaLevel::Full
        } else if used as u128 * 10 >= self.0 as u128 * 9 {
            QuotaLevel::Near
        } else {
            QuotaLevel::Free
        }
    }
}
