//! Pull requests: opening, changing and merging them, and what pushes make of them.
//!
//! An open pull request has both of its branches: whoever deletes one closes it. What its head names is written down with the push
//! that moves the head, and is named by a ref of the repository's own, so that its commits stay.

mod discussion;
mod facts;
mod follow;
mod landing;
mod merge;
mod news;
mod owners;
mod reviewers;
mod reviews;
mod stale;
mod threads;
mod waiting;

use actors_base::RepositoryChange;
use domain::{
    Error, Result, Timestamp,
    git::{
        BranchName, OPEN_PULLS_MAX, ObjectId, OpenPull, PULL_NOT_FOUND, Pull, PullDraft, PullEvent, PullNumber,
        PullPatch, PullState, RefName, ReviewersDraft, STALE_BASE, STALE_HEAD, branch_missing, changes_between,
        pull_closed, pull_exists, pull_merged, too_many_open_pulls, wire::Listing,
    },
    id::{OrgId, UserId},
    problems::all,
};
use kernel::{Command, Handle, Turn};
use store::{
    Change, Store,
    git::{RepositoryNo, StoredRepository, Waiting},
};

pub use self::{
    facts::pull_facts,
    landing::{Landing, MadeCommit, refusals_of_merge},
    merge::MergePull,
    owners::{OWNERS_ASKED, OwnersAsking, owners_of_pull},
    reviewers::AskReviewers,
    reviews::{DismissReview, GiveReview},
    threads::{DeleteComment, EditComment, OpenThread, ReplyToThread, SettleThread, ThreadAt, ThreadWithComments},
    waiting::{MERGES_WANTED, StopWaiting, WaitForMerge, WaitingMerges},
};
pub(crate) use self::{
    follow::{Followed, follow},
    merge::Merge,
    waiting::{pull_of_timer, wake},
};
use self::{news::News, owners::want_owners, reviewers::can_review, stale::Dismissing, waiting::note_end};
use crate::{
    Repository,
    live::{pull_changed, tell},
    triggers::pull_trigger,
};

/// Opens a pull request.
#[derive(Clone, Debug)]
pub struct CreatePull {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// What it begins with.
    pub draft: PullDraft,
    /// Whoever is asked for a review at once.
    pub reviewers: ReviewersDraft,
}

/// Changes a pull request, closes it, or opens it again.
#[derive(Clone, Debug)]
pub struct ChangePull {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which one.
    pub number: PullNumber,
    /// What is to be changed.
    pub patch: PullPatch,
}

impl Command for CreatePull {
    type Reply = Pull;

    const NAME: &'static str = "create_pull";
}

impl Command for ChangePull {
    type Reply = Pull;

    const NAME: &'static str = "change_pull";
}

/// The repository's pull request of this number; 404 where there is none.
pub(crate) async fn pull_of(store: &Store, no: RepositoryNo, number: PullNumber) -> Result<Pull> {
    store.pull(no, number).await?.ok_or_else(|| Error::not_found(PULL_NOT_FOUND))
}

/// What two branches name, which have to be there.
async fn ends(store: &Store, no: RepositoryNo, head: &BranchName, base: &BranchName) -> Result<(ObjectId, ObjectId)> {
    let names = [RefName::of_branch(head), RefName::of_branch(base)];
    let places = store.repository_ref_places(no, &names).await?;
    let end = |at: usize, field| places.get(at).and_then(|place| place.oid).ok_or_else(|| branch_missing(field));
    all((end(0, "head"), end(1, "base")))
}

/// 409 where two branches have an open pull request; 400 where there is no room for one more.
fn has_room(open: &[OpenPull], head: &BranchName, base: &BranchName) -> Result<()> {
    if let Some(same) = open.iter().find(|it| it.head == *head && it.base == *base) {
        return Err(pull_exists(same.number.get()));
    }
    if open.len() as u64 >= OPEN_PULLS_MAX { Err(too_many_open_pulls()) } else { Ok(()) }
}

