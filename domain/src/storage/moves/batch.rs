//! Which files move in one commit.

use serde::{Deserialize, Serialize};

use super::{FolderMove, Moves};
use crate::{
    error::Result,
    storage::{FileKey, KeyRange},
};

/// Files that move in one commit, all or none of them (decisions, "Object storage").
pub const BATCH_FILES_MAX: usize = 1_000;
/// Batches that one call moves, before it answers that it isn't done.
pub const BATCHES_PER_CALL: usize = 5;

/// How far moves have come, as the journal keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveCursor {
    /// Files and folders that are done, the files first.
    done: usize,
    /// The last key that moved of the folder behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<FileKey>,
}

/// A file of a batch: the name that it has, and the one that it gets.
pub type MovedFile = (FileKey, FileKey);

/// A batch that is being put together.
#[derive(Debug)]
pub struct MoveBatch<'m> {
    moves: &'m Moves,
    cursor: MoveCursor,
    files: Vec<MovedFile>,
}

impl<'m> MoveBatch<'m> {
    /// The batch that goes on behind `cursor`. The files that the request names are in it already.
    pub fn new(moves: &'m Moves, cursor: MoveCursor) -> Self {
        let named = moves.files.get(cursor.done..).unwrap_or_default();
        let files: Vec<_> = named.iter().take(BATCH_FILES_MAX).map(|it| (it.from.clone(), it.to.clone())).collect();
        let cursor = MoveCursor { done: cursor.done.saturating_add(files.len()), ..cursor };
        Self { moves, cursor, files }
    }

    /// Where the keys are that come next; none where the batch is full, or nothing is left to move.
    pub fn range(&self) -> Option<KeyRange> {
        let mut range = self.folder().filter(|_| self.room() > 0)?.from.range();
        if let Some(after) = &self.cursor.after {
            range.start = [after.as_str().as_bytes(), &[0]].concat();
        }
        Some(range)
    }

    /// How many keys of the range the batch takes.
    pub fn room(&self) -> usize {
        BATCH_FILES_MAX.saturating_sub(self.files.len())
    }

    /// Takes a key of the range, in their order. One of no folder that moves is left where it is.
    pub fn take(&mut self, key: FileKey) -> Result<()> {
        let Some(to) = self.folder().and_then(|folder| folder.target(&key)) else { return Ok(()) };
        self.files.push((key.clone(), to?));
        self.cursor.after = Some(key);
        Ok(())
    }

    /// The range has no more keys: the next folder comes.
    pub fn folder_ends(&mut self) {
        self.cursor = MoveCursor { done: self.cursor.done.saturating_add(1), after: None };
    }

    /// The files that move, and how far that is.
    pub fn finish(self) -> (Vec<MovedFile>, MoveCursor) {
        (self.files, self.cursor)
    }

    fn folder(&self) -> Option<&'m FolderMove> {
        self.moves.folders.get(self.cursor.done.checked_sub(self.moves.files.len())?)
    }
}

impl Moves {
    /// Whether nothing is left to move behind `cursor`.
    pub fn is_done(&self, cursor: &MoveCursor) -> bool {
        cursor.done >= self.files.len() + self.folders.len()
    }
}
