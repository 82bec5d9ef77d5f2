//! What versions are called, and in which order they are.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use uuid::Uuid;

use crate::{
    Timestamp,
    error::{Error, Result},
    id::{NotAnId, base32, from_base32, new_uuid},
    storage::version_not_found,
};

/// Characters of a version's id in a request (contract C 4.4).
pub const VERSION_ID_LEN: RangeInclusive<usize> = 1..=1_024;
/// What a version is called that was made while versioning wasn't on (S3).
const NULL: &str = "null";
/// Bits of a UUIDv7 behind its variant.
const LOW_BITS: u32 = 62;
/// Bits of one between its version and its variant.
const HIGH_BITS: u32 = 12;

/// The place of a version among the others of its file: a UUIDv7, greater than those before it, whatever the clock does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionStamp(Uuid);

impl VersionStamp {
    /// A stamp made at `now` that is greater than `before`.
    #[must_use]
    pub fn next(now: Timestamp, before: Option<Self>) -> Self {
        let new = Self(new_uuid(now));
        before.filter(|before| *before >= new).map_or(new, Self::following)
    }

    /// The stamp that is greater by one, counted in the bits that say neither version nor variant.
    fn following(self) -> Self {
        let bits = self.0.as_u128();
        let low = bits & ((1 << LOW_BITS) - 1);
        let high = (bits >> (LOW_BITS + 2)) & ((1 << HIGH_BITS) - 1);
        let time = bits >> (LOW_BITS + 2 + HIGH_BITS + 4);
        // At the end of all stamps, in the year 10889, there is no greater one.
        let next = (((time << HIGH_BITS) | high) << LOW_BITS | low) + 1;
        let (low, rest) = (next & ((1 << LOW_BITS) - 1), next >> LOW_BITS);
        let (high, time) = (rest & ((1 << HIGH_BITS) - 1), rest >> HIGH_BITS);
        Self(Uuid::from_u128((((((time << 4) | 7) << HIGH_BITS | high) << 2) | 2) << LOW_BITS | low))
    }

    /// The bytes of a row's key, which sort as the stamps do.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.into_bytes()
    }

    /// The stamp in a row's key.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for VersionStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&base32(self.0)).unwrap_or_default())
    }
}

impl fmt::Debug for VersionStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a version is called (`versionId`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VersionId {
    /// `null`.
    Null,
    /// 26 characters of base32.
    Stamp(VersionStamp),
}

impl VersionId {
    /// Reads the id in a request: 400 for one that is too long, 404 for one that no version can have.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        // Whatever has so many bytes has no more characters.
        if !VERSION_ID_LEN.contains(&text.chars().take(VERSION_ID_LEN.end() + 1).count()) {
            return Err(Error::invalid(path, "Must have 1 to 1,024 characters."));
        }
        text.parse().map_err(|_| version_not_found())
    }
}

impl FromStr for VersionId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if text == NULL { Ok(Self::Null) } else { from_base32(text).map(|uuid| Self::Stamp(VersionStamp(uuid))) }
    }
}

impl fmt::Display for VersionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str(NULL),
            Self::Stamp(stamp) => stamp.fmt(f),
        }
    }
}