/// Has the ref of a pull request name what its head does.
fn put_head(change: &mut Change, no: RepositoryNo, number: PullNumber, oid: ObjectId) -> Result<()> {
    let strange = || Error::internal(format_args!("the pull request {number} has no ref"));
    let name = number.head_ref().ok_or_else(strange)?;
    change.repository_ref_put(no, &Listing { name, oid, peeled: None });
    Ok(())
}

impl Handle<CreatePull> for Repository {
    async fn handle(&mut self, command: &CreatePull, turn: &mut Turn<'_, Self>) -> Result<Pull> {
        let CreatePull { org_id, draft, reviewers } = command;
        let repository = self.written(*org_id, turn).await?;
        let (store, now, no) = (&turn.services().store, turn.now(), repository.no);
        let at = ends(store, no, &draft.head, &draft.base).await?;
        has_room(&store.open_pulls(no).await?, &draft.head, &draft.base)?;
        let last = store.pulls_last(no).await?;
        let number = last.checked_add(1).and_then(PullNumber::new).ok_or_else(too_many_open_pulls)?;
        let author = turn.authority(*org_id).await?.on_behalf_of()?;
        can_review(store, &repository, (author, reviewers), ("reviewers.", &[])).await?;
        let PullDraft { title, body, head, base, is_draft } = draft.clone();
        let pull = Pull {
            number,
            title,
            body,
            head,
            base,
            state: PullState::Open,
            is_draft,
            author,
            version: 1,
            opened_with: at,
            head_oid: at.0,
            base_oid: at.1,
            merge_commit: None,
            created_at: now,
            updated_at: now,
            ended: None,
            auto_merge: None,
        };
        let mut change = Change::new();
        change.repository_refs_changed(&repository);
        put_head(&mut change, no, number, at.0)?;
        change.pull_add(no, &pull);
        let by = (author, now);
        change.pull_event_add((no, number), by, &PullEvent::Opened { head: at.0, base: at.1 });
        let asked: Vec<_> = reviewers.principals().collect();
        for principal in &asked {
            change.pull_reviewer_add(no, number, (*principal, author), now);
        }
        if !asked.is_empty() {
            let news = News { services: turn.services(), repository: &repository, pull: &pull, by: author, now };
            news.review_asked(&mut change, &asked).await?;
            let event = PullEvent::ReviewersChanged { asked, withdrawn: Vec::new() };
            change.pull_event_add((no, number), by, &event);
        }
        pull_trigger(&mut change, now, &repository, (&pull, "opened"), author);
        want_owners(&mut change, by, &repository, (&pull, None));
        turn.commit(change).await?;
        tell(turn, [RepositoryChange::Pull { number: number.get(), version: pull.version }]);
        Ok(pull)
    }
}

impl Handle<ChangePull> for Repository {
    async fn handle(&mut self, command: &ChangePull, turn: &mut Turn<'_, Self>) -> Result<Pull> {
        let ChangePull { org_id, number, patch } = command;
        let repository = self.written(*org_id, turn).await?;
        let by = turn.authority(*org_id).await?.on_behalf_of()?;
        let (store, now) = (&turn.services().store, turn.now());
        let before = pull_of(store, repository.no, *number).await?;
        let changing = Changing { store, repository: &repository, by, now };
        let after = changing.apply(before.clone(), patch).await?;
        if after == before {
            return Ok(before);
        }
        let mut change = Change::new();
        if before.state != PullState::Open && after.state == PullState::Open {
            change.repository_refs_changed(&repository);
            put_head(&mut change, repository.no, *number, after.head_oid)?;
        } else {
            change.repository_set(&repository);
        }
        let after = Pull { updated_at: now, ..after };
        for activity in activities(&before, &after) {
            pull_trigger(&mut change, now, &repository, (&after, activity), by);
        }
        if asks_anew(&before, &after) {
            want_owners(&mut change, (by, now), &repository, (&after, None));
        }
        change.pull_set(repository.no, &after);
        note_end(&mut change, turn, &repository, (&before, &after), by);
        if after.auto_merge.is_some() {
            wake(&mut change, &repository, Waiting::One(*number), now);
        }
        for event in changes_between(&before, &after) {
            change.pull_event_add((repository.no, *number), (by, now), &event);
        }
        let reason = if before.base == after.base { STALE_HEAD } else { STALE_BASE };
        if before.head_oid != after.head_oid || before.base != after.base {
            let rules = store.branch_rules(repository.no).await?;
            let dismissing = Dismissing { store, no: repository.no, rules: &rules, by, now };
            dismissing.dismiss(&mut change, &after, reason).await?;
        }
        turn.commit(change).await?;
        tell(turn, [pull_changed(&before)]);
        Ok(after)
    }
}

