//! Ranges of keys, which are all that a list asks of the store.

/// Keys from one up to but without another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key that is in it.
    pub start: Vec<u8>,
    /// The first one that isn't any more; none where there is no end.
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// Whether a key is in it.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && self.is_before_end(key)
    }

    /// Whether no key can be in it.
    pub fn is_empty(&self) -> bool {
        !self.is_before_end(&self.start)
    }

    fn is_before_end(&self, key: &[u8]) -> bool {
        self.end.as_deref().is_none_or(|end| key < end)
    }
}

/// The first of all bytes behind those that begin with `prefix`; none where those are the last.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}
