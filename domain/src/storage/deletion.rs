//! Deleting many files and folders (`objects/delete`).

use super::{FileKey, Folder, move_of_bucket};
use crate::error::{Error, Result};

/// Files that a request deletes by their names (decisions, "Object storage").
pub const DELETED_FILES_MAX: usize = 1_000;
/// Folders that a request deletes.
pub const DELETED_FOLDERS_MAX: usize = 100;

/// What a request deletes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deletion {
    /// Files by their names, in order, each once.
    pub files: Vec<FileKey>,
    /// Folders with all that is in them, in order, each once.
    pub folders: Vec<Folder>,
}

impl Deletion {
    /// Checks the names; 400 where there are too many, and where one can't be.
    pub fn check(keys: Vec<String>, folders: Vec<String>) -> Result<Self> {
        if keys.len() > DELETED_FILES_MAX {
            return Err(Error::invalid("keys", "Send up to 1,000 keys."));
        }
        if folders.len() > DELETED_FOLDERS_MAX {
            return Err(Error::invalid("folders", "Send up to 100 folders."));
        }
        let mut files = keys.into_iter().map(FileKey::parse).collect::<Result<Vec<_>>>()?;
        let folder = |path: String| if path.is_empty() { Err(move_of_bucket()) } else { Folder::parse(path) };
        let mut folders = folders.into_iter().map(folder).collect::<Result<Vec<_>>>()?;
        files.sort_unstable();
        files.dedup();
        folders.sort_unstable();
        folders.dedup();
        Ok(Self { files, folders })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_and_each_counts_once() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let deletion = Deletion::check(texts(&["b", "a", "b"]), texts(&["f/", "f/"])).unwrap();
        assert_eq!((deletion.files.len(), deletion.folders.len()), (2, 1));
        let refusal =
            |keys: &[&str], folders: &[&str]| Deletion::check(texts(keys), texts(folders)).unwrap_err().to_string();
        assert_eq!(refusal(&[], &[""]), "Pick a folder, not the whole bucket.");
        assert_eq!(refusal(&[], &["f"]), "Folder paths end with /.");
        assert_eq!(Deletion::check(vec![String::new()], Vec::new()).unwrap_err().status(), 400);
        let many = |count: usize, end: &str| (0..count).map(|at| format!("{at}{end}")).collect::<Vec<_>>();
        assert!(Deletion::check(many(1_000, ""), many(100, "/")).is_ok());
        assert!(Deletion::check(many(1_001, ""), Vec::new()).is_err());
        assert!(Deletion::check(Vec::new(), many(101, "/")).is_err());
    }
}
