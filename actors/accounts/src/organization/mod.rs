//! One organization: its name, members, invitations, teams and keys.
//!
//! Whatever changes about an organization is decided here, one change after the other, and commits the next version of
//! the organization's row; so two nodes never both decide on one state, and an organization never loses its last owner
//! to a race. Who asks is looked at again here, because their role may have changed since the request came in.

mod access_keys;
mod alarm_hooks;
mod invites;
mod keys;
mod lifecycle;
mod machine_keys;
mod members;
mod removal;
mod teams;

use actors_base::{Area, Services};
use domain::{Authority, Error, Result, authority::ORGANIZATION_NOT_FOUND, id::OrgId};
use kernel::{Resource, Turn};
use store::{
    Change, Store, accounts,
    audit::{AuditEntry, AuditTarget},
};

pub(crate) use self::invites::accept_invite;
pub use self::{
    access_keys::{DeleteAccessKey, MakeAccessKey, NoteAccessKeyUse},
    alarm_hooks::{DeleteAlarmHook, MakeAlarmHook, RaiseAlarms},
    invites::{AcceptInvite, CancelInvite, MakeInvite},
    keys::{DeleteKey, MakeKey, NoteKeyUse},
    lifecycle::{ChangeOrganization, CreateOrganization, DeleteOrganization},
    machine_keys::{DeleteMachineKey, MakeMachineKey},
    members::{AddMember, ChangeRole, RemoveMember},
    removal::{ORGANIZATION_REMOVAL, OrganizationRemoval},
    teams::{AddTeamMember, ChangeTeam, DeleteTeam, MakeTeam, RemoveTeamMember},
};

/// The message of the 403 that keys read.
const PEOPLE_ONLY: &str = "This is for people, not for keys.";

/// What organizations work with.
#[derive(Clone)]
pub struct OrganizationServices {
    /// What every actor works with.
    pub services: Services,
    /// The areas, each of which has something to do when an organization is deleted.
    pub areas: &'static [Area],
}

/// An organization. It holds nothing in memory: each command reads what it decides on.
#[derive(Debug)]
pub struct Organization;

impl Resource for Organization {
    type Key = OrgId;
    type Services = OrganizationServices;

    const KIND: &'static str = "organization";

    async fn load(_: &OrgId, _: &OrganizationServices) -> Result<Self> {
        Ok(Self)
    }
}

/// The organization as it is now, and what the caller may do in it.
async fn current(turn: &Turn<'_, Organization>) -> Result<(accounts::Organization, Authority)> {
    let organization = found(turn).await?;
    let authority = turn.authority(organization.id).await?;
    Ok((organization, authority))
}

/// The organization as it is now.
async fn found(turn: &Turn<'_, Organization>) -> Result<accounts::Organization> {
    store_of(turn).organization(*turn.key()).await?.ok_or_else(not_found)
}

/// Where the organization's rows are.
fn store_of<'a>(turn: &Turn<'a, Organization>) -> &'a Store {
    &turn.services().services.store
}

/// A change of the organization at the version that was read, with its audit entry.
fn changed(
    turn: &Turn<'_, Organization>,
    organization: &accounts::Organization,
    action: &str,
    target: AuditTarget,
) -> Change {
    changed_with(turn, organization, action, target, None)
}

/// The same with more about it.
fn changed_with(
    turn: &Turn<'_, Organization>,
    organization: &accounts::Organization,
    action: &str,
    target: AuditTarget,
    metadata: Option<serde_json::Value>,
) -> Change {
    let mut change = Change::new();
    change.organization_set(organization);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(organization.id);
    change.audit_add(turn.now(), AuditEntry { metadata, ..entry });
    change
}

/// 404: there is no such organization, or the caller has no part in it.
fn not_found() -> Error {
    Error::not_found(ORGANIZATION_NOT_FOUND)
}

/// 400: the organization has as many as it may have; `what` names them.
fn full(what: &str, limit: u64) -> Error {
    Error::bad_request("limit_reached", format!("An organization has at most {limit} {what}."))
}
