//! Bringing an earlier version back (contract C 3 and 4.4, `object/restore`).

use super::{FileState, RowChange, Version};
use crate::{
    Timestamp,
    app::names,
    error::Result,
    storage::{Versioning, no_content_to_restore, too_many_markers, version_is_current, version_not_found},
};

/// Delete markers that one restore takes away, since it is one commit.
pub const RESTORE_MARKERS_MAX: usize = 1_000;

names! {
    /// What a restore did (contract C 4.4).
    Restored { Undeleted = "undeleted", Copied = "copied", }
}

impl FileState {
    /// What restoring `target` does. Where the newest version is that very delete marker, it goes with the markers right
    /// below, and the file is there again; content below comes on top once more. `older` are the old versions, the newest
    /// of them first; no more of them are looked at than have to be.
    pub fn restore(
        &self,
        target: Option<Version>,
        older: impl IntoIterator<Item = Version>,
        versioning: Option<Versioning>,
        now: Timestamp,
    ) -> Result<(Restored, Vec<RowChange>)> {
        let (Some(target), Some(newest)) = (target, self.newest) else { return Err(version_not_found()) };
        let is_newest = target.stamp == newest.stamp;
        match (is_newest, target.is_marker()) {
            (true, true) => Ok((Restored::Undeleted, uncover(newest, older, now)?)),
            (true, false) => Err(version_is_current()),
            (false, true) => Err(no_content_to_restore()),
            (false, false) => Ok((Restored::Copied, self.put(versioning, now)?)),
        }
    }
}

/// Takes delete markers away until there is content.
fn uncover(newest: Version, older: impl IntoIterator<Item = Version>, now: Timestamp) -> Result<Vec<RowChange>> {
    newest.check_unlocked(now)?;
    let mut changes = vec![RowChange::Drop(newest.stamp)];
    for version in older {
        if !version.is_marker() {
            changes.push(RowChange::Promote(version.stamp));
            return Ok(changes);
        }
        if changes.len() >= RESTORE_MARKERS_MAX {
            return Err(too_many_markers());
        }
        version.check_unlocked(now)?;
        changes.push(RowChange::DropOld(version.stamp));
    }
    Err(no_content_to_restore())
}
