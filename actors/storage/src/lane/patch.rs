//! Changing what a file is answered with.

use domain::{
    Result,
    storage::{FilePatch, VersionStamp, file_not_found},
};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    storage::{FileContent, FileRows, FileVersion},
};

use super::{BucketLane, FileAt, Written, commit};

/// Changes what a file is answered with; its content, and so its version, stays.
#[derive(Clone, Debug)]
pub struct PatchFile {
    /// Which one.
    pub at: FileAt,
    /// What is to be changed.
    pub patch: FilePatch,
}

impl Command for PatchFile {
    type Reply = FileVersion;

    const NAME: &'static str = "patch_file";
}

impl Handle<PatchFile> for BucketLane {
    async fn handle(&mut self, command: &PatchFile, turn: &mut Turn<'_, Self>) -> Result<FileVersion> {
        let PatchFile { at, patch } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        let (_, open) = self.open(turn, at).await?;
        let before = store.file(open.seen().no, &at.key).await?.ok_or_else(file_not_found)?;
        let content = before.content.clone().ok_or_else(file_not_found)?;
        let (headers, tags) = patch.clone().apply(&content.headers, &content.tags)?;
        let revision = VersionStamp::next(now, Some(before.revision));
        let after = FileVersion { revision, content: Some(FileContent { headers, tags, ..content }), ..before.clone() };
        let mut rows = FileRows::new();
        rows.head(Some(&before), Some(&after));
        commit(turn, open, Written { action: "object.changed", key: &at.key }, Change::new(), &rows).await?;
        Ok(after)
    }
}
