//! What rules are told of a pull request.

use domain::{
    Result,
    git::{Pull, rules::PullFacts},
};
use store::{Store, git::StoredRepository};

use crate::resource::level_of_member;

/// What people made of the pull request so far, as rules ask for it. A review counts for as long as its author may write to the
/// repository.
pub async fn pull_facts(store: &Store, repository: &StoredRepository, pull: &Pull) -> Result<PullFacts> {
    let open_threads = store.pull_threads_open(repository.no, pull.number).await?;
    let mut reviews = Vec::new();
    for review in store.pull_reviews_standing(repository.no, pull.number).await? {
        reviews.push((review, level_of_member(store, repository, review.author).await?));
    }
    Ok(PullFacts::of_reviews(&reviews, pull.head_oid, open_threads))
}
