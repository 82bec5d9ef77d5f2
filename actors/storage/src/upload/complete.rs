//! Ending an upload: as a file, or as nothing.

use std::collections::BTreeMap;

use domain::{
    Error, Result,
    storage::{
        Completed, Completion, FileHeaders, LifecycleRules, WriteConditions, checksum_wrong, file_not_found,
        upload_not_found,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    blobs::contents::ContentPart,
    storage::{CompletedUpload, FileContent, FileRows, FileVersion, StoredPart, StoredUpload, UploadAbout},
};

use super::{BucketUpload, UploadAt, arm, find};
use crate::{
    open::{OpenBucket, file_writer},
    plan::{Draft, FileBefore},
};

/// Makes the file of the parts. Once more with the same parts it answers the same for a day, whatever has become of the file.
#[derive(Clone, Debug)]
pub struct CompleteUpload {
    /// What it is for.
    pub at: UploadAt,
    /// The parts.
    pub parts: Completion,
    /// What has to hold of the file that is there.
    pub conditions: WriteConditions,
    /// The file's checksum as base64, where the client says it.
    pub checksum: Option<String>,
    /// Bytes of the file, where the client says so.
    pub size: Option<u64>,
}

impl Command for CompleteUpload {
    type Reply = FileVersion;

    const NAME: &'static str = "complete_upload";
}

impl Handle<CompleteUpload> for BucketUpload {
    async fn handle(&mut self, command: &CompleteUpload, turn: &mut Turn<'_, Self>) -> Result<FileVersion> {
        let CompleteUpload { at, parts, .. } = command;
        let (store, now) = (turn.services().store.clone(), turn.now());
        let by = file_writer(turn, at.org_id, at.bucket, &at.key).await?;
        let (open, upload) = find(&store, at, *turn.key()).await?;
        if let Some(completed) = &upload.completed {
            completed.digest.check_again(completed.at, parts, now)?;
            if let Some(file) = &completed.file {
                return Ok(file.clone());
            }
            let found = store.file_version(upload.bucket, &at.key, completed.version).await?;
            return found.ok_or_else(file_not_found);
        }
        open.check_write(at.org_id, &at.key)?;
        let sent = store.upload_parts(upload.id).await?;
        let known: BTreeMap<_, _> = sent.iter().map(|part| (part.number, part.sent)).collect();
        let whole = parts.decide(&known)?;
        let mut change = Change::new();
        change.upload_turn(open.seen(), &upload);
        let (joined, left) = chosen(&sent, &whole);
        let content_id = change.content_join(now, at.org_id, &joined);
        if !left.is_empty() {
            change.contents_unref(now, at.org_id, left);
        }
        let content = content(content_id, &whole, &upload, &sent);
        command.check(&content)?;
        let draft = Draft { key: &at.key, by, content: Some(content) };
        let (rows, made) = written(&store, &open, &draft, &command.conditions, now).await?;
        let (digest, version) = (parts.digest(), made.version().id());
        let completed = CompletedUpload { at: now, digest, version, file: Some(made.clone()) };
        change.upload_complete(upload.id, &completed);
        change.file_rows(open.seen(), now, &rows);
        let completed = StoredUpload { completed: Some(completed), ..upload };
        arm(&mut change, turn, at.org_id, &completed, &LifecycleRules::default());
        if open.is_audited(&turn.context().caller) {
            let target = AuditTarget::new("bucket", at.bucket).labelled(&open.bucket.resource.name);
            let entry = AuditEntry::new(turn.context(), "object.put", target).in_org(at.org_id);
            change.audit_add(now, entry.with_metadata(json!({ "key": at.key })));
        }
        turn.commit(change).await?;
        Ok(made)
    }
}

/// The contents that become the file's, in their order, and those that are left over.
fn chosen(sent: &[StoredPart], whole: &Completed) -> (Vec<ContentPart>, Vec<domain::id::ContentId>) {
    let (joined, left): (Vec<&StoredPart>, Vec<&StoredPart>) =
        sent.iter().partition(|part| whole.parts.binary_search(&part.number).is_ok());
    let joined = joined.into_iter().map(|part| ContentPart { id: part.content_id, size: part.sent.size });
    (joined.collect(), left.into_iter().map(|part| part.content_id).collect())
}

fn content(
    content_id: domain::id::ContentId,
    whole: &Completed,
    upload: &StoredUpload,
    sent: &[StoredPart],
) -> FileContent {
    let headers = FileHeaders { content_type: upload.content_type.clone(), ..FileHeaders::default() };
    let about = upload.about.clone().unwrap_or_else(|| UploadAbout::of(headers));
    let chosen = sent.iter().filter(|part| whole.parts.binary_search(&part.number).is_ok());
    let sums = chosen.map(|part| (part.checksum.as_deref(), part.sent.size));
    let checksum = about.checksum.and_then(|plan| plan.of_parts(sums));
    FileContent {
        content_id,
        size: whole.size,
        etag: whole.etag,
        class: about.class,
        headers: FileHeaders { checksum, ..about.headers },
        tags: about.tags,
    }
}

impl CompleteUpload {
    /// Passes where the file is the one that the client expects.
    fn check(&self, content: &FileContent) -> Result<()> {
        if self.size.is_some_and(|size| size != content.size) {
            return Err(Error::bad_request("wrong_size", "The parts have another size together."));
        }
        match (&self.checksum, &content.headers.checksum) {
            (Some(expected), Some(found)) => found.check(expected),
            (Some(_), None) => Err(checksum_wrong()),
            (None, _) => Ok(()),
        }
    }
}

/// What writing the file makes of its rows, and its version then.
async fn written(
    store: &Store,
    open: &OpenBucket,
    draft: &Draft<'_>,
    conditions: &WriteConditions,
    now: domain::Timestamp,
) -> Result<(FileRows, FileVersion)> {
    let before = FileBefore::read(store, open.seen().no, draft.key, open.versioning()).await?;
    conditions.decide(before.head.as_ref().and_then(FileVersion::stored))?;
    let changes = before.state().put(open.versioning(), now)?;
    let mut rows = FileRows::new();
    let made = before.rewrite(&mut rows, &changes, now, Some(draft))?;
    open.check_room(store, rows.bytes_added()).await?;
    Ok((rows, made.ok_or_else(|| Error::internal("a write made no version"))?))
}

/// Ends an upload as nothing.
#[derive(Clone, Debug)]
pub struct AbortUpload(pub UploadAt);

impl Command for AbortUpload {
    type Reply = ();

    const NAME: &'static str = "abort_upload";
}

impl Handle<AbortUpload> for BucketUpload {
    async fn handle(&mut self, AbortUpload(at): &AbortUpload, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, now) = (turn.services().store.clone(), turn.now());
        file_writer(turn, at.org_id, at.bucket, &at.key).await?;
        let (open, upload) = find(&store, at, *turn.key()).await?;
        if upload.completed.is_some() {
            return Err(upload_not_found());
        }
        let parts = store.upload_parts(upload.id).await?;
        let mut change = Change::new();
        change.upload_turn(open.seen(), &upload);
        if !parts.is_empty() {
            change.contents_unref(now, at.org_id, parts.iter().map(|part| part.content_id));
        }
        change.upload_remove(upload.id);
        change.timer_cancel(<BucketUpload as kernel::Resource>::KIND, &upload.id.to_string(), super::TIMER);
        turn.commit(change).await
    }
}
