//! Deleting a file, or one of its versions for good.

use domain::{
    Result,
    storage::{DeleteConditions, VersionId},
};
use kernel::{Command, Decided, Handle, Resource, Turn};
use store::{
    Change,
    storage::{FileRows, FileVersion},
};

use super::{BucketLane, FileAt, Written, written};
use crate::plan::{Draft, FileBefore};

/// Deletes a file: a delete marker comes on top where old versions are kept. Deleting what isn't there does nothing
/// where they aren't.
#[derive(Clone, Debug)]
pub struct DeleteFile {
    /// Which one.
    pub at: FileAt,
    /// What has to hold of the file that is there.
    pub conditions: DeleteConditions,
}

impl Command for DeleteFile {
    /// The delete marker that came, where one did.
    type Reply = Option<VersionId>;

    const NAME: &'static str = "delete_file";
}

impl Handle<DeleteFile> for BucketLane {
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &DeleteFile, turn: &mut Turn<'_, Self>) -> Result<Option<VersionId>> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, command: &DeleteFile, turn: &Turn<'_, Self>) -> Result<Decided<Option<VersionId>>> {
        let DeleteFile { at, conditions } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        let by = self.enter(turn, at).await?;
        let open = self.open()?;
        let before = self.before(store, &at.key).await?;
        let head = before.head.as_ref();
        conditions.decide(head.and_then(|head| head.stored().map(|stored| (stored, head.bytes()))))?;
        let changes = before.state().delete(open.versioning(), now)?;
        if changes.is_empty() {
            return Ok(Decided { reply: None, change: None });
        }
        let mut rows = FileRows::new();
        let draft = Draft { key: &at.key, by, content: None };
        let newest = before.rewrite(&mut rows, &changes, now, Some(&draft))?;
        let change = written(turn, open, Written { action: "object.deleted", key: &at.key }, Change::new(), &rows);
        let reply = newest.as_ref().map(|marker| marker.version().id());
        self.decides(&at.key, newest, &rows);
        Ok(Decided { reply, change: Some(change) })
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
        let decided = self.delete_version(command, turn).await;
        turn.settle(self, decided).await
    }
}

impl BucketLane {
    async fn delete_version(&mut self, command: &DeleteVersion, turn: &Turn<'_, Self>) -> Result<Decided<()>> {
        let DeleteVersion { at, version } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        self.enter(turn, at).await?;
        let open = self.open()?;
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
        let change =
            written(turn, open, Written { action: "object.version_deleted", key: &at.key }, Change::new(), &rows);
        Ok(Decided { reply: (), change: Some(change) })
    }
}
