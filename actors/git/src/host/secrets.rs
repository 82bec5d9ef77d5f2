//! Secrets in the files that a change brings: a push, a commit of the web or a merge.
//!
//! Git says which files are new, and gives their bytes; only so many of them are in memory at once, and they are scanned on
//! threads of their own. Nothing is decided here: what was found is the caller's to refuse.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    io,
    ops::ControlFlow,
    path::Path,
    time::Instant,
};

use domain::{
    Error, Result,
    git::{
        Fingerprint, LargeFiles, NewFile, ObjectId, SCANNED_MAX, SecretFinding, SecretSearch, SecretsFound,
        wire::Listing,
    },
};
use gateways::{Git, GitError, GitJob};
use store::git::StoredRepository;
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
};

use super::{
    GitHost, internal,
    meters::scanned,
    reading::PIECE_LEN,
    views::failed,
    walk::{NewNames, edge_of, is_commit, object_of},
};
use crate::{leaks::LeakedToken, secrets::Scanned};

/// Files whose sizes are asked for at once: the question fits into a pipe, and so do the answers.
const ASKED_AT_ONCE: usize = 256;
/// Bytes of files that are in memory at once, unless a single one has more.
const READ_AT_ONCE: u64 = 8 << 20;

/// What a change brings: all that can be reached from its tips, but not from what the repository has.
#[derive(Clone, Copy, Debug)]
pub struct NewObjects<'c> {
    /// A folder of git's in which all of it is found: a quarantine, or a view.
    pub folder: &'c Path,
    /// What refs are to name.
    pub tips: &'c [ObjectId],
    /// What refs name now.
    pub known: &'c [Listing],
}

impl GitHost {
    /// Scans what a change of a repository brings, for the turn that is to make it; all of it is walked through where it wasn't
    /// `listed` yet. Whoever makes it `allows` these, where they may.
    pub async fn scan(
        &self,
        repository: &StoredRepository,
        (change, listed): (NewObjects<'_>, Option<NewNames>),
        allows: HashSet<Fingerprint>,
    ) -> Result<Scanned> {
        if change.tips.is_empty() {
            return Ok(Scanned::default());
        }
        let mut allowed = self.parts.store.allowed_secrets(repository.no).await?;
        allowed.extend(&allows);
        let secrets = SecretSearch::new(self.parts.store.secret_scanner()?, repository.id(), allowed);
        let search = Search { secrets, large: LargeFiles::over(self.parts.blob_max) };
        let begun = Instant::now();
        let (found, large) = change.secrets(&self.parts.git, listed, search).await?;
        scanned(begun);
        let leaked = LeakedToken::among(&self.parts.store, &found.tokens).await?;
        Ok(Scanned { found, allows, leaked, large })
    }
}

/// What is looked for in the files of a change.
struct Search {
    secrets: SecretSearch,
    large: LargeFiles,
}

impl NewObjects<'_> {
    async fn secrets(self, git: &Git, listed: Option<NewNames>, search: Search) -> Result<(SecretsFound, LargeFiles)> {
        let files = if let Some(files) = listed {
            files
        } else {
            let files = self.list(git, &["--filter=object:type=blob", "--filter-provided-objects"]).await?;
            files.map_err(internal)?
        };
        let Search { secrets, large } = look_through(git, self.folder, files, search).await?;
        let mut found = secrets.finish();
        if !found.open.is_empty() {
            self.name_commits(git, &mut found.open).await?;
        }
        Ok((found, large))
    }

    /// What is new; what git says where an object of it isn't there.
    pub(super) async fn list(self, git: &Git, arguments: &[&str]) -> Result<std::result::Result<NewNames, GitError>> {
        let job = GitJob::new(self.folder, "rev-list").with_all(["--objects", "--stdin"]).with_all(arguments);
        let mut run = git.start(&job).await.map_err(internal)?;
        let (stdin, stdout) = (run.stdin.take(), run.stdout.take());
        let mut list = File::from_std(tempfile::tempfile_in(self.folder).map_err(failed)?);
        let question = self.question();
        let asking = async {
            let Some(mut stdin) = stdin else { return Ok(()) };
            stdin.write_all(question.as_bytes()).await
        };
        let keeping = async {
            if let Some(stdout) = stdout {
                tokio::io::copy_buf(&mut BufReader::with_capacity(PIECE_LEN, stdout), &mut list).await?;
            }
            list.flush().await?;
            list.rewind().await
        };
        let ((asked, kept), ended) = tokio::join!(async { tokio::join!(asking, keeping) }, run.end());
        if let Err(error) = ended {
            return Ok(Err(error));
        }
        asked.and(kept).map_err(failed)?;
        Ok(Ok(NewNames(list)))
    }

    fn question(self) -> String {
        let mut question = String::new();
        for tip in self.tips {
            // Writing to a text doesn't fail.
            let _ = writeln!(question, "{tip}");
        }
        for listed in self.known {
            let _ = writeln!(question, "^{}", listed.oid);
        }
        question
    }

    /// Says of each finding which of the new commits has its file first.
    async fn name_commits(self, git: &Git, findings: &mut [SecretFinding]) -> Result<()> {
        let mut commits: HashMap<ObjectId, Option<ObjectId>> = findings.iter().map(|it| (it.blob, None)).collect();
        let NewNames(list) = self.list(git, &["--in-commit-order", "--reverse"]).await?.map_err(internal)?;
        let mut lines = BufReader::new(list).split(b'\n');
        let mut commit = None;
        while let Some(line) = lines.next_segment().await.map_err(failed)? {
            let (oid, _) = object_of(&line)?;
            if is_commit(&line) {
                commit = Some(oid);
            } else if let Some(first) = commits.get_mut(&oid) {
                *first = first.or(commit);
            }
        }
        for finding in findings {
            finding.commit = commits.get(&finding.blob).copied().flatten();
        }
        Ok(())
    }
}

