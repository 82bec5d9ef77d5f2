//! Links that start at an issue, or end there.

use domain::{
    Error, Result,
    id::{IssueLinkId, OrgId},
    issues::{
        access::Permission,
        limits::{ISSUE_NOT_FOUND, LINK_NOT_FOUND, LINKS_MAX},
    },
};
use kernel::{Command, Handle, Turn};
use store::{Change, issues::IssueLink};

use super::{
    access::issue_seen,
    issue::{IssueOwner, Opened},
};

/// Links an issue to another one.
#[derive(Clone, Debug)]
pub struct AddLink {
    /// The organization.
    pub org_id: OrgId,
    /// The kind: by its id or name, or what it is called from either end.
    pub kind: String,
    /// The other issue: its key or id.
    pub to: String,
}

/// Takes a link away.
#[derive(Clone, Copy, Debug)]
pub struct RemoveLink {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueLinkId,
}

impl Command for AddLink {
    type Reply = IssueLink;

    const NAME: &'static str = "add_issue_link";
}

impl Command for RemoveLink {
    type Reply = ();

    const NAME: &'static str = "remove_issue_link";
}

impl Handle<AddLink> for IssueOwner {
    async fn handle(&mut self, command: &AddLink, turn: &mut Turn<'_, Self>) -> Result<IssueLink> {
        let opened = Opened::of(turn, command.org_id).await?;
        opened.require(Permission::Link)?;
        let (store, now) = (&turn.services().store, turn.now());
        let settings = store.issue_catalog(command.org_id).await?.settings;
        let Some((kind, is_inward)) = settings.link_named(&command.kind) else {
            return Err(Error::invalid("type", "There is no such kind of link."));
        };
        let gone = || Error::invalid("to", ISSUE_NOT_FOUND);
        let named = store.issue_named(command.org_id, &command.to).await?.ok_or_else(gone)?;
        let at = (command.org_id, named.issue.issue_id);
        let (other, ..) = issue_seen(store, &opened.authority, at).await.map_err(|error| match error {
            Error::NotFound { .. } => gone(),
            error => error,
        })?;
        let (own, other) = (opened.stored.issue.issue_id, other.issue.issue_id);
        if own == other {
            return Err(Error::invalid("to", "An issue can't be linked to itself."));
        }
        let (from, to) = if is_inward { (other, own) } else { (own, other) };
        let known = store.issue_links(command.org_id, own).await?;
        if let Some(same) = known.iter().find(|it| it.from == from && it.to == to && it.type_id == kind.id) {
            return Ok(same.clone());
        }
        if known.len() as u64 >= LINKS_MAX {
            return Err(Error::bad_request("limit_reached", format!("An issue has at most {LINKS_MAX} links.")));
        }
        let link = IssueLink { id: IssueLinkId::new(now), type_id: kind.id.clone(), from, to };
        let mut change = Change::new();
        change.issue_link_add(command.org_id, &link, now);
        turn.commit(change).await?;
        Ok(link)
    }
}

impl Handle<RemoveLink> for IssueOwner {
    async fn handle(&mut self, command: &RemoveLink, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        opened.require(Permission::Link)?;
        let store = &turn.services().store;
        let known = store.issue_links(command.org_id, opened.stored.issue.issue_id).await?;
        let link = known.iter().find(|link| link.id == command.id).ok_or_else(|| Error::not_found(LINK_NOT_FOUND))?;
        let mut change = Change::new();
        change.issue_link_remove(link.id);
        turn.commit(change).await
    }
}
