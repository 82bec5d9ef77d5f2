//! Reading what repositories have: commits, folders, files.
//!
//! What is asked of git are names of objects, and paths behind them, never what people call things: no text of a client is an
//! option, a range or a pattern.

use std::{collections::HashMap, fmt::Write as _, io};

use domain::{
    Error, Result,
    git::{
        ObjectId, Revision, commit_not_found, no_such_commit,
        objects::{
            Commit, DIVERGENCE_WALK_MAX, Divergence, EntryKind, RepositoryPath, TreeEntry, divergences, read_tree,
        },
        repository_empty, revision_not_found,
        wire::Listing,
    },
};
use gateways::{Git, GitError, GitJob, GitRun};
use store::git::StoredRepository;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::ChildStdout,
};

use super::{
    GitHost, internal,
    views::{View, failed},
};

/// Bytes that are read of a commit: of what is longer, its beginning says enough.
const COMMIT_LEN_MAX: u64 = 256 * 1024;
/// Bytes that are read at once of what git writes.
pub(super) const PIECE_LEN: usize = 256 * 1024;
/// Entries that are listed of a folder.
pub const ENTRIES_MAX: usize = 10_000;

/// What a repository has, as one node sees it.
#[derive(Clone, Debug)]
pub struct Reading {
    pub(super) git: Git,
    view: View,
}

/// Which commits are listed.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// How many of the newest are left out.
    pub skip: u64,
    /// How many at most.
    pub limit: u64,
    /// Only those that don't lead to this one.
    pub without: Option<ObjectId>,
    /// Only those that change this.
    pub path: Option<RepositoryPath>,
    /// Only those whose author's name or address has this part.
    pub author: Option<String>,
    /// Only those whose message has this part.
    pub message: Option<String>,
    /// Only those that are not older, in seconds since the Unix epoch.
    pub since: Option<i64>,
    /// Only those that are not younger.
    pub until: Option<i64>,
}

impl GitHost {
    /// What the repository has now.
    pub async fn reading(&self, repository: &StoredRepository) -> Result<Reading> {
        Ok(Reading { git: self.parts.reader.clone(), view: self.view(repository).await? })
    }

    /// Whether the repository has this commit.
    pub async fn has_commit(&self, repository: &StoredRepository, commit: ObjectId) -> Result<bool> {
        let reading = self.reading(repository).await?;
        let job = reading.job("cat-file").with("--batch-check=%(objecttype)");
        let is_there = reading.run(&job, &lines(&[commit])).await? == b"commit\n";
        if !is_there {
            reading.view.is_whole()?;
        }
        Ok(is_there)
    }

    /// The commit that a branch, a tag or the commit's own name says; 404 `Branch or tag not found` otherwise.
    pub async fn commit_named(&self, repository: &StoredRepository, text: &str) -> Result<(Reading, Commit)> {
        let (refs, view) = self.seen(repository).await?;
        let reading = Reading { git: self.parts.reader.clone(), view };
        let found = match Revision::find(&refs, text) {
            Revision::Ref(listing) => reading.commit(listing.peeled.unwrap_or(listing.oid)).await?,
            Revision::Whole(oid) => reading.commit(oid).await?,
            Revision::Prefix(prefix) => reading.commit_beginning(prefix).await?,
            Revision::Unknown => None,
        };
        let commit = found.ok_or_else(revision_not_found)?;
        Ok((reading, commit))
    }

    /// The same; 404 `Commit not found` otherwise.
    pub async fn commit_of(&self, repository: &StoredRepository, text: &str) -> Result<Commit> {
        match self.commit_named(repository, text).await {
            Ok((_, commit)) => Ok(commit),
            Err(Error::NotFound { .. }) => Err(commit_not_found()),
            Err(other) => Err(other),
        }
    }

    /// The commit that a new branch begins at (contract C 4.3).
    pub async fn branch_start(&self, repository: &StoredRepository, from: &str) -> Result<ObjectId> {
        let refs = self.refs(repository.no).await?;
        if refs.is_empty() {
            return Err(repository_empty());
        }
        let missing = if from.parse::<ObjectId>().is_ok() { no_such_commit } else { revision_not_found };
        match self.commit_named(repository, from).await {
            Ok((_, commit)) => Ok(commit.id),
            Err(Error::NotFound { .. }) => Err(missing()),
            Err(other) => Err(other),
        }
    }
}

impl Reading {
    pub(super) fn job(&self, command: &str) -> GitJob {
        self.view.job(command)
    }

    pub(super) async fn start(&self, job: &GitJob) -> Result<GitRun> {
        self.git.start(job).await.map_err(internal)
    }

    pub(super) async fn run(&self, job: &GitJob, input: &str) -> Result<Vec<u8>> {
        self.git.run(job, input.as_bytes()).await.map_err(|error| self.failure(error))
    }

