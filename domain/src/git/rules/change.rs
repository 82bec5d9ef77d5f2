//! What happens to a ref, as far as rules ask for it.

use std::collections::BTreeMap;

use crate::git::{CommitState, ObjectId, RefKind, RefName, RefVerdict};

/// What is known of a pull request that is to be merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PullFacts {
    /// How many approve it, whatever they saw of it.
    pub approvals: u32,
    /// How many of these saw what its head is now.
    pub fresh_approvals: u32,
    /// How many ask for changes.
    pub changes_requested: u32,
    /// How many threads aren't resolved.
    pub open_threads: u32,
    /// Whether everything that it changes was approved by who owns it.
    pub owners_approve: bool,
}

/// What happens to a ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefAct {
    /// The ref is made.
    Create,
    /// The ref goes forward.
    Update,
    /// The ref leaves commits behind; so does every tag that is moved.
    Force,
    /// The ref is taken away.
    Delete,
    /// A pull request is merged into the ref.
    Merge(PullFacts),
}

impl RefAct {
    /// What a push does that has this verdict; nothing where it is refused.
    pub fn of_push(name: &RefName, verdict: RefVerdict) -> Option<Self> {
        match verdict {
            RefVerdict::Created => Some(Self::Create),
            RefVerdict::Updated if name.kind() == RefKind::Tag => Some(Self::Force),
            RefVerdict::Updated => Some(Self::Update),
            RefVerdict::Forced => Some(Self::Force),
            RefVerdict::Deleted => Some(Self::Delete),
            RefVerdict::Refused => None,
        }
    }
}

/// A change of a ref, with what is known of the objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChange {
    /// The ref.
    pub name: RefName,
    /// What happens to it.
    pub act: RefAct,
    /// The commit whose checks count: the one that the ref is to name, or the head of the pull request; none where the ref is taken
    /// away.
    pub commit: Option<ObjectId>,
    /// Whether a merge commit is among those that the ref gains; nothing where nobody looked.
    pub adds_merges: Option<bool>,
    /// How that commit's checks stand, by their contexts.
    pub checks: BTreeMap<String, CommitState>,
}

impl RefChange {
    /// A change of which nothing else is known.
    pub const fn new(name: RefName, act: RefAct) -> Self {
        Self { name, act, commit: None, adds_merges: None, checks: BTreeMap::new() }
    }

    /// The same, after which the ref names this commit, or for a pull request of which this is the head.
    #[must_use]
    pub fn with_commit(self, commit: ObjectId) -> Self {
        Self { commit: Some(commit), ..self }
    }

    /// The same, where a merge commit is among those that the ref gains, or none is.
    #[must_use]
    pub fn adding_merges(self, adds_merges: Option<bool>) -> Self {
        Self { adds_merges, ..self }
    }
}
