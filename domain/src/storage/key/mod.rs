//! Keys of files: up to 1,024 bytes of UTF-8, ordered by their bytes. `.` and `..` are ordinary, and so are `a`, `a/` and
//! `a//b` beside one another; a key is never the path of anything on a disk.

mod folder;
mod range;

pub use self::{
    folder::{Folder, KeyPrefix},
    range::{KeyRange, successor},
};

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::{file_name_is_folder, folder_download, key_invalid};
use crate::error::Result;

/// Bytes of a key (contract C 4.4 counts characters, S3 bytes; what is within both has so many bytes).
pub const KEY_BYTES_MAX: usize = 1_024;

/// The key of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct FileKey(String);

impl FileKey {
    /// Reads a key; 400 where no file can have it.
    pub fn parse(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        if text.is_empty() {
            return Err(key_invalid("Keys have at least one character."));
        }
        key_text_check(&text).map(|()| Self(text))
    }

    /// The key of a file that has content to download; 400 for what is named as a folder.
    pub fn parse_for_download(text: impl Into<String>) -> Result<Self> {
        let key = Self::parse(text)?;
        if key.is_folder() { Err(folder_download()) } else { Ok(key) }
    }

    /// The key of a file that somebody makes over REST; 400 for what is named as a folder.
    pub fn parse_for_upload(text: impl Into<String>) -> Result<Self> {
        let key = Self::parse(text)?;
        if key.is_folder() { Err(file_name_is_folder()) } else { Ok(key) }
    }

    /// Whether the key is named as a folder: a file without content there keeps an empty folder.
    pub fn is_folder(&self) -> bool {
        self.0.ends_with('/')
    }

    /// Passes where a file of this name may have so many bytes; 400 for one that is named as a folder, over REST.
    pub fn check_size(&self, size: u64) -> Result<()> {
        if size > 0 && self.is_folder() { Err(file_name_is_folder()) } else { Ok(()) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What holds for keys, and for whatever keys begin with.
fn key_text_check(text: &str) -> Result<()> {
    if text.len() > KEY_BYTES_MAX {
        Err(key_invalid("Keys have at most 1,024 bytes."))
    } else if text.contains('\0') {
        Err(key_invalid("Keys can't contain the character 0."))
    } else {
        Ok(())
    }
}

impl fmt::Display for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for FileKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