    /// What is told of a failure of git: where objects are gone, that this may be why.
    pub(super) fn failure(&self, error: GitError) -> Error {
        if matches!(error, GitError::Failed { .. })
            && let Some(lost) = self.view.lost()
        {
            return lost;
        }
        internal(error)
    }

    /// Starts what writes the bytes of a file.
    pub async fn file(&self, oid: ObjectId) -> Result<GitRun> {
        self.start(&self.job("cat-file").with_all(["blob", &oid.to_string()])).await
    }

    /// Starts what writes the files of a commit as a ZIP, in a folder of this name.
    pub async fn archive(&self, commit: ObjectId, folder: &str) -> Result<GitRun> {
        let job = self.job("archive").with_all(["--format=zip", &format!("--prefix={folder}/"), &commit.to_string()]);
        self.start(&job).await
    }

    /// The commit of this name.
    pub async fn commit(&self, oid: ObjectId) -> Result<Option<Commit>> {
        Ok(self.commits(&[oid]).await?.remove(&oid))
    }

    /// The commit whose name alone begins so.
    async fn commit_beginning(&self, prefix: &str) -> Result<Option<Commit>> {
        let job = self.job("rev-parse").with_all(["--verify", "--quiet", "--end-of-options"]);
        match self.git.run(&job.with(format!("{prefix}^{{commit}}")), b"").await {
            Ok(said) => {
                let oid = String::from_utf8_lossy(&said).trim().parse();
                self.commit(oid.map_err(Error::internal)?).await
            }
            Err(GitError::Failed { .. }) => self.view.is_whole().map(|()| None),
            Err(other) => Err(internal(other)),
        }
    }

    /// The commits of these names; what is no commit is left out.
    pub async fn commits(&self, oids: &[ObjectId]) -> Result<HashMap<ObjectId, Commit>> {
        if oids.is_empty() {
            return Ok(HashMap::new());
        }
        let mut run = self.start(&self.job("cat-file").with("--batch")).await?;
        let (stdin, stdout) = (run.stdin.take(), run.stdout.take());
        let writing = async {
            let Some(mut stdin) = stdin else { return Ok(()) };
            stdin.write_all(lines(oids).as_bytes()).await
        };
        let reading = async {
            match stdout {
                Some(stdout) => read_commits(stdout).await,
                None => Ok(HashMap::new()),
            }
        };
        let ((written, found), ended) = tokio::join!(async { tokio::join!(writing, reading) }, run.end());
        ended.map_err(|error| self.failure(error))?;
        written.map_err(failed)?;
        let found = found.map_err(failed)?;
        if oids.iter().any(|oid| !found.contains_key(oid)) {
            self.view.is_whole()?;
        }
        Ok(found)
    }

    /// 404 where one of these is no commit that the repository has.
    pub async fn require_commits(&self, oids: &[ObjectId]) -> Result<()> {
        let found = self.commits(oids).await?;
        if oids.iter().all(|oid| found.contains_key(oid)) { Ok(()) } else { Err(commit_not_found()) }
    }

    /// How far each of the `tips` is from `base`.
    pub async fn divergences(&self, base: ObjectId, tips: &[ObjectId]) -> Result<Vec<Divergence>> {
        let all: Vec<ObjectId> = [base].iter().chain(tips).copied().collect();
        let common =
            self.job("merge-base").with_all(["--octopus", "--all"]).with_all(all.iter().map(ToString::to_string));
        // It fails where they have nothing in common.
        let common = match self.git.run(&common, b"").await {
            Ok(said) => said,
            Err(GitError::Failed { said, .. }) if said.starts_with("exit status: 1") => Vec::new(),
            Err(other) => return Err(internal(other)),
        };
        let mut input = lines(&all);
        for line in String::from_utf8_lossy(&common).lines() {
            // Writing to a text doesn't fail.
            let _ = writeln!(input, "^{line}");
        }
        let walk_max = format!("--max-count={}", DIVERGENCE_WALK_MAX + 1);
        let walk = self.job("rev-list").with_all(["--parents", &walk_max, "--stdin"]);
        let walked = self.run(&walk, &input).await?;
        let mut graph: Vec<_> = String::from_utf8_lossy(&walked).lines().filter_map(with_parents).collect();
        let is_cut = graph.len() > DIVERGENCE_WALK_MAX;
        graph.truncate(DIVERGENCE_WALK_MAX);
        Ok(divergences(&graph, base, tips, is_cut))
    }