/// A file that is new, of which the bytes weren't read yet.
struct Listed {
    blob: ObjectId,
    path: Vec<u8>,
}

/// Looks through the files of a list.
async fn look_through(
    git: &Git,
    folder: &Path,
    NewNames(list): NewNames,
    Search { mut secrets, mut large }: Search,
) -> Result<Search> {
    let mut list = BufReader::new(list);
    let mut files = next_files(&mut list).await?;
    if files.is_empty() {
        return Ok(Search { secrets, large });
    }
    let job = GitJob::new(folder, "cat-file").with_all(["--batch-command", "--buffer"]);
    let mut run = git.start(&job).await.map_err(internal)?;
    let (Some(stdin), Some(stdout)) = (run.stdin.take(), run.stdout.take()) else {
        return Err(Error::internal("git cat-file can't be talked with"));
    };
    let mut objects = Objects { stdin, stdout: BufReader::with_capacity(PIECE_LEN, stdout) };
    while !files.is_empty() {
        let sizes = objects.sizes(&files).await?;
        for (file, size) in files.iter().zip(&sizes) {
            large.see(file.blob, &file.path, size.unwrap_or(0));
        }
        for batch in batches(files, &sizes, &mut secrets) {
            let contents = objects.contents(&batch).await?;
            let looking = tokio::task::spawn_blocking(move || {
                let outcome = look_at(&mut secrets, &batch, &contents);
                (secrets, outcome)
            });
            let outcome;
            (secrets, outcome) = looking.await.map_err(Error::internal)?;
            if outcome.is_break() {
                return Ok(Search { secrets, large });
            }
        }
        files = next_files(&mut list).await?;
    }
    Ok(Search { secrets, large })
}

/// The next of a list that may be files.
async fn next_files(list: &mut BufReader<File>) -> Result<Vec<Listed>> {
    let mut files = Vec::new();
    while files.len() < ASKED_AT_ONCE {
        let mut line = Vec::new();
        if list.read_until(b'\n', &mut line).await.map_err(failed)? == 0 {
            break;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        if is_commit(line) || edge_of(line).is_some() {
            continue;
        }
        let (blob, path) = object_of(line)?;
        files.push(Listed { blob, path: path.to_vec() });
    }
    Ok(files)
}

/// The files that are to be read, so many at once as are in memory; what has no size is none, and what is too large is passed over.
fn batches(files: Vec<Listed>, sizes: &[Option<u64>], search: &mut SecretSearch) -> Vec<Vec<Listed>> {
    let (mut batches, mut bytes): (Vec<Vec<Listed>>, u64) = (Vec::new(), 0);
    for (file, size) in files.into_iter().zip(sizes) {
        let Some(size) = size else { continue };
        if *size > SCANNED_MAX {
            search.pass_over();
            continue;
        }
        bytes += size;
        match batches.last_mut() {
            Some(batch) if bytes <= READ_AT_ONCE => batch.push(file),
            _ => {
                batches.push(vec![file]);
                bytes = *size;
            }
        }
    }
    batches
}

fn look_at(search: &mut SecretSearch, files: &[Listed], contents: &[Vec<u8>]) -> ControlFlow<()> {
    for (file, content) in files.iter().zip(contents) {
        search.look(NewFile { blob: file.blob, path: &file.path, content })?;
    }
    ControlFlow::Continue(())
}

/// The objects of a folder, as `git cat-file` gives them.
struct Objects {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Objects {
    /// Has git answer about these files. It begins once it has read all of the question.
    async fn ask(&mut self, command: &str, files: &[Listed]) -> io::Result<()> {
        let mut question = String::new();
        for file in files {
            let _ = writeln!(question, "{command} {}", file.blob);
        }
        question.push_str("flush\n");
        self.stdin.write_all(question.as_bytes()).await?;
        self.stdin.flush().await
    }

    /// The sizes of those that are files.
    async fn sizes(&mut self, files: &[Listed]) -> Result<Vec<Option<u64>>> {
        self.ask("info", files).await.map_err(failed)?;
        let mut sizes = Vec::with_capacity(files.len());
        for _ in files {
            sizes.push(self.size().await?);
        }
        Ok(sizes)
    }

    /// The size in the next line, if it is a file's.
    async fn size(&mut self) -> Result<Option<u64>> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).await.map_err(failed)?;
        let mut words = line.trim_end().splitn(3, ' ').skip(1);
        match (words.next(), words.next().and_then(|size| size.parse().ok())) {
            (Some("blob"), size @ Some(_)) => Ok(size),
            (Some("tree" | "tag" | "commit"), Some(_)) => Ok(None),
            _ => Err(Error::internal(format_args!("git cat-file says {line:?}"))),
        }
    }

    async fn contents(&mut self, files: &[Listed]) -> Result<Vec<Vec<u8>>> {
        self.ask("contents", files).await.map_err(failed)?;
        let mut contents = Vec::with_capacity(files.len());
        for _ in files {
            let size = self.size().await?.ok_or_else(|| Error::internal("git cat-file gives another object"))?;
            let size = usize::try_from(size).map_err(Error::internal)?;
            // A line's end is behind each.
            let mut content = vec![0; size + 1];
            self.stdout.read_exact(&mut content).await.map_err(failed)?;
            content.truncate(size);
            contents.push(content);
        }
        Ok(contents)
    }
}

#[cfg(test)]
mod tests;
