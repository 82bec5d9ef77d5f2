//! Whether a bucket's quota has room for a file before it is written, so that nobody sends in vain what can't be kept.
//!
//! Nothing is refused here that would be taken in the end: what the file takes the place of makes room for it. The write
//! itself looks again.

use domain::{Result, Timestamp, storage::FileKey};
use store::{Store, storage::StoredBucket};

use crate::plan::FileBefore;

/// Passes where a bucket's quota has room for a file of so many bytes under this key; 403 otherwise.
pub async fn room_check(store: &Store, bucket: &StoredBucket, key: &FileKey, size: u64) -> Result<()> {
    let Some(quota) = bucket.settings.quota_bytes else { return Ok(()) };
    let freed = freed(store, bucket, key, store.now()).await?;
    let used = store.bucket_usage(bucket.seen.no).await?.bytes;
    quota.check_room(used, size.saturating_sub(freed))
}

/// Passes where there is room for `adds` more bytes of an upload's parts, beside all parts that wait in the bucket; 403
/// otherwise.
pub(crate) async fn part_check(store: &Store, bucket: &StoredBucket, key: &FileKey, adds: u64) -> Result<()> {
    let Some(quota) = bucket.settings.quota_bytes else { return Ok(()) };
    if adds == 0 {
        return Ok(());
    }
    let freed = freed(store, bucket, key, store.now()).await?;
    let used = store.bucket_usage(bucket.seen.no).await?.bytes;
    let waiting = store.bucket_upload_bytes(bucket.seen.no).await?;
    quota.check_room(used, waiting.saturating_add(adds).saturating_sub(freed))
}

/// Bytes of what a file takes the place of that is written now.
async fn freed(store: &Store, bucket: &StoredBucket, key: &FileKey, now: Timestamp) -> Result<u64> {
    let before = FileBefore::read(store, bucket.seen.no, key, bucket.settings.versioning).await?;
    let changes = before.state().put(bucket.settings.versioning, now)?;
    Ok(before.freed(&changes))
}