    /// The newest commits that lead to `from`.
    pub async fn history(&self, from: ObjectId, asked: &History) -> Result<Vec<Commit>> {
        let mut job = self.job("rev-list").with_all([
            format!("--max-count={}", asked.limit),
            format!("--skip={}", asked.skip),
            "--regexp-ignore-case".to_owned(),
            "--fixed-strings".to_owned(),
        ]);
        let given = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name}={value}"));
        let moment = |name: &str, at: Option<i64>| at.map(|at| format!("--{name}={at}"));
        let wanted = [given("author", &asked.author), given("grep", &asked.message)];
        job = job.with_all(wanted.into_iter().flatten());
        job = job.with_all([moment("max-age", asked.since), moment("min-age", asked.until)].into_iter().flatten());
        job = job.with(from.to_string()).with_all(asked.without.map(|oid| format!("^{oid}"))).with("--");
        if let Some(path) = &asked.path {
            job = job.with(format!(":(literal){}", path.as_str()));
        }
        let said = self.run(&job, "").await?;
        let oids: Vec<ObjectId> = String::from_utf8_lossy(&said).lines().filter_map(|line| line.parse().ok()).collect();
        let mut found = self.commits(&oids).await?;
        Ok(oids.iter().filter_map(|oid| found.remove(oid)).collect())
    }

    /// What a commit has at a path.
    pub async fn entry(&self, commit: ObjectId, path: &RepositoryPath) -> Result<Option<TreeEntry>> {
        let job =
            self.job("ls-tree").with_all(["-z", "--long", "--full-tree", &commit.to_string(), "--", path.as_str()]);
        let found = read_tree(&self.run(&job, "").await?).into_iter().find(|entry| entry.path == path.as_str());
        // A file that is gone is listed without a size.
        let has_size =
            |entry: &TreeEntry| entry.size.is_some() || matches!(entry.kind, EntryKind::Folder | EntryKind::Submodule);
        if !found.as_ref().is_some_and(has_size) {
            self.view.is_whole()?;
        }
        Ok(found)
    }

    /// The entries of a folder, or of the whole commit; the object is a commit or a folder.
    pub async fn entries(&self, object: ObjectId) -> Result<Vec<TreeEntry>> {
        let job = self.job("ls-tree").with_all(["-z", "--long", "--full-tree", &object.to_string()]);
        Ok(read_tree(&self.run(&job, "").await?))
    }

    /// The bytes of a file that isn't large.
    pub async fn bytes(&self, oid: ObjectId) -> Result<Vec<u8>> {
        self.run(&self.job("cat-file").with_all(["blob", &oid.to_string()]), "").await
    }

    /// Bytes of a file; none where it isn't there.
    pub async fn size(&self, oid: ObjectId) -> Result<Option<u64>> {
        let job = self.job("cat-file").with("--batch-check=%(objecttype) %(objectsize)");
        let said = self.run(&job, &lines(&[oid])).await?;
        let said = String::from_utf8_lossy(&said);
        let size = said.trim().strip_prefix("blob ").and_then(|size| size.parse().ok());
        if size.is_none() {
            self.view.is_whole()?;
        }
        Ok(size)
    }
}

fn lines(oids: &[ObjectId]) -> String {
    let mut text = String::with_capacity(oids.len() * 41);
    for oid in oids {
        // Writing to a text doesn't fail.
        let _ = writeln!(text, "{oid}");
    }
    text
}

/// A line of `git rev-list --parents`.
fn with_parents(line: &str) -> Option<(ObjectId, Vec<ObjectId>)> {
    let mut oids = line.split(' ').filter_map(|oid| oid.parse().ok());
    Some((oids.next()?, oids.collect()))
}

/// What `git cat-file --batch` writes: a line and an object for each that is there.
async fn read_commits(stdout: ChildStdout) -> io::Result<HashMap<ObjectId, Commit>> {
    let (mut stdout, mut line, mut found) = (BufReader::new(stdout), String::new(), HashMap::new());
    loop {
        line.clear();
        if stdout.read_line(&mut line).await? == 0 {
            return Ok(found);
        }
        let mut facts = line.trim_end().split(' ');
        let (oid, kind, size) = (facts.next(), facts.next(), facts.next());
        let Some(size) = size.and_then(|size| size.parse::<u64>().ok()) else { continue };
        let kept = if kind == Some("commit") { size.min(COMMIT_LEN_MAX) } else { 0 };
        let mut bytes = Vec::new();
        (&mut stdout).take(kept).read_to_end(&mut bytes).await?;
        // The object ends with a line's end.
        tokio::io::copy(&mut (&mut stdout).take(size - kept + 1), &mut tokio::io::sink()).await?;
        let oid = oid.and_then(|oid| oid.parse().ok());
        if let Some(commit) = oid.and_then(|oid| Commit::read(oid, &bytes)) {
            found.insert(commit.id, commit);
        }
    }
}

/// The commits that branches and tags end at.
pub fn tips(refs: &[Listing]) -> Vec<ObjectId> {
    refs.iter().map(|it| it.peeled.unwrap_or(it.oid)).collect()
}
