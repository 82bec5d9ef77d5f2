//! Bringing an earlier version of a file back.

use domain::{
    Result,
    storage::{RESTORE_MARKERS_MAX, Restored, VersionId},
};
use kernel::{Command, Decided, Handle, Turn};
use store::{
    Change,
    storage::{FileRows, FileVersion},
};

use super::{BucketLane, FileAt, Written, written};
use crate::plan::{Draft, FileBefore};

/// Brings a version back: the delete marker on top goes, or the version's content comes on top once more. No byte is
/// copied.
#[derive(Clone, Debug)]
pub struct RestoreVersion {
    /// Which file.
    pub at: FileAt,
    /// Which version.
    pub version: VersionId,
}

impl Command for RestoreVersion {
    type Reply = Restored;

    const NAME: &'static str = "restore_version";
}

impl Handle<RestoreVersion> for BucketLane {
    async fn handle(&mut self, command: &RestoreVersion, turn: &mut Turn<'_, Self>) -> Result<Restored> {
        let decided = self.restore(command, turn).await;
        turn.settle(self, decided).await
    }
}

impl BucketLane {
    async fn restore(&mut self, command: &RestoreVersion, turn: &Turn<'_, Self>) -> Result<Decided<Restored>> {
        let RestoreVersion { at, version } = command;
        let (now, store) = (turn.now(), &turn.services().store);
        let by = self.enter(turn, at).await?;
        let open = self.open()?;
        let (no, versioning) = (open.seen().no, open.versioning());
        let target = store.file_version(no, &at.key, *version).await?;
        let mut before = FileBefore::read(store, no, &at.key, versioning).await?;
        let state = before.state();
        let newest = before.head.as_ref().map(|head| head.stamp);
        let is_marker = target.as_ref().is_some_and(|target| target.content.is_none() && Some(target.stamp) == newest);
        if is_marker {
            before.others = store.file_old_versions(no, &at.key, None, RESTORE_MARKERS_MAX as u64 + 1).await?;
        }
        let older = before.others.iter().filter(|_| is_marker).map(FileVersion::version);
        let wanted = target.as_ref().map(FileVersion::version);
        let (restored, changes) = state.restore(wanted, older, versioning, now)?;
        let mut rows = FileRows::new();
        let draft = Draft { key: &at.key, by, content: target.as_ref().and_then(|target| target.content.clone()) };
        before.rewrite(&mut rows, &changes, now, Some(&draft))?;
        if let (Restored::Copied, Some(target)) = (restored, &target) {
            rows.share(target);
            open.check_room(store, rows.bytes_added()).await?;
        }
        let change = written(turn, open, Written { action: "object.restored", key: &at.key }, Change::new(), &rows);
        Ok(Decided { reply: restored, change: Some(change) })
    }
}
