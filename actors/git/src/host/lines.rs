//! Lines of files: whether they are there, and where they went.

use std::{collections::HashMap, ffi::OsString};

use domain::{
    Result,
    git::{
        ObjectId,
        objects::{EntryKind, Patch, RepositoryPath, read_changes},
    },
};
use tokio::io::BufReader;

use super::{
    differences::{list_of, page_of},
    internal,
    reading::{PIECE_LEN, Reading},
    views::failed,
};

/// Bytes of a file whose lines are counted.
const COUNTED_LEN_MAX: u64 = 4 << 20;
/// Bytes of a file among which a zero says that it has no lines.
const LOOKED_AT: usize = 8_000;

/// What lines a commit's file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLines {
    /// There is no such file.
    Missing,
    /// The file is none that has lines, or a large one.
    Uncounted,
    /// So many.
    Lines(u64),
}

impl FileLines {
    fn of(bytes: &[u8]) -> Self {
        if bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0) {
            return Self::Uncounted;
        }
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').count();
        Self::Lines(lines as u64)
    }
}

impl Reading {
    /// How many lines a commit's file has.
    pub async fn lines_of(&self, commit: ObjectId, path: &RepositoryPath) -> Result<FileLines> {
        let found = self.entry(commit, path).await?;
        let is_file = |kind| matches!(kind, EntryKind::File | EntryKind::Executable | EntryKind::Link);
        let Some(entry) = found.filter(|entry| is_file(entry.kind)) else { return Ok(FileLines::Missing) };
        if entry.size.is_none_or(|size| size > COUNTED_LEN_MAX) {
            return Ok(FileLines::Uncounted);
        }
        Ok(FileLines::of(&self.bytes(entry.oid).await?))
    }

    /// Where these lines of one commit's files are in those of another; nothing for those that changed. A file that was renamed
    /// counts as gone, and so does what is behind the first megabyte of all that changed.
    pub async fn lines_now(
        &self,
        from: ObjectId,
        to: ObjectId,
        places: &[(&RepositoryPath, u32)],
    ) -> Result<Vec<Option<u32>>> {
        if from == to {
            return Ok(places.iter().map(|(_, line)| Some(*line)).collect());
        }
        let patches = self.bare_patches(from, to, places).await?;
        let now = |(path, line): &(&RepositoryPath, u32)| match patches.get(path.as_str().as_bytes()) {
            None => Some(*line),
            Some(patch) => {
                patch.as_ref().and_then(|patch| patch.line_after((*line).into())).and_then(|line| line.try_into().ok())
            }
        };
        Ok(places.iter().map(now).collect())
    }

    /// The patches of those of these files that two commits have differently, as far as they were read, without lines around what
    /// differs.
    async fn bare_patches(
        &self,
        from: ObjectId,
        to: ObjectId,
        places: &[(&RepositoryPath, u32)],
    ) -> Result<HashMap<Vec<u8>, Option<Patch>>> {
        let options = ["-z", "--raw", "-p", "--no-renames", "--unified=0"];
        let mut job = self.comparing(&options, Some(from), to);
        for (path, _) in places {
            job = job.with(OsString::from(format!(":(literal){}", path.as_str())));
        }
        let mut run = self.git.start(&job).await.map_err(internal)?;
        let Some(stdout) = run.stdout.take() else { return Ok(HashMap::new()) };
        let mut stdout = BufReader::with_capacity(PIECE_LEN, stdout);
        let files = read_changes(&list_of(&mut stdout).await.map_err(failed)?);
        let (patches, is_cut) = page_of(&mut stdout).await.map_err(failed)?;
        if !is_cut {
            run.end().await.map_err(|error| self.failure(error))?;
        }
        let mut patches = patches.into_iter();
        let with_patch = |file: domain::git::objects::FileChange| {
            // What is of another kind now is taken away first.
            let patch = patches.by_ref().take(file.kind.patches()).next();
            (file.path, patch)
        };
        Ok(files.into_iter().map(with_patch).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_needs_no_end() {
        for (bytes, lines) in [(&b""[..], 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)] {
            assert_eq!(FileLines::of(bytes), FileLines::Lines(lines), "{bytes:?}");
        }
        assert_eq!(FileLines::of(b"a\0\n"), FileLines::Uncounted);
    }
}
