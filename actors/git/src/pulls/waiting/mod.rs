//! Merging a pull request as soon as nothing stands against it.
//!
//! Whoever asks for that leaves a wish in the pull request's row. Whatever may take away what stands against it sets the timer of the pull
//! request in its own commit (`store/src/git/pulls/waiting.rs`); the timer leaves an entry of the work queue, whose job makes the commits
//! and asks the repository to land them in the name of whoever asked, with the rights that they have then. A refusal that waiting doesn't
//! mend ends the wish; any other is looked at again when something happens, and once an hour.

mod merging;

use domain::{
    Error, Result, Timestamp,
    git::{
        Asker, AutoMerge, AutoMergeEnd, MergeAsked, Pull, PullEvent, PullNumber, WAITING_LOOK_EVERY, head_moved,
        not_waiting,
    },
    id::{OrgId, UserId},
};
use kernel::{Command, Handle, Resource, Turn};
use serde_json::json;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    git::{MERGE_TIMER, MergeWanted, StoredRepository, Waiting},
};

pub use self::merging::{MERGES_WANTED, WaitingMerges};
use super::pull_of;
use crate::{
    Repository,
    live::{pull_changed, tell},
};

/// Has a pull request be merged as soon as nothing stands against it.
#[derive(Clone, Debug)]
pub struct WaitForMerge {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// The version of it that was read.
    pub version: i64,
    /// How it is to be merged.
    pub asked: MergeAsked,
}

/// Takes that back.
#[derive(Clone, Copy, Debug)]
pub struct StopWaiting {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
}

/// Ends a wish that can't be fulfilled.
#[derive(Clone, Debug)]
pub(crate) struct EndWaiting {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// The wish; another one stays.
    pub wish: AutoMerge,
    /// Why.
    pub end: AutoMergeEnd,
    /// The same, as a sentence.
    pub reason: String,
}

impl Command for WaitForMerge {
    type Reply = Pull;

    const NAME: &'static str = "wait_for_merge";
}

impl Command for StopWaiting {
    type Reply = Pull;

    const NAME: &'static str = "stop_waiting";
}

impl Command for EndWaiting {
    type Reply = ();

    const NAME: &'static str = "end_waiting";
}

/// The pull request whose timer has this name; none where it is another one's.
pub(crate) fn pull_of_timer(name: &str) -> Option<PullNumber> {
    name.strip_prefix(MERGE_TIMER)?.parse().ok()
}

/// Has a pull request be looked at that may wait to be merged.
pub(crate) fn wake(change: &mut Change, repository: &StoredRepository, which: Waiting<'_>, now: Timestamp) {
    change.waiting_pulls_wake(repository.no, which, now);
}

/// Notes why a pull request doesn't wait any more, where it did before.
pub(crate) fn note_end(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    repository: &StoredRepository,
    (before, after): (&Pull, &Pull),
    by: UserId,
) {
    if let Some(end) = AutoMergeEnd::between(before, after) {
        Ended { repository, before, by, end, reason: end.sentence() }.note(change, turn);
    }
}

/// A wish that is over.
struct Ended<'a> {
    repository: &'a StoredRepository,
    before: &'a Pull,
    by: UserId,
    end: AutoMergeEnd,
    reason: &'a str,
}

impl Ended<'_> {
    fn note(&self, change: &mut Change, turn: &Turn<'_, Repository>) {
        let event = PullEvent::AutoMergeEnded { end: self.end, reason: self.reason.to_owned() };
        change.pull_event_add((self.repository.no, self.before.number), (self.by, turn.now()), &event);
        let method = self.before.auto_merge.as_ref().map(|wish| wish.asked.method);
        let about = json!({
            "number": self.before.number.get(), "head": self.before.head.as_str(), "base": self.before.base.as_str(),
            "method": method, "end": self.end, "reason": self.reason,
        });
        audit(change, turn, (self.repository, "pull.auto_merge_ended"), about);
    }
}

