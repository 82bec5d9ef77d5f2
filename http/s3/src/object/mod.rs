//! One file: reading, writing, copying and deleting it, and what is said of it.

mod about;
mod attributes;
mod copy;
mod delete;
mod put;
mod read;
mod tagging;

pub(crate) use self::{
    about::{Fields, conditions, list as tag_list, said, said_fields, tag, tags_check},
    read::{FileReads, millis, no_such_key, timestamp, version_id as version_of},
};

/// What headers say of a file that is written, and of one that is read.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzzing(headers: &hyper::HeaderMap) {
    about::fuzzing(headers);
    read::fuzzing(headers);
}
