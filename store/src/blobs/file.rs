//! Blobs in a folder: read in large pieces, and deleted for good.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};

use super::BlobKey;
use crate::StoreError;

/// How much is read at once. `object_store` has a thread read 8 KiB at a time.
pub(super) const PIECE_LEN: u64 = 256 * 1024;

/// The bytes `range` of `file`; an error where it has fewer.
pub(super) fn pieces(file: File, range: Range<u64>) -> impl Stream<Item = Result<Bytes, StoreError>> + Send {
    stream::try_unfold((file, range), |(file, range)| async move {
        if range.is_empty() {
            return Ok(None);
        }
        let len = PIECE_LEN.min(range.end - range.start);
        let reading = tokio::task::spawn_blocking(move || read(file, range.start, len));
        let (file, piece) = reading.await.map_err(io::Error::other).flatten().map_err(|error| failed(&error))?;
        Ok(Some((piece, (file, range.start + len..range.end))))
    })
    .fuse()
}

fn read(mut file: File, start: u64, len: u64) -> io::Result<(File, Bytes)> {
    let mut piece = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut piece)?;
    Ok((file, piece.into()))
}

/// Deletes blobs below `folder`, and what was left of writing them: they don't come back after a loss of power.
pub(super) async fn delete(folder: PathBuf, keys: Vec<BlobKey>) -> Result<(), StoreError> {
    let deleting = tokio::task::spawn_blocking(move || delete_now(&folder, &keys));
    deleting.await.map_err(io::Error::other).flatten().map_err(|error| failed(&error))
}

fn delete_now(folder: &Path, keys: &[BlobKey]) -> io::Result<()> {
    let mut changed = BTreeSet::new();
    for key in keys {
        let path = folder.join(key.as_str());
        let mut is_changed = remove(&path)?;
        // As `object_store` names what it has not finished.
        let mut staged = (1..).map(|number: u32| folder.join(format!("{key}#{number}")));
        while staged.next().is_some_and(|staged| remove(&staged).unwrap_or(false)) {
            is_changed = true;
        }
        if let (true, Some(parent)) = (is_changed, path.parent()) {
            changed.insert(parent.to_owned());
        }
    }
    changed.iter().try_for_each(|parent| File::open(parent)?.sync_all())
}

/// The names of all files below the folder of an area.
pub(super) fn names(folder: &Path, area: &str) -> Result<Vec<String>, StoreError> {
    let (mut names, mut folders) = (Vec::new(), vec![folder.join(area)]);
    while let Some(next) = folders.pop() {
        let entries = match fs::read_dir(&next) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(&error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| failed(&error))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(name) = path.strip_prefix(folder) {
                names.push(name.to_string_lossy().into_owned());
            }
        }
    }
    Ok(names)
}

/// Whether there was such a file.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn failed(error: &io::Error) -> StoreError {
    StoreError::Failed(format!("a file of blobs: {error}"))
}
