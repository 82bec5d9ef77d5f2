//! What pushes and pull requests are to workflows: all that is looked up of one before it is decided on. Who starts runs and who tells
//! why none was started look here, so that they never decide on different things.

use domain::{
    Result,
    git::{ObjectId, Pull, PullState, objects::Commit},
    pipelines::trigger::pull_missed,
};
use store::git::StoredRepository;

use crate::{sources::Sources, workflows::WhatHappened};

/// A push that left a ref at a commit.
#[derive(Clone, Copy, Debug)]
pub struct PushHappened<'a> {
    /// The ref, whole.
    pub full_ref: &'a str,
    /// What the ref named before; none of a new one.
    pub before: Option<ObjectId>,
    /// The commit.
    pub commit: &'a Commit,
    /// What the default branch named once the push was done, where it was there.
    pub default_tip: Option<ObjectId>,
}

impl PushHappened<'_> {
    /// What it is to workflows, and the commit that a branch is compared with: what it named before, and of a new one where it left the
    /// default branch. Nothing where the ref is neither a branch nor a tag.
    ///
    /// # Errors
    /// When the repository can't be read.
    pub async fn what(
        &self,
        sources: &dyn Sources,
        repository: &StoredRepository,
    ) -> Result<Option<(WhatHappened, Option<ObjectId>)>> {
        let message = self.commit.message.clone();
        if let Some(name) = self.full_ref.strip_prefix("refs/tags/") {
            return Ok(Some((WhatHappened::Tag { name: name.to_owned(), message }, None)));
        }
        let Some(name) = self.full_ref.strip_prefix("refs/heads/") else { return Ok(None) };
        let is_default = repository.settings.default_branch.as_str() == name;
        let since = match (self.before, self.default_tip) {
            (Some(before), _) => Some(before),
            (None, Some(tip)) if !is_default => sources.merge_base(repository, (tip, self.commit.id)).await?,
            (None, _) => None,
        };
        let paths = match since {
            Some(since) => sources.paths(repository, (since, self.commit.id)).await?,
            None => None,
        };
        Ok(Some((WhatHappened::Branch { name: name.to_owned(), paths, message }, since)))
    }
}

/// An activity on a pull request.
#[derive(Clone, Copy, Debug)]
pub struct PullHappened<'a> {
    /// The pull request as it is now.
    pub pull: &'a Pull,
    /// The activity, as workflow files name it.
    pub activity: &'a str,
    /// What the head named then.
    pub head: ObjectId,
    /// What the base names; of a pull request that is over, what it named before the end.
    pub base: ObjectId,
}

impl PullHappened<'_> {
    /// What it is to workflows; nothing where the head's commit isn't there.
    ///
    /// # Errors
    /// When the repository can't be read.
    pub async fn what(&self, sources: &dyn Sources, repository: &StoredRepository) -> Result<Option<WhatHappened>> {
        let Self { pull, activity, head, base } = *self;
        if let Some(missed) = pull_missed(pull, activity, head) {
            return Ok(Some(WhatHappened::Missed(missed)));
        }
        let Some(commit) = sources.commit(repository, head).await? else { return Ok(None) };
        let (parted, has_conflicts) = sources.pull(repository, (base, head)).await?;
        if has_conflicts && pull.state == PullState::Open {
            return Ok(Some(WhatHappened::Conflict));
        }
        let paths = match parted {
            Some(parted) => sources.paths(repository, (parted, head)).await?,
            None => None,
        };
        let (activity, base) = (activity.to_owned(), pull.base.as_str().to_owned());
        Ok(Some(WhatHappened::Pull { activity, base, paths, message: commit.message }))
    }
}