fn audit(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    (repository, act): (&StoredRepository, &'static str),
    about: serde_json::Value,
) {
    let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
    let entry = AuditEntry::new(turn.context(), act, target).in_org(repository.resource.org_id);
    change.audit_add(turn.now(), entry.with_metadata(about));
}

impl Handle<WaitForMerge> for Repository {
    async fn handle(&mut self, command: &WaitForMerge, turn: &mut Turn<'_, Self>) -> Result<Pull> {
        let WaitForMerge { org_id, number, version, asked } = command;
        let repository = self.written(*org_id, turn).await?;
        let by = turn.authority(*org_id).await?.on_behalf_of()?;
        let asker = Asker::of(&turn.context().caller).ok_or(Error::Unauthenticated)?;
        let (store, now, no) = (&turn.services().store, turn.now(), repository.no);
        let before = pull_of(store, no, *number).await?;
        before.admit_change()?;
        if before.version != *version || before.head_oid != asked.head {
            return Err(head_moved());
        }
        let wish = AutoMerge { asked: asked.clone(), asker, by, since: now };
        let after = Pull { auto_merge: Some(wish), updated_at: now, ..before.clone() };
        let mut change = Change::new();
        change.repository_set(&repository);
        change.pull_set(no, &after);
        change.pull_event_add((no, *number), (by, now), &PullEvent::AutoMergeSet { method: asked.method });
        let about = json!({
            "number": number.get(), "head": after.head.as_str(), "base": after.base.as_str(),
            "method": asked.method, "headCommitId": after.head_oid.to_string(),
        });
        audit(&mut change, turn, (&repository, "pull.auto_merge_set"), about);
        // What stood against it may be gone since it was looked at.
        wake(&mut change, &repository, Waiting::One(*number), now);
        turn.commit(change).await?;
        tell(turn, [pull_changed(&before)]);
        Ok(after)
    }
}

impl Handle<StopWaiting> for Repository {
    async fn handle(&mut self, command: &StopWaiting, turn: &mut Turn<'_, Self>) -> Result<Pull> {
        let StopWaiting { org_id, number } = *command;
        let repository = self.written(org_id, turn).await?;
        let by = turn.authority(org_id).await?.on_behalf_of()?;
        let before = pull_of(&turn.services().store, repository.no, number).await?;
        if before.auto_merge.is_none() {
            return Err(not_waiting());
        }
        let end = AutoMergeEnd::Withdrawn;
        let ended = Ended { repository: &repository, before: &before, by, end, reason: end.sentence() };
        self.end(&ended, turn).await
    }
}

impl Handle<EndWaiting> for Repository {
    async fn handle(&mut self, command: &EndWaiting, turn: &mut Turn<'_, Self>) -> Result<()> {
        let EndWaiting { org_id, number, wish, end, reason } = command;
        let store = &turn.services().store;
        let Some(repository) = store.repository(*org_id, *turn.key()).await? else { return Ok(()) };
        let found = store.pull(repository.no, *number).await?;
        let Some(before) = found.filter(|pull| pull.auto_merge.as_ref() == Some(wish)) else { return Ok(()) };
        let ended = Ended { repository: &repository, before: &before, by: wish.by, end: *end, reason };
        self.end(&ended, turn).await.map(|_| ())
    }
}

impl Repository {
    /// Ends a wish; the pull request without it.
    async fn end(&self, ended: &Ended<'_>, turn: &mut Turn<'_, Self>) -> Result<Pull> {
        let now = turn.now();
        let after = Pull { auto_merge: None, updated_at: now, ..ended.before.clone() };
        let mut change = Change::new();
        change.repository_set(ended.repository);
        change.pull_set(ended.repository.no, &after);
        ended.note(&mut change, turn);
        turn.commit(change).await?;
        tell(turn, [pull_changed(ended.before)]);
        Ok(after)
    }

    /// Has a pull request be merged that waits for it, if that can be done by now, and be looked at again later.
    pub(crate) async fn look_for_merge(&self, number: PullNumber, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, now, key) = (&turn.services().store, turn.now(), *turn.key());
        let mut change = Change::new();
        if let Some(org_id) = store.repository_org(key).await?
            && let Some(repository) = store.repository(org_id, key).await?
            && !repository.is_gone()
            && let Some(pull) = store.pull(repository.no, number).await?
            && pull.auto_merge.is_some()
        {
            change.merge_want(now, &MergeWanted { org_id, repository_id: key, number: number.get() });
            let name = format!("{MERGE_TIMER}{number}");
            change.timer_set_for(org_id, Self::KIND, &key.to_string(), &name, now.after(WAITING_LOOK_EVERY));
        }
        turn.commit(change).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_names_its_pull_request() {
        assert_eq!(pull_of_timer(&format!("{MERGE_TIMER}7")), PullNumber::new(7));
        for other in ["purge", "auto_merge", "auto_merge/", "auto_merge/0", "auto_merge/7/8"] {
            assert_eq!(pull_of_timer(other), None, "{other}");
        }
    }
}
