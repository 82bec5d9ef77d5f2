//! Emptying buckets that are being deleted, as a job.
//!
//! A bucket takes no writes any more once its status says that it is being deleted. Its versions are taken away
//! afterwards, at most 1,000 in one commit, and its record in the end. Each deletion adds an entry of its own to the
//! work queue; of several, the first one does the work of all.

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{Tenant, Timestamp, id::OrgId};
use store::{
    Change, NewWork, Permits,
    storage::{BucketRest, FileRows},
};

/// The job that empties an organization's deleted buckets, one at a time for each organization.
pub const STORAGE_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("These buckets are deleted; what is left of them can't be kept."),
    ..Topic::new("storage.removal")
};

/// Has what the change deletes be taken away after it.
pub(crate) fn delete_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.work_add(now, NewWork::new(STORAGE_REMOVAL.name, org_id, &()));
}

/// Has the buckets of an organization that the change deletes be deleted after it.
pub(crate) fn delete_buckets_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.buckets_end(org_id);
    delete_after(change, org_id, now);
}

/// Empties an organization's deleted buckets.
#[derive(Clone, Copy, Debug)]
pub struct StorageRemoval;

impl Handler for StorageRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let mut cleared = Cleared::of(job)?;
        while let Some(rest) = job.store().bucket_rest(org_id).await? {
            empty(&mut cleared, job, rest).await?;
            end_uploads(&mut cleared, job, rest).await?;
            let mut change = Change::new();
            change.bucket_remove(rest);
            cleared.step(job, change, &[("buckets", 1)]).await?;
        }
        Ok(Change::new())
    }
}

async fn empty(cleared: &mut Cleared, job: &Job, rest: BucketRest) -> Result<(), Halt> {
    let (store, no) = (job.store(), rest.seen.no);
    loop {
        let mut rows = FileRows::new();
        let heads = store.bucket_versions_next(no).await?;
        let old = if heads.is_empty() { store.bucket_old_next(no).await? } else { Vec::new() };
        for head in &heads {
            rows.head(Some(head), None);
            rows.release(head);
        }
        for version in &old {
            rows.old_goes(version);
            rows.release(version);
        }
        let count = u32::try_from(heads.len() + old.len()).unwrap_or(u32::MAX);
        if count == 0 {
            return Ok(());
        }
        let mut change = Change::new();
        change.file_rows(rest.seen, store.now(), &rows);
        cleared.step(job, change, &[("versions", count)]).await?;
    }
}

async fn end_uploads(cleared: &mut Cleared, job: &Job, rest: BucketRest) -> Result<(), Halt> {
    while let Some((upload, parts)) = job.store().bucket_upload_next(rest.seen.no).await? {
        let mut change = Change::new();
        change.upload_clear(rest.seen, job.store().now(), upload.id, &parts);
        let count = u32::try_from(parts.len().max(1)).unwrap_or(u32::MAX);
        cleared.step(job, change, &[("parts of uploads", count)]).await?;
    }
    Ok(())
}
