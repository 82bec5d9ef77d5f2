//! Files and folders of a copy: private, and on the disk.

use std::{
    fmt,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{CopyError, at};

/// What a folder holds, with all folders in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tree {
    /// Files.
    pub files: u64,
    /// Their length together, in bytes.
    pub bytes: u64,
}

impl Tree {
    /// What `folder` holds; nothing when it doesn't exist.
    pub(super) fn measure(folder: &Path) -> Result<Self, CopyError> {
        let mut tree = Self::default();
        walk(folder, &mut |path, is_folder| {
            if !is_folder {
                tree.files += 1;
                tree.bytes += fs::metadata(path).map_or(0, |file| file.len());
            }
            Ok(())
        })?;
        Ok(tree)
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blobs ({} bytes)", self.files, self.bytes)
    }
}

/// Whether nothing is at `folder`, or an empty folder.
pub(super) fn is_free(folder: &Path) -> Result<bool, CopyError> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(at(folder)(error)),
    }
}

/// Makes a folder that only its owner reads, with those that it is in; one that is there stays as it is.
pub(super) fn make_private(folder: &Path) -> Result<(), CopyError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(at(folder))
}

/// Copies a file to a place where none is, and onto the disk.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<u64, CopyError> {
    let mut source = File::open(from).map_err(at(from))?;
    let mut target = new_file(to)?;
    let bytes = io::copy(&mut source, &mut target).map_err(at(to))?;
    target.sync_all().map_err(at(to))?;
    Ok(bytes)
}

/// Copies those files below `from` to `to` whose names, from there, are to be kept; says after each how much that was. A file that is deleted meanwhile is left out.
pub(super) fn copy_tree(
    from: &Path,
    to: &Path,
    keeps: &dyn Fn(&str) -> bool,
    says: &mut dyn FnMut(Tree),
) -> Result<Tree, CopyError> {
    let mut copied = Tree::default();
    make_private(to)?;
    walk(from, &mut |path, is_folder| {
        let Ok(relative) = path.strip_prefix(from) else { return Ok(()) };
        let target = to.join(relative);
        if is_folder {
            return make_private(&target);
        }
        if !keeps(&relative.to_string_lossy().replace('\\', "/")) {
            return Ok(());
        }
        match copy_file(path, &target) {
            Ok(bytes) => copied = Tree { files: copied.files + 1, bytes: copied.bytes + bytes },
            Err(CopyError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        says(copied);
        Ok(())
    })?;
    sync_folder(to)?;
    Ok(copied)
}

/// Writes the file that makes a copy a finished one.
pub(super) fn write_last(path: &Path, text: &io::Result<Vec<u8>>, folder: &Path) -> Result<(), CopyError> {
    let text = text.as_ref().map_err(|error| at(path)(io::Error::other(error.to_string())))?;
    let mut file = new_file(path)?;
    file.write_all(text).and_then(|()| file.sync_all()).map_err(at(path))?;
    sync_folder(folder)
}

pub(super) fn new_file(path: &Path) -> Result<File, CopyError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(at(path))
}

fn sync_folder(folder: &Path) -> Result<(), CopyError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder))
}

/// Visits everything below `folder`, each folder before what is in it. What is deleted meanwhile is passed over.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path, bool) -> Result<(), CopyError>) -> Result<(), CopyError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(at(folder)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(at(folder))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(at(&path))?;
        if kind.is_dir() {
            visit(&path, true)?;
            walk(&path, visit)?;
        } else if kind.is_file() {
            visit(&path, false)?;
        }
    }
    Ok(())
}
