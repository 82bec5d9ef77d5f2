//! Bringing issues back from the trash.

use domain::{
    Authority, Error, Result, Scope,
    id::{OrgId, UserId},
    issues::{
        access::{Permission, require, role_of},
        boards::{Sprint, SprintState},
        issue::Issue,
        limits::{ISSUE_NOT_FOUND, PARENT_IN_TRASH, TRASH_KEPT},
    },
};
use kernel::{Command, Handle, Turn};
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    issues::StoredIssue,
};

use super::{
    access::{issue_seen, require_open, teams_of},
    clocks::{Clocks, Happened},
    issue::IssueOwner,
};

/// Brings an issue back from the trash, with all that hangs on it. One that isn't there any more, since somebody brought it back, is
/// answered as it is.
#[derive(Clone, Copy, Debug)]
pub struct RestoreIssue {
    /// The organization.
    pub org_id: OrgId,
}

impl Command for RestoreIssue {
    type Reply = StoredIssue;

    const NAME: &'static str = "restore_issue";
}

impl Handle<RestoreIssue> for IssueOwner {
    async fn handle(&mut self, command: &RestoreIssue, turn: &mut Turn<'_, Self>) -> Result<StoredIssue> {
        let authority = turn.authority(command.org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let person = authority.on_behalf_of()?;
        let mut change = Change::new();
        let after = restored(turn, (&authority, person), command.org_id, &mut change).await?;
        if !change.is_empty() {
            turn.commit(change).await?;
        }
        Ok(after)
    }
}

/// The issue of a turn as it is once it is back from the trash, and what that writes; nothing where it is back already.
pub(crate) async fn restored(
    turn: &Turn<'_, IssueOwner>,
    (authority, person): (&Authority, UserId),
    org_id: OrgId,
    change: &mut Change,
) -> Result<StoredIssue> {
    let (id, now, store) = (*turn.key(), turn.now(), &turn.services().store);
    let Some(trashed) = store.issue_trashed(org_id, id).await? else {
        return Ok(issue_seen(store, authority, (org_id, id)).await?.0);
    };
    let gone = || Error::not_found(ISSUE_NOT_FOUND);
    if trashed.deleted_at < now.before(TRASH_KEPT) {
        return Err(gone());
    }
    let issue = &trashed.stored.issue;
    let space = store.issue_space(org_id, issue.space_id).await?.ok_or_else(gone)?;
    let is_own = [issue.reporter_id, issue.creator_id].contains(&Some(person));
    let permission = if is_own { Permission::DeleteOwn } else { Permission::Delete };
    require(role_of(authority, &teams_of(store, authority).await?, &space), permission, ISSUE_NOT_FOUND)?;
    require_open(&space)?;
    if let Some(parent) = issue.parent_id
        && store.issue(org_id, parent).await?.is_none()
    {
        return Err(Error::conflict("parent_in_trash", PARENT_IN_TRASH));
    }
    let mut after = trashed.stored.clone();
    after.issue.version += 1;
    leave_closed_sprint(store, &mut after.issue).await?;
    let happened = Happened { before: Some(issue), said: None };
    let clocks = Clocks::follow(store, &space, (happened, &mut after.issue), now).await?;
    change.issue_restore(&trashed.stored);
    change.issue_set(&after, &trashed.stored);
    clocks.write(change, (&space, &after.issue), now);
    let target = AuditTarget::new("issue", id).labelled(&issue.key);
    change.audit_add(now, AuditEntry::new(turn.context(), "issue.restored", target).in_org(org_id));
    Ok(after)
}

/// Has an issue leave a sprint that was closed while it was in the trash.
async fn leave_closed_sprint(store: &Store, issue: &mut Issue) -> Result<()> {
    let Some(sprint) = issue.sprint_id.clone() else { return Ok(()) };
    let known = store.issue_sprints(issue.org_id, Some(issue.space_id)).await?;
    let is_closed = |it: &Sprint| it.id.to_string() == sprint && it.state == SprintState::Closed;
    if known.iter().any(is_closed) {
        issue.leave_sprint(None);
    }
    Ok(())
}
