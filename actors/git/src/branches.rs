//! Making and deleting branches without git, and deleting tags. Each is a push of one ref, and is noted as such.

use domain::{
    Error, Result,
    git::{
        AccessLevel, BranchName, ObjectId, RefMove, RefName, RefVerdict, branch_exists, branch_not_found,
        default_branch_kept, repository_deleted, rules::Ruling, tag_exists, tag_not_found,
    },
    id::OrgId,
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Turn};
use store::{Change, Store, git::StoredRepository};

use crate::{
    LandPush, LandedPush, Repository, Scanned,
    push::Beside,
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

/// Deletes a tag; the object that it named.
#[derive(Clone, Debug)]
pub struct DeleteTag {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// What it is called.
    pub name: BranchName,
}

impl Command for DeleteTag {
    type Reply = ObjectId;

    const NAME: &'static str = "delete_tag";
}

impl Handle<CreateBranch> for Repository {
    async fn handle(&mut self, command: &CreateBranch, turn: &mut Turn<'_, Self>) -> Result<()> {
        let CreateBranch { org_id, name, at } = command;
        let repository = self.written(*org_id, turn).await?;
        let branch = RefName::of_branch(name);
        name_is_free(&turn.services().store, &repository, name).await?;
        // Nothing comes that wasn't there.
        let asked = RefMove { new: Some(*at), adds_merges: Some(false), ..RefMove::nothing(branch) };
        self.move_ref(*org_id, asked, turn).await
    }
}

/// 409 where a branch or a tag has the name already.
pub(crate) async fn name_is_free(store: &Store, repository: &StoredRepository, name: &BranchName) -> Result<()> {
    let (branch, tag) = (RefName::of_branch(name), RefName::of_tag(name));
    let places = store.repository_ref_places(repository.no, &[branch, tag]).await?;
    if places.first().is_some_and(|place| place.oid.is_some() || place.in_the_way.is_some()) {
        return Err(branch_exists());
    }
    if places.last().is_some_and(|place| place.oid.is_some()) { Err(tag_exists()) } else { Ok(()) }
}

impl Handle<DeleteBranch> for Repository {
    async fn handle(&mut self, command: &DeleteBranch, turn: &mut Turn<'_, Self>) -> Result<ObjectId> {
        let DeleteBranch { org_id, name } = command;
        let repository = self.written(*org_id, turn).await?;
        if *name == repository.settings.default_branch {
            return Err(default_branch_kept());
        }
        self.remove_ref(&repository, RefName::of_branch(name), turn).await?.ok_or_else(branch_not_found)
    }
}

impl Handle<DeleteTag> for Repository {
    async fn handle(&mut self, command: &DeleteTag, turn: &mut Turn<'_, Self>) -> Result<ObjectId> {
        let DeleteTag { org_id, name } = command;
        let repository = self.written(*org_id, turn).await?;
        self.remove_ref(&repository, RefName::of_tag(name), turn).await?.ok_or_else(tag_not_found)
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

    /// Deletes a ref; what it named, where it is there.
    async fn remove_ref(
        &mut self,
        repository: &StoredRepository,
        name: RefName,
        turn: &mut Turn<'_, Self>,
    ) -> Result<Option<ObjectId>> {
        let places = turn.services().store.repository_ref_places(repository.no, std::slice::from_ref(&name)).await?;
        let Some(oid) = places.first().and_then(|place| place.oid) else { return Ok(None) };
        let asked = RefMove { old: Some(oid), ..RefMove::nothing(name) };
        self.move_ref(repository.resource.org_id, asked, turn).await?;
        Ok(Some(oid))
    }

    /// Moves one ref.
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
        self.land_one(push, Change::new(), turn).await.map(|_| ())
    }

    /// Moves the one ref of a push, with `beside`. What isn't done for another reason than secrets, and than what was looked at
    /// before, is a rule of the repository (403 `branch_rule`).
    pub(crate) async fn land_one(
        &mut self,
        push: LandPush,
        beside: Change,
        turn: &mut Turn<'_, Self>,
    ) -> Result<LandedPush> {
        let (landed, rulings) = self.land(&push, Beside { change: beside, ..Beside::default() }, turn).await?;
        if landed.secrets.is_some() {
            return Ok(landed);
        }
        rulings.iter().flatten().try_for_each(Ruling::admit)?;
        match landed.refs.first() {
            Some(it) if it.verdict == RefVerdict::Refused => {
                Err(Error::forbidden("branch_rule", it.reason.clone().unwrap_or_default()))
            }
            _ => Ok(landed),
        }
    }
}
