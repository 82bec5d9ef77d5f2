//! How a file of known size is sent.

use std::time::Duration;

use super::{PARTS_MAX, PartNumber};
use crate::{
    error::{Error, Result},
    storage::{file_too_large, upload_too_large},
};

/// Bytes of a file, at most (contract C 4.4).
pub const FILE_BYTES_MAX: u64 = 5 * 1024 * 1024 * 1024 * 1024;
/// Bytes that are sent in one piece, at most (S3).
pub const SINGLE_BYTES_MAX: u64 = 5 * 1024 * 1024 * 1024;
/// How long addresses of parts work (contract C 4.4).
pub const PART_LINKS_LAST: Duration = Duration::from_secs(15 * 60);
/// Bytes of a part where 10,000 of them are enough.
const PART_BYTES: u64 = 8 * MIB;
const MIB: u64 = 1024 * 1024;

/// Passes where a file may be sent in one piece; 413 otherwise.
pub fn single_check(size: u64) -> Result<()> {
    if size <= SINGLE_BYTES_MAX { Ok(()) } else { Err(upload_too_large()) }
}

/// A file that is sent in parts, of which all but the last have the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadPlan {
    size: u64,
    part_size: u64,
}

impl UploadPlan {
    /// The plan for a file of `size` bytes; 400 for an empty one, 413 for one that is too large.
    pub fn new(size: u64) -> Result<Self> {
        match size {
            0 => Err(Error::invalid("size", "Must be 1 or more.")),
            1..=FILE_BYTES_MAX => {
                let smallest = size.div_ceil(u64::from(PARTS_MAX)).next_multiple_of(MIB);
                Ok(Self { size, part_size: smallest.max(PART_BYTES) })
            }
            _ => Err(file_too_large()),
        }
    }

    /// Bytes of the file.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of each part but the last (`partSize`).
    pub const fn part_size(&self) -> u64 {
        self.part_size
    }

    /// How many parts there are (`parts`).
    pub const fn parts(&self) -> u64 {
        self.size.div_ceil(self.part_size)
    }

    /// Bytes that a part has, which its address takes exactly; none where the file has no such part.
    pub fn part_bytes(&self, number: PartNumber) -> Option<u64> {
        let start = u64::from(number.get() - 1) * self.part_size;
        self.size.checked_sub(start).filter(|rest| *rest > 0).map(|rest| rest.min(self.part_size))
    }
}
