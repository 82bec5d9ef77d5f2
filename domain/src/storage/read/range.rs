//! The `Range` of a download (RFC 9110): one range of bytes, or the whole file.

use std::ops::RangeInclusive;

/// Some bytes of a file, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The first and the last one.
    pub bytes: RangeInclusive<u64>,
    /// Bytes of the whole file.
    pub size: u64,
}

impl ByteRange {
    /// How many there are.
    pub const fn count(&self) -> u64 {
        *self.bytes.end() - *self.bytes.start() + 1
    }
}

/// What a range is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeAnswer {
    /// The whole file: 200.
    Whole,
    /// Some of it: 206.
    Part(ByteRange),
    /// Nothing, since the file ends before: 416.
    Unsatisfiable,
}

/// What a `Range` header asks of a file. One that isn't understood is passed over, as one with several ranges is, which S3
/// doesn't answer either.
pub fn range_answer(header: Option<&str>, size: u64) -> RangeAnswer {
    let asked = header.and_then(|text| text.trim().split_once('=')).filter(|(unit, _)| is_bytes(unit));
    let range = asked.and_then(|(_, range)| range.trim().split_once('-'));
    let Some((first, last)) = range else { return RangeAnswer::Whole };
    match (first.trim_end(), last.trim_start()) {
        ("", last) => number(last).map_or(RangeAnswer::Whole, |count| suffix(count, size)),
        (first, "") => number(first).map_or(RangeAnswer::Whole, |first| within(first, u64::MAX, size)),
        (first, last) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => within(first, last, size),
            _ => RangeAnswer::Whole,
        },
    }
}

fn is_bytes(unit: &str) -> bool {
    unit.trim().eq_ignore_ascii_case("bytes")
}

fn suffix(count: u64, size: u64) -> RangeAnswer {
    if count == 0 { RangeAnswer::Unsatisfiable } else { within(size.saturating_sub(count), u64::MAX, size) }
}

fn within(first: u64, last: u64, size: u64) -> RangeAnswer {
    if first >= size {
        return RangeAnswer::Unsatisfiable;
    }
    RangeAnswer::Part(ByteRange { bytes: first..=last.min(size - 1), size })
}

/// A number of digits only; one that is too large for any file is as good as the largest.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}
