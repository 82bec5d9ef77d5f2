//! An operator, as an argument: somebody with a permission in the platform's own organization.
//!
//! The paths below `/v1/platform` name no organization, so there is none to hide: whoever lacks the scope there, with a
//! part in that organization or without, reads 403 and which scope it is.

use std::marker::PhantomData;

use domain::{Caller, Context, Error, Scope, ScopeSet, id::OrgId};

use crate::{argument::Argument, call::Call, error::Result, facts::Facts, permission::Permission, state::State};

/// A caller with the permission `P` in the platform's organization.
pub(crate) struct Operator<P: Permission> {
    org_id: OrgId,
    context: Context,
    permission: PhantomData<P>,
}

impl<P: Permission> Operator<P> {
    /// The platform's organization.
    pub(crate) const fn org_id(&self) -> OrgId {
        self.org_id
    }

    /// The context to ask with.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }
}

impl<P: Permission> Argument for Operator<P> {
    fn describe(facts: &mut Facts) {
        facts.signed_in();
        for scope in P::SCOPES {
            facts.scope(*scope);
        }
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org_id = admit(&call.state, &call.context.caller, P::SCOPES).await?;
        Ok(Self { org_id, context: call.context.clone(), permission: PhantomData })
    }
}

/// The platform's organization, if the caller has all these scopes there.
pub(crate) async fn admit(state: &State, caller: &Caller, wanted: &[Scope]) -> Result<OrgId> {
    let (person, granted) = match caller {
        Caller::Nobody | Caller::System => return Err(Error::Unauthenticated.into()),
        Caller::Person(person) => (person.user_id, None),
        Caller::Key(key) => (key.maker, Some(key)),
    };
    let org_id = state.store.platform_organization().await?.map(|organization| organization.id);
    let mut has = ScopeSet::default();
    if let Some(org_id) = org_id
        && let Some(membership) = state.store.membership(org_id, person).await?
    {
        has = match granted {
            None => membership.scopes(),
            Some(key) if key.org_id == org_id => key.scopes.intersection(membership.scopes()),
            Some(_) => ScopeSet::default(),
        };
    }
    let missing = wanted.iter().find(|scope| !has.contains(**scope)).copied();
    match (missing, org_id) {
        (None, Some(org_id)) => Ok(org_id),
        (missing, _) => Err(Error::MissingScope(missing.unwrap_or(Scope::PlatformInfra)).into()),
    }
}
