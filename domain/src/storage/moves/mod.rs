//! Moving files and folders to other names (contract C 4.4, `objects/move`).
//!
//! A request is checked as a whole before anything moves: in itself ([`MoveRequest::check`]), then against what the bucket
//! has ([`Moves::check_found`]). Then its files move in batches, each in one commit, so that every file has exactly one of
//! its names at any moment.

mod batch;
mod check;
mod found;
mod identity;
mod moving;
mod places;

pub use self::{
    batch::{BATCH_FILES_MAX, BATCHES_PER_CALL, MoveBatch, MoveCursor, MovedFile},
    check::{MOVED_FILES_MAX, MOVED_FOLDERS_MAX, MovePair, MoveRequest},
    found::FolderFacts,
    identity::{MOVE_LEFT_ALONE, MoveId, MoveJournal, MoveStart, Resume},
    moving::MovingFolders,
};

use serde::{Deserialize, Serialize};

use super::{FileKey, Folder};
use crate::error::Result;

/// A file that gets another name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileMove {
    /// The name that it has.
    pub from: FileKey,
    /// The name that it gets.
    pub to: FileKey,
}

/// A folder whose files get other names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FolderMove {
    /// The path that they have.
    pub from: Folder,
    /// The path that they get.
    pub to: Folder,
}

impl FolderMove {
    /// The name that a file of the folder gets; none for a file that isn't in it.
    pub fn target(&self, key: &FileKey) -> Option<Result<FileKey>> {
        let rest = key.as_str().strip_prefix(self.from.as_str())?;
        Some(FileKey::parse(format!("{}{rest}", self.to.as_str())))
    }
}

/// Moves that don't get in one another's way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moves {
    files: Vec<FileMove>,
    folders: Vec<FolderMove>,
}

impl Moves {
    /// The files that are named.
    pub fn files(&self) -> &[FileMove] {
        &self.files
    }

    /// The folders that are named.
    pub fn folders(&self) -> &[FolderMove] {
        &self.folders
    }
}

#[cfg(test)]
mod tests;