/// Whether the owners of all that a pull request changes are asked who weren't asked before, or were by another base.
fn asks_anew(before: &Pull, after: &Pull) -> bool {
    before.state != PullState::Open || before.base != after.base || (before.is_draft && !after.is_draft)
}

/// What workflows call a change of a pull request.
fn activities(before: &Pull, after: &Pull) -> impl Iterator<Item = &'static str> {
    let (was_open, is_open) = (before.state == PullState::Open, after.state == PullState::Open);
    let is_edited = (&before.title, &before.body, &before.base) != (&after.title, &after.body, &after.base);
    [
        (!was_open && is_open, "reopened"),
        (was_open && !is_open, "closed"),
        (before.is_draft && !after.is_draft, "ready_for_review"),
        (!before.is_draft && after.is_draft, "converted_to_draft"),
        (is_edited, "edited"),
    ]
    .into_iter()
    .filter_map(|(is_it, name)| is_it.then_some(name))
}

/// A change of a pull request that is being decided.
struct Changing<'a> {
    store: &'a Store,
    repository: &'a StoredRepository,
    by: UserId,
    now: Timestamp,
}

impl Changing<'_> {
    async fn apply(&self, before: Pull, patch: &PullPatch) -> Result<Pull> {
        let PullPatch { title, body, base, is_draft, state } = patch;
        let mut pull = before;
        if let Some(title) = title {
            title.clone_into(&mut pull.title);
        }
        if let Some(body) = body {
            body.clone_into(&mut pull.body);
        }
        if base.is_none() && is_draft.is_none() && state.is_none() {
            return Ok(pull);
        }
        if pull.state == PullState::Merged {
            return Err(pull_merged());
        }
        let base = base.as_ref().filter(|base| **base != pull.base);
        match (pull.state, state.unwrap_or(pull.state)) {
            (PullState::Closed, PullState::Open) => pull = self.again(pull, base).await?,
            (PullState::Open, PullState::Open) => {
                if let Some(base) = base {
                    pull = self.with_base(pull, base).await?;
                }
            }
            // What is closed, or is to be, stays as it was.
            _ if base.is_some() || is_draft.is_some_and(|is_draft| is_draft != pull.is_draft) => {
                return Err(pull_closed());
            }
            (PullState::Open, _) => pull = pull.closed(self.by, self.now),
            _ => {}
        }
        Ok(Pull { is_draft: is_draft.unwrap_or(pull.is_draft), ..pull })
    }

    /// The pull request, opened again.
    async fn again(&self, pull: Pull, base: Option<&BranchName>) -> Result<Pull> {
        let base = base.unwrap_or(&pull.base).clone();
        let pull = self.with_base(pull, &base).await?;
        Ok(Pull { state: PullState::Open, ended: None, ..pull })
    }

    /// The pull request as one into this branch, from what its head names now.
    async fn with_base(&self, pull: Pull, base: &BranchName) -> Result<Pull> {
        if pull.head == *base {
            return Err(Error::invalid("base", "Use another branch than the head."));
        }
        let (head_oid, base_oid) = ends(self.store, self.repository.no, &pull.head, base).await?;
        has_room(&self.store.open_pulls(self.repository.no).await?, &pull.head, base)?;
        Ok(Pull { base: base.clone(), head_oid, base_oid, auto_merge: None, ..pull })
    }
}
