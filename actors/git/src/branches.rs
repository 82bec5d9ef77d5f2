//! Making and deleting branches without git. Both are pushes of one ref, and are noted as such.

use domain::{
    Error, Result,
    git::{
        AccessLevel, BranchName, ObjectId, RefMove, RefName, RefVerdict, branch_exists, branch_not_found,
        default_branch_kept, repository_deleted, tag_exists,
    },
    id::OrgId,
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Turn};
use store::git::StoredRepository;

use crate::{
    LandPush, Repository, Scanned,
    resource::{found, reaches},
};

/// Makes a branch.
#[derive(Clone, Debug)]
pub struct CreateBranch {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// What it is called.
    pub name: BranchName,
    /// The commit that it begins at, which the repository has.
    pub at: ObjectId,
}

impl Command for CreateBranch {
    type Reply = ();

    const NAME: &'static str = "create_branch";
}

/// Deletes a branch; the commit that it named.
#[derive(Clone, Debug)]
pub struct DeleteBranch {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// What it is called.
    pub name: BranchName,
}

impl Command for DeleteBranch {
    type Reply = ObjectId;

    const NAME: &'static str = "delete_branch";
}

impl Handle<CreateBranch> for Repository {
    async fn handle(&mut self, command: &CreateBranch, turn: &mut Turn<'_, Self>) -> Result<()> {
        let CreateBranch { org_id, name, at } = command;
        let repository = self.written(*org_id, turn).await?;
        let (branch, tag) = (RefName::of_branch(name), RefName::of_tag(name));
        let places = turn.services().store.repository_ref_places(repository.no, &[branch.clone(), tag]).await?;
        if places.first().is_some_and(|place| place.oid.is_some() || place.in_the_way.is_some()) {
            return Err(branch_exists());
        }
        if places.last().is_some_and(|place| place.oid.is_some()) {
            return Err(tag_exists());
        }
        // Nothing comes that wasn't there.
        let asked = RefMove { new: Some(*at), adds_merges: Some(false), ..RefMove::nothing(branch) };
        self.move_ref(*org_id, asked, turn).await
    }
}

impl Handle<DeleteBranch> for Repository {
    async fn handle(&mut self, command: &DeleteBranch, turn: &mut Turn<'_, Self>) -> Result<ObjectId> {
        let DeleteBranch { org_id, name } = command;
        let repository = self.written(*org_id, turn).await?;
        if *name == repository.settings.default_branch {
            return Err(default_branch_kept());
        }
        let branch = RefName::of_branch(name);
        let places = turn.services().store.repository_ref_places(repository.no, std::slice::from_ref(&branch)).await?;
        let oid = places.first().and_then(|place| place.oid).ok_or_else(branch_not_found)?;
        let asked = RefMove { old: Some(oid), ..RefMove::nothing(branch) };
        self.move_ref(*org_id, asked, turn).await?;
        Ok(oid)
    }
}

impl Repository {
    /// The repository, in which the caller may write.
    pub(crate) async fn written(&self, org_id: OrgId, turn: &mut Turn<'_, Self>) -> Result<StoredRepository> {
        let store = turn.services().store.clone();
        let authority = turn.authority(org_id).await?;
        let repository = found(&store, org_id, *turn.key()).await?;
        reaches(&store, &authority, &repository, AccessLevel::Write).await?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        Ok(repository)
    }

    /// Moves one ref. What isn't done for another reason than what was looked at before is a rule of the repository.
    async fn move_ref(&mut self, org_id: OrgId, asked: RefMove, turn: &mut Turn<'_, Self>) -> Result<()> {
        let push = LandPush {
            org_id,
            moves: vec![asked],
            refused: Vec::new(),
            refuses_more: false,
            is_atomic: true,
            pack: None,
            // Nothing comes that wasn't there.
            secrets: Scanned::default(),
        };
        let landed = self.handle(&push, turn).await?;
        match landed.refs.into_iter().next() {
            Some(it) if it.verdict == RefVerdict::Refused => {
                Err(Error::forbidden("branch_rule", it.reason.unwrap_or_default()))
            }
            _ => Ok(()),
        }
    }
}
