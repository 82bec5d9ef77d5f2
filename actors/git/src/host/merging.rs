//! Merging branches: the trees are git's work, the commits are made of them here.
//!
//! All of it happens in a quarantine, before a repository is asked to land it. Git merges two commits from what both come from; a
//! commit that is made anew is merged from the one that it follows, for which a commit is made up that follows it, too.

use std::fmt::Write as _;

use domain::{
    Error, Result, Timestamp,
    git::{
        CommitText, Identity, MergeMethod, NewCommit, ObjectId, Pull, REBASED_MAX, SquashAuthors, histories_unrelated,
        merge_conflict, merge_message, nothing_to_merge, objects::Commit, squash_message, too_much_to_rebase,
        up_to_date, update_message,
    },
};
use gateways::{Git, GitJob};

use super::{Quarantine, differences::EMPTY_TREE, internal};

/// Commits of a head whose authors a squashed commit looks for.
const AUTHORS_OF_MAX: usize = 1_000;
/// Bytes of all commits that one rebase makes anew, without their files.
const REBASED_BYTES_MAX: u64 = 16 << 20;
/// Files that are named of those that can't be merged.
const CONFLICTS_MAX: usize = 100;
/// What stands between several values of a trailer where git lists them.
const BETWEEN_VALUES: char = '\u{1f}';

/// A merge that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Merging<'a> {
    /// Of which pull request.
    pub pull: &'a Pull,
    /// What its base names.
    pub base: ObjectId,
    /// What its head names.
    pub head: ObjectId,
    /// Whoever merges.
    pub by: &'a Identity,
    /// When.
    pub at: Timestamp,
}

/// What two commits come to together: a tree, or the files that somebody has to decide on.
pub(super) type Merged = std::result::Result<ObjectId, Vec<String>>;

/// What has objects to be merged, and takes new ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merger<'a> {
    pub git: &'a Git,
    pub quarantine: &'a Quarantine,
}

impl Quarantine {
    /// Makes what the base is to name once the pull request is merged. `message` is what people say of it.
    pub async fn merge(&self, merging: Merging<'_>, method: MergeMethod, message: Option<&str>) -> Result<ObjectId> {
        let merger = Merger { git: &self.host.parts.git, quarantine: self };
        let Merging { pull, base, head, .. } = merging;
        if merger.has(base, head).await? {
            return Err(nothing_to_merge());
        }
        merger.relate(base, head).await?;
        let commit = match method {
            MergeMethod::Merge => {
                let message = message.map_or_else(|| merge_message(pull), |message| format!("{message}\n"));
                (merger.trees(base, head).await?, vec![base, head], message, merging.by.clone())
            }
            MergeMethod::Squash => {
                let authors = merger.authors(base, head).await?;
                let message = squash_message(pull, message, &authors);
                let author = authors.author.unwrap_or_else(|| merging.by.clone());
                (merger.trees(base, head).await?, vec![base], message, author)
            }
            MergeMethod::Rebase => return merger.rebase(merging).await,
        };
        merger.commit(merging, commit).await
    }

    /// Makes what the head is to name once it has the base.
    pub async fn update(&self, merging: Merging<'_>) -> Result<ObjectId> {
        let merger = Merger { git: &self.host.parts.git, quarantine: self };
        let Merging { pull, base, head, .. } = merging;
        if merger.has(head, base).await? {
            return Err(up_to_date());
        }
        merger.relate(base, head).await?;
        let tree = merger.trees(head, base).await?;
        merger.commit(merging, (tree, vec![head, base], update_message(pull), merging.by.clone())).await
    }

    /// Packs what can be reached from `tip`, and isn't in the repository yet.
    pub async fn pack(&mut self, tip: ObjectId, known: &[ObjectId]) -> Result<()> {
        self.pack_all(&[tip], known).await
    }

    /// The same of what can be reached from one of several tips.
    pub(super) async fn pack_all(&mut self, tips: &[ObjectId], known: &[ObjectId]) -> Result<()> {
        let mut input = lines(tips);
        for oid in known {
            // Writing to a text doesn't fail.
            let _ = writeln!(input, "^{oid}");
        }
        let job = self.job("pack-objects").with_all(["--revs", "--incremental", "-q", "objects/pack/pack"]);
        let said = self.host.parts.git.run(&job, input.as_bytes()).await.map_err(internal)?;
        self.packed(oid_in(&said)?);
        Ok(())
    }
}

