//! Why a rule doesn't allow a change.

use std::fmt;

use super::RuleTarget;
use crate::git::CommitState;

/// Why a rule doesn't allow a change of a ref. Its text is what people read, and git shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The ref may not be taken away.
    Deletion(RuleTarget),
    /// Only others may change it.
    Restricted(RuleTarget),
    /// Commits would be left behind, or the tag be moved.
    Force(RuleTarget),
    /// The change has to come by a pull request (contract C 4.3).
    NeedsPull,
    /// So many have yet to approve the pull request.
    Approvals(u32),
    /// So many ask for changes of it.
    ChangesRequested(u32),
    /// So many of its threads aren't resolved.
    OpenThreads(u32),
    /// Who owns what it changes has yet to approve it.
    CodeOwners,
    /// A merge commit would be added.
    Merges,
    /// The rule asks since a moment ago what nobody looked at.
    Unlooked,
    /// A check that hasn't succeeded, and how it stands.
    Check(String, Option<CommitState>),
}

impl Reason {
    /// Whether it may be otherwise later, for the same change by the same person.
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Approvals(_)
            | Self::ChangesRequested(_)
            | Self::OpenThreads(_)
            | Self::CodeOwners
            | Self::Unlooked
            | Self::Check(..) => true,
            Self::Deletion(_) | Self::Restricted(_) | Self::Force(_) | Self::NeedsPull | Self::Merges => false,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deletion(target) => write!(f, "A rule of this repository doesn't allow deleting this {target}."),
            Self::Restricted(target) => {
                write!(f, "A rule of this repository doesn't allow you to change this {target}.")
            }
            Self::Force(RuleTarget::Branch) => {
                f.write_str("A rule of this repository doesn't allow force pushes to this branch.")
            }
            Self::Force(RuleTarget::Tag) => f.write_str("A rule of this repository doesn't allow moving this tag."),
            Self::NeedsPull => f.write_str("This branch needs a pull request."),
            Self::Approvals(1) => f.write_str("This pull request needs one more approval."),
            Self::Approvals(count) => write!(f, "This pull request needs {count} more approvals."),
            Self::ChangesRequested(1) => f.write_str("A review of this pull request asks for changes."),
            Self::ChangesRequested(count) => write!(f, "{count} reviews of this pull request ask for changes."),
            Self::OpenThreads(1) => f.write_str("A thread of this pull request isn't resolved."),
            Self::OpenThreads(count) => write!(f, "{count} threads of this pull request aren't resolved."),
            Self::CodeOwners => f.write_str("The owners of what this pull request changes haven't approved it."),
            Self::Merges => f.write_str("This branch takes no merge commits."),
            Self::Unlooked => f.write_str("A rule of this branch was changed meanwhile. Push again."),
            Self::Check(context, None) => write!(f, "The check {context} hasn't run."),
            Self::Check(context, Some(CommitState::Pending)) => write!(f, "The check {context} isn't done."),
            Self::Check(context, Some(_)) => write!(f, "The check {context} failed."),
        }
    }
}
