//! A pull request, and what becomes of it.

use std::{fmt, str::FromStr};

use super::{AutoMerge, pull_closed, pull_draft, pull_merged};
use crate::{
    Result, Timestamp,
    app::names,
    git::{BranchName, ObjectId, RefName},
    id::UserId,
};

/// Pull requests of a repository that are open at the same time.
pub const OPEN_PULLS_MAX: u64 = 10_000;

/// The number of a pull request in its repository, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PullNumber(u32);

impl PullNumber {
    /// The number, where it can be one.
    pub fn new(number: u32) -> Option<Self> {
        (number > 0).then_some(Self(number))
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The ref that names its head, for as long as the repository is there.
    pub fn head_ref(self) -> Option<RefName> {
        RefName::parse(format!("refs/pull/{self}/head").as_bytes())
    }

    /// The ref that names its test merge, for as long as it is open and can be merged.
    pub fn merge_ref(self) -> Option<RefName> {
        RefName::parse(format!("refs/pull/{self}/merge").as_bytes())
    }
}

/// Whether a ref is one that names a test merge.
pub fn is_test_merge(name: &RefName) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"refs/pull/") && name.ends_with(b"/merge")
}

impl fmt::Display for PullNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for PullNumber {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        if text.starts_with('0') || !text.bytes().all(|it| it.is_ascii_digit()) {
            return Err(());
        }
        text.parse().ok().and_then(Self::new).ok_or(())
    }
}

names! {
    /// What became of a pull request so far.
    PullState { Open = "open", Merged = "merged", Closed = "closed", }
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Its number.
    pub number: PullNumber,
    /// What it is called.
    pub title: String,
    /// What it says; may be empty.
    pub body: String,
    /// The branch that is to be merged.
    pub head: BranchName,
    /// The branch that it is to be merged into.
    pub base: BranchName,
    /// What became of it.
    pub state: PullState,
    /// Whether it isn't to be merged yet.
    pub is_draft: bool,
    /// Who opened it, or made the key that did.
    pub author: UserId,
    /// Counts its changes.
    pub version: i64,
    /// What the branches named when it was opened: the head, then the base.
    pub opened_with: (ObjectId, ObjectId),
    /// What the head names; what it named last, once the pull request isn't open any more.
    pub head_oid: ObjectId,
    /// What the base named when it was opened, was last given another base, or was merged: then, before the merge.
    pub base_oid: ObjectId,
    /// What the base named after the merge.
    pub merge_commit: Option<ObjectId>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Who merged or closed it, and when.
    pub ended: Option<(UserId, Timestamp)>,
    /// The merge that somebody waits for.
    pub auto_merge: Option<AutoMerge>,
}

/// What is known of each open pull request without reading all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPull {
    /// Its number.
    pub number: PullNumber,
    /// The branch that is to be merged.
    pub head: BranchName,
    /// The branch that it is to be merged into.
    pub base: BranchName,
    /// What the head names.
    pub head_oid: ObjectId,
}

impl Pull {
    /// 409 unless it is open.
    pub fn admit_change(&self) -> Result<()> {
        match self.state {
            PullState::Open => Ok(()),
            PullState::Merged => Err(pull_merged()),
            PullState::Closed => Err(pull_closed()),
        }
    }

    /// 409 unless it is open and no draft.
    pub fn admit_merge(&self) -> Result<()> {
        self.admit_change()?;
        if self.is_draft { Err(pull_draft()) } else { Ok(()) }
    }

    /// The pull request once its head names this commit. Who waits for a merge has seen no other one.
    #[must_use]
    pub fn with_head(self, head_oid: ObjectId, now: Timestamp) -> Self {
        let auto_merge = self.auto_merge.filter(|_| self.head_oid == head_oid);
        Self { head_oid, updated_at: now, auto_merge, ..self }
    }

    /// The pull request once somebody has closed it.
    #[must_use]
    pub fn closed(self, by: UserId, now: Timestamp) -> Self {
        Self { state: PullState::Closed, ended: Some((by, now)), updated_at: now, auto_merge: None, ..self }
    }

    /// The pull request once somebody has merged it, after which the base names `commit` instead of `base`.
    #[must_use]
    pub fn merged(self, (base, commit): (ObjectId, ObjectId), by: UserId, now: Timestamp) -> Self {
        Self {
            state: PullState::Merged,
            base_oid: base,
            merge_commit: Some(commit),
            ended: Some((by, now)),
            updated_at: now,
            auto_merge: None,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_has_a_number_from_1() {
        let number = |text: &str| text.parse::<PullNumber>().ok().map(PullNumber::get);
        assert_eq!((number("1"), number("4294967295")), (Some(1), Some(u32::MAX)));
        for bad in ["", "0", "01", "+1", "-1", "1.0", "4294967296", "one", "1 "] {
            assert_eq!(number(bad), None, "{bad}");
        }
        let name = PullNumber::new(7).and_then(PullNumber::head_ref).unwrap();
        assert_eq!(name.to_string(), "refs/pull/7/head");
        let merge = PullNumber::new(7).and_then(PullNumber::merge_ref).unwrap();
        assert_eq!(merge.to_string(), "refs/pull/7/merge");
        assert!(is_test_merge(&merge) && !is_test_merge(&name));
        for other in ["refs/heads/refs/pull/7/merge", "refs/tags/pull/merge", "refs/pull/7/merge/more"] {
            assert!(!is_test_merge(&RefName::parse(other.as_bytes()).unwrap()), "{other}");
        }
    }
}
