//! How commits differ, and who wrote which line.

use std::{ffi::OsString, io, os::unix::ffi::OsStringExt};

use domain::{
    Result,
    git::{
        ObjectId,
        objects::{
            BlamedLines, FileChange, LineCounts, Patch, PatchReader, RepositoryPath, read_blame, read_changes,
            read_line_counts,
        },
    },
};
use gateways::{GitError, GitJob, GitRun};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::ChildStdout,
};

use super::{
    internal,
    reading::{PIECE_LEN, Reading},
    views::failed,
};

/// The folder that has nothing in it: git knows it without having it.
pub(super) const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// Files among which git looks for those that are renamed.
const RENAMES_AMONG: &str = "-l1000";
/// Bytes that are read of a list of changes: what is longer is cut.
const CHANGES_LEN_MAX: u64 = 32 * 1024 * 1024;
/// Changes whose lines are counted.
const COUNTED_MAX: usize = 3_000;
/// Bytes of the lines that are read of patches at once.
const PATCHES_LEN_MAX: usize = 1024 * 1024;
/// Bytes of a line of a patch.
const LINE_LEN_MAX: usize = 256 * 1024;

/// What two commits have differently.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The files, in git's order.
    pub files: Vec<FileChange>,
    /// How many lines each of them gained and lost; none where there are too many to count.
    pub counts: Vec<LineCounts>,
    /// Whether there are more files than were read.
    pub is_cut: bool,
}

impl Reading {
    /// What compares two commits, or one with nothing.
    pub(super) fn comparing(&self, command: &[&str], base: Option<ObjectId>, head: ObjectId) -> GitJob {
        let base = base.map_or_else(|| EMPTY_TREE.to_owned(), |base| base.to_string());
        let job = self.job("diff-tree").with_all(["-r", "-M", RENAMES_AMONG, "--no-color"]).with_all(command);
        job.with_all([&base, &head.to_string(), "--"])
    }

    /// The commit in which the histories of two commits part; none where they never met.
    pub async fn merge_base(&self, one: ObjectId, other: ObjectId) -> Result<Option<ObjectId>> {
        let job = self.job("merge-base").with_all([one.to_string(), other.to_string()]);
        match self.git.run(&job, b"").await {
            Ok(said) => Ok(String::from_utf8_lossy(&said).trim().parse().ok()),
            Err(GitError::Failed { said, .. }) if said.starts_with("exit status: 1") => Ok(None),
            Err(other) => Err(internal(other)),
        }
    }

    /// The files that two commits have differently, or only those at a path. Where there is no `base`, all that `head` has is new.
    pub async fn changed_files(
        &self,
        base: Option<ObjectId>,
        head: ObjectId,
        path: Option<&RepositoryPath>,
    ) -> Result<(Vec<FileChange>, bool)> {
        let mut job = self.comparing(&["-z", "--raw"], base, head);
        if let Some(path) = path {
            job = job.with(format!(":(literal){}", path.as_str()));
        }
        let mut run = self.git.start(&job).await.map_err(internal)?;
        let mut output = Vec::new();
        if let Some(stdout) = run.stdout.take() {
            stdout.take(CHANGES_LEN_MAX).read_to_end(&mut output).await.map_err(failed)?;
        }
        let is_cut = output.len() as u64 >= CHANGES_LEN_MAX;
        if !is_cut {
            run.end().await.map_err(|error| self.failure(error))?;
        }
        Ok((read_changes(&output), is_cut))
    }

    /// The same, with the numbers of their lines.
    pub async fn changes(&self, base: Option<ObjectId>, head: ObjectId) -> Result<Changes> {
        let (files, is_cut) = self.changed_files(base, head, None).await?;
        let counts = if files.len() > COUNTED_MAX {
            Vec::new()
        } else {
            read_line_counts(&self.run(&self.comparing(&["-z", "--numstat"], base, head), "").await?)
        };
        Ok(Changes { files, counts, is_cut })
    }

