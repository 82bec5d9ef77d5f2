//! Lifecycle rules: looking once a day at all that lies in a bucket, as a job.
//!
//! The bucket's timer adds the job, and comes again on the next day. The job walks over the keys in their order, reads those
//! versions that rules may be for, and takes away what they say: up to 1,000 keys or versions in one commit, with which it is
//! recorded how far it came. Each commit names the bucket's epoch and the rows that it read, so that what somebody has
//! written, restored or locked since, or other rules, make it stale; then it is decided again. What is due is what was due
//! when the timer fired, whenever a step comes. A timer that finds yesterday's run adds none: that run looks once more.

mod expiring;
mod page;
mod uploads;

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Tenant, Timestamp,
    id::{ResourceId, UploadId},
    storage::{FileKey, LifecycleRules, next_lifecycle_run},
};
use kernel::{Resource, Turn};
use serde::{Deserialize, Serialize};
use store::{Change, NewWork, Permits, storage::StoredBucket};

use crate::{Bucket, open::OpenBucket};

/// The name of the bucket's timer.
pub(crate) const TIMER: &str = "lifecycle";

/// The job that looks at a bucket.
pub const STORAGE_LIFECYCLE: Topic = Topic { permits: Permits::with_spare(1, 3), ..Topic::new("storage.lifecycle") };

/// What to look at.
#[derive(Debug, Serialize, Deserialize)]
struct Run {
    bucket: ResourceId,
    /// What is due then is due.
    at: Timestamp,
}

/// How far a run came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    /// What is due then is due, where that isn't what the run began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// The last key that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<FileKey>,
    /// Whether all keys were.
    keys_done: bool,
    /// The last upload that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    upload: Option<UploadId>,
    /// Files that expired.
    files: u64,
    /// Old versions and delete markers that were taken away.
    versions: u64,
    /// Uploads that were ended.
    uploads: u64,
}

impl Progress {
    /// From the first key on, for what is due at `at`.
    fn once_more(self, at: Timestamp) -> Self {
        Self { at: Some(at), key: None, keys_done: false, upload: None, ..self }
    }
}

/// Has a bucket with these rules be looked at once a day; one without is looked at no more.
pub(crate) fn arm(change: &mut Change, bucket: &StoredBucket, rules: &LifecycleRules, now: Timestamp) {
    let key = bucket.id().to_string();
    if rules.as_slice().is_empty() {
        change.timer_cancel(Bucket::KIND, &key, TIMER);
    } else {
        change.timer_set_for(bucket.seen.org_id, Bucket::KIND, &key, TIMER, next_lifecycle_run(bucket.id(), now));
    }
}

/// The bucket's timer has fired: adds the job, and sets the timer for the next day.
pub(crate) async fn begin(turn: &mut Turn<'_, Bucket>) -> domain::Result<()> {
    let (store, now) = (turn.services().store.clone(), turn.now());
    let Some(bucket) = store.bucket_of(*turn.key()).await? else { return Ok(()) };
    if bucket.check_usable().is_err() {
        return Ok(());
    }
    let rules = store.bucket_lifecycle(bucket.seen.no).await?;
    let mut change = Change::new();
    arm(&mut change, &bucket, &rules, now);
    if !rules.as_slice().is_empty() {
        let run = Run { bucket: bucket.id(), at: now };
        // While yesterday's run is under way there is no second one: it looks once more at its end.
        let work = NewWork::new(STORAGE_LIFECYCLE.name, bucket.seen.org_id, &run).with_key(bucket.id().to_string());
        change.work_add(now, work);
    }
    turn.commit(change).await
}

/// Looks at buckets.
#[derive(Clone, Copy, Debug)]
pub struct StorageLifecycle;

impl Handler for StorageLifecycle {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let Run { bucket, at: began_at } = job.payload()?;
        let mut progress: Progress = job.progress()?.unwrap_or_default();
        while let Some(open) = OpenBucket::load(job.store(), bucket).await? {
            // Read behind the epoch: rules that come later make the commit stale.
            let rules = job.store().bucket_lifecycle(open.seen().no).await?;
            if open.check_usable(org_id).is_err() || rules.as_slice().is_empty() {
                break;
            }
            let at = progress.at.unwrap_or(began_at);
            let looking = Looking { job, open: &open, rules: &rules, at };
            if !progress.keys_done {
                page::look(&looking, &mut progress).await?;
            } else if !uploads::look(&looking, &mut progress).await? {
                let now = job.store().now();
                if next_lifecycle_run(bucket, at) > now {
                    break;
                }
                progress = progress.once_more(now);
            }
        }
        let Progress { files, versions, uploads, .. } = progress;
        tracing::info!(%bucket, files, versions, uploads, "lifecycle rules were looked at");
        Ok(Change::new())
    }
}

/// What is looked at, and by what.
struct Looking<'l> {
    job: &'l Job,
    open: &'l OpenBucket,
    rules: &'l LifecycleRules,
    at: Timestamp,
}
