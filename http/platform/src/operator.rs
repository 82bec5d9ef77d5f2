//! An operator, as an argument: somebody with a permission in the platform's own organization.
//!
//! The paths below `/v1/platform` name no organization, so there is none to hide: whoever lacks the scope there, with a
//! part in that organization or without, reads 403 and which scope it is.

use std::marker::PhantomData;

use domain::{Authority, Caller, Context, Error, Scope, authority::ORGANIZATION_NOT_FOUND, id::OrgId};
use http_shell::{argument::Argument, call::Call, error::Result, facts::Facts, permission::Permission, state::State};

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
    let organization = state.store.platform_organization().await?;
    let found = match (caller, organization) {
        (Caller::Nobody, _) => Err(Error::Unauthenticated),
        (caller, Some(organization)) => state.store.authority(organization.id, caller).await,
        // Before the first start has made it, nobody is an operator.
        (_, None) => Err(Error::not_found(ORGANIZATION_NOT_FOUND)),
    };
    Ok(Authority::admit(found, wanted)?.org_id())
}
