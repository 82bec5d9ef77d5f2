//! Telling whoever watches a repository what changed, once it is committed.

use actors_base::{RepositoryChange, tell_repository};
use domain::git::{Pull, PullNumber};
use kernel::Turn;

use crate::Repository;

/// Tells whoever watches the repository.
pub(crate) fn tell(turn: &Turn<'_, Repository>, changes: impl IntoIterator<Item = RepositoryChange>) {
    tell_repository(&turn.services().hub, *turn.key(), changes);
}

/// That a pull request changed, which was read as this one.
pub(crate) fn pull_changed(before: &Pull) -> RepositoryChange {
    RepositoryChange::Pull { number: before.number.get(), version: before.version + 1 }
}

/// That what is said of a pull request changed.
pub(crate) fn review_changed(number: PullNumber) -> RepositoryChange {
    RepositoryChange::Review { number: number.get() }
}
