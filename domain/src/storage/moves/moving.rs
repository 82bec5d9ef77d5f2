//! Folders that are being moved, which nothing else writes to.

use super::{Moves, places::covering};
use crate::{
    error::Result,
    storage::{FileKey, folder_moving},
};

/// Both names of the folders of moves that are under way. A bucket makes no two moves whose folders touch, so none of them
/// lies in another.
#[derive(Clone, Debug, Default)]
pub struct MovingFolders(Vec<String>);

impl MovingFolders {
    /// The folders of moves that are under way.
    pub fn new<'m>(moves: impl IntoIterator<Item = &'m Moves>) -> Self {
        let folders = moves.into_iter().flat_map(|moves| &moves.folders);
        let mut names: Vec<_> = folders.flat_map(|it| [it.from.as_str(), it.to.as_str()]).map(str::to_owned).collect();
        names.sort_unstable();
        // Of folders that do lie in one another the outer one is enough.
        names.dedup_by(|inner, outer| inner.starts_with(outer.as_str()));
        Self(names)
    }

    /// Passes where a file may be written; 409 below either name of a folder.
    pub fn check_write(&self, key: &FileKey) -> Result<()> {
        if covering(&self.0, key.as_str()).is_some() { Err(folder_moving()) } else { Ok(()) }
    }

    /// Passes where further moves may begin; 409 where they would touch a folder, from inside or from outside.
    pub fn check_moves(&self, moves: &Moves) -> Result<()> {
        let files = moves.files.iter().flat_map(|it| [it.from.as_str(), it.to.as_str()]);
        let folders = moves.folders.iter().flat_map(|it| [it.from.as_str(), it.to.as_str()]);
        if files.chain(folders).any(|path| self.touches(path)) { Err(folder_moving()) } else { Ok(()) }
    }

    /// Whether a path lies in a folder, or a folder in it.
    fn touches(&self, path: &str) -> bool {
        let first = self.0.partition_point(|folder| folder.as_str() < path);
        let holds_one = path.ends_with('/') && self.0.get(first).is_some_and(|folder| folder.starts_with(path));
        holds_one || covering(&self.0, path).is_some()
    }
}
