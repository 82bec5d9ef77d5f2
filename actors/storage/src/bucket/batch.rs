//! Files that move in one commit.

use std::collections::HashMap;

use domain::{
    Result, Timestamp,
    id::UserId,
    storage::{FileKey, MoveBatch, MoveCursor, MovedFile, Moves},
};
use store::{Store, storage::FileRows};

use super::changed_meanwhile;
use crate::{
    open::OpenBucket,
    plan::{Draft, FileBefore},
};

/// Files that move, with what was read of both their names.
pub(super) struct Batch {
    files: Vec<MovedFile>,
    cursor: MoveCursor,
    before: HashMap<FileKey, FileBefore>,
}

impl Batch {
    /// Reads the batch that goes on behind `cursor`.
    pub async fn read(store: &Store, open: &OpenBucket, moves: &Moves, cursor: MoveCursor) -> Result<Self> {
        let no = open.seen().no;
        let mut batch = MoveBatch::new(moves, cursor);
        while let Some(range) = batch.range() {
            let room = batch.room();
            let files = store.files_in(no, &range, room as u64).await?;
            let is_last = files.len() < room;
            for file in files {
                batch.take(file.key)?;
            }
            if is_last {
                batch.folder_ends();
            }
        }
        let (files, cursor) = batch.finish();
        let keys: Vec<_> = files.iter().flat_map(|(from, to)| [from.clone(), to.clone()]).collect();
        let before = FileBefore::read_many(store, open, &keys).await?;
        Ok(Self { files, cursor, before })
    }

    /// How many files these are.
    pub fn len(&self) -> u64 {
        self.files.len() as u64
    }

    /// How far the moves are with them.
    pub const fn cursor(&self) -> &MoveCursor {
        &self.cursor
    }

    /// What moving them makes of the rows. The new name gets the content, which both names have where the old one keeps
    /// its versions.
    pub fn rows(&self, open: &OpenBucket, by: UserId, now: Timestamp) -> Result<FileRows> {
        let (mut rows, versioning) = (FileRows::new(), open.versioning());
        for (from, to) in &self.files {
            let source = self.before.get(from).cloned().unwrap_or_default();
            let target = self.before.get(to).cloned().unwrap_or_default();
            let moved = source.head.as_ref().filter(|head| head.content.is_some()).ok_or_else(changed_meanwhile)?;
            if target.head.as_ref().is_some_and(|head| head.content.is_some()) {
                return Err(changed_meanwhile());
            }
            // The new name's version has the content beside the old one's, which may go in the same commit.
            rows.share(moved);
            let leaves = source.state().delete(versioning, now)?;
            source.rewrite(&mut rows, &leaves, now, Some(&Draft { key: from, by, content: None }))?;
            let comes = target.state().put(versioning, now)?;
            target.rewrite(&mut rows, &comes, now, Some(&Draft { key: to, by, content: moved.content.clone() }))?;
        }
        Ok(rows)
    }
}
