//! Cursors of a bucket's lists: what a page ended with, signed together with the bucket, the list and what it is asked for.
//! How many entries a page has may change from page to page.

mod position;

pub use self::position::Place;

use super::{Delimiter, FileKey, KeyPrefix, invalid_cursor};
use crate::{error::Result, id::ResourceId, signed_cursor::CursorSigner};

/// Characters of a cursor of files (contract C 4.4).
pub const FILES_CURSOR_LEN_MAX: usize = 2_048;
/// Characters of a cursor of deleted files (contract C 4.4), and of every other list.
pub const OTHER_CURSOR_LEN_MAX: usize = 4_096;
/// What the key of cursors is made of, beside the server's secret.
const KEY_LABEL: &[u8] = b"troupe-storage-cursor/v1";

/// What is listed of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf<'l> {
    /// Files and folders.
    Files {
        /// What their keys begin with.
        prefix: &'l KeyPrefix,
        /// What they are put together at.
        delimiter: Option<&'l Delimiter>,
    },
    /// Deleted files.
    Deleted {
        /// What their keys begin with.
        prefix: &'l KeyPrefix,
    },
    /// All versions of all files.
    AllVersions {
        /// What their keys begin with.
        prefix: &'l KeyPrefix,
        /// What they are put together at.
        delimiter: Option<&'l Delimiter>,
    },
    /// The versions of one file.
    Versions {
        /// Its key.
        key: &'l FileKey,
    },
    /// Unfinished uploads.
    Uploads {
        /// What their keys begin with.
        prefix: &'l KeyPrefix,
        /// What they are put together at.
        delimiter: Option<&'l Delimiter>,
    },
}

impl ListOf<'_> {
    const fn cursor_len_max(self) -> usize {
        match self {
            Self::Files { .. } => FILES_CURSOR_LEN_MAX,
            _ => OTHER_CURSOR_LEN_MAX,
        }
    }

    /// What is listed, as a name, a text and a delimiter.
    fn parts(self) -> [Vec<u8>; 3] {
        let (name, text, delimiter) = match self {
            Self::Files { prefix, delimiter } => ("files", prefix.as_str(), delimiter),
            Self::Deleted { prefix } => ("deleted", prefix.as_str(), None),
            Self::AllVersions { prefix, delimiter } => ("all-versions", prefix.as_str(), delimiter),
            Self::Versions { key } => ("versions", key.as_str(), None),
            Self::Uploads { prefix, delimiter } => ("uploads", prefix.as_str(), delimiter),
        };
        [name, text, delimiter.map_or("", Delimiter::as_str)].map(|part| part.as_bytes().to_vec())
    }
}

/// What is asked, page after page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListScope<'l> {
    /// The bucket.
    pub bucket: ResourceId,
    /// What is listed of it.
    pub list: ListOf<'l>,
}

impl ListScope<'_> {
    fn parts(&self) -> Vec<Vec<u8>> {
        let bucket = self.bucket.to_string().into_bytes();
        std::iter::once(bucket).chain(self.list.parts()).collect()
    }
}

/// What signs cursors.
#[derive(Clone, Debug)]
pub struct ListCursorKey(CursorSigner);

impl ListCursorKey {
    /// The key that belongs to the server's secret. Whoever has another secret refuses its cursors.
    pub fn new(secret: &[u8]) -> Self {
        Self(CursorSigner::new(KEY_LABEL, secret))
    }

    /// The cursor that goes on behind `place`.
    pub fn write(&self, scope: &ListScope<'_>, place: &Place) -> String {
        self.0.write(&scope.parts(), &place.to_bytes())
    }

    /// The place in a cursor of `scope`; 400 for anything else.
    pub fn read(&self, scope: &ListScope<'_>, cursor: &str) -> Result<Place> {
        let place = self.0.read(&scope.parts(), cursor, scope.list.cursor_len_max());
        place.and_then(|bytes| Place::from_bytes(&bytes)).ok_or_else(invalid_cursor)
    }
}

#[cfg(test)]
mod tests;
