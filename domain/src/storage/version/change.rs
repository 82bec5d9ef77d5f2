//! What becomes of the rows of a file's versions.

use super::{Version, VersionStamp};

/// A change of one row. Those of a decision are made in their order, in one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// The newest version becomes an old one, which ends now.
    Keep(VersionStamp),
    /// The newest version goes.
    Drop(VersionStamp),
    /// An old version goes.
    DropOld(VersionStamp),
    /// An old version becomes the newest one.
    Promote(VersionStamp),
    /// This version is made, and is the newest one.
    Insert(Version),
}
