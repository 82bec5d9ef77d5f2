//! Writing a file.

use domain::{
    Result,
    storage::{ETag, FileHeaders, StorageClass, Tags, WriteConditions},
};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    blobs::contents::NewContent,
    storage::{FileContent, FileRows, FileVersion},
};

use super::{BucketLane, FileAt, Written, commit};
use crate::plan::{Draft, FileBefore};

/// Writes a file, whose content is kept already.
#[derive(Clone, Debug)]
pub struct PutFile {
    /// Which one.
    pub at: FileAt,
    /// What it says.
    pub content: NewContent,
    /// What it is answered with.
    pub headers: FileHeaders,
    /// Its tags.
    pub tags: Tags,
    /// What has to hold of the file that is there.
    pub conditions: WriteConditions,
}

impl Command for PutFile {
    type Reply = FileVersion;

    const NAME: &'static str = "put_file";
}

impl Handle<PutFile> for BucketLane {
    async fn handle(&mut self, command: &PutFile, turn: &mut Turn<'_, Self>) -> Result<FileVersion> {
        let PutFile { at, content, headers, tags, conditions } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        let (by, open) = self.open(turn, at).await?;
        let before = FileBefore::read(store, open.seen().no, &at.key, open.versioning()).await?;
        conditions.decide(before.head.as_ref().and_then(FileVersion::stored))?;
        let changes = before.state().put(open.versioning(), now)?;
        let said = FileContent {
            content_id: content.id(),
            size: content.size(),
            etag: ETag::of_md5(content.md5()),
            class: StorageClass::Standard,
            headers: headers.clone(),
            tags: tags.clone(),
        };
        let mut rows = FileRows::new();
        let draft = Draft { key: &at.key, by, content: Some(said) };
        let made = before.rewrite(&mut rows, &changes, now, Some(&draft))?;
        open.check_room(store, &rows).await?;
        let mut change = Change::new();
        change.content_put(now, content);
        commit(turn, open, Written { action: "object.put", key: &at.key }, change, &rows).await?;
        made.ok_or_else(|| domain::Error::internal("a write made no version"))
    }
}
