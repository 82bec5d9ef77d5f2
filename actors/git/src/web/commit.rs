//! Landing a commit of the web: its branch moves, and its upload is spent, in one commit.

use domain::{
    Result,
    git::{
        BranchName, RefMove, RefName,
        web::{WebUploadId, branch_moved, upload_missing, web_branch_not_found},
    },
    id::OrgId,
};
use kernel::{Command, Handle, Resource, Turn};
use store::{
    Change,
    git::{NewPack, StoredRepository, UploadedFile},
};

use super::upload::timer_of;
use crate::{LandPush, LandedPush, Repository, Scanned, branches::name_is_free};

/// An upload of which a commit takes files.
#[derive(Clone, Debug)]
pub struct SpentUpload {
    /// The upload.
    pub id: WebUploadId,
    /// The files, as they were when the commit was made of them.
    pub files: Vec<UploadedFile>,
}

/// Has a branch name a commit that was made for it.
#[derive(Clone, Debug)]
pub struct LandWebCommit {
    /// The organization whose repository it is.
    pub org_id: OrgId,
    /// The branch.
    pub branch: BranchName,
    /// How its ref is moved: from the commit's parent, or from nothing where the branch is new.
    pub asked: RefMove,
    /// Whether the branch is made at another one's commit.
    pub is_new_branch: bool,
    /// What the commit brings: not where there are secrets in it that nobody allowed.
    pub pack: Option<NewPack>,
    /// The secrets in it.
    pub secrets: Scanned,
    /// The upload that it takes files of.
    pub spends: Option<SpentUpload>,
}

impl Command for LandWebCommit {
    type Reply = LandedPush;

    const NAME: &'static str = "land_web_commit";
}

impl Handle<LandWebCommit> for Repository {
    async fn handle(&mut self, command: &LandWebCommit, turn: &mut Turn<'_, Self>) -> Result<LandedPush> {
        let LandWebCommit { org_id, asked, is_new_branch, pack, secrets, spends, .. } = command;
        let repository = self.written(*org_id, turn).await?;
        if *is_new_branch {
            name_is_free(&turn.services().store, &repository, &command.branch).await?;
        } else {
            is_unmoved(command, &repository, turn).await?;
        }
        let mut beside = Change::new();
        if let Some(spent) = spends {
            spend(spent, &repository, turn, &mut beside).await?;
        }
        let push = LandPush {
            org_id: *org_id,
            moves: vec![asked.clone()],
            refused: Vec::new(),
            refuses_more: false,
            is_atomic: true,
            pack: pack.clone(),
            secrets: secrets.clone(),
        };
        self.land_one(push, beside, turn).await
    }
}

/// 409 where the branch names another commit than the parent, 404 where it isn't there.
async fn is_unmoved(command: &LandWebCommit, repository: &StoredRepository, turn: &Turn<'_, Repository>) -> Result<()> {
    let (store, name) = (&turn.services().store, RefName::of_branch(&command.branch));
    let places = store.repository_ref_places(repository.no, &[name]).await?;
    match (places.first().and_then(|place| place.oid), command.asked.old) {
        (Some(there), before) if before != Some(there) => Err(branch_moved(there)),
        (None, Some(_)) => Err(web_branch_not_found(&command.branch)),
        // The first commit is that of an empty repository only.
        (None, None) if store.repository_has_branches(repository.no).await? => {
            Err(web_branch_not_found(&command.branch))
        }
        _ => Ok(()),
    }
}

/// Adds to the commit that the upload is gone; 400 where it isn't what the commit was made of.
async fn spend(
    spent: &SpentUpload,
    repository: &StoredRepository,
    turn: &Turn<'_, Repository>,
    change: &mut Change,
) -> Result<()> {
    let (no, org_id) = (repository.no, repository.resource.org_id);
    let files = turn.services().store.web_upload(no, spent.id).await?;
    if files != spent.files {
        return Err(upload_missing());
    }
    change.web_upload_remove(turn.now(), (no, org_id), (spent.id, &files));
    change.timer_cancel(Repository::KIND, &turn.key().to_string(), &timer_of(spent.id));
    Ok(())
}
