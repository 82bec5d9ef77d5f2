//! A part in an organization, and a permission there, as an argument.
//!
//! The path's `orgId` is loaded together with the caller's part in it. Who has none reads 404, as if the organization
//! did not exist; who has one but lacks a scope reads which.

use std::marker::PhantomData;

use actix_web::http::header;
use domain::{
    Caller, Context, Error, PersonCaller, Scope, ScopeSet,
    id::{OrgId, UserId},
    organization::OrgKind,
    role::Role,
};

use store::accounts::Membership;

use crate::{argument::Argument, call::Call, error::Result, facts::Facts, permission::Permission};

/// The message of the 404 for an organization that the caller has no part in.
pub const NOT_FOUND: &str = "Organization not found.";

/// The organization that the path names, in which the caller has the permission `P`.
pub struct Org<P: Permission> {
    id: OrgId,
    kind: OrgKind,
    role: Role,
    scopes: ScopeSet,
    context: Context,
    host: Option<String>,
    permission: PhantomData<P>,
}

impl<P: Permission> Org<P> {
    /// The organization.
    pub const fn id(&self) -> OrgId {
        self.id
    }

    /// Whether it is the platform's own.
    pub const fn kind(&self) -> OrgKind {
        self.kind
    }

    /// The role of the person who asks, or who made the key that asks.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// All that the caller may do here.
    pub const fn scopes(&self) -> ScopeSet {
        self.scopes
    }

    /// Checks a scope that depends on what is asked for.
    pub fn require(&self, scope: Scope) -> domain::Result<()> {
        if self.scopes.contains(scope) { Ok(()) } else { Err(Error::MissingScope(scope)) }
    }

    /// The person who asks; a key reads 403 with `refusal`.
    pub fn person(&self, refusal: &'static str) -> domain::Result<UserId> {
        match &self.context.caller {
            Caller::Person(person) => Ok(person.user_id),
            _ => Err(Error::forbidden("people_only", refusal)),
        }
    }

    /// The person who asks, or who made the key that does.
    pub fn on_behalf_of(&self) -> domain::Result<UserId> {
        match &self.context.caller {
            Caller::Person(person) => Ok(person.user_id),
            Caller::Key(key) => Ok(key.maker),
            Caller::Nobody | Caller::System => Err(Error::Unauthenticated),
        }
    }

    /// The person who asks; none when a key does.
    pub(crate) const fn person_caller(&self) -> Option<&PersonCaller> {
        match &self.context.caller {
            Caller::Person(person) => Some(person),
            _ => None,
        }
    }

    /// What the request calls this server.
    pub(crate) fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.context.clone()
    }
}

impl<P: Permission> Argument for Org<P> {
    fn describe(facts: &mut Facts) {
        facts.signed_in();
        facts.path_parameter("orgId", "The organization.", "org_01jd7rt4m5e9fv2w8x3c6k0hqz");
        facts.error(404, NOT_FOUND);
        facts.in_organization = true;
        for scope in P::SCOPES {
            facts.scope(*scope);
        }
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let id = call.path_value("orgId")?.parse::<OrgId>().map_err(|_| Error::not_found(NOT_FOUND))?;
        let (person, granted) = match &call.context.caller {
            Caller::Person(person) => (person.user_id, None),
            Caller::Key(key) if key.org_id == id => (key.maker, Some(key.scopes)),
            Caller::Nobody => return Err(Error::Unauthenticated.into()),
            Caller::Key(_) | Caller::System => return Err(Error::not_found(NOT_FOUND).into()),
        };
        let membership = call.state.store.membership(id, person).await?.ok_or_else(|| Error::not_found(NOT_FOUND))?;
        let by_role = membership.scopes();
        let scopes = granted.map_or(by_role, |granted: ScopeSet| granted.intersection(by_role));
        let Membership { kind, role, .. } = membership;
        let (context, host) = (call.context.clone(), call.header(header::HOST).map(str::to_owned));
        let org = Self { id, kind, role, scopes, context, host, permission: PhantomData };
        P::SCOPES.iter().try_for_each(|scope| org.require(*scope))?;
        Ok(org)
    }
}
