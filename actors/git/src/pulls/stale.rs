//! Dismissing what was approved before it changed.

use domain::{
    Result, Timestamp,
    git::{Dismissal, Pull, PullEvent, RefName, rules::RuleSet},
    id::UserId,
};
use store::{Change, Store, git::RepositoryNo};

/// Where approvals of a pull request are dismissed, and by whose act.
#[derive(Clone, Copy)]
pub(crate) struct Dismissing<'a> {
    /// Where they are.
    pub store: &'a Store,
    /// Whose repository's.
    pub no: RepositoryNo,
    /// Its rules.
    pub rules: &'a RuleSet,
    /// Whoever changed what was approved.
    pub by: UserId,
    /// When.
    pub now: Timestamp,
}

impl Dismissing<'_> {
    /// Has the change dismiss what approves the pull request, where a rule of its base asks for that.
    pub(crate) async fn dismiss(&self, change: &mut Change, pull: &Pull, reason: &str) -> Result<()> {
        if !self.rules.dismisses_stale(&RefName::of_branch(&pull.base)) {
            return Ok(());
        }
        for review in self.store.pull_reviews_standing(self.no, pull.number).await? {
            if !review.approves {
                continue;
            }
            let dismissal = Dismissal { by: self.by, at: self.now, reason: reason.to_owned() };
            change.pull_review_dismiss(self.no, pull.number, review.id, &dismissal);
            let event =
                PullEvent::ReviewDismissed { review_id: review.id, reviewer: review.author, reason: reason.to_owned() };
            change.pull_event_add((self.no, pull.number), (self.by, self.now), &event);
        }
        Ok(())
    }
}
