//! What a request for moves has to be in itself.

use serde::Deserialize;

use super::{FileMove, FolderMove, Moves, Resume, places::Places};
use crate::{
    error::{Error, Result},
    storage::{FileKey, Folder, move_into_itself, move_of_bucket, move_to_itself, moved_twice, moves_collide},
};

/// Files that a request names, at most (decisions, "Object storage").
pub const MOVED_FILES_MAX: usize = 1_000;
/// Folders that a request names, at most (contract C 4.4).
pub const MOVED_FOLDERS_MAX: usize = 100;

/// A name, and the one that it becomes.
#[derive(Clone, Debug, Deserialize)]
pub struct MovePair {
    /// The name.
    pub from: String,
    /// What it becomes.
    pub to: String,
}

/// A request for moves, as it comes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct MoveRequest {
    /// Files.
    pub files: Vec<MovePair>,
    /// Folders with all that is in them.
    pub folders: Vec<MovePair>,
    /// Whether it goes on with what is under way.
    pub resume: Resume,
}

impl MoveRequest {
    /// The moves; 400 where one can't be, and where two get in one another's way.
    pub fn check(self) -> Result<Moves> {
        if self.files.len() > MOVED_FILES_MAX {
            return Err(Error::invalid("files", "Send up to 1,000 files."));
        }
        if self.folders.len() > MOVED_FOLDERS_MAX {
            return Err(Error::invalid("folders", "Send up to 100 folders."));
        }
        let files = self.files.into_iter().map(file_move).collect::<Result<_>>()?;
        let folders = self.folders.into_iter().map(folder_move).collect::<Result<_>>()?;
        let moves = Moves { files, folders };
        moves.check_apart().map(|()| moves)
    }
}

fn file_move(MovePair { from, to }: MovePair) -> Result<FileMove> {
    let pair = FileMove { from: FileKey::parse_for_upload(from)?, to: FileKey::parse_for_upload(to)? };
    if pair.from == pair.to { Err(move_to_itself()) } else { Ok(pair) }
}

fn folder_move(MovePair { from, to }: MovePair) -> Result<FolderMove> {
    if from.is_empty() || to.is_empty() {
        return Err(move_of_bucket());
    }
    let pair = FolderMove { from: Folder::parse(from)?, to: Folder::parse(to)? };
    if pair.from.contains(pair.to.as_str()) { Err(move_into_itself()) } else { Ok(pair) }
}

impl Moves {
    /// Every file is moved once, to a place of its own, which doesn't move itself.
    fn check_apart(&self) -> Result<()> {
        let from =
            Places::new(self.folders.iter().map(|it| it.from.as_str()), self.files.iter().map(|it| it.from.as_str()));
        let to = Places::new(self.folders.iter().map(|it| it.to.as_str()), self.files.iter().map(|it| it.to.as_str()));
        let (from, to) = (from.ok_or_else(moved_twice)?, to.ok_or_else(moves_collide)?);
        if to.paths().any(|path| from.has(path)) { Err(moves_collide()) } else { Ok(()) }
    }
}
