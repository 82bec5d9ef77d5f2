//! Asking people and teams for reviews.

use domain::{
    Result,
    git::{AccessLevel, AskedReviewer, Principal, PullEvent, PullNumber, ReviewersDraft, Visibility},
    id::{OrgId, UserId},
    problems::Problems,
};
use kernel::{Command, Handle, Turn};
use store::{Change, Store, git::StoredRepository};

use super::{news::News, pull_of};
use crate::{
    Repository,
    live::{review_changed, tell},
    resource::level_of_member,
};

/// Asks these for reviews of a pull request, and nobody else any more.
#[derive(Clone, Debug)]
pub struct AskReviewers {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// Whom.
    pub reviewers: ReviewersDraft,
}

impl Command for AskReviewers {
    type Reply = Vec<AskedReviewer>;

    const NAME: &'static str = "ask_reviewers";
}

impl Handle<AskReviewers> for Repository {
    async fn handle(&mut self, command: &AskReviewers, turn: &mut Turn<'_, Self>) -> Result<Vec<AskedReviewer>> {
        let AskReviewers { org_id, number, reviewers } = command;
        let repository = self.written(*org_id, turn).await?;
        let by = turn.authority(*org_id).await?.on_behalf_of()?;
        let (store, now, no) = (&turn.services().store, turn.now(), repository.no);
        let pull = pull_of(store, no, *number).await?;
        pull.admit_change()?;
        let before = store.pull_reviewers(no, *number).await?;
        can_review(store, &repository, (pull.author, reviewers), ("", &before)).await?;
        let is_asked = |principal: &Principal| before.iter().any(|it| it.principal == *principal);
        let asked: Vec<Principal> = reviewers.principals().filter(|it| !is_asked(it)).collect();
        let (kept, withdrawn): (Vec<AskedReviewer>, Vec<AskedReviewer>) =
            before.iter().partition(|it| reviewers.principals().any(|asked| asked == it.principal));
        if asked.is_empty() && withdrawn.is_empty() {
            return Ok(kept);
        }
        let mut change = Change::new();
        change.repository_set(&repository);
        for principal in &asked {
            change.pull_reviewer_add(no, *number, (*principal, by), now);
        }
        for it in &withdrawn {
            change.pull_reviewer_remove(no, *number, it.principal);
        }
        let news = News { services: turn.services(), repository: &repository, pull: &pull, by, now };
        news.review_asked(&mut change, &asked).await?;
        let withdrawn = withdrawn.iter().map(|it| it.principal).collect();
        let event = PullEvent::ReviewersChanged { asked: asked.clone(), withdrawn };
        change.pull_event_add((no, *number), (by, now), &event);
        turn.commit(change).await?;
        tell(turn, [review_changed(*number)]);
        let new = asked.into_iter().map(|principal| AskedReviewer { principal, asked_by: by, asked_at: now });
        let mut all: Vec<AskedReviewer> = kept.into_iter().chain(new).collect();
        all.sort_by_key(|it| it.principal.to_string());
        Ok(all)
    }
}

/// 400 for who can't read the repository, and for whoever opened the pull request; who is asked already stays.
pub(super) async fn can_review(
    store: &Store,
    repository: &StoredRepository,
    (author, reviewers): (UserId, &ReviewersDraft),
    (at, before): (&str, &[AskedReviewer]),
) -> Result<()> {
    let mut problems = Problems::new();
    let is_asked = |principal| before.iter().any(|it| it.principal == principal);
    for (place, id) in reviewers.people.iter().enumerate() {
        let field = format!("{at}people[{place}]");
        if *id == author {
            problems.add(field, "Whoever opened a pull request doesn't review it.");
        } else if !is_asked(Principal::Person(*id)) {
            let level = level_of_member(store, repository, *id).await?;
            problems.require(level >= Some(AccessLevel::Read), field, format!("{id} can't read this repository."));
        }
    }
    for (place, id) in reviewers.teams.iter().enumerate() {
        let principal = Principal::Team(*id);
        if is_asked(principal) {
            continue;
        }
        let is_there = store.team(repository.resource.org_id, *id).await?.is_some();
        let is_open = repository.settings.visibility == Visibility::Organization;
        let reads = is_there && (is_open || store.repository_grant(repository.no, principal).await?.is_some());
        problems.require(reads, format!("{at}teams[{place}]"), format!("{id} can't read this repository."));
    }
    problems.into_result()
}
