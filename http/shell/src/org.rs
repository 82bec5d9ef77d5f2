//! A part in an organization, and a permission there, as an argument.
//!
//! The path's `orgId` is loaded together with what the caller may do in it now. Who has no part in it reads 404, as if the
//! organization did not exist; who has one but lacks a scope reads which.

use std::marker::PhantomData;

use actix_web::http::header;
use domain::{
    Authority, Caller, Context, Error, PersonCaller, Scope, authority::ORGANIZATION_NOT_FOUND, id::OrgId, role::Role,
};

use crate::{argument::Argument, call::Call, error::Result, facts::Facts, permission::Permission};

/// The message of the 404 for an organization that the caller has no part in.
pub const NOT_FOUND: &str = ORGANIZATION_NOT_FOUND;

/// The organization that the path names, in which the caller has the permission `P`.
pub struct Org<P: Permission> {
    entry: Entry,
    permission: PhantomData<P>,
}

/// What is known of whoever came in, whatever they may do.
struct Entry {
    authority: Authority,
    context: Context,
    host: Option<String>,
}

impl<P: Permission> Org<P> {
    /// The organization.
    pub const fn id(&self) -> OrgId {
        self.entry.authority.org_id()
    }

    /// The role of the person who asks, or who made the key that asks.
    pub const fn role(&self) -> Role {
        self.entry.authority.role()
    }

    /// All that the caller may do here.
    pub const fn authority(&self) -> &Authority {
        &self.entry.authority
    }

    /// The person who asks; none when a key does.
    pub const fn person_caller(&self) -> Option<&PersonCaller> {
        match &self.entry.context.caller {
            Caller::Person(person) => Some(person),
            _ => None,
        }
    }

    /// What the request calls this server.
    pub fn host(&self) -> Option<&str> {
        self.entry.host.as_deref()
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.entry.context.clone()
    }
}

impl<P: Permission> Argument for Org<P> {
    fn describe(facts: &mut Facts) {
        describe(facts, P::SCOPES);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let entry = enter(call, P::SCOPES).await?;
        Ok(Self { entry, permission: PhantomData })
    }
}

fn describe(facts: &mut Facts, scopes: &[Scope]) {
    facts.signed_in();
    facts.path_parameter("orgId", "The organization.", "org_01jd7rt4m5e9fv2w8x3c6k0hqz");
    facts.error(404, NOT_FOUND);
    facts.in_organization = true;
    for scope in scopes {
        facts.scope(*scope);
    }
}

async fn enter(call: &mut Call, scopes: &[Scope]) -> Result<Entry> {
    let id = org_of(call)?;
    let authority = call.state.store.authority(id, &call.context.caller).await?;
    authority.require_all(scopes.iter().copied())?;
    call.entered = Some(id);
    let host = call.header(header::HOST).map(str::to_owned);
    Ok(Entry { authority, context: call.context.clone(), host })
}

/// The organization that the path names; what can't be one is none.
pub fn org_of(call: &Call) -> Result<OrgId> {
    Ok(call.path_value("orgId")?.parse().map_err(|_| Error::not_found(NOT_FOUND))?)
}
