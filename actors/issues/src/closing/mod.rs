//! Closing issues by what people say in repositories: `closes WEB-12` in the message of a commit that comes to the default branch, or in
//! a pull request that is merged into it.
//!
//! The push leaves an entry of the work queue in its own commit. A job reads what it brought, outside of any turn, and asks each issue
//! that is named; the issue decides, and remembers what it was asked for, so that nothing is done twice.

mod close;

use std::{
    collections::HashSet,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Origin, Result,
    git::{ObjectId, PullNumber, objects::Commit},
    issues::{
        closing::{CLOSED_KEYS_MAX, CLOSING_COMMITS_MAX, closed_keys},
        key::IssueKey,
    },
};
use kernel::{Cpu, CpuKind, Registry};
use store::{
    Change, Permits, Store,
    git::StoredRepository,
    issues::{ISSUES_CLOSING, IssuesClosing},
};

pub use self::close::{CloseIssue, ClosingSource};
use crate::IssueOwner;

/// Pushes that may close issues, of which a few are looked at beside each other.
pub const ISSUE_CLOSING: Topic = Topic {
    permits: Permits::with_spare(2, 6),
    goes_on_because: Some("A push says which issues it closes."),
    ..Topic::new(ISSUES_CLOSING)
};
/// How long closing an issue may take.
const TURN_MAX: Duration = Duration::from_mins(1);
/// Commits whose messages are in memory at the same time.
pub const COMMITS_AT_ONCE: u64 = 100;

/// Commits that are being read.
pub type ReadCommits<'a> = Pin<Box<dyn Future<Output = Result<Vec<Commit>>> + Send + 'a>>;

/// Which commits are read: those that lead to `after` and not to `before`, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct PushedCommits {
    /// What the branch named; none where it was made.
    pub before: Option<ObjectId>,
    /// What the branch names since.
    pub after: ObjectId,
    /// How many of the newest are left out; behind them, up to [`COMMITS_AT_ONCE`] are read.
    pub skip: u64,
}

/// What issues read of repositories.
pub trait CommitSources: Send + Sync + 'static {
    /// Some of the commits that a push brought.
    fn commits<'a>(&'a self, repository: &'a StoredRepository, pushed: PushedCommits) -> ReadCommits<'a>;
}

/// Has issues be closed that pushes name.
#[derive(Clone)]
pub struct IssueClosing {
    /// The issues.
    pub issues: Registry<IssueOwner>,
    /// What is read of repositories.
    pub commits: Arc<dyn CommitSources>,
    /// Where texts are read, which takes the processor.
    pub cpu: Cpu,
}

/// An issue that something says it closes.
type Naming = (ClosingSource, IssueKey);

impl Handler for IssueClosing {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (store, closing) = (job.store(), job.payload::<IssuesClosing>()?);
        let org_id = closing.org_id;
        let found = store.repository(org_id, closing.repository_id).await?.filter(|it| it.purge_at.is_none());
        let Some(repository) = found else { return Ok(Change::new()) };
        if store.issue_spaces(org_id).await?.is_empty() {
            return Ok(Change::new());
        }
        let named = self.named(store, &repository, &closing).await?;
        let keys: Vec<String> = named.iter().map(|(_, key)| key.to_string()).collect();
        let issues = store.issues_named(org_id, &keys).await?;
        for ((source, _), key) in named.into_iter().zip(&keys) {
            let Some(stored) = issues.get(key) else { continue };
            let command = CloseIssue {
                org_id,
                by: closing.by,
                repository_id: closing.repository_id,
                repository: repository.resource.name.clone(),
                source,
            };
            let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
            self.issues.ask(&stored.issue.issue_id, command, context).await?;
        }
        Ok(Change::new())
    }
}

impl IssueClosing {
    /// The issues that a push names, each with what names it first: a pull request, or the oldest commit.
    async fn named(
        &self,
        store: &Store,
        repository: &StoredRepository,
        closing: &IssuesClosing,
    ) -> Result<Vec<Naming>, Halt> {
        let mut named = self.named_by_pulls(store, repository, closing).await?;
        named.extend(self.named_by_commits(repository, closing).await?);
        let mut known = HashSet::new();
        named.retain(|(_, key)| known.insert(key.clone()));
        named.truncate(CLOSED_KEYS_MAX);
        Ok(named)
    }

    async fn named_by_pulls(
        &self,
        store: &Store,
        repository: &StoredRepository,
        closing: &IssuesClosing,
    ) -> Result<Vec<Naming>, Halt> {
        let mut texts = Vec::new();
        for number in closing.pulls.iter().copied().filter_map(PullNumber::new) {
            if let Some(pull) = store.pull(repository.no, number).await? {
                texts.push((ClosingSource::Pull(number), format!("{}\n\n{}", pull.title, pull.body)));
            }
        }
        self.read(repository, texts).await
    }

    /// The same of commits, the oldest first.
    async fn named_by_commits(
        &self,
        repository: &StoredRepository,
        closing: &IssuesClosing,
    ) -> Result<Vec<Naming>, Halt> {
        let before = closing.before.as_deref().and_then(|oid| oid.parse().ok());
        let strange = || Halt::Refused(format!("it names the commit {:?}", closing.after));
        let after: ObjectId = closing.after.parse().map_err(|_| strange())?;
        let (mut named, mut skip) = (Vec::new(), 0);
        while skip < CLOSING_COMMITS_MAX {
            let commits = self.commits.commits(repository, PushedCommits { before, after, skip }).await?;
            let is_last = (commits.len() as u64) < COMMITS_AT_ONCE;
            let texts = commits.into_iter().rev().map(|commit| (ClosingSource::Commit(commit.id), commit.message));
            let mut older = self.read(repository, texts.collect()).await?;
            older.append(&mut named);
            named = older;
            if is_last {
                break;
            }
            skip += COMMITS_AT_ONCE;
        }
        Ok(named)
    }

    /// What the texts name, in their order.
    async fn read(
        &self,
        repository: &StoredRepository,
        texts: Vec<(ClosingSource, String)>,
    ) -> Result<Vec<Naming>, Halt> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let reading = move || -> Vec<Naming> {
            let keys = |(source, text): &(ClosingSource, String)| -> Vec<Naming> {
                closed_keys(text).into_iter().map(|key| (*source, key)).collect()
            };
            texts.iter().flat_map(keys).collect()
        };
        Ok(self.cpu.run(repository.resource.org_id.into(), CpuKind::Document, reading).await?)
    }
}
