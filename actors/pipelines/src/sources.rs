//! What pipelines read of repositories.

use domain::{
    Result,
    git::{ObjectId, objects::Commit},
};
use futures::future::BoxFuture;
use store::git::StoredRepository;

use crate::workflows::FoundFile;

/// Files of a change that filters of paths look at; with more, every filter lets the change pass.
pub const PATHS_MAX: usize = 3_000;

/// Commits of a push that `github.event` names, the newest.
pub const COMMITS_MAX: u64 = 20;

/// What is read of repositories.
pub trait Sources: Send + Sync + 'static {
    /// A commit.
    fn commit<'a>(&'a self, repository: &'a StoredRepository, id: ObjectId) -> BoxFuture<'a, Result<Option<Commit>>>;

    /// The workflow files of a commit, in the order of their names.
    fn files<'a>(&'a self, repository: &'a StoredRepository, id: ObjectId) -> BoxFuture<'a, Result<Vec<FoundFile>>>;

    /// The paths that two commits have differently; none where there are more than `PATHS_MAX`.
    fn paths<'a>(
        &'a self,
        repository: &'a StoredRepository,
        ends: (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<Option<Vec<String>>>>;

    /// The newest `COMMITS_MAX` commits that lead to a head and not to what was there before, the newest first.
    fn commits<'a>(
        &'a self,
        repository: &'a StoredRepository,
        before: Option<ObjectId>,
        head: ObjectId,
    ) -> BoxFuture<'a, Result<Vec<Commit>>>;

    /// Where the history of a branch parted from that of the default branch; none where it is that branch itself, or there is none.
    fn parted<'a>(
        &'a self,
        repository: &'a StoredRepository,
        branch: &'a str,
        head: ObjectId,
    ) -> BoxFuture<'a, Result<Option<ObjectId>>>;

    /// Where the history of a head parted from its base; whether they have conflicts is the second answer.
    fn pull<'a>(
        &'a self,
        repository: &'a StoredRepository,
        ends: (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<(Option<ObjectId>, bool)>>;
}
