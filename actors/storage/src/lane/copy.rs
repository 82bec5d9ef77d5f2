//! Copying a file to another name, or to another bucket.

use domain::{
    Result,
    id::{ContentId, ResourceId},
    storage::{
        CopyReplaces, FileChecksum, FileHeaders, FileKey, ReadConditions, StorageClass, VersionId, WriteConditions,
        copy_to_itself, file_not_found, file_replaced, version_not_found,
    },
};
use kernel::{Command, Decided, Handle, Turn};
use store::{
    Change, Store,
    storage::{BucketNo, FileContent, FileRows, FileVersion},
};

use super::{BucketLane, FileAt, Written, written};
use crate::{
    open::read_beside,
    plan::{Draft, FileBefore},
};

/// Copies a file, in the lane of the copy. The copy shares the content, whatever its size.
#[derive(Clone, Debug)]
pub struct CopyFile {
    /// The copy.
    pub at: FileAt,
    /// What is copied.
    pub source: CopySource,
    /// What has to hold of the file that is there.
    pub conditions: WriteConditions,
    /// What the copy is answered with otherwise than its source.
    pub replaces: CopyReplaces,
    /// How the copy is kept; as its source where none is named.
    pub class: Option<StorageClass>,
    /// The copy's checksum; its source's where none was computed.
    pub checksum: Option<ComputedChecksum>,
}

/// A checksum that was computed of a content, before it was asked for a copy of that.
#[derive(Clone, Debug)]
pub struct ComputedChecksum {
    /// The content.
    pub of: ContentId,
    /// Its checksum.
    pub checksum: FileChecksum,
}

/// A file that is copied.
#[derive(Clone, Debug)]
pub struct CopySource {
    /// The bucket that it lies in, of the same organization.
    pub bucket: ResourceId,
    /// Its key.
    pub key: FileKey,
    /// The version; the newest one where none is named.
    pub version: Option<VersionId>,
    /// What has to hold of it.
    pub conditions: ReadConditions,
}

/// What became of a copy.
#[derive(Clone, Debug)]
pub struct CopiedFile {
    /// The copy.
    pub file: FileVersion,
    /// The version that was copied.
    pub source: VersionId,
}

impl Command for CopyFile {
    type Reply = CopiedFile;

    const NAME: &'static str = "copy_file";
}

impl Handle<CopyFile> for BucketLane {
    async fn handle(&mut self, command: &CopyFile, turn: &mut Turn<'_, Self>) -> Result<CopiedFile> {
        let decided = self.copy(command, turn).await;
        turn.settle(self, decided).await
    }
}

impl BucketLane {
    async fn copy(&mut self, command: &CopyFile, turn: &Turn<'_, Self>) -> Result<Decided<CopiedFile>> {
        let CopyFile { at, source, conditions, replaces, class, checksum } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        let by = self.enter(turn, at).await?;
        let open = self.open()?;
        let from = read_beside(store, open, source.bucket).await?;
        let copied = find(store, from, source).await?;
        let before = FileBefore::read(store, open.seen().no, &at.key, open.versioning()).await?;
        let is_newest = before.head.as_ref().is_some_and(|head| head.stamp == copied.stamp);
        let changes_nothing = replaces.is_nothing() && class.is_none() && checksum.is_none();
        if from == open.seen().no && copied.key == at.key && is_newest && changes_nothing {
            return Err(copy_to_itself());
        }
        conditions.decide(before.head.as_ref().and_then(FileVersion::stored))?;
        let changes = before.state().put(open.versioning(), now)?;
        let mut rows = FileRows::new();
        rows.share(&copied);
        let content = copied.content.clone().map(|content| said(content, command)).transpose()?;
        let draft = Draft { key: &at.key, by, content };
        let made = before.rewrite(&mut rows, &changes, now, Some(&draft))?;
        open.check_room(store, rows.bytes_added()).await?;
        let change = written(turn, open, Written { action: "object.copied", key: &at.key }, Change::new(), &rows);
        let file = made.ok_or_else(|| domain::Error::internal("a copy made no version"))?;
        let reply = CopiedFile { file, source: copied.version().id() };
        Ok(Decided { reply, change: Some(change) })
    }
}

/// The version that is copied, which has a content that passes the conditions.
async fn find(store: &Store, no: BucketNo, source: &CopySource) -> Result<FileVersion> {
    let found = match source.version {
        None => store.file(no, &source.key).await?.ok_or_else(file_not_found)?,
        Some(id) => store.file_version(no, &source.key, id).await?.ok_or_else(version_not_found)?,
    };
    source.conditions.check_copy(found.stored().ok_or_else(version_not_found)?)?;
    Ok(found)
}

/// What the copy says; 409 where its checksum was computed of what is no longer there.
fn said(content: FileContent, command: &CopyFile) -> Result<FileContent> {
    let CopyFile { replaces, class, checksum, .. } = command;
    if checksum.as_ref().is_some_and(|computed| computed.of != content.content_id) {
        return Err(file_replaced());
    }
    // The bytes stay, and so does what they come to.
    let known = content.headers.checksum.clone();
    let headers = replaces.headers.clone().unwrap_or(content.headers);
    let checksum = checksum.as_ref().map(|computed| computed.checksum.clone()).or(known);
    Ok(FileContent {
        headers: FileHeaders { checksum, ..headers },
        tags: replaces.tags.clone().unwrap_or(content.tags),
        class: class.unwrap_or(content.class),
        ..content
    })
}
