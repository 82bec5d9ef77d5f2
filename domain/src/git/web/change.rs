//! What a commit changes.

use std::collections::HashMap;

use super::{Place, WEB_COMMIT_BYTES_MAX, WEB_COMMIT_CHANGES_MAX, web_commit_too_large};
use crate::{
    Error, Result,
    git::objects::{EntryKind, RepositoryPath},
};

/// Where the bytes of a file come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenBytes {
    /// From the request.
    Sent(Vec<u8>),
    /// From the file of this number of the commit's upload.
    Uploaded(u64),
}

/// A change, as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebChange {
    /// A file is made, or gets other bytes.
    Put {
        /// The file.
        path: RepositoryPath,
        /// The bytes.
        bytes: WrittenBytes,
        /// Whether it can be run; as before where that isn't said.
        executable: Option<bool>,
    },
    /// A file or a folder gets another path.
    Move {
        /// What is moved.
        from: RepositoryPath,
        /// Where to.
        to: RepositoryPath,
    },
    /// A file or a folder goes.
    Delete {
        /// What goes.
        path: RepositoryPath,
    },
}

/// The changes of one commit, of which no two meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebChanges(Vec<WebChange>);

/// A change, as it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebEdit {
    /// A file has these bytes.
    Write {
        /// The file.
        path: RepositoryPath,
        /// What kind of file it is.
        kind: EntryKind,
        /// The bytes.
        bytes: WrittenBytes,
    },
    /// What is at a path is at another one.
    Move {
        /// What is moved.
        from: RepositoryPath,
        /// Where to.
        to: RepositoryPath,
    },
    /// What is at a path isn't there.
    Delete {
        /// What goes.
        path: RepositoryPath,
    },
}

/// A path that a change names.
#[derive(Clone, Copy, Debug)]
struct Touched<'c> {
    path: &'c RepositoryPath,
    /// Whether something is there afterwards.
    is_written: bool,
    /// The number of the change.
    change: usize,
}

impl WebChange {
    /// The paths that it names, and whether something is there afterwards.
    fn paths(&self) -> impl Iterator<Item = (&RepositoryPath, bool)> {
        let (first, second) = match self {
            Self::Put { path, .. } => ((path, true), None),
            Self::Move { from, to } => ((from, false), Some((to, true))),
            Self::Delete { path } => ((path, false), None),
        };
        [first].into_iter().chain(second)
    }
}

impl WebChanges {
    /// Checks that there aren't too many changes, and that no two of them meet.
    pub fn new(changes: Vec<WebChange>) -> Result<Self> {
        if changes.is_empty() {
            return Err(Error::invalid("changes", "Use 1 to 1,000 changes."));
        }
        if changes.len() > WEB_COMMIT_CHANGES_MAX {
            return Err(web_commit_too_large());
        }
        let changes = Self(changes);
        changes.check_meeting()?;
        changes.check_size(|_| 0)?;
        Ok(changes)
    }

    /// 413 where the commit writes too many bytes; `uploaded` knows the sizes of uploaded files.
    pub fn check_size(&self, uploaded: impl Fn(u64) -> u64) -> Result<()> {
        let size = |change: &WebChange| match change {
            WebChange::Put { bytes: WrittenBytes::Sent(bytes), .. } => bytes.len() as u64,
            WebChange::Put { bytes: WrittenBytes::Uploaded(index), .. } => uploaded(*index),
            WebChange::Move { .. } | WebChange::Delete { .. } => 0,
        };
        let total: u64 = self.0.iter().map(size).sum();
        if total > WEB_COMMIT_BYTES_MAX { Err(web_commit_too_large()) } else { Ok(()) }
    }

    /// The changes, of which none are left here.
    #[must_use]
    pub fn take(&mut self) -> Self {
        Self(std::mem::take(&mut self.0))
    }

    /// The numbers of the uploaded files that it takes.
    pub fn uploaded(&self) -> impl Iterator<Item = u64> {
        self.0.iter().filter_map(|change| match change {
            WebChange::Put { bytes: WrittenBytes::Uploaded(index), .. } => Some(*index),
            _ => None,
        })
    }

