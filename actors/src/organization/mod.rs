//! One organization: its name, members, invitations, teams and keys.
//!
//! Whatever changes about an organization is decided here, one change after the other, and commits the next version of
//! the organization's row; so two nodes never both decide on one state, and an organization never loses its last owner
//! to a race. Who asks is looked at again here, because their role may have changed since the request came in.

mod alarm_hooks;
mod invites;
mod keys;
mod lifecycle;
mod members;
mod remains;
mod teams;

use domain::{
    Caller, Error, OrgKind, Result, Role, Scope, ScopeSet,
    id::{OrgId, UserId},
};
use store::{
    Change,
    accounts::{self, Membership},
    audit::{AuditEntry, AuditTarget},
};

pub(crate) use self::invites::accept_invite;
pub use self::{
    alarm_hooks::{DeleteAlarmHook, MakeAlarmHook, RaiseAlarms},
    invites::{AcceptInvite, CancelInvite, MakeInvite},
    keys::{DeleteKey, MakeKey, NoteKeyUse},
    lifecycle::{ChangeOrganization, CreateOrganization, DeleteOrganization},
    members::{AddMember, ChangeRole, RemoveMember},
    teams::{AddTeamMember, ChangeTeam, DeleteTeam, MakeTeam, RemoveTeamMember},
};
use crate::{
    Services,
    kernel::{Resource, Turn},
};

/// An organization. It holds nothing in memory: each command reads what it decides on.
#[derive(Debug)]
pub struct Organization;

impl Resource for Organization {
    type Key = OrgId;
    type Services = Services;

    const KIND: &'static str = "organization";

    async fn load(_: &OrgId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// What the caller may do in the organization now.
struct Authority {
    /// Their role. A key has its maker's, but never an owner's.
    role: Role,
    scopes: ScopeSet,
    /// The person who asks, or who made the key that asks; nobody when it is Troupe.
    person: Option<UserId>,
    is_key: bool,
}

impl Authority {
    fn require(&self, scope: Scope) -> Result<()> {
        if self.scopes.contains(scope) { Ok(()) } else { Err(Error::MissingScope(scope)) }
    }

    /// Whether this caller may make somebody a member with this role. A key gives no role that can do what the key
    /// can't: its holder would have made themselves more than they were given.
    fn assign_check(&self, role: Role, kind: OrgKind) -> Result<()> {
        if !self.role.may_assign(role) {
            return Err(Error::forbidden("role_too_low", "Only an owner makes, changes or removes an owner."));
        }
        match role.scopes(kind).iter().find(|scope| self.is_key && !self.scopes.contains(*scope)) {
            Some(beyond) => Err(Error::MissingScope(beyond)),
            None => Ok(()),
        }
    }

    /// The person who asks; keys are refused.
    fn person(&self) -> Result<UserId> {
        self.person
            .filter(|_| !self.is_key)
            .ok_or_else(|| Error::forbidden("people_only", "This is for people, not for keys."))
    }
}

/// The organization as it is now, and what the caller may do in it.
async fn current(turn: &Turn<'_, Organization>) -> Result<(accounts::Organization, Authority)> {
    let organization = found(turn).await?;
    let store = &turn.services().store;
    let part = async |user_id| -> Result<Membership> {
        store.membership(organization.id, user_id).await?.ok_or_else(not_found)
    };
    let authority = match &turn.context().caller {
        Caller::System => {
            Authority { role: Role::Owner, scopes: Role::Owner.scopes(organization.kind), person: None, is_key: false }
        }
        Caller::Person(person) => {
            let part = part(person.user_id).await?;
            Authority { role: part.role, scopes: part.scopes(), person: Some(person.user_id), is_key: false }
        }
        Caller::Key(key) if key.org_id == organization.id => {
            let part = part(key.maker).await?;
            let scopes = part.scopes().intersection(key.scopes);
            Authority { role: part.role.min(Role::Admin), scopes, person: Some(key.maker), is_key: true }
        }
        Caller::Key(_) => return Err(not_found()),
        Caller::Nobody => return Err(Error::Unauthenticated),
    };
    Ok((organization, authority))
}

/// The organization as it is now.
async fn found(turn: &Turn<'_, Organization>) -> Result<accounts::Organization> {
    turn.services().store.organization(*turn.key()).await?.ok_or_else(not_found)
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
    Error::not_found("Organization not found.")
}

/// 400: the organization has as many as it may have; `what` names them.
fn full(what: &str, limit: u64) -> Error {
    Error::bad_request("limit_reached", format!("An organization has at most {limit} {what}."))
}
