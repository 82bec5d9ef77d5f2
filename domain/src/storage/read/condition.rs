//! Conditions of reads and writes (RFC 9110, section 13), decided on the file as it is at that moment: those of a write
//! where the write is, not before its content comes.

use super::ETagList;
use crate::{
    Timestamp,
    error::{Error, Result},
    storage::{ETag, file_changed, file_exists, file_not_found},
};

/// What conditions look at of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// The tag of its content.
    pub etag: ETag,
    /// When it was written. Conditions know seconds only.
    pub modified: Timestamp,
}

/// The conditions of a read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadConditions {
    /// `If-Match`.
    pub matches: Option<ETagList>,
    /// `If-None-Match`.
    pub matches_none: Option<ETagList>,
    /// `If-Modified-Since`.
    pub modified_since: Option<Timestamp>,
    /// `If-Unmodified-Since`.
    pub unmodified_since: Option<Timestamp>,
}

/// What a read is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The file.
    Send,
    /// 304: the reader has it.
    NotModified,
    /// 412: it is another one by now.
    Failed,
}

impl ReadConditions {
    /// Decides on a file. Tags count before dates, which are looked at only where there is no list of tags.
    pub fn decide(&self, file: StoredFile) -> ReadOutcome {
        let is_later = |than: Timestamp| seconds(file.modified) > seconds(than);
        let is_expected = match &self.matches {
            Some(tags) => tags.names_strongly(file.etag),
            None => !self.unmodified_since.is_some_and(is_later),
        };
        let is_new = match &self.matches_none {
            Some(tags) => !tags.names(file.etag),
            None => self.modified_since.is_none_or(is_later),
        };
        match (is_expected, is_new) {
            (false, _) => ReadOutcome::Failed,
            (true, false) => ReadOutcome::NotModified,
            (true, true) => ReadOutcome::Send,
        }
    }
}

/// Whole seconds, since the dates of headers have no more.
const fn seconds(at: Timestamp) -> i64 {
    at.0.div_euclid(1_000)
}

/// Whether a write may take the place of a file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// It may (S3; over REST with `overwrite`).
    Allowed,
    /// Only where there is none.
    Refused,
}

/// The conditions of a write or a delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteConditions {
    /// `If-Match`.
    pub matches: Option<ETagList>,
    /// `If-None-Match`.
    pub matches_none: Option<ETagList>,
}

/// Which condition of a write didn't hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// `If-Match`, since the file is another one.
    Changed,
    /// `If-Match`, since there is no file.
    Missing,
    /// `If-None-Match`, since there is one.
    Exists,
}

/// Whether a write is made; each protocol says in its own words why not.
pub type WriteOutcome = Result<(), Precondition>;

impl WriteConditions {
    /// The conditions of a request over REST, where `overwrite` says whether there may be a file. `If-Match` names the one
    /// that is overwritten.
    #[must_use]
    pub fn with_overwrite(mut self, overwrite: Overwrite) -> Self {
        if overwrite == Overwrite::Refused && self.matches.is_none() {
            self.matches_none = Some(ETagList::Any);
        }
        self
    }

    /// Decides on the file that is there.
    pub fn decide(&self, file: Option<StoredFile>) -> WriteOutcome {
        match (&self.matches, file) {
            (Some(_), None) => return Err(Precondition::Missing),
            (Some(tags), Some(file)) if !tags.names_strongly(file.etag) => return Err(Precondition::Changed),
            _ => {}
        }
        match (&self.matches_none, file) {
            (Some(tags), Some(file)) if tags.names(file.etag) => Err(Precondition::Exists),
            _ => Ok(()),
        }
    }
}

/// The conditions of a delete (S3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteConditions {
    /// `If-Match`.
    pub matches: Option<ETagList>,
    /// `x-amz-if-match-size`.
    pub size: Option<u64>,
    /// `x-amz-if-match-last-modified-time`.
    pub modified: Option<Timestamp>,
}

impl DeleteConditions {
    /// Decides on the file that is there, with its size. Without conditions there may be none.
    pub fn decide(&self, file: Option<(StoredFile, u64)>) -> WriteOutcome {
        if *self == Self::default() {
            return Ok(());
        }
        let (file, size) = file.ok_or(Precondition::Missing)?;
        let holds = self.matches.as_ref().is_none_or(|tags| tags.names_strongly(file.etag))
            && self.size.is_none_or(|expected| expected == size)
            && self.modified.is_none_or(|expected| seconds(expected) == seconds(file.modified));
        if holds { Ok(()) } else { Err(Precondition::Changed) }
    }
}

impl From<Precondition> for Error {
    /// What REST says; S3 has 412 and 404 for it.
    fn from(precondition: Precondition) -> Self {
        match precondition {
            Precondition::Changed => file_changed(),
            Precondition::Missing => file_not_found(),
            Precondition::Exists => file_exists(),
        }
    }
}
