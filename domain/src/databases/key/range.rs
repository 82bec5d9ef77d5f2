//! Ranges of bytes: from one, up to but without another. Every condition on a sort key is one such range.

/// The smallest bytes after these.
fn next(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(0);
    bytes
}

/// A range of bytes, as databases sort them: unsigned, and what is shorter first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The first bytes in it.
    pub from: Vec<u8>,
    /// The first bytes after it; where there are none, it has no end.
    pub until: Option<Vec<u8>>,
}

impl KeyRange {
    /// All bytes.
    pub const fn all() -> Self {
        Self { from: Vec::new(), until: None }
    }

    /// These bytes only.
    pub fn exactly(bytes: Vec<u8>) -> Self {
        Self { until: Some(next(bytes.clone())), from: bytes }
    }

    /// What is before these bytes.
    pub const fn below(bytes: Vec<u8>) -> Self {
        Self { from: Vec::new(), until: Some(bytes) }
    }

    /// These bytes, and what is before them.
    pub fn up_to(bytes: Vec<u8>) -> Self {
        Self::below(next(bytes))
    }

    /// What is after these bytes.
    pub fn above(bytes: Vec<u8>) -> Self {
        Self::starting_at(next(bytes))
    }

    /// These bytes, and what is after them.
    pub const fn starting_at(bytes: Vec<u8>) -> Self {
        Self { from: bytes, until: None }
    }

    /// From the ones to the others, both of them included.
    pub fn between(from: Vec<u8>, to: Vec<u8>) -> Self {
        Self { from, until: Some(next(to)) }
    }

    /// What begins with these bytes.
    pub fn with_prefix(prefix: Vec<u8>) -> Self {
        Self { until: successor(&prefix), from: prefix }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.until.as_ref().is_some_and(|until| self.from >= *until)
    }

    /// Whether the bytes are in it.
    pub fn contains(&self, bytes: &[u8]) -> bool {
        *self.from <= *bytes && self.until.as_ref().is_none_or(|until| *bytes < **until)
    }
}

/// The first bytes after all that begin with `prefix`; nothing where all bytes behind it begin with it, as behind `0xff`.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}
