//! Tags of contents, as S3 makes them.

use std::{fmt, str::FromStr};

use md5::{Digest, Md5};

use crate::storage::PARTS_MAX;

/// Bytes of an MD5.
const LEN: usize = 16;

/// The tag of a content: its MD5, or that of the MD5s of the parts that it was sent in, with their number. MD5 is S3's
/// choice, and clients compare it with their own; what is kept is checked by better hashes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ETag {
    md5: [u8; LEN],
    parts: Option<u32>,
}

impl ETag {
    /// The tag of a content, or of one part, with this MD5.
    pub const fn of_md5(md5: [u8; LEN]) -> Self {
        Self { md5, parts: None }
    }

    /// The tag of a content that was sent in parts with these.
    pub fn of_parts<'p>(parts: impl IntoIterator<Item = &'p Self>) -> Self {
        let (mut md5, mut count) = (Md5::new(), 0_u32);
        for part in parts {
            md5.update(part.md5);
            count = count.saturating_add(1);
        }
        Self { md5: md5.finalize().into(), parts: Some(count) }
    }

    /// How many parts the content was sent in; none where it came in one piece.
    pub const fn parts(&self) -> Option<u32> {
        self.parts
    }

    /// The tag in a header or a body, in quotes or without; none where it isn't one of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('"').map_or(Some(text), |rest| rest.strip_suffix('"'))?;
        bare.parse().ok()
    }
}

/// The text is no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a tag of a content")]
pub struct NotATag;

impl FromStr for ETag {
    type Err = NotATag;

    fn from_str(text: &str) -> Result<Self, NotATag> {
        let (digits, parts) = text.split_once('-').map_or((text, None), |(digits, parts)| (digits, Some(parts)));
        let parts = parts.map(part_count).transpose()?;
        let digits: &[u8; 2 * LEN] = digits.as_bytes().try_into().map_err(|_| NotATag)?;
        let mut md5 = [0; LEN];
        for (byte, pair) in md5.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0]).zip(digit(pair[1])).map(|(high, low)| high << 4 | low).ok_or(NotATag)?;
        }
        Ok(Self { md5, parts })
    }
}

/// The value of a digit of either case, since some clients make capitals of it.
fn digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The number of parts, as we write it.
fn part_count(text: &str) -> Result<u32, NotATag> {
    let count = text.parse().map_err(|_| NotATag)?;
    if (1..=PARTS_MAX).contains(&count) && count.to_string() == text { Ok(count) } else { Err(NotATag) }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.md5 {
            write!(f, "{byte:02x}")?;
        }
        self.parts.map_or(Ok(()), |parts| write!(f, "-{parts}"))
    }
}

impl fmt::Debug for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
