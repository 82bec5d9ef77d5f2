//! Unfinished uploads of a bucket that end sooner than by themselves.

use actors_base::work::job::Halt;
use store::Change;

use super::{Looking, Progress};

/// Uploads that are read at once. Each has up to 10,000 parts, and is a commit of its own.
const PAGE: u64 = 100;

/// Looks at the next uploads, and ends those that are due; whether there was any.
pub(super) async fn look(looking: &Looking<'_>, progress: &mut Progress) -> Result<bool, Halt> {
    let (store, seen) = (looking.job.store(), looking.open.seen());
    let uploads = store.bucket_uploads(seen.no, progress.upload, PAGE).await?;
    for upload in &uploads {
        progress.upload = Some(upload.id);
        if looking.rules.upload_due(&upload.key, upload.created_at) > looking.at {
            continue;
        }
        let parts = store.upload_parts(upload.id).await?;
        let mut change = Change::new();
        change.upload_turn(seen, upload);
        if !parts.is_empty() {
            change.contents_unref(store.now(), seen.org_id, parts.iter().map(|part| part.content_id));
        }
        change.upload_remove(upload.id);
        progress.uploads += 1;
        looking.job.step(change, progress).await?;
    }
    Ok(!uploads.is_empty())
}