/// The object that git names, alone on its line.
fn oid_in(said: &[u8]) -> Result<ObjectId> {
    let read = ObjectId::read(said.trim_ascii());
    read.map_err(|_| Error::internal(format_args!("git says {:?}", String::from_utf8_lossy(said))))
}

/// The objects that git lists, one on each line.
fn oids_in(said: &[u8]) -> Result<Vec<ObjectId>> {
    said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(oid_in).collect()
}

impl Merger<'_> {
    async fn run(&self, job: GitJob, input: &[u8]) -> Result<Vec<u8>> {
        self.git.run(&job, input).await.map_err(internal)
    }

    fn job(&self, command: &str) -> GitJob {
        self.quarantine.job(command)
    }

    /// 409 where two commits have nothing in common.
    async fn relate(&self, one: ObjectId, other: ObjectId) -> Result<()> {
        if self.are_related(one, other).await? { Ok(()) } else { Err(histories_unrelated()) }
    }

    /// Whether everything that leads to `from` leads to `into`.
    pub async fn has(&self, into: ObjectId, from: ObjectId) -> Result<bool> {
        let job = self.job("merge-base").with_all(["--is-ancestor", &from.to_string(), &into.to_string()]);
        Ok(self.git.ask(&job, b"").await.map_err(internal)?.0)
    }

    /// Whether two commits have anything in common.
    pub async fn are_related(&self, one: ObjectId, other: ObjectId) -> Result<bool> {
        let job = self.job("merge-base").with_all([one.to_string(), other.to_string()]);
        Ok(self.git.ask(&job, b"").await.map_err(internal)?.0)
    }

    /// The tree that two commits come to together; 409 for files that somebody has to decide on.
    async fn trees(&self, ours: ObjectId, theirs: ObjectId) -> Result<ObjectId> {
        self.try_trees(ours, theirs).await?.map_err(|paths| merge_conflict(&paths))
    }

    /// The same, as something to look at.
    pub async fn try_trees(&self, ours: ObjectId, theirs: ObjectId) -> Result<Merged> {
        let options = ["--write-tree", "-z", "--name-only", "--no-messages"];
        let job = self.job("merge-tree").with_all(options).with_all([ours.to_string(), theirs.to_string()]);
        let (is_clean, said) = self.git.ask(&job, b"").await.map_err(internal)?;
        let mut fields = said.split(|byte| *byte == 0);
        let tree = oid_in(fields.next().unwrap_or_default())?;
        if is_clean {
            return Ok(Ok(tree));
        }
        let paths = fields.filter(|path| !path.is_empty()).map(|path| String::from_utf8_lossy(path).into_owned());
        Ok(Err(paths.take(CONFLICTS_MAX).collect()))
    }

    /// Makes a commit of a tree, of the commits that it follows, of what it says, and of who wrote it.
    async fn commit(
        &self,
        merging: Merging<'_>,
        (tree, parents, message, author): (ObjectId, Vec<ObjectId>, String, Identity),
    ) -> Result<ObjectId> {
        let Merging { by, at, .. } = merging;
        let text = CommitText { author: author.line(at), encoding: None, message: message.into_bytes() };
        self.write(&NewCommit { tree, parents, committer: by.line(at), text }).await
    }

    pub async fn write(&self, commit: &NewCommit) -> Result<ObjectId> {
        let job = self.job("hash-object").with_all(["-w", "-t", "commit", "--stdin"]);
        oid_in(&self.run(job, &commit.bytes()).await?)
    }

    /// Who wrote what the head has and the base hasn't, from the oldest commit on.
    async fn authors(&self, base: ObjectId, head: ObjectId) -> Result<SquashAuthors> {
        let format = "--format=%an%x00%ae%x00%(trailers:key=Co-authored-by,valueonly,separator=%x1f)";
        let count = format!("--max-count={AUTHORS_OF_MAX}");
        let job = self.job("log").with_all(["-z", "--reverse", "--topo-order", "--no-merges", &count, format]);
        let said = self.run(job.with_all([head.to_string(), format!("^{base}")]), b"").await?;
        let said = String::from_utf8_lossy(&said);
        let fields: Vec<&str> = said.split('\0').collect();
        let mut authors = SquashAuthors::default();
        for commit in fields.chunks_exact(3) {
            authors.add(Identity::new(commit[0], commit[1]));
            for named in commit[2].split(BETWEEN_VALUES).filter_map(Identity::read) {
                authors.add(named);
            }
        }
        Ok(authors)
    }

    /// Makes each commit of the head anew on the base, without those that it has already, and those of which nothing is left.
    async fn rebase(&self, merging: Merging<'_>) -> Result<ObjectId> {
        let Merging { base, head, .. } = merging;
        let options = ["--reverse", "--topo-order", "--no-merges", "--right-only", "--cherry-pick"];
        let job = self.job("rev-list").with_all(options).with(format!("{base}...{head}"));
        let commits = oids_in(&self.run(job, b"").await?)?;
        if commits.is_empty() {
            return Err(nothing_to_merge());
        }
        if commits.len() > REBASED_MAX || self.bytes_of(&commits).await? > REBASED_BYTES_MAX {
            return Err(too_much_to_rebase());
        }
        let mut tip = Tip { commit: base, tree: self.tree_of(base).await? };
        for bytes in self.read(&commits).await? {
            tip = self.pick(merging, tip, bytes).await?;
        }
        if tip.commit == base { Err(nothing_to_merge()) } else { Ok(tip.commit) }
    }

    /// What follows once a commit is made anew on what there is.
    async fn pick(&self, merging: Merging<'_>, tip: Tip, (commit, bytes): (ObjectId, Vec<u8>)) -> Result<Tip> {
        let strange = || Error::internal(format_args!("{commit} is no commit that git makes"));
        let Commit { tree, parents, .. } = Commit::read(commit, &bytes).ok_or_else(strange)?;
        if parents == [tip.commit] {
            // It is where it is to be.
            return Ok(Tip { commit, tree });
        }
        let text = CommitText::read(&bytes).ok_or_else(strange)?;
        let committer = merging.by.line(merging.at);
        let made_up = |tree, parents| NewCommit { tree, parents, committer: committer.clone(), text: text.clone() };
        let (from, theirs) = if let Some(parent) = parents.first() {
            (*parent, commit)
        } else {
            let nothing = EMPTY_TREE.parse().map_err(Error::internal)?;
            let from = self.write(&made_up(nothing, Vec::new())).await?;
            (from, self.write(&made_up(tree, vec![from])).await?)
        };
        let ours = self.write(&made_up(tip.tree, vec![from])).await?;
        let merged = self.trees(ours, theirs).await?;
        if merged == tip.tree && tree != self.tree_of(from).await? {
            // All that it changes is there.
            return Ok(tip);
        }
        Ok(Tip { commit: self.write(&made_up(merged, vec![tip.commit])).await?, tree: merged })
    }

    /// The bytes of commits, in their order.
    async fn read(&self, commits: &[ObjectId]) -> Result<Vec<(ObjectId, Vec<u8>)>> {
        let said = self.run(self.job("cat-file").with("--batch"), lines(commits).as_bytes()).await?;
        let strange = || Error::internal("git cat-file doesn't say what commits are");
        let (mut rest, mut read) = (said.as_slice(), Vec::with_capacity(commits.len()));
        for commit in commits {
            let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(strange)?;
            let size = String::from_utf8_lossy(&rest[..end]).rsplit(' ').next().and_then(|size| size.parse().ok());
            let (bytes, behind) = rest[end + 1..].split_at_checked(size.ok_or_else(strange)?).ok_or_else(strange)?;
            read.push((*commit, bytes.to_vec()));
            rest = behind.get(1..).unwrap_or_default();
        }
        Ok(read)
    }

    async fn tree_of(&self, commit: ObjectId) -> Result<ObjectId> {
        oid_in(&self.run(self.job("rev-parse").with_all(["--verify", &format!("{commit}^{{tree}}")]), b"").await?)
    }

    /// Bytes of commits, without their files.
    async fn bytes_of(&self, commits: &[ObjectId]) -> Result<u64> {
        let said =
            self.run(self.job("cat-file").with("--batch-check=%(objectsize)"), lines(commits).as_bytes()).await?;
        let said = String::from_utf8_lossy(&said);
        let sizes = said.lines().map(|size| size.parse::<u64>().unwrap_or(u64::MAX));
        Ok(sizes.fold(0, u64::saturating_add))
    }
}

/// The names of commits, one on each line.
fn lines(commits: &[ObjectId]) -> String {
    commits.iter().fold(String::new(), |mut text, commit| {
        // Writing to a text doesn't fail.
        let _ = writeln!(text, "{commit}");
        text
    })
}

/// What a rebase has come to so far.
#[derive(Clone, Copy, Debug)]
struct Tip {
    commit: ObjectId,
    tree: ObjectId,
}
