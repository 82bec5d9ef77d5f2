//! What rules are told of a pull request.

use domain::{
    Result,
    git::{AccessLevel, OwnerSets, Pull, RefName, StandingReview, rules::PullFacts},
    id::{TeamId, UserId},
};
use store::{Store, git::StoredRepository};

use crate::resource::level_of_member;

/// What people made of the pull request so far, as rules ask for it. A review counts for as long as its author may write to the
/// repository. Where it isn't known who owns what changes, nobody approved for them.
pub async fn pull_facts(
    store: &Store,
    repository: &StoredRepository,
    (pull, owners): (&Pull, Option<&OwnerSets>),
) -> Result<PullFacts> {
    let open_threads = store.pull_threads_open(repository.no, pull.number).await?;
    let mut reviews = Vec::new();
    for review in store.pull_reviews_standing(repository.no, pull.number).await? {
        reviews.push((review, level_of_member(store, repository, review.author).await?));
    }
    let facts = PullFacts::of_reviews(&reviews, pull.head_oid, open_threads);
    let Some(owners) = owners else { return Ok(facts) };
    let rules = store.branch_rules(repository.no).await?;
    let needs_fresh = rules.dismisses_stale(&RefName::of_branch(&pull.base));
    let counts = |(review, level): &&(StandingReview, Option<AccessLevel>)| {
        let is_fresh = !needs_fresh || review.commit == pull.head_oid;
        review.approves && is_fresh && *level >= Some(AccessLevel::Write)
    };
    let mut approving: Vec<(UserId, Vec<TeamId>)> = Vec::new();
    for (review, _) in reviews.iter().filter(counts) {
        approving.push((review.author, store.teams_with(repository.resource.org_id, review.author).await?));
    }
    Ok(PullFacts { owners_approve: owners.approved_by(&approving), ..facts })
}
