//! Folders and prefixes: what keys begin with.

use serde::{Deserialize, Deserializer, Serialize};

use super::{FileKey, KeyRange, key_text_check, successor};
use crate::{error::Result, storage::folder_path_open};

/// What the keys of a list begin with; nothing for all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPrefix(String);

impl KeyPrefix {
    /// Any text that a key could begin with, as S3 lists.
    pub fn parse(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        key_text_check(&text).map(|()| Self(text))
    }

    /// A folder's path, or nothing for the whole bucket, as REST lists; 400 otherwise.
    pub fn parse_folder(text: impl Into<String>) -> Result<Self> {
        let prefix = Self::parse(text)?;
        if prefix.0.is_empty() || prefix.0.ends_with('/') { Ok(prefix) } else { Err(folder_path_open()) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the keys lie that begin with it.
    pub fn range(&self) -> KeyRange {
        KeyRange { start: self.0.clone().into_bytes(), end: successor(self.0.as_bytes()) }
    }
}

/// The path of a folder, which ends with `/`. The folder is there while any key begins with the path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Folder(String);

impl Folder {
    /// Reads a path; 400 where it ends otherwise, and for the whole bucket.
    pub fn parse(text: impl Into<String>) -> Result<Self> {
        let KeyPrefix(text) = KeyPrefix::parse(text)?;
        if text.ends_with('/') { Ok(Self(text)) } else { Err(folder_path_open()) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether something lies in the folder, as the folder itself does.
    pub fn contains(&self, path: &str) -> bool {
        path.starts_with(&self.0)
    }

    /// Where the keys of its files lie.
    pub fn range(&self) -> KeyRange {
        KeyRange { start: self.0.clone().into_bytes(), end: successor(self.0.as_bytes()) }
    }

    /// The key of the file without content that keeps the folder while it is empty.
    pub fn placeholder(&self) -> FileKey {
        FileKey(self.0.clone())
    }
}

impl<'de> Deserialize<'de> for Folder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(text).map_err(serde::de::Error::custom)
    }
}