    /// All paths that it names, in the order of [`RepositoryPath::cmp_in_tree`].
    pub fn paths(&self) -> Vec<RepositoryPath> {
        self.touched().into_iter().map(|it| it.path.clone()).collect()
    }

    fn touched(&self) -> Vec<Touched<'_>> {
        let mut touched: Vec<_> = self
            .0
            .iter()
            .enumerate()
            .flat_map(|(change, it)| it.paths().map(move |(path, is_written)| Touched { path, is_written, change }))
            .collect();
        touched.sort_by(|one, other| one.path.cmp_in_tree(other.path));
        touched
    }

    /// Whatever is within another path follows it, with nothing between them but what is within it, too.
    fn check_meeting(&self) -> Result<()> {
        let touched = self.touched();
        for (outer, inner) in touched.iter().zip(touched.iter().skip(1)) {
            if !inner.path.is_within(outer.path) {
                continue;
            }
            let is_one = outer.change == inner.change;
            if is_one && inner.path == outer.path {
                return Err(Error::bad_request("same_path", "A file can't be moved onto itself."));
            }
            if inner.path != outer.path && inner.is_written && (outer.is_written || is_one) {
                return Err(inner.path.unusable());
            }
            return Err(Error::bad_request("changed_twice", "A file can only be changed once in a commit."));
        }
        Ok(())
    }

    /// What is done, where the parent has this at its [`paths`](Self::paths).
    pub fn decide(self, places: &HashMap<RepositoryPath, Place>) -> Result<Vec<WebEdit>> {
        let place = |path: &RepositoryPath| places.get(path).copied().unwrap_or_default();
        self.0.into_iter().map(|change| change.decide(place)).collect()
    }
}

impl WebChange {
    fn decide(self, place: impl Fn(&RepositoryPath) -> Place) -> Result<WebEdit> {
        match self {
            Self::Put { path, bytes, executable } => {
                let before = match place(&path) {
                    Place::Free => EntryKind::File,
                    Place::InFile => return Err(path.unusable()),
                    Place::Taken(EntryKind::Folder) => return Err(in_the_way("a folder", &path)),
                    Place::Taken(EntryKind::Submodule) => return Err(in_the_way("a submodule", &path)),
                    Place::Taken(kind) => kind,
                };
                let kind = if executable.unwrap_or(before == EntryKind::Executable) {
                    EntryKind::Executable
                } else {
                    EntryKind::File
                };
                Ok(WebEdit::Write { path, kind, bytes })
            }
            Self::Move { from, to } => {
                is_there(&from, place(&from))?;
                match place(&to) {
                    Place::Free => Ok(WebEdit::Move { from, to }),
                    Place::InFile => Err(to.unusable()),
                    Place::Taken(EntryKind::Folder) => Err(in_the_way("a folder", &to)),
                    Place::Taken(EntryKind::Submodule) => Err(in_the_way("a submodule", &to)),
                    Place::Taken(_) => Err(in_the_way("a file", &to)),
                }
            }
            Self::Delete { path } => {
                is_there(&path, place(&path))?;
                Ok(WebEdit::Delete { path })
            }
        }
    }
}

fn is_there(path: &RepositoryPath, place: Place) -> Result<()> {
    match place {
        Place::Taken(_) => Ok(()),
        Place::Free | Place::InFile => {
            Err(Error::bad_request("file_not_found", format!("There is no file at {}.", path.shown())))
        }
    }
}

