//! Deleting one version for good.

use super::{FileState, RowChange, Version};
use crate::{Timestamp, error::Result, storage::version_not_found};

impl FileState {
    /// What deleting `target` does, where `below` is the newest of the old versions: under the newest version the next one
    /// appears, or the key is gone. 404 where the file doesn't have the version, 403 where it is locked.
    pub fn delete_version(
        &self,
        target: Option<Version>,
        below: Option<Version>,
        now: Timestamp,
    ) -> Result<Vec<RowChange>> {
        let (Some(target), Some(newest)) = (target, self.newest) else { return Err(version_not_found()) };
        target.check_unlocked(now)?;
        if target.stamp != newest.stamp {
            return Ok(vec![RowChange::DropOld(target.stamp)]);
        }
        let promoted = below.map(|below| RowChange::Promote(below.stamp));
        Ok([Some(RowChange::Drop(newest.stamp)), promoted].into_iter().flatten().collect())
    }
}
