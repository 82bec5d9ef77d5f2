//! What a caller may do in an organization now: the one place that decides it.
//!
//! A right rests on a person's part in the organization: on that of the person who asks, or of the one who made the key
//! that asks. It is decided on what is so at the moment of use. Extractors build an [`Authority`] for what is read; a turn
//! builds it again for what is written, because a role may have changed since the request came in. What an area adds (who
//! may delete a comment, who may answer an escalation) is a function of an `Authority` and of the area's own rows, in
//! `domain` too.

use crate::{
    context::Caller,
    error::{Error, Result},
    id::{OrgId, UserId},
    organization::OrgKind,
    role::Role,
    scope::{Scope, ScopeSet},
};

/// The message of the 404 for an organization that doesn't exist and for one that the caller has no part in: nobody can
/// tell the two apart.
pub const ORGANIZATION_NOT_FOUND: &str = "Organization not found.";
/// The highest rank that a key acts with, whoever made it: no key makes or unmakes an owner.
const KEY_RANK_MAX: Role = Role::Admin;

/// A person's part in an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The organization.
    pub org_id: OrgId,
    /// The person.
    pub user_id: UserId,
    /// What they may do.
    pub role: Role,
    /// What the organization is to the platform.
    pub kind: OrgKind,
}

/// What a caller may do in one organization now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority {
    org_id: OrgId,
    basis: Basis,
    scopes: ScopeSet,
}

/// What an authority rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// The person's own part.
    Person(Membership),
    /// The part of who made the key.
    Key(Membership),
    /// Nothing: Troupe itself may everything.
    Troupe,
}

impl Authority {
    /// Whose part in the organization the caller's rights rest on. Nobody's for Troupe itself, for whoever is not signed in,
    /// and for another organization's key.
    pub fn rests_on(caller: &Caller, org_id: OrgId) -> Option<UserId> {
        match caller {
            Caller::Person(person) => Some(person.user_id),
            Caller::Key(key) if key.org_id == org_id => Some(key.maker),
            Caller::AccessKey(key) if key.org_id == org_id => Some(key.maker),
            Caller::Job(job) if job.org_id == org_id => Some(job.started_by),
            Caller::AppPassword(password) if password.org_id == org_id => Some(password.user_id),
            Caller::Key(_)
            | Caller::AccessKey(_)
            | Caller::Job(_)
            | Caller::AppPassword(_)
            | Caller::Nobody
            | Caller::System => None,
        }
    }

    /// What the caller may do in the organization, where `membership` is the part that this [rests on](Self::rests_on). A
    /// key has the scopes that it was given and of these never more than its maker's role gives now.
    ///
    /// # Errors
    /// 401 for who is not signed in; 404 for who has no part in the organization.
    pub fn of(caller: &Caller, org_id: OrgId, membership: Option<Membership>) -> Result<Self> {
        let membership = membership
            .filter(|part| part.org_id == org_id && Self::rests_on(caller, org_id) == Some(part.user_id))
            .ok_or_else(|| Error::not_found(ORGANIZATION_NOT_FOUND));
        match caller {
            Caller::Nobody => Err(Error::Unauthenticated),
            Caller::System => Ok(Self { org_id, basis: Basis::Troupe, scopes: Scope::ALL.iter().copied().collect() }),
            Caller::Person(_) => Self::of_person(Some(membership?)),
            // A mail client acts for its person, and does no more than what it was let in for.
            Caller::AppPassword(password) => {
                let authority = Self::of_person(Some(membership?))?;
                let scopes = authority.scopes.intersection(password.opens.scopes());
                Ok(Self { scopes, ..authority })
            }
            Caller::Key(key) => Ok(Self::of_key(membership?, key.scopes)),
            Caller::AccessKey(key) => Ok(Self::of_key(membership?, key.grant.access.permissions())),
            Caller::Job(_) => {
                let given = ScopeSet::EMPTY.with(Scope::GitRead).with(Scope::GitWrite);
                Ok(Self::of_key(membership?, given))
            }
        }
    }

    /// What a key may do that was given these scopes, where `maker` is the part of who made it.
    fn of_key(maker: Membership, given: ScopeSet) -> Self {
        let scopes = maker.role.scopes(maker.kind).intersection(given);
        Self { org_id: maker.org_id, basis: Basis::Key(maker), scopes }
    }

    /// What a person may do whom no credential of the request stands for: whoever holds a socket open, or answers a call.
    ///
    /// # Errors
    /// 404 for who has no part in the organization.
    pub fn of_person(membership: Option<Membership>) -> Result<Self> {
        let membership = membership.ok_or_else(|| Error::not_found(ORGANIZATION_NOT_FOUND))?;
        let scopes = membership.role.scopes(membership.kind);
        Ok(Self { org_id: membership.org_id, basis: Basis::Person(membership), scopes })
    }

