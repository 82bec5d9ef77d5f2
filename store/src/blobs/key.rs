//! The names of blobs.

use std::{fmt, str::FromStr};

use domain::id::ContentId;

/// The longest key, in bytes; S3 takes 1,024.
const KEY_LEN_MAX: usize = 512;

/// The text is no blob's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the key of a blob")]
pub struct NotABlobKey;

/// A blob's name: an area and its own parts, joined by `/`; each part of letters, digits, `_`, `-` and inner dots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobKey(String);

impl BlobKey {
    /// The blob `parts` of `area`.
    pub fn new(area: &str, parts: &[&str]) -> Result<Self, NotABlobKey> {
        let mut key = area.to_owned();
        for part in parts {
            key.push('/');
            key.push_str(part);
        }
        key.parse()
    }

    /// The blob in which the bytes of a content are: in one of 1,024 folders, by the id's end, which is random.
    pub(crate) fn of_content(id: ContentId) -> Self {
        let id = id.to_string();
        let folder = id.get(id.len().saturating_sub(2)..).unwrap_or_default();
        Self(format!("contents/{folder}/{id}"))
    }

    /// Its text, as it stands in rows and addresses.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BlobKey {
    type Err = NotABlobKey;

    fn from_str(text: &str) -> Result<Self, NotABlobKey> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
        let is_part = |part: &str| {
            !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && part.chars().all(is_plain)
        };
        let is_key = text.len() <= KEY_LEN_MAX && text.contains('/') && text.split('/').all(is_part);
        if is_key { Ok(Self(text.to_owned())) } else { Err(NotABlobKey) }
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_an_area_and_plain_parts() {
        let long = format!("a/{}", "b".repeat(KEY_LEN_MAX - 2));
        for text in ["drive/fil_01h", "git/repo/pack-1.idx", long.as_str()] {
            assert!(text.parse::<BlobKey>().is_ok(), "{text}");
        }
        assert_eq!(BlobKey::new("drive", &["a", "b"]).map(|key| key.to_string()), Ok("drive/a/b".into()));
    }

    #[test]
    fn nothing_else_is_a_key() {
        let long = format!("a/{}", "b".repeat(KEY_LEN_MAX - 1));
        for text in ["", "a", "/a", "a/", "a//b", "a/../b", "a/.b", "a/b.", "a/b c", "a/b%2f", "a/ä", "a\\b/c", &long]
        {
            assert_eq!(text.parse::<BlobKey>(), Err(NotABlobKey), "{text}");
        }
    }
}
