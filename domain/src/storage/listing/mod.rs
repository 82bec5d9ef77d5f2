//! Lists of a bucket: which of its keys are on a page, which lie together behind a delimiter, and where to read on.
//!
//! A [`Listing`] is shown the keys of a range, one after another as they are sorted, and says of each what becomes of it.
//! Behind a common prefix the range begins anew: the keys below it are never read, however many they are.

mod query;

pub use self::query::{After, Delimiter, ItsOwnFolder, LIST_DEFAULT, LIST_MAX, ListEntries, ListQuery, list_limit};

use super::{KeyRange, successor};

/// What becomes of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// The key is on the page.
    Key,
    /// What the key begins with is on the page, for all keys that begin with it. The next one is in [`Listing::range`].
    CommonPrefix(String),
    /// The key is on no page: it lies before the range, or is the folder that is listed.
    Passed,
    /// The page is full, and the key is for the next one.
    NextPage,
}

/// A page that is being filled.
#[derive(Clone, Debug)]
pub struct Listing {
    query: ListQuery,
    range: KeyRange,
    taken: usize,
    is_truncated: bool,
    last: Option<Last>,
}

/// What a page ended with, behind which the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    /// A key.
    Key(String),
    /// A common prefix.
    CommonPrefix(String),
}

impl Listing {
    /// The page that a query asks for.
    pub fn new(query: ListQuery) -> Self {
        let mut range = query.prefix.range();
        range.start = range.start.max(query.start());
        Self { query, range, taken: 0, is_truncated: false, last: None }
    }

    /// Where the keys are that are to be shown next; none where the page needs no more of them.
    pub fn range(&self) -> Option<&KeyRange> {
        let is_done = self.is_truncated || self.query.limit == 0 || self.range.is_empty();
        (!is_done).then_some(&self.range)
    }

    /// Says what becomes of a key; of one of its versions where those are listed, which come one behind the other.
    pub fn show(&mut self, key: &str) -> Listed {
        if !self.range.contains(key.as_bytes()) || self.query.is_hidden(key) || self.query.limit == 0 {
            return Listed::Passed;
        }
        if self.taken >= self.query.limit {
            self.is_truncated = true;
            return Listed::NextPage;
        }
        self.taken += 1;
        match self.query.common_prefix(key) {
            Some(prefix) => self.take_prefix(prefix.to_owned()),
            None => self.take_key(key),
        }
    }

    fn take_key(&mut self, key: &str) -> Listed {
        self.range.start = match self.query.entries {
            ListEntries::Keys => behind(key),
            ListEntries::Versions => key.as_bytes().to_vec(),
        };
        self.last = Some(Last::Key(key.to_owned()));
        Listed::Key
    }

    fn take_prefix(&mut self, prefix: String) -> Listed {
        match successor(prefix.as_bytes()) {
            Some(next) => self.range.start = next,
            // No text begins with 0xff, so there is always one; without, nothing lies behind.
            None => self.range.end = Some(self.range.start.clone()),
        }
        self.last = Some(Last::CommonPrefix(prefix.clone()));
        Listed::CommonPrefix(prefix)
    }

    /// Whether there is more than the page has.
    pub const fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// What the page ended with; none where it ended because there is no more.
    pub fn next(&self) -> Option<&Last> {
        self.last.as_ref().filter(|_| self.is_truncated)
    }
}

/// The first bytes behind a key: no key has a zero in it.
fn behind(key: &str) -> Vec<u8> {
    [key.as_bytes(), &[0]].concat()
}

#[cfg(test)]
pub(crate) mod tests;
