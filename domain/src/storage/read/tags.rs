//! Lists of tags in `If-Match` and `If-None-Match`.

use crate::storage::ETag;

/// Tags of a list that are read. Whoever sends more of them matches none of the rest.
pub const ETAGS_MAX: usize = 100;

/// The tags that a header names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ETagList {
    /// `*`: of whatever is there.
    Any,
    /// These, of which each may be weak.
    Some(Vec<(TagStrength, ETag)>),
}

/// Whether contents with one tag are equal byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagStrength {
    /// They are.
    Strong,
    /// They mean the same (`W/`). Ours never are.
    Weak,
}

impl ETagList {
    /// Reads a header. What is no tag of ours matches nothing, so it is left out.
    pub fn parse(header: &str) -> Self {
        if header.trim() == "*" {
            return Self::Any;
        }
        // No tag of ours has a comma.
        let tags = header.split(',').take(ETAGS_MAX).filter_map(|text| {
            let text = text.trim();
            let (strength, text) =
                text.strip_prefix("W/").map_or((TagStrength::Strong, text), |rest| (TagStrength::Weak, rest));
            ETag::parse(text).map(|tag| (strength, tag))
        });
        Self::Some(tags.collect())
    }

    /// Whether the list names what is there, byte for byte (`If-Match`).
    pub(super) fn names_strongly(&self, tag: ETag) -> bool {
        match self {
            Self::Any => true,
            Self::Some(tags) => tags.contains(&(TagStrength::Strong, tag)),
        }
    }

    /// Whether the list names what is there, or what means the same (`If-None-Match`).
    pub(super) fn names(&self, tag: ETag) -> bool {
        match self {
            Self::Any => true,
            Self::Some(tags) => tags.iter().any(|(_, named)| *named == tag),
        }
    }
}
