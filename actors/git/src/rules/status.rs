//! What checks say of commits.

use actors_base::RepositoryChange;
use domain::{
    Caller, Result,
    git::{AccessLevel, CommitStatus, ObjectId, STATUSES_MAX, StatusDraft, repository_deleted, too_many_statuses},
    id::OrgId,
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Turn};
use store::Change;

use crate::{
    Repository,
    live::tell,
    resource::{found, reaches},
};

/// Says how a check stands for a commit that is in the repository.
#[derive(Clone, Debug)]
pub struct SetCommitStatus {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The commit.
    pub commit: ObjectId,
    /// What the check says.
    pub draft: StatusDraft,
}

impl Command for SetCommitStatus {
    type Reply = CommitStatus;

    const NAME: &'static str = "set_commit_status";
}

impl Handle<SetCommitStatus> for Repository {
    async fn handle(&mut self, command: &SetCommitStatus, turn: &mut Turn<'_, Self>) -> Result<CommitStatus> {
        let SetCommitStatus { org_id, commit, draft } = command;
        let (store, now) = (&turn.services().store, turn.now());
        let authority = turn.authority(*org_id).await?;
        let repository = found(store, *org_id, *turn.key()).await?;
        reaches(store, &authority, &repository, AccessLevel::Write).await?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        let statuses = store.commit_statuses(repository.no, *commit).await?;
        let before = statuses.iter().find(|status| status.draft.context == draft.context);
        if before.is_none() && statuses.len() >= STATUSES_MAX {
            return Err(too_many_statuses());
        }
        let status = CommitStatus {
            commit: *commit,
            draft: draft.clone(),
            set_by: authority.on_behalf_of()?,
            key_id: match &turn.context().caller {
                Caller::Key(key) => Some(key.key_id),
                _ => None,
            },
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
        };
        let mut change = Change::new();
        change.commit_status_put(repository.no, &status);
        turn.commit(change).await?;
        let (commit_id, context) = (*commit, draft.context.clone());
        tell(turn, [RepositoryChange::Status { commit_id, context }]);
        Ok(status)
    }
}
