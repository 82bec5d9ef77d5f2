//! Who watches an issue, and who votes for it. Neither changes its content: the version counts on, and `updatedAt` and the history stay.

use domain::{
    Error, Result,
    id::{OrgId, UserId},
    issues::{access::Permission, issue::Issue, limits::FOLLOWERS_MAX},
};
use kernel::{Command, Handle, Turn};
use store::{Change, issues::StoredIssue};

use super::{
    access::person_may,
    issue::{IssueOwner, Opened},
};

/// Has somebody watch an issue, or no longer.
#[derive(Clone, Copy, Debug)]
pub struct WatchIssue {
    /// The organization.
    pub org_id: OrgId,
    /// Who; the caller where it says nobody.
    pub person: Option<UserId>,
    /// Whether they shall watch.
    pub on: bool,
}

/// Counts the caller's vote for an issue, or takes it back.
#[derive(Clone, Copy, Debug)]
pub struct VoteIssue {
    /// The organization.
    pub org_id: OrgId,
    /// Whether it shall count.
    pub on: bool,
}

impl Command for WatchIssue {
    type Reply = StoredIssue;

    const NAME: &'static str = "watch_issue";
}

impl Command for VoteIssue {
    type Reply = StoredIssue;

    const NAME: &'static str = "vote_issue";
}

impl Handle<WatchIssue> for IssueOwner {
    async fn handle(&mut self, command: &WatchIssue, turn: &mut Turn<'_, Self>) -> Result<StoredIssue> {
        let opened = Opened::of(turn, command.org_id).await?;
        let person = command.person.unwrap_or(opened.person);
        if person != opened.person {
            opened.require(Permission::Edit)?;
        }
        if command.on && person != opened.person {
            let may_see = person_may(&turn.services().store, &opened.space, (person, Permission::Browse)).await?;
            if !may_see {
                return Err(Error::invalid("userId", "This person can't see the issue."));
            }
        }
        let followed = |issue: &mut Issue| watching(issue, person, command.on);
        follow(turn, &opened.stored, followed).await
    }
}

impl Handle<VoteIssue> for IssueOwner {
    async fn handle(&mut self, command: &VoteIssue, turn: &mut Turn<'_, Self>) -> Result<StoredIssue> {
        let opened = Opened::of(turn, command.org_id).await?;
        let (issue, person) = (&opened.stored.issue, opened.person);
        if issue.resolved_at.is_some() {
            return Err(Error::conflict("resolved", "This issue is resolved: its votes stay as they are."));
        }
        if command.on && issue.reporter_id == Some(person) {
            return Err(Error::conflict("own_issue", "You can't vote for an issue that you reported."));
        }
        let followed = |issue: &mut Issue| {
            if command.on {
                return issue.vote(person);
            }
            issue.unvote(person);
            true
        };
        follow(turn, &opened.stored, followed).await
    }
}

/// Writes the issue with another list of people; what doesn't change it writes nothing.
async fn follow(
    turn: &mut Turn<'_, IssueOwner>,
    before: &StoredIssue,
    followed: impl FnOnce(&mut Issue) -> bool,
) -> Result<StoredIssue> {
    let after = with_followers(before, followed)?;
    if after != *before {
        let mut change = Change::new();
        change.issue_set(&after, before);
        turn.commit(change).await?;
    }
    Ok(after)
}

/// Has somebody watch, or no longer: false where too many do.
pub(crate) fn watching(issue: &mut Issue, person: UserId, on: bool) -> bool {
    if on {
        return issue.watch(person);
    }
    issue.unwatch(person);
    true
}

/// The issue with another list of people, its next version where that changes anything. Refused where nobody else fits in.
pub(crate) fn with_followers(before: &StoredIssue, followed: impl FnOnce(&mut Issue) -> bool) -> Result<StoredIssue> {
    let mut after = before.clone();
    if !followed(&mut after.issue) {
        let message = format!("At most {FOLLOWERS_MAX} people watch an issue, and as many vote for it.");
        return Err(Error::bad_request("limit_reached", message));
    }
    if after != *before {
        after.issue.version += 1;
    }
    Ok(after)
}
