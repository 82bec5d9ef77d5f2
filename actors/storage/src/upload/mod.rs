//! An upload in parts: beginning it, its parts, and the file that they become.
//!
//! The bytes of a part are kept before the upload is asked, and its parts become one content without being copied.
//! Completing writes the file, as a lane does: what it decides on it reads, and the commit is stale where that has
//! changed. Each commit counts the upload's revision up, so that no part comes late into a file.

mod begin;
mod complete;
mod part;

use actors_base::Services;
use domain::{
    Result, Timestamp,
    id::{OrgId, UploadId},
    storage::{COMPLETED_KEPT, FileKey, LifecycleRules, no_bucket, upload_not_found},
};
use kernel::{Handle, Resource, TimerFired, Turn};
use store::{Change, Store, storage::StoredUpload};

pub use self::{
    begin::BeginUpload,
    complete::{AbortUpload, CompleteUpload},
    part::PutPart,
};
use crate::open::OpenBucket;

/// The name of the timer that ends an upload, or forgets a completed one.
const TIMER: &str = "end";

/// An upload. Nothing of it is kept in memory.
#[derive(Debug)]
pub struct BucketUpload;

impl Resource for BucketUpload {
    type Key = UploadId;
    type Services = Services;

    const KIND: &'static str = "bucket_upload";

    async fn load(_: &UploadId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// The upload that a request names.
#[derive(Clone, Debug)]
pub struct UploadAt {
    /// Whose bucket it is for.
    pub org_id: OrgId,
    /// The bucket.
    pub bucket: domain::id::ResourceId,
    /// The file that it becomes.
    pub key: FileKey,
}

/// The bucket and its upload, where both are there.
async fn find(store: &Store, at: &UploadAt, id: UploadId) -> Result<(OpenBucket, StoredUpload)> {
    let open = OpenBucket::load(store, at.bucket).await?.ok_or_else(no_bucket)?;
    open.check_usable(at.org_id)?;
    let upload = store.upload(id).await?;
    let is_named = |upload: &StoredUpload| upload.bucket == open.seen().no && upload.key == at.key;
    let upload = upload.filter(is_named).ok_or_else(upload_not_found)?;
    Ok((open, upload))
}

/// Has an upload end by the bucket's rules that nobody finishes, or a completed one be forgotten.
fn arm(
    change: &mut Change,
    turn: &Turn<'_, BucketUpload>,
    org_id: OrgId,
    upload: &StoredUpload,
    rules: &LifecycleRules,
) {
    let due = due(upload, rules);
    // Rules that let it be for longer may have gone by then.
    let due = if usual_due(upload) > turn.now() { due.min(usual_due(upload)) } else { due };
    change.timer_set_for(org_id, BucketUpload::KIND, &turn.key().to_string(), TIMER, due);
}

/// When an upload ends or is forgotten where no rule says so.
fn usual_due(upload: &StoredUpload) -> Timestamp {
    due(upload, &LifecycleRules::default())
}

fn due(upload: &StoredUpload, rules: &LifecycleRules) -> Timestamp {
    match &upload.completed {
        Some(completed) => completed.at.after(COMPLETED_KEPT),
        None => rules.upload_due(&upload.key, upload.created_at),
    }
}

impl Handle<TimerFired> for BucketUpload {
    async fn handle(&mut self, _: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let store = turn.services().store.clone();
        let Some(upload) = store.upload(*turn.key()).await? else { return Ok(()) };
        let Some(seen) = store.bucket_seen(upload.bucket).await? else { return Ok(()) };
        let rules = store.bucket_lifecycle(upload.bucket).await?;
        let mut change = Change::new();
        if due(&upload, &rules) > turn.now() {
            // Other rules came since the timer was set.
            arm(&mut change, turn, seen.org_id, &upload, &rules);
            return turn.commit(change).await;
        }
        let parts = store.upload_parts(upload.id).await?;
        change.upload_turn(seen, &upload);
        if !parts.is_empty() {
            change.contents_unref(turn.now(), seen.org_id, parts.iter().map(|part| part.content_id));
        }
        change.upload_remove(upload.id);
        turn.commit(change).await
    }
}
