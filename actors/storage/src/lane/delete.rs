//! Deleting a file, or one of its versions for good.

use domain::{Result, storage::VersionId};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    storage::{FileRows, FileVersion},
};

use super::{BucketLane, FileAt, Written, commit};
use crate::plan::{Draft, FileBefore};

/// Deletes a file: a delete marker comes on top where old versions are kept. Deleting what isn't there does nothing
/// where they aren't.
#[derive(Clone, Debug)]
pub struct DeleteFile(pub FileAt);

impl Command for DeleteFile {
    type Reply = ();

    const NAME: &'static str = "delete_file";
}

impl Handle<DeleteFile> for BucketLane {
    async fn handle(&mut self, DeleteFile(at): &DeleteFile, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (now, store) = (turn.now(), &turn.services().store);
        let (by, open) = self.open(turn, at).await?;
        let before = FileBefore::read(store, open.seen().no, &at.key, open.versioning()).await?;
        let changes = before.state().delete(open.versioning(), now)?;
        if changes.is_empty() {
            return Ok(());
        }
        let mut rows = FileRows::new();
        let draft = Draft { key: &at.key, by, content: None };
        before.rewrite(&mut rows, &changes, now, Some(&draft))?;
        commit(turn, open, Written { action: "object.deleted", key: &at.key }, Change::new(), &rows).await
    }
}

/// Deletes one version of a file for good.
#[derive(Clone, Debug)]
pub struct DeleteVersion {
    /// Which file.
    pub at: FileAt,
    /// Which version.
    pub version: VersionId,
}

impl Command for DeleteVersion {
    type Reply = ();

    const NAME: &'static str = "delete_version";
}

impl Handle<DeleteVersion> for BucketLane {
    async fn handle(&mut self, command: &DeleteVersion, turn: &mut Turn<'_, Self>) -> Result<()> {
        let DeleteVersion { at, version } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        let (_, open) = self.open(turn, at).await?;
        let no = open.seen().no;
        let head = store.file_head(no, &at.key).await?;
        let target = store.file_version(no, &at.key, *version).await?;
        let is_newest = target.as_ref().map(|target| target.stamp) == head.as_ref().map(|head| head.stamp);
        let below = if is_newest { store.file_old_versions(no, &at.key, None, 1).await? } else { Vec::new() };
        let state = FileBefore { head: head.clone(), others: Vec::new() }.state();
        let (wanted, next) = (target.as_ref().map(FileVersion::version), below.first().map(FileVersion::version));
        let changes = state.delete_version(wanted, next, now)?;
        let others = if is_newest { below } else { target.into_iter().collect() };
        let mut rows = FileRows::new();
        FileBefore { head, others }.rewrite(&mut rows, &changes, now, None)?;
        commit(turn, open, Written { action: "object.version_deleted", key: &at.key }, Change::new(), &rows).await
    }
}
