//! A pull request of which somebody says something, who may only read it.

use domain::{
    Result, Timestamp,
    git::{AccessLevel, Pull, PullEvent, PullNumber, admit_word, repository_deleted},
    id::{OrgId, UserId},
    resource::ResourceStatus,
};
use kernel::Turn;
use store::{Change, Store, git::StoredRepository};

use super::pull_of;
use crate::{
    Repository,
    resource::{found, reaches},
};

/// A pull request, and who says something of it.
pub(crate) struct Discussion<'a> {
    pub store: &'a Store,
    pub repository: StoredRepository,
    pub pull: Pull,
    /// Whoever says it.
    pub by: UserId,
    /// What they may do in the repository.
    pub level: AccessLevel,
    pub now: Timestamp,
}

impl<'a> Discussion<'a> {
    pub(crate) async fn read(turn: &Turn<'a, Repository>, org_id: OrgId, number: PullNumber) -> Result<Self> {
        let store = &turn.services().store;
        let authority = turn.authority(org_id).await?;
        let repository = found(store, org_id, *turn.key()).await?;
        let level = reaches(store, &authority, &repository, AccessLevel::Read).await?;
        admit_word(&authority)?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        let pull = pull_of(store, repository.no, number).await?;
        Ok(Self { store, repository, pull, by: authority.on_behalf_of()?, level, now: turn.now() })
    }

    /// What is written whatever is said.
    pub(crate) fn change(&self) -> Change {
        let mut change = Change::new();
        change.repository_set(&self.repository);
        change
    }

    /// Has the change note what happened.
    pub(crate) fn note(&self, change: &mut Change, event: &PullEvent) {
        change.pull_event_add((self.repository.no, self.pull.number), (self.by, self.now), event);
    }
}
