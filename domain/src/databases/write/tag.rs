//! Tags of items: the `ETag` that an item is answered with, and that `If-Match` holds a write to.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use crate::databases::Item;

/// Bytes of the hash.
const LEN: usize = 16;

/// The hash of an item's text, which equal items have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemTag([u8; LEN]);

impl ItemTag {
    /// The tag of an item.
    pub fn of(item: &Item) -> Self {
        Self::of_text(&item.to_text())
    }

    /// The tag of the item that is kept as this text.
    pub fn of_text(text: &str) -> Self {
        let digest = Sha256::digest(text);
        Self(std::array::from_fn(|place| digest[place]))
    }

    /// The tag in a header, in its quotes; nothing where it is none of ours.
    pub fn parse(header: &str) -> Option<Self> {
        let text = header.strip_prefix('"')?.strip_suffix('"')?;
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

impl fmt::Display for ItemTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", URL_SAFE_NO_PAD.encode(self.0))
    }
}
