//! Sending a part.

use domain::{
    Result,
    id::ResourceId,
    storage::{ETag, PartNumber, SentPart, no_bucket, upload_not_found},
};
use kernel::{Command, Handle, Turn};
use store::{Change, blobs::contents::NewContent, storage::StoredPart};

use super::{BucketUpload, UploadAt};
use crate::{
    open::{OpenBucket, file_writer},
    room::part_check,
};

/// Takes a part whose bytes are kept already, in the place of one of the same number.
#[derive(Clone, Debug)]
pub struct PutPart {
    /// The bucket.
    pub bucket: ResourceId,
    /// Its number.
    pub number: PartNumber,
    /// Its bytes.
    pub content: NewContent,
    /// Their checksum as base64, where the upload has some.
    pub checksum: Option<String>,
    /// The file that the caller names, who has to be permitted to write it; none where a signed address permits the part.
    pub caller_names: Option<UploadAt>,
}

impl Command for PutPart {
    type Reply = ETag;

    const NAME: &'static str = "put_part";
}

impl Handle<PutPart> for BucketUpload {
    async fn handle(&mut self, command: &PutPart, turn: &mut Turn<'_, Self>) -> Result<ETag> {
        let PutPart { bucket, number, content, checksum, caller_names } = command;
        let (store, now) = (turn.services().store.clone(), turn.now());
        let open = OpenBucket::load(&store, *bucket).await?.ok_or_else(no_bucket)?;
        open.check_usable(content.org_id())?;
        if let Some(at) = caller_names {
            file_writer(turn, at.org_id, at.bucket, &at.key).await?;
        }
        let upload = store.upload(*turn.key()).await?;
        let is_open = |upload: &store::storage::StoredUpload| {
            upload.bucket == open.seen().no
                && upload.completed.is_none()
                && caller_names.as_ref().is_none_or(|at| at.key == upload.key && at.org_id == open.seen().org_id)
        };
        let upload = upload.filter(is_open).ok_or_else(upload_not_found)?;
        let before = store.upload_part(upload.id, *number).await?;
        let adds = content.size().saturating_sub(before.as_ref().map_or(0, |before| before.sent.size));
        part_check(&store, &open.bucket, &upload.key, adds).await?;
        let etag = ETag::of_md5(content.md5());
        let sent = SentPart { etag, size: content.size() };
        let part = StoredPart { number: *number, content_id: content.id(), sent, checksum: checksum.clone() };
        let mut change = Change::new();
        change.upload_turn(open.seen(), &upload);
        change.content_put(now, content);
        change.upload_part_put(upload.id, before.as_ref(), &part);
        if let Some(before) = before {
            change.contents_unref(now, content.org_id(), [before.content_id]);
        }
        turn.commit(change).await?;
        Ok(etag)
    }
}
