//! Beginning an upload.

use domain::{Result, storage::no_bucket};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    storage::{StoredUpload, UploadAbout},
};

use super::{BucketUpload, UploadAt, arm};
use crate::{
    open::{OpenBucket, file_writer},
    room::room_check,
};

/// Begins an upload under an id that is new.
#[derive(Clone, Debug)]
pub struct BeginUpload {
    /// What it is for.
    pub at: UploadAt,
    /// The file's type.
    pub content_type: Option<String>,
    /// Bytes of the file; 0 where that isn't known yet.
    pub size: u64,
    /// What else it is to have.
    pub about: Option<UploadAbout>,
}

impl Command for BeginUpload {
    type Reply = ();

    const NAME: &'static str = "begin_upload";
}

impl Handle<BeginUpload> for BucketUpload {
    async fn handle(&mut self, command: &BeginUpload, turn: &mut Turn<'_, Self>) -> Result<()> {
        let BeginUpload { at, content_type, size, about } = command;
        let by = file_writer(turn, at.org_id, at.bucket, &at.key).await?;
        let open = OpenBucket::load(&turn.services().store, at.bucket).await?.ok_or_else(no_bucket)?;
        open.check_write(at.org_id, &at.key)?;
        room_check(&turn.services().store, &open.bucket, &at.key, *size).await?;
        let rules = turn.services().store.bucket_lifecycle(open.seen().no).await?;
        let upload = StoredUpload {
            id: *turn.key(),
            bucket: open.seen().no,
            key: at.key.clone(),
            content_type: content_type.clone(),
            size: *size,
            about: about.clone(),
            revision: 1,
            created_by: by,
            created_at: turn.now(),
            completed: None,
        };
        let mut change = Change::new();
        change.upload_add(open.seen(), &upload);
        arm(&mut change, turn, at.org_id, &upload, &rules);
        turn.commit(change).await
    }
}
