//! Versions of a file: what a write, a delete or a restore makes of those that there are.
//!
//! The newest version is what the file is, or a delete marker where it isn't there any more; the others are old ones. Each
//! has a stamp that is greater than those of all before it. Where versioning isn't on a version is called `null`, of which
//! a file has at most one; it may be the newest or lie anywhere below.

mod change;
mod delete;
mod id;
mod restore;

pub use self::{
    change::RowChange,
    id::{VERSION_ID_LEN, VersionId, VersionStamp},
    restore::{RESTORE_MARKERS_MAX, Restored},
};

use super::{Versioning, version_locked};
use crate::{Timestamp, error::Result};

/// Versions of a file in one answer (S3).
pub const VERSIONS_LISTED_MAX: usize = 1_000;

/// How a version is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionName {
    /// By its stamp.
    Stamp,
    /// `null`, since versioning wasn't on when it was made.
    Null,
}

/// What a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionKind {
    /// Content.
    Content,
    /// The sign that the file isn't there.
    DeleteMarker,
}

/// A version, as decisions see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its place among the file's versions.
    pub stamp: VersionStamp,
    /// How it is called.
    pub name: VersionName,
    /// What it is.
    pub kind: VersionKind,
    /// Until when it can't be taken away.
    pub locked_until: Option<Timestamp>,
}

impl Version {
    /// What clients call it (`versionId`).
    pub const fn id(&self) -> VersionId {
        match self.name {
            VersionName::Stamp => VersionId::Stamp(self.stamp),
            VersionName::Null => VersionId::Null,
        }
    }

    /// Whether it is a delete marker.
    pub fn is_marker(&self) -> bool {
        self.kind == VersionKind::DeleteMarker
    }

    /// Passes where the version may be taken away at `now`; 403 otherwise.
    pub fn check_unlocked(&self, now: Timestamp) -> Result<()> {
        self.locked_until.filter(|until| *until > now).map_or(Ok(()), |until| Err(version_locked(until)))
    }
}

/// What a write has to know of a file. Both are none where there is no file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// Its newest version.
    pub newest: Option<Version>,
    /// Its version `null`, where that isn't the newest.
    pub older_null: Option<Version>,
}

impl FileState {
    /// Whether there is a file.
    pub fn exists(&self) -> bool {
        self.newest.is_some_and(|newest| !newest.is_marker())
    }

    /// What a write does: its content is the newest version.
    pub fn put(&self, versioning: Option<Versioning>, now: Timestamp) -> Result<Vec<RowChange>> {
        self.lay(VersionKind::Content, versioning, now)
    }

    /// What a delete does: a delete marker is the newest version, also where there was no file. Where versions never were
    /// kept the file is gone.
    pub fn delete(&self, versioning: Option<Versioning>, now: Timestamp) -> Result<Vec<RowChange>> {
        match (versioning, self.newest) {
            (Some(Versioning::Enabled | Versioning::Suspended), _) => {
                self.lay(VersionKind::DeleteMarker, versioning, now)
            }
            (None | Some(Versioning::Disabled), None) => Ok(Vec::new()),
            (None | Some(Versioning::Disabled), Some(newest)) => {
                newest.check_unlocked(now)?;
                Ok(vec![RowChange::Drop(newest.stamp)])
            }
        }
    }

    /// Lays one more version on top. One that is called `null` takes the place of the other of that name.
    fn lay(&self, kind: VersionKind, versioning: Option<Versioning>, now: Timestamp) -> Result<Vec<RowChange>> {
        let is_kept = versioning == Some(Versioning::Enabled);
        let name = if is_kept { VersionName::Stamp } else { VersionName::Null };
        let stamp = VersionStamp::next(now, self.newest.map(|newest| newest.stamp));
        let mut changes = Vec::with_capacity(3);
        if let Some(newest) = self.newest {
            let is_replaced = name == VersionName::Null && newest.name == VersionName::Null;
            if is_replaced {
                newest.check_unlocked(now)?;
            }
            changes.push(if is_replaced { RowChange::Drop(newest.stamp) } else { RowChange::Keep(newest.stamp) });
        }
        if let Some(null) = self.older_null.filter(|_| name == VersionName::Null) {
            null.check_unlocked(now)?;
            changes.push(RowChange::DropOld(null.stamp));
        }
        changes.push(RowChange::Insert(Version { stamp, name, kind, locked_until: None }));
        Ok(changes)
    }
}

#[cfg(test)]
mod tests;
