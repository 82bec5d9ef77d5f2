//! Git repositories: who owns what (contract C 2.2, 4.3).
//!
//! A repository's record, with its name and settings, belongs to the organization's book of resources, which is asked with
//! this area's commands ([`CreateRepository`], [`ChangeRepository`], [`DeleteRepository`], [`RestoreRepository`]). Who was
//! granted a part in it, its refs and their rules, and when it is deleted for good, belongs to the repository ([`Repository`]). What is left of it
//! then is deleted by a job. What a node does with objects, it does in folders of its own ([`host`]).

mod branches;
mod clones;
mod events;
pub mod host;
mod leaks;
mod lfs;
mod live;
mod lost;
mod packs;
mod pulls;
mod push;
mod removal;
mod rename;
mod repository;
mod resource;
pub mod rules;
mod secrets;
mod test_merges;
mod triggers;
mod web;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

use self::removal::{REPOSITORY_REMOVAL, RepositoryRemoval};
pub use self::{
    branches::{CreateBranch, DeleteBranch, DeleteTag},
    clones::{NoteClone, cloner},
    leaks::LeakedToken,
    lfs::{KeepLfsObject, LockPath, Locked, UnlockPath},
    lost::{PACKS_LOOKED_AT, PackLooking},
    packs::{PACK_JOINING, PackJoining},
    pulls::{
        AskReviewers, ChangePull, CreatePull, DeleteComment, DismissReview, EditComment, GiveReview, Landing,
        MERGES_WANTED, MadeCommit, MergePull, OWNERS_ASKED, OpenThread, OwnersAsking, ReplyToThread, SettleThread,
        StopWaiting, ThreadAt, ThreadWithComments, WaitForMerge, WaitingMerges, owners_of_pull, pull_facts,
        refusals_of_merge,
    },
    push::{LandPush, LandedPush},
    rename::{Rename, RenameBranch},
    repository::{GrantAccess, Repository, WithdrawAccess},
    resource::{ChangeRepository, CreateRepository, DeleteRepository, RestoreRepository},
    secrets::{AllowSecret, Scanned, SecretsRefused, WithdrawSecret},
    test_merges::{TEST_MERGES, TestMerges},
    web::{BeginWebUpload, LandWebCommit, PutUploadedFile, SpentUpload},
};

/// What goes over all areas knows of repositories.
pub const AREA: Area = Area {
    jobs: &[REPOSITORY_REMOVAL, PACK_JOINING, PACKS_LOOKED_AT, OWNERS_ASKED, MERGES_WANTED, TEST_MERGES],
    lanes,
    deletes_organization: removal::delete_repositories_after,
    ..Area::named("git")
};

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), REPOSITORY_REMOVAL, RepositoryRemoval)]
}
