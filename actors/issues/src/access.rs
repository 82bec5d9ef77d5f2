//! What the caller sees, and may do, of an organization's spaces.

use domain::{
    Authority, Error, Result,
    id::{IssueId, OrgId, SpaceId, TeamId, UserId},
    issues::{
        access::{Permission, may, require, role_of},
        limits::{ISSUE_NOT_FOUND, SPACE_NOT_FOUND},
        space::{Space, SpaceRole},
    },
};
use store::{Store, issues::StoredIssue};

/// The spaces that the caller may browse, each with their role, in the order of their keys.
#[derive(Clone, Debug)]
pub struct Sight {
    /// They.
    pub spaces: Vec<(Space, SpaceRole)>,
    /// The teams of the caller, or of who made the key that asks.
    pub teams: Vec<TeamId>,
}

/// What the caller sees of an organization's spaces.
pub async fn sight(store: &Store, authority: &Authority) -> Result<Sight> {
    let teams = teams_of(store, authority).await?;
    let mut spaces = Vec::new();
    for space in store.issue_spaces(authority.org_id()).await? {
        let role = role_of(authority, &teams, &space).filter(|role| may(Some(*role), Permission::Browse));
        spaces.extend(role.map(|role| (space, role)));
    }
    Ok(Sight { spaces, teams })
}

impl Sight {
    /// The space that a text names: by its key, in any case, or its id.
    pub fn named(&self, text: &str) -> Option<&Space> {
        let mut spaces = self.spaces.iter().map(|(space, _)| space);
        spaces.find(|space| text.eq_ignore_ascii_case(&space.key) || text == space.space_id.to_string())
    }

    /// The space with this id, and the caller's role there.
    pub fn space(&self, id: SpaceId) -> Option<&(Space, SpaceRole)> {
        self.spaces.iter().find(|(space, _)| space.space_id == id)
    }
}

/// The teams of the caller, or of who made the key that asks.
pub(crate) async fn teams_of(store: &Store, authority: &Authority) -> Result<Vec<TeamId>> {
    match authority.on_behalf_of() {
        Ok(person) => Ok(store.teams_of_person(authority.org_id(), person).await?),
        Err(_) => Ok(Vec::new()),
    }
}

/// A space in which the caller has a permission; 404 where they have no part in it.
pub(crate) async fn space_with(
    store: &Store,
    authority: &Authority,
    id: SpaceId,
    permission: Permission,
) -> Result<(Space, SpaceRole)> {
    let gone = || Error::not_found(SPACE_NOT_FOUND);
    let space = store.issue_space(authority.org_id(), id).await?.ok_or_else(gone)?;
    let role = role_of(authority, &teams_of(store, authority).await?, &space);
    require(role, permission, SPACE_NOT_FOUND)?;
    Ok((space, role.ok_or_else(gone)?))
}

/// An issue that the caller may browse, with its space and the caller's role there.
pub(crate) async fn issue_seen(
    store: &Store,
    authority: &Authority,
    (org_id, id): (OrgId, IssueId),
) -> Result<(StoredIssue, Space, SpaceRole)> {
    let gone = || Error::not_found(ISSUE_NOT_FOUND);
    let stored = store.issue(org_id, id).await?.ok_or_else(gone)?;
    let space = store.issue_space(org_id, stored.issue.space_id).await?.ok_or_else(gone)?;
    let role = role_of(authority, &teams_of(store, authority).await?, &space);
    require(role, Permission::Browse, ISSUE_NOT_FOUND)?;
    Ok((stored, space, role.ok_or_else(gone)?))
}

/// Whether somebody who isn't asking has a permission in a space.
pub(crate) async fn person_may(
    store: &Store,
    space: &Space,
    (person, permission): (UserId, Permission),
) -> Result<bool> {
    let authority = match store.authority_of_person(space.org_id, person).await {
        Ok(authority) => authority,
        Err(Error::NotFound { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    let teams = store.teams_of_person(space.org_id, person).await?;
    Ok(may(role_of(&authority, &teams, space), permission))
}

/// 409, where a space is archived.
pub(crate) fn require_open(space: &Space) -> Result<()> {
    if space.archived { Err(Error::conflict("space_archived", "This space is archived.")) } else { Ok(()) }
}
