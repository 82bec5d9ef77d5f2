//! What issues read of repositories, by git's host.

use actors_git::host::{GitHost, History};
use actors_issues::closing::{COMMITS_AT_ONCE, CommitSources, PushedCommits, ReadCommits};
use store::git::StoredRepository;

/// Reads the commits of pushes.
#[derive(Clone, Debug)]
pub struct GitCommits(pub GitHost);

impl CommitSources for GitCommits {
    fn commits<'a>(&'a self, repository: &'a StoredRepository, pushed: PushedCommits) -> ReadCommits<'a> {
        Box::pin(async move {
            let reading = self.0.reading(repository).await?;
            // What the branch named may be a commit that is gone since.
            let without = match pushed.before {
                Some(before) => reading.commit(before).await?.map(|commit| commit.id),
                None => None,
            };
            let asked = History { skip: pushed.skip, limit: COMMITS_AT_ONCE, without, ..History::default() };
            reading.history(pushed.after, &asked).await
        })
    }
}