fn in_the_way(what: &str, path: &RepositoryPath) -> Error {
    Error::bad_request("path_taken", format!("There is already {what} at {}.", path.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepositoryPath {
        RepositoryPath::parse("path", text).unwrap()
    }

    fn put(text: &str) -> WebChange {
        WebChange::Put { path: path(text), bytes: WrittenBytes::Sent(Vec::new()), executable: None }
    }

    fn moving(from: &str, to: &str) -> WebChange {
        WebChange::Move { from: path(from), to: path(to) }
    }

    fn delete(text: &str) -> WebChange {
        WebChange::Delete { path: path(text) }
    }

    fn refusal(changes: Vec<WebChange>) -> String {
        WebChanges::new(changes).unwrap_err().to_string()
    }

    #[test]
    fn no_two_changes_meet() {
        let once = "A file can only be changed once in a commit.";
        assert_eq!(refusal(vec![put("a"), put("b"), put("a")]), once);
        assert_eq!(refusal(vec![put("a"), delete("a")]), once);
        assert_eq!(refusal(vec![moving("a", "b"), moving("b", "a")]), once);
        assert_eq!(refusal(vec![delete("a"), put("a/b")]), once);
        assert_eq!(refusal(vec![delete("a"), put("a-b"), delete("a/b")]), once);
        assert_eq!(refusal(vec![moving("a/b", "a")]), once);
        assert_eq!(refusal(vec![moving("a", "a")]), "A file can't be moved onto itself.");
        assert_eq!(refusal(vec![moving("a", "a/b")]), "a/b can't be used as a path.");
        assert_eq!(refusal(vec![put("a/b"), put("a")]), "a/b can't be used as a path.");
        assert_eq!(refusal(vec![moving("x", "a"), put("a/b")]), "a/b can't be used as a path.");
        assert!(WebChanges::new(vec![put("a"), put("a-b"), put("ab"), moving("b/c", "b/d")]).is_ok());
    }

    #[test]
    fn a_commit_has_a_thousand_changes_and_fifty_megabytes() {
        let many = |count: usize| WebChanges::new((0..count).map(|at| put(&format!("f{at}"))).collect());
        assert!(many(1_000).is_ok());
        assert_eq!(many(1_001).unwrap_err().status(), 413);
        assert_eq!(many(0).unwrap_err().status(), 400);
        let uploaded = |index| WrittenBytes::Uploaded(index);
        let file = |name, index| WebChange::Put { path: path(name), bytes: uploaded(index), executable: None };
        let changes = WebChanges::new(vec![file("a", 0), file("b", 1)]).unwrap();
        assert!(changes.check_size(|_| WEB_COMMIT_BYTES_MAX / 2).is_ok());
        assert_eq!(changes.check_size(|index| WEB_COMMIT_BYTES_MAX * (1 - index) + index).unwrap_err().status(), 413);
        assert_eq!(changes.uploaded().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn what_is_there_decides_what_is_done() {
        let places = [
            ("file", Place::Taken(EntryKind::File)),
            ("run", Place::Taken(EntryKind::Executable)),
            ("link", Place::Taken(EntryKind::Link)),
            ("folder", Place::Taken(EntryKind::Folder)),
            ("sub", Place::Taken(EntryKind::Submodule)),
            ("file/in", Place::InFile),
        ];
        let places: HashMap<_, _> = places.into_iter().map(|(text, place)| (path(text), place)).collect();
        let decide =
            |change: WebChange| WebChanges::new(vec![change]).unwrap().decide(&places).map(|mut it| it.remove(0));
        let kind = |change| match decide(change).unwrap() {
            WebEdit::Write { kind, .. } => kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(kind(put("new/file")), EntryKind::File);
        assert_eq!(kind(put("file")), EntryKind::File);
        assert_eq!(kind(put("link")), EntryKind::File);
        assert_eq!(kind(put("run")), EntryKind::Executable);
        let said = |text: &str, executable| WebChange::Put {
            path: path(text),
            bytes: WrittenBytes::Uploaded(0),
            executable: Some(executable),
        };
        assert_eq!((kind(said("run", false)), kind(said("file", true))), (EntryKind::File, EntryKind::Executable));
        assert!(decide(moving("folder", "elsewhere")).is_ok() && decide(delete("sub")).is_ok());
        for (change, message) in [
            (put("folder"), "There is already a folder at folder."),
            (put("sub"), "There is already a submodule at sub."),
            (put("file/in"), "file/in can't be used as a path."),
            (moving("none", "new"), "There is no file at none."),
            (moving("link", "file"), "There is already a file at file."),
            (moving("link", "folder"), "There is already a folder at folder."),
            (moving("link", "file/in"), "file/in can't be used as a path."),
            (delete("file/in"), "There is no file at file/in."),
        ] {
            assert_eq!(decide(change).unwrap_err().to_string(), message);
        }
    }
}
