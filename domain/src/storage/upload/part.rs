//! Parts of an upload.

use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    error::{Error, Result},
    problems::Problems,
};

/// Parts of an upload (contract C 4.4).
pub const PARTS_MAX: u32 = 10_000;
/// Bytes of each part but the last, at least (S3).
pub const PART_BYTES_MIN: u64 = 5 * 1024 * 1024;
/// Bytes of a part, at most (S3).
pub const PART_BYTES_MAX: u64 = 5 * 1024 * 1024 * 1024;
/// Numbers of parts.
const NUMBERS: RangeInclusive<u64> = 1..=PARTS_MAX as u64;

/// The number of a part: 1 to 10,000 (contract C 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct PartNumber(u32);

impl PartNumber {
    /// Reads a number; `path` names the field in the 400.
    pub fn parse(path: &str, number: u64) -> Result<Self> {
        let known = NUMBERS.contains(&number).then_some(number).and_then(|number| u32::try_from(number).ok());
        known.map(Self).ok_or_else(|| Error::invalid(path, "Must be 1 to 10000."))
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<'de> Deserialize<'de> for PartNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        Self::parse("partNumber", number).map_err(|_| serde::de::Error::custom("expected a number from 1 to 10000"))
    }
}

/// The parts that addresses are asked for; 400 for none, and for more than there can be.
pub fn part_numbers_check(numbers: &[u64]) -> Result<Vec<PartNumber>> {
    if numbers.is_empty() || numbers.len() as u64 > *NUMBERS.end() {
        return Err(Error::invalid("partNumbers", "Send 1 to 10,000 numbers."));
    }
    let (mut problems, mut checked) = (Problems::new(), Vec::with_capacity(numbers.len()));
    for (place, number) in numbers.iter().enumerate() {
        let number = PartNumber::parse(&format!("partNumbers[{place}]"), *number);
        checked.extend(problems.keep(number)?);
    }
    problems.into_result().map(|()| checked)
}
