//! What a list is asked for.

use super::{Last, behind};
use crate::{
    error::{Error, Result},
    storage::{KEY_BYTES_MAX, KeyPrefix, key_invalid, successor},
};

/// Entries of a page, whatever is asked for (S3; the contract gives no maximum).
pub const LIST_MAX: usize = 1_000;
/// Entries of a page of files over REST where the request doesn't say (contract C 4.4).
pub const LIST_DEFAULT: usize = 100;

/// How many entries a page has where `asked` is what the request says; `default` otherwise. More than there can be is as
/// many as there can be; 400 for none, and for less. A number of JSON's `int64`, which the description says.
pub fn list_limit(asked: Option<i64>, default: usize) -> Result<usize> {
    match asked {
        None => Ok(default),
        Some(..=0) => Err(Error::invalid("limit", "Must be 1 or more.")),
        Some(limit) => Ok(usize::try_from(limit).unwrap_or(LIST_MAX).min(LIST_MAX)),
    }
}

/// What keys are put together at, mostly `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimiter(String);

impl Delimiter {
    /// `/`, at which folders end.
    pub fn slash() -> Self {
        Self("/".to_owned())
    }

    /// Reads a delimiter; none for an empty text.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        if text.len() > KEY_BYTES_MAX {
            return Err(key_invalid("Delimiters have at most 1,024 bytes."));
        }
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where a page begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum After {
    /// With the first key.
    #[default]
    Nothing,
    /// Behind what the page before ended with.
    Page(Last),
    /// With the rest of a key's versions, of which the page before had the first ones. The caller knows which.
    Within(String),
    /// Behind a text of the client's (S3's `marker`, `start-after`). One that is a common prefix itself is left with all
    /// that begins with it, since that is what `NextMarker` says.
    Marker(String),
}

/// What each entry of a list is that isn't a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEntries {
    /// A key, once.
    Keys,
    /// A version: a key is shown as often as it has some.
    Versions,
}

/// Whether the key that equals the prefix is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItsOwnFolder {
    /// As a key like any other (S3).
    Shown,
    /// Not in itself (REST).
    Hidden,
}

/// What a list is asked for.
#[derive(Clone, Debug)]
pub struct ListQuery {
    /// What its keys begin with.
    pub prefix: KeyPrefix,
    /// What they are put together at.
    pub delimiter: Option<Delimiter>,
    /// Where the page begins.
    pub after: After,
    /// What its entries are.
    pub entries: ListEntries,
    /// Keys, or versions, and common prefixes of a page.
    pub limit: usize,
    /// Whether the key that equals the prefix is listed.
    pub its_own_folder: ItsOwnFolder,
}

impl ListQuery {
    /// What of a key reaches up to the first delimiter behind the prefix.
    pub(super) fn common_prefix<'k>(&self, key: &'k str) -> Option<&'k str> {
        let Delimiter(delimiter) = self.delimiter.as_ref()?;
        let start = self.prefix.as_str().len();
        let at = key.get(start..)?.find(delimiter.as_str())?;
        key.get(..start + at + delimiter.len())
    }

    /// Whether a key is the listed folder's own.
    pub(super) fn is_hidden(&self, key: &str) -> bool {
        self.its_own_folder == ItsOwnFolder::Hidden && !key.is_empty() && key == self.prefix.as_str()
    }

    /// The first bytes that a key of the page may have.
    pub(super) fn start(&self) -> Vec<u8> {
        match &self.after {
            After::Nothing => Vec::new(),
            After::Page(Last::Key(key)) => behind(key),
            After::Page(Last::CommonPrefix(prefix)) => behind_all(prefix),
            After::Within(key) => key.clone().into_bytes(),
            After::Marker(marker) if self.is_common_prefix(marker) => behind_all(marker),
            After::Marker(marker) => behind(marker),
        }
    }

    fn is_common_prefix(&self, marker: &str) -> bool {
        marker.starts_with(self.prefix.as_str()) && self.common_prefix(marker) == Some(marker)
    }
}

/// The first bytes behind everything that begins with a text.
fn behind_all(prefix: &str) -> Vec<u8> {
    successor(prefix.as_bytes()).unwrap_or_else(|| vec![u8::MAX; KEY_BYTES_MAX + 1])
}
