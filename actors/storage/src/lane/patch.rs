//! Changing what a file is answered with.

use domain::{
    Result,
    storage::{FilePatch, VersionStamp, file_not_found},
};
use kernel::{Command, Decided, Handle, Resource, Turn};
use store::{
    Change,
    storage::{FileContent, FileRows, FileVersion},
};

use super::{BucketLane, FileAt, Written, written};

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
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &PatchFile, turn: &mut Turn<'_, Self>) -> Result<FileVersion> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, command: &PatchFile, turn: &Turn<'_, Self>) -> Result<Decided<FileVersion>> {
        let PatchFile { at, patch } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        self.enter(turn, at).await?;
        let open = self.open()?;
        let before = self.before(store, &at.key).await?.head.ok_or_else(file_not_found)?;
        let content = before.content.clone().ok_or_else(file_not_found)?;
        let (headers, tags) = patch.clone().apply(&content.headers, &content.tags)?;
        let revision = VersionStamp::next(now, Some(before.revision));
        let after = FileVersion { revision, content: Some(FileContent { headers, tags, ..content }), ..before.clone() };
        let mut rows = FileRows::new();
        rows.head(Some(&before), Some(&after));
        let change = written(turn, open, Written { action: "object.changed", key: &at.key }, Change::new(), &rows);
        self.decides(&at.key, Some(after.clone()), &rows);
        Ok(Decided { reply: after, change: Some(change) })
    }
}
