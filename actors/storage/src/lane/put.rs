//! Writing a file.

use domain::{
    Result,
    storage::{ETag, FileHeaders, StorageClass, Tags, WriteConditions},
};
use kernel::{Command, Decided, Handle, Resource, Turn};
use store::{
    Change,
    blobs::contents::NewContent,
    storage::{FileContent, FileRows, FileVersion},
};

use super::{BucketLane, FileAt, Written, written};
use crate::plan::Draft;

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
    /// How it is kept, in the words of S3.
    pub class: StorageClass,
    /// What has to hold of the file that is there.
    pub conditions: WriteConditions,
}

impl Command for PutFile {
    type Reply = FileVersion;

    const NAME: &'static str = "put_file";
}

impl Handle<PutFile> for BucketLane {
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &PutFile, turn: &mut Turn<'_, Self>) -> Result<FileVersion> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, command: &PutFile, turn: &Turn<'_, Self>) -> Result<Decided<FileVersion>> {
        let PutFile { at, content, headers, tags, class, conditions } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        let by = self.enter(turn, at).await?;
        let open = self.open()?;
        let before = self.before(store, &at.key).await?;
        conditions.decide(before.head.as_ref().and_then(FileVersion::stored))?;
        let changes = before.state().put(open.versioning(), now)?;
        let said = FileContent {
            content_id: content.id(),
            size: content.size(),
            etag: ETag::of_md5(content.md5()),
            class: *class,
            headers: headers.clone(),
            tags: tags.clone(),
        };
        let mut rows = FileRows::new();
        let draft = Draft { key: &at.key, by, content: Some(said) };
        let made = before.rewrite(&mut rows, &changes, now, Some(&draft))?;
        open.check_room(store, self.decided_bytes + rows.bytes_added()).await?;
        let mut change = Change::new();
        change.content_put(now, content);
        let change = written(turn, open, Written { action: "object.put", key: &at.key }, change, &rows);
        let reply = made.ok_or_else(|| domain::Error::internal("a write made no version"))?;
        self.decides(&at.key, Some(reply.clone()), &rows);
        Ok(Decided { reply, change: Some(change) })
    }
}
