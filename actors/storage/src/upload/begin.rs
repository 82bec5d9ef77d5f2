//! Beginning an upload.

use domain::{Result, storage::no_bucket};
use kernel::{Command, Handle, Turn};
use store::{Change, storage::StoredUpload};

use super::{BucketUpload, UploadAt, arm};
use crate::open::{OpenBucket, writer};

/// Begins an upload under an id that is new.
#[derive(Clone, Debug)]
pub struct BeginUpload {
    /// What it is for.
    pub at: UploadAt,
    /// The file's type.
    pub content_type: Option<String>,
    /// Bytes of the file.
    pub size: u64,
}

impl Command for BeginUpload {
    type Reply = ();

    const NAME: &'static str = "begin_upload";
}

impl Handle<BeginUpload> for BucketUpload {
    async fn handle(&mut self, command: &BeginUpload, turn: &mut Turn<'_, Self>) -> Result<()> {
        let BeginUpload { at, content_type, size } = command;
        let by = writer(turn, at.org_id).await?;
        let open = OpenBucket::load(&turn.services().store, at.bucket).await?.ok_or_else(no_bucket)?;
        open.check_write(at.org_id, &at.key)?;
        let upload = StoredUpload {
            id: *turn.key(),
            bucket: open.seen().no,
            key: at.key.clone(),
            content_type: content_type.clone(),
            size: *size,
            revision: 1,
            created_by: by,
            created_at: turn.now(),
            completed: None,
        };
        let mut change = Change::new();
        change.upload_add(open.seen(), &upload);
        arm(&mut change, turn, at.org_id, &upload);
        turn.commit(change).await
    }
}
