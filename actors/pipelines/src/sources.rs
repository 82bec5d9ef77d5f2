//! What pipelines read of repositories.

use domain::{
    Result,
    git::{ObjectId, Pull, objects::Commit},
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

    /// Where the histories of two commits parted; none where they have nothing in common.
    fn merge_base<'a>(
        &'a self,
        repository: &'a StoredRepository,
        ends: (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<Option<ObjectId>>>;

    /// Where the history of a head parted from its base; the second answer says whether they can't be merged.
    fn pull<'a>(
        &'a self,
        repository: &'a StoredRepository,
        ends: (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<(Option<ObjectId>, bool)>>;
}

/// What makes test merges of pull requests.
pub trait TestMerging: Send + Sync + 'static {
    /// The commit that merges the head of an open pull request into a commit of its base; none where they can't be merged, and of a
    /// pull request that isn't open. It is the same for the same two commits.
    fn test_merge<'a>(
        &'a self,
        repository: &'a StoredRepository,
        pull: &'a Pull,
        base: ObjectId,
    ) -> BoxFuture<'a, Result<Option<ObjectId>>>;
}
