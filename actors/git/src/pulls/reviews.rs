//! Giving reviews of pull requests, and dismissing them.

use domain::{
    Result,
    git::{
        Dismissal, ObjectId, PlacedComment, Principal, PullEvent, PullNumber, PullReview, REVIEWS_MAX, ReviewDraft,
        ReviewState, head_moved, review_not_found, too_many_reviews,
    },
    id::{OrgId, PullReviewId},
};
use kernel::{Command, Handle, Turn};
use store::{Change, git::Waiting};

use super::{discussion::Discussion, news::News, pull_of, threads::add_threads, wake};
use crate::{
    Repository,
    live::{review_changed, tell},
};

/// Gives a review.
#[derive(Clone, Debug)]
pub struct GiveReview {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// The head that was looked at.
    pub head: ObjectId,
    /// What it comes to, and says.
    pub draft: ReviewDraft,
    /// What it says of lines.
    pub threads: Vec<PlacedComment>,
}

/// Dismisses a review.
#[derive(Clone, Debug)]
pub struct DismissReview {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// Which review.
    pub id: PullReviewId,
    /// Why.
    pub reason: String,
}

impl Command for GiveReview {
    type Reply = PullReview;

    const NAME: &'static str = "give_review";
}

impl Command for DismissReview {
    type Reply = PullReview;

    const NAME: &'static str = "dismiss_review";
}

impl Handle<GiveReview> for Repository {
    async fn handle(&mut self, command: &GiveReview, turn: &mut Turn<'_, Self>) -> Result<PullReview> {
        let GiveReview { org_id, number, head, draft, threads } = command;
        let discussion = Discussion::read(turn, *org_id, *number).await?;
        let (store, no) = (discussion.store, discussion.repository.no);
        draft.admit(&discussion.pull, discussion.by)?;
        if discussion.pull.head_oid != *head {
            return Err(head_moved());
        }
        if store.pull_reviews_count(no, *number).await? >= REVIEWS_MAX {
            return Err(too_many_reviews());
        }
        let review = PullReview {
            id: PullReviewId::new(discussion.now),
            author: discussion.by,
            verdict: draft.verdict,
            body: draft.body.clone(),
            commit: *head,
            state: ReviewState::Current,
            created_at: discussion.now,
            dismissed: None,
        };
        let mut change = discussion.change();
        change.pull_review_add(no, *number, &review);
        let made = add_threads(&mut change, &discussion, Some(review.id), threads).await?;
        let count = u32::try_from(made.len()).unwrap_or(u32::MAX);
        let event = PullEvent::Reviewed { review_id: review.id, verdict: review.verdict, threads: count };
        discussion.note(&mut change, &event);
        answer_requests(&mut change, &discussion).await?;
        wake(&mut change, &discussion.repository, Waiting::One(*number), discussion.now);
        let Discussion { repository, pull, by, now, .. } = &discussion;
        let news = News { services: turn.services(), repository, pull, by: *by, now: *now };
        news.reviewed(&mut change, draft.verdict).await?;
        turn.commit(change).await?;
        tell(turn, [review_changed(*number)]);
        Ok(review)
    }
}

/// Has whoever gives a review be asked for it no longer, nor a team that they are in.
async fn answer_requests(change: &mut Change, discussion: &Discussion<'_>) -> Result<()> {
    let (no, number) = (discussion.repository.no, discussion.pull.number);
    let asked = discussion.store.pull_reviewers(no, number).await?;
    if asked.is_empty() {
        return Ok(());
    }
    let teams = discussion.store.teams_with(discussion.repository.resource.org_id, discussion.by).await?;
    for it in asked {
        let is_answered = match it.principal {
            Principal::Person(id) => id == discussion.by,
            Principal::Team(id) => teams.contains(&id),
        };
        if is_answered {
            change.pull_reviewer_remove(no, number, it.principal);
        }
    }
    Ok(())
}

impl Handle<DismissReview> for Repository {
    async fn handle(&mut self, command: &DismissReview, turn: &mut Turn<'_, Self>) -> Result<PullReview> {
        let DismissReview { org_id, number, id, reason } = command;
        let repository = self.written(*org_id, turn).await?;
        let by = turn.authority(*org_id).await?.on_behalf_of()?;
        let (store, now, no) = (&turn.services().store, turn.now(), repository.no);
        pull_of(store, no, *number).await?.admit_change()?;
        let review = store.pull_review(no, *number, *id).await?.ok_or_else(review_not_found)?;
        review.admit_dismissal()?;
        let dismissal = Dismissal { by, at: now, reason: reason.clone() };
        let mut change = Change::new();
        change.repository_set(&repository);
        change.pull_review_dismiss(no, *number, *id, &dismissal);
        wake(&mut change, &repository, Waiting::One(*number), now);
        let event = PullEvent::ReviewDismissed { review_id: *id, reviewer: review.author, reason: reason.clone() };
        change.pull_event_add((no, *number), (by, now), &event);
        turn.commit(change).await?;
        tell(turn, [review_changed(*number)]);
        Ok(PullReview { state: ReviewState::Dismissed, dismissed: Some(dismissal), ..review })
    }
}