    /// The numbers of lines of these files, in their order; nothing where git counts others.
    pub async fn line_counts(
        &self,
        base: Option<ObjectId>,
        head: ObjectId,
        files: &[FileChange],
    ) -> Result<Vec<LineCounts>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let job = files_of(self.comparing(&["-z", "--numstat"], base, head), files);
        let counts = read_line_counts(&self.run(&job, "").await?);
        Ok(if counts.len() == files.len() { counts } else { Vec::new() })
    }

    /// The patches of these files, of which there are at most 100, as far as a page of them goes. At least one is there; it alone
    /// may be cut.
    pub async fn patches(
        &self,
        base: Option<ObjectId>,
        head: ObjectId,
        files: &[FileChange],
    ) -> Result<Vec<(FileChange, Vec<Patch>)>> {
        let job = files_of(self.comparing(&["-z", "--raw", "-p"], base, head), files);
        let mut run = self.git.start(&job).await.map_err(internal)?;
        let Some(stdout) = run.stdout.take() else { return Ok(Vec::new()) };
        let mut stdout = BufReader::with_capacity(PIECE_LEN, stdout);
        let files = read_changes(&list_of(&mut stdout).await.map_err(failed)?);
        let (patches, is_cut) = page_of(&mut stdout).await.map_err(failed)?;
        if !is_cut {
            run.end().await.map_err(|error| self.failure(error))?;
        }
        let mut patches = patches.into_iter();
        let with_parts = |it: FileChange| {
            let parts: Vec<Patch> = patches.by_ref().take(it.kind.patches()).collect();
            (it, parts)
        };
        let mut found: Vec<_> = files.into_iter().map(with_parts).filter(|(_, parts)| !parts.is_empty()).collect();
        if found.len() > 1 && is_cut {
            // It comes whole on the next page.
            found.pop();
        }
        Ok(found)
    }

    /// Starts what writes all that differs as a patch that `git apply` takes.
    pub async fn whole_patch(
        &self,
        base: Option<ObjectId>,
        head: ObjectId,
        path: Option<&RepositoryPath>,
    ) -> Result<GitRun> {
        let mut job = self.comparing(&["-p", "--binary", "--full-index"], base, head);
        if let Some(path) = path {
            job = job.with(format!(":(literal){}", path.as_str()));
        }
        self.git.start(&job).await.map_err(internal)
    }

    /// Which lines of a commit's file came with which commit.
    pub async fn blame(&self, commit: ObjectId, path: &RepositoryPath) -> Result<Vec<BlamedLines>> {
        let job = self.job("blame").with_all(["--incremental", &commit.to_string(), "--", path.as_str()]);
        Ok(read_blame(&self.run(&job, "").await?))
    }
}

/// The job for these files alone, with what their paths were.
fn files_of(job: GitJob, files: &[FileChange]) -> GitJob {
    let paths = files.iter().flat_map(|it| it.old_path.iter().chain([&it.path]));
    paths.fold(job, |job, path| job.with(OsString::from_vec([b":(literal)", &path[..]].concat())))
}

/// The list of changes before the patches; nothing stands between two of its zeros.
pub(super) async fn list_of(output: &mut BufReader<ChildStdout>) -> io::Result<Vec<u8>> {
    let mut list = Vec::new();
    loop {
        let before = list.len();
        output.read_until(0, &mut list).await?;
        if list.len() <= before + 1 {
            list.truncate(before);
            return Ok(list);
        }
    }
}

/// As many patches as a page has, and whether there is more of the last one, or others.
pub(super) async fn page_of(output: &mut BufReader<ChildStdout>) -> io::Result<(Vec<Patch>, bool)> {
    let (mut reader, mut line) = (PatchReader::default(), Vec::new());
    loop {
        line.clear();
        output.take(LINE_LEN_MAX as u64).read_until(b'\n', &mut line).await?;
        let is_cut = line.len() == LINE_LEN_MAX || reader.len() + line.len() > PATCHES_LEN_MAX;
        if line.is_empty() || is_cut {
            return Ok((reader.finish(is_cut), is_cut));
        }
        reader.take(line.strip_suffix(b"\n").unwrap_or(&line));
    }
}
