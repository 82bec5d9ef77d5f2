//! Asking for a file, or writing one, on conditions; and asking for a part of one.

mod condition;
mod range;
mod tags;

pub use self::{
    condition::{
        DeleteConditions, Overwrite, Precondition, ReadConditions, ReadOutcome, StoredFile, WriteConditions,
        WriteOutcome,
    },
    range::{ByteRange, RangeAnswer, range_answer},
    tags::{ETAGS_MAX, ETagList, TagStrength},
};

#[cfg(test)]
mod tests;