    /// The same authority, if it has all these scopes, where it is no secret that there is the organization (the
    /// platform's own; one whose socket was found): who has no part in it reads which scope is missing.
    pub fn admit(found: Result<Self>, wanted: &[Scope]) -> Result<Self> {
        let authority = found.map_err(|error| match (error, wanted.first()) {
            (Error::NotFound { .. }, Some(scope)) => Error::MissingScope(*scope),
            (error, _) => error,
        })?;
        authority.require_all(wanted.iter().copied()).map(|()| authority)
    }

    /// The organization.
    pub const fn org_id(&self) -> OrgId {
        self.org_id
    }

    /// The role of the person who asks, or of who made the key that asks. What is shown, not what is decided on.
    pub const fn role(&self) -> Role {
        match self.basis {
            Basis::Person(part) | Basis::Key(part) => part.role,
            Basis::Troupe => Role::Owner,
        }
    }

    /// Whether the caller has the scope.
    pub const fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(scope)
    }

    /// 403 `missing_scope` without the scope.
    pub fn require(&self, scope: Scope) -> Result<()> {
        if self.has(scope) { Ok(()) } else { Err(Error::MissingScope(scope)) }
    }

    /// 403 `missing_scope` without all of them; it names the first that is missing.
    pub fn require_all(&self, scopes: impl IntoIterator<Item = Scope>) -> Result<()> {
        scopes.into_iter().try_for_each(|scope| self.require(scope))
    }

    /// Whether the caller is this person themselves; a key that they made is not.
    pub fn is(&self, user_id: UserId) -> bool {
        matches!(self.basis, Basis::Person(part) if part.user_id == user_id)
    }

    /// Whether Troupe itself asks.
    pub const fn is_troupe(&self) -> bool {
        matches!(self.basis, Basis::Troupe)
    }

    /// The person who asks; a key reads 403 with `refusal`.
    pub fn person(&self, refusal: &'static str) -> Result<UserId> {
        match self.basis {
            Basis::Person(part) => Ok(part.user_id),
            Basis::Key(_) | Basis::Troupe => Err(Error::forbidden("people_only", refusal)),
        }
    }

    /// The person who asks, as an owner; a key reads 403 with `people_only`, other people with `owners_only`.
    pub fn owner(&self, people_only: &'static str, owners_only: &'static str) -> Result<UserId> {
        let user_id = self.person(people_only)?;
        if self.rank() == Role::Owner { Ok(user_id) } else { Err(Error::forbidden("owners_only", owners_only)) }
    }

    /// The person in whose name something is done: who asks, or who made the key that asks. 401 where Troupe does it.
    pub fn on_behalf_of(&self) -> Result<UserId> {
        match self.basis {
            Basis::Person(part) | Basis::Key(part) => Ok(part.user_id),
            Basis::Troupe => Err(Error::Unauthenticated),
        }
    }

    /// Whether the caller runs the organization, in their own name or in that of their key's maker.
    pub fn runs_organization(&self) -> bool {
        self.rank() >= Role::Admin
    }

    /// Whether the caller acts with this role or a higher one, where an area's own rows name roles.
    pub fn has_rank(&self, role: Role) -> bool {
        self.rank() >= role
    }

    /// Whether the caller may make somebody a member with this role. A key gives no role that can do what the key can't:
    /// its holder would have made themselves more than they were given.
    pub fn assign_check(&self, role: Role) -> Result<()> {
        self.rank_check(role)?;
        match self.basis {
            Basis::Key(part) => self.require_all(role.scopes(part.kind).iter()),
            Basis::Person(_) | Basis::Troupe => Ok(()),
        }
    }

    /// Whether the caller may take this role away from a member. Anybody may give up their own.
    pub fn withdraw_check(&self, user_id: UserId, role: Role) -> Result<()> {
        if self.is(user_id) { Ok(()) } else { self.rank_check(role) }
    }

    /// The role that counts where roles are compared.
    fn rank(&self) -> Role {
        match self.basis {
            Basis::Key(part) => part.role.min(KEY_RANK_MAX),
            Basis::Person(_) | Basis::Troupe => self.role(),
        }
    }

    fn rank_check(&self, role: Role) -> Result<()> {
        if self.rank().may_assign(role) {
            Ok(())
        } else {
            Err(Error::forbidden("role_too_low", "Only an owner makes, changes or removes an owner."))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
