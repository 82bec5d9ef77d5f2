//! What moves have to find in the bucket, all of them before the first one is made.

use super::Moves;
use crate::{
    error::Result,
    storage::{
        FileKey, Folder, KEY_BYTES_MAX, file_exists, file_not_found, folder_exists, folder_not_found, key_invalid,
    },
};

/// What is asked of a folder in which something lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderFacts {
    /// Bytes of the longest key in it.
    pub longest_key: usize,
}

impl Moves {
    /// Passes where all that is moved is there, nothing is where it goes, and no name becomes too long. `is_file` says
    /// whether there is a file, `folder` what there is of a folder.
    pub fn check_found(
        &self,
        is_file: impl Fn(&FileKey) -> bool,
        folder: impl Fn(&Folder) -> Option<FolderFacts>,
    ) -> Result<()> {
        for file in &self.files {
            if !is_file(&file.from) {
                return Err(file_not_found());
            }
            if is_file(&file.to) {
                return Err(file_exists());
            }
        }
        for moved in &self.folders {
            let facts = folder(&moved.from).ok_or_else(folder_not_found)?;
            if folder(&moved.to).is_some() {
                return Err(folder_exists());
            }
            let rest = facts.longest_key.saturating_sub(moved.from.as_str().len());
            if rest + moved.to.as_str().len() > KEY_BYTES_MAX {
                return Err(key_invalid("Keys have at most 1,024 bytes."));
            }
        }
        Ok(())
    }
}
