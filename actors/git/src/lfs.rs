//! Large files of a repository, and locks on paths (`docs/decisions/git.md`, "Git LFS").

use domain::{
    Result, Scope,
    git::{
        AccessLevel, LFS_LOCKS_MAX, LfsLock, LfsOid, UnlockBy, lfs_lock_not_found, lfs_lock_of_another,
        repository_deleted, too_many_lfs_locks,
    },
    id::{LfsLockId, OrgId},
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    blobs::contents::NewContent,
    git::{LfsLockList, StoredRepository},
};

use crate::{
    Repository,
    resource::{found, reaches},
};

/// Keeps a large file whose bytes have come; whether it wasn't there before.
#[derive(Clone, Debug)]
pub struct KeepLfsObject {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The file's name, which its bytes have been held against.
    pub oid: LfsOid,
    /// The bytes.
    pub content: NewContent,
}

/// Locks a path for the caller.
#[derive(Clone, Debug)]
pub struct LockPath {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The path.
    pub path: String,
}

/// What came of locking a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locked {
    /// It is the caller's.
    Now(LfsLock),
    /// Somebody has it locked already: the caller or another.
    Before(LfsLock),
}

/// Ends a lock.
#[derive(Clone, Copy, Debug)]
pub struct UnlockPath {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which lock.
    pub id: LfsLockId,
    /// In which right.
    pub by: UnlockBy,
}

impl Repository {
    /// The repository, which the caller reaches with this level and scope.
    async fn reached(
        &self,
        org_id: OrgId,
        (level, scope): (AccessLevel, Scope),
        turn: &Turn<'_, Self>,
    ) -> Result<StoredRepository> {
        let store = &turn.services().store;
        let authority = turn.authority(org_id).await?;
        authority.require(scope)?;
        let repository = found(store, org_id, *turn.key()).await?;
        reaches(store, &authority, &repository, level).await?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        Ok(repository)
    }
}

const WRITE: (AccessLevel, Scope) = (AccessLevel::Write, Scope::GitWrite);

impl Command for KeepLfsObject {
    type Reply = bool;

    const NAME: &'static str = "keep_lfs_object";
}

impl Handle<KeepLfsObject> for Repository {
    async fn handle(&mut self, command: &KeepLfsObject, turn: &mut Turn<'_, Self>) -> Result<bool> {
        let KeepLfsObject { org_id, oid, content } = command;
        let repository = self.reached(*org_id, WRITE, turn).await?;
        if turn.services().store.lfs_object(repository.no, *oid).await?.is_some() {
            return Ok(false);
        }
        let mut change = Change::new();
        change.lfs_object_add(turn.now(), repository.no, *oid, content);
        turn.commit(change).await?;
        Ok(true)
    }
}

impl Command for LockPath {
    type Reply = Locked;

    const NAME: &'static str = "lock_path";
}

impl Handle<LockPath> for Repository {
    async fn handle(&mut self, command: &LockPath, turn: &mut Turn<'_, Self>) -> Result<Locked> {
        let LockPath { org_id, path } = command;
        let repository = self.reached(*org_id, WRITE, turn).await?;
        let store = &turn.services().store;
        let asked = LfsLockList { path: Some(path.clone()), limit: 1, ..LfsLockList::default() };
        if let Some(lock) = store.lfs_locks(repository.no, &asked).await?.pop() {
            return Ok(Locked::Before(lock));
        }
        if store.lfs_locks_count(repository.no).await? >= LFS_LOCKS_MAX {
            return Err(too_many_lfs_locks());
        }
        let (owner, now) = (turn.authority(*org_id).await?.on_behalf_of()?, turn.now());
        let lock = LfsLock { id: LfsLockId::new(now), path: path.clone(), owner, locked_at: now };
        let mut change = Change::new();
        change.lfs_lock_add(repository.no, &lock);
        turn.commit(change).await?;
        Ok(Locked::Now(lock))
    }
}

impl Command for UnlockPath {
    type Reply = LfsLock;

    const NAME: &'static str = "unlock_path";
}

impl Handle<UnlockPath> for Repository {
    async fn handle(&mut self, command: &UnlockPath, turn: &mut Turn<'_, Self>) -> Result<LfsLock> {
        let UnlockPath { org_id, id, by } = command;
        let repository = self.reached(*org_id, WRITE, turn).await?;
        let asked = LfsLockList { id: Some(*id), limit: 1, ..LfsLockList::default() };
        let lock =
            turn.services().store.lfs_locks(repository.no, &asked).await?.pop().ok_or_else(lfs_lock_not_found)?;
        let mut change = Change::new();
        if lock.owner != turn.authority(*org_id).await?.on_behalf_of()? {
            match by {
                UnlockBy::Owner => return Err(lfs_lock_of_another()),
                UnlockBy::Force => self.reached(*org_id, (AccessLevel::Admin, Scope::GitWrite), turn).await?,
            };
            let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
            let entry = AuditEntry::new(turn.context(), "lfs_lock.forced", target).in_org(*org_id);
            change.audit_add(turn.now(), entry.with_metadata(json!({ "path": lock.path, "owner": lock.owner })));
        }
        change.lfs_lock_remove(repository.no, lock.id);
        turn.commit(change).await?;
        Ok(lock)
    }
}
