//! A bucket as the writers of its files know it.

use domain::{
    Caller, Result, Scope,
    id::{OrgId, ResourceId, UserId},
    storage::{FileKey, MovingFolders, Versioning, no_bucket},
};
use kernel::{Resource, Turn};
use store::{
    Store,
    storage::{BucketNo, BucketSeen, StoredBucket, StoredMoves},
};

/// A bucket, and the moves that are under way in it.
#[derive(Debug)]
pub(crate) struct OpenBucket {
    pub bucket: StoredBucket,
    pub moves: Vec<StoredMoves>,
    pub moving: MovingFolders,
}

impl OpenBucket {
    /// Reads it. The epoch comes first: whatever changes after it makes the next commit stale.
    pub async fn load(store: &Store, id: ResourceId) -> Result<Option<Self>> {
        let Some(bucket) = store.bucket_of(id).await? else { return Ok(None) };
        let moves = store.bucket_moves(bucket.seen.no).await?;
        let moving = MovingFolders::new(moves.iter().map(|moves| &moves.moves));
        Ok(Some(Self { bucket, moves, moving }))
    }

    /// What a change has to name.
    pub const fn seen(&self) -> BucketSeen {
        self.bucket.seen
    }

    /// Whether it keeps old versions.
    pub const fn versioning(&self) -> Option<Versioning> {
        self.bucket.settings.versioning
    }

    /// Whether what this caller writes is audited file by file: over S3 only where the bucket says so.
    pub fn is_audited(&self, caller: &Caller) -> bool {
        self.bucket.settings.audit_data || !matches!(caller, Caller::AccessKey(_))
    }

    /// Passes where the bucket's quota has room for so many more bytes. What others add at the same moment, in other
    /// lanes, may take it over.
    pub async fn check_room(&self, store: &Store, adds: i64) -> Result<()> {
        let Some(quota) = self.bucket.settings.quota_bytes else { return Ok(()) };
        let used = store.bucket_usage(self.seen().no).await?.bytes;
        quota.check_room(used, u64::try_from(adds).unwrap_or(0))
    }

    /// Passes where somebody may write this file; 404 and 409 otherwise.
    pub fn check_write(&self, org_id: OrgId, key: &FileKey) -> Result<()> {
        self.check_usable(org_id)?;
        self.moving.check_write(key)
    }

    /// Passes where the bucket is the organization's, and its files may be written.
    pub fn check_usable(&self, org_id: OrgId) -> Result<()> {
        if self.bucket.seen.org_id == org_id { self.bucket.check_usable() } else { Err(no_bucket()) }
    }
}

/// The person who asks, as long as they may write this file of the organization now.
pub(crate) async fn file_writer<R: Resource>(
    turn: &Turn<'_, R>,
    org_id: OrgId,
    bucket: ResourceId,
    key: &FileKey,
) -> Result<UserId> {
    let by = writer(turn, org_id).await?;
    turn.context().caller.grant().map_or(Ok(()), |grant| grant.file_check(bucket, key)).map(|()| by)
}

/// The bucket of the organization whose files are read beside those of `open`: that one itself, or another one.
pub(crate) async fn read_beside(store: &Store, open: &OpenBucket, id: ResourceId) -> Result<BucketNo> {
    if open.bucket.id() == id {
        return Ok(open.seen().no);
    }
    let bucket = store.bucket(open.seen().org_id, id).await?.ok_or_else(no_bucket)?;
    bucket.check_usable().map(|()| bucket.seen.no)
}

/// The person who asks, as long as they may write the organization's files now.
pub(crate) async fn writer<R: Resource>(turn: &Turn<'_, R>, org_id: OrgId) -> Result<UserId> {
    let authority = turn.authority(org_id).await?;
    authority.require(Scope::ResourcesWrite)?;
    authority.on_behalf_of()
}
