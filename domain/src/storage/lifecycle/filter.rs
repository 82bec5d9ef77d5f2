//! Which files a rule is for.

use serde::{Deserialize, Serialize};

use crate::storage::{FileKey, Tags};

/// All of these must fit; what isn't named fits everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuleFilter {
    /// What keys begin with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Tags that a file has, among others.
    #[serde(skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Bytes that a file has more of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_over: Option<u64>,
    /// Bytes that a file has less of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_under: Option<u64>,
}

impl RuleFilter {
    /// Whether it may fit a file with this key.
    pub(super) fn fits_key(&self, key: &str) -> bool {
        key.starts_with(&self.prefix)
    }

    /// Whether it fits the content of a file whose key fits.
    pub(super) fn fits_content(&self, tags: &Tags, size: u64) -> bool {
        let is_over = self.size_over.is_none_or(|bytes| size > bytes);
        let is_under = self.size_under.is_none_or(|bytes| size < bytes);
        is_over && is_under && tags.contains(&self.tags)
    }

    /// Whether it asks for more than a key. No delete marker and no upload has tags or a size.
    pub(super) fn asks_for_content(&self) -> bool {
        !self.tags.is_empty() || self.size_over.is_some() || self.size_under.is_some()
    }

    /// Whether it fits a file.
    pub fn fits(&self, key: &FileKey, tags: &Tags, size: u64) -> bool {
        self.fits_key(key.as_str()) && self.fits_content(tags, size)
    }
}
