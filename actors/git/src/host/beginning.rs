//! Commits that repositories begin with: they are made before there is a repository.

use domain::{Context, Error, Result, git::web::web_commit_refused};
use store::git::FirstCommit;

use super::{GitHost, NewCommit};
use crate::push::key_of;

impl GitHost {
    /// Makes a commit without a parent and keeps it, for the commit of the store that makes its repository. The caller lets go of its
    /// pack where none names it.
    pub async fn first_commit(&self, commit: NewCommit<'_>, context: &Context) -> Result<FirstCommit> {
        let mut quarantine = self.quarantine_of_nothing().await?;
        let oid = quarantine.make_commit(commit).await?;
        let oid = oid.ok_or_else(|| web_commit_refused("A first commit has to have a file."))?;
        let pack = quarantine.keep_for(commit.org_id).await?;
        let pack = pack.ok_or_else(|| Error::internal("the first commit of a repository has no objects"))?;
        Ok(FirstCommit { commit: oid, pack, key_id: key_of(context), ip: context.ip.map(|ip| ip.to_string()) })
    }
}
