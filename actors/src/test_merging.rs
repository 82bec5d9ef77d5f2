//! Test merges as pipelines ask for them, by git's own.

use actors_git::TestMerges;
use actors_pipelines::TestMerging;
use domain::{
    Result,
    git::{ObjectId, Pull},
};
use futures::future::BoxFuture;
use store::git::StoredRepository;

/// Makes what pipelines ask for.
#[derive(Clone)]
pub(crate) struct GitMerges(pub TestMerges);

impl TestMerging for GitMerges {
    fn test_merge<'a>(
        &'a self,
        repository: &'a StoredRepository,
        pull: &'a Pull,
        base: ObjectId,
    ) -> BoxFuture<'a, Result<Option<ObjectId>>> {
        Box::pin(async move {
            let made = self.0.make(repository, &[(pull.clone(), base)]).await?;
            Ok(made.into_iter().next().flatten())
        })
    }
}
