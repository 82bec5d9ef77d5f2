//! An organization's notifications: for its people, and for no key.

use std::ops::Deref;

use actors::notify::protocols::PEOPLE_ONLY;
use domain::id::UserId;
use http_shell::{argument::Argument, call::Call, error::Result, facts::Facts, org::Org, permission::Permission};

/// The organization that the path names, in which the person who asks has the permission `P`.
pub(crate) struct NotifyOrg<P: Permission> {
    org: Org<P>,
    user_id: UserId,
}

impl<P: Permission> NotifyOrg<P> {
    /// Who asks.
    pub(crate) const fn user_id(&self) -> UserId {
        self.user_id
    }
}

impl<P: Permission> Deref for NotifyOrg<P> {
    type Target = Org<P>;

    fn deref(&self) -> &Org<P> {
        &self.org
    }
}

impl<P: Permission> Argument for NotifyOrg<P> {
    fn describe(facts: &mut Facts) {
        Org::<P>::describe(facts);
        facts.door("people", PEOPLE_ONLY);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org = Org::<P>::take(call).await?;
        let user_id = org.authority().person(PEOPLE_ONLY)?;
        Ok(Self { org, user_id })
    }
}
