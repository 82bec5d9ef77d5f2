//! Who opens mailboxes, and the mailbox that the path names, as arguments.

use std::ops::Deref;

use domain::{
    Caller,
    id::{MailboxId, OrgId, UserId},
    mail::{MEMBERS_ONLY, Mailbox},
};
use store::{Store, StoreError};

use crate::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    owned::{OwnedRow, Owner},
    permission::{Part, Permission},
};

/// The organization that the path names, for a person in it with the permission `P`: keys have no mailboxes (contract B 4.8).
pub struct MailPerson<P: Permission = Part> {
    org: Org<P>,
    user_id: UserId,
}

impl<P: Permission> MailPerson<P> {
    /// The person who asks.
    pub const fn user_id(&self) -> UserId {
        self.user_id
    }
}

impl<P: Permission> Deref for MailPerson<P> {
    type Target = Org<P>;

    fn deref(&self) -> &Org<P> {
        &self.org
    }
}

impl<P: Permission> Argument for MailPerson<P> {
    fn describe(facts: &mut Facts) {
        Org::<P>::describe(facts);
        facts.door("people", MEMBERS_ONLY);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org = Org::<P>::take(call).await?;
        let user_id = org.authority().person(MEMBERS_ONLY)?;
        Ok(Self { org, user_id })
    }
}

/// A person in an organization, as mailboxes are theirs.
#[derive(Clone, Copy)]
pub struct MailboxReader {
    org_id: OrgId,
    user_id: UserId,
}

impl Owner for MailboxReader {
    fn is_described(facts: &Facts) -> bool {
        facts.in_organization && !facts.doors.is_empty()
    }

    fn proven(call: &Call) -> Option<Self> {
        match &call.context.caller {
            Caller::Person(person) => call.entered.map(|org_id| Self { org_id, user_id: person.user_id }),
            Caller::Key(_)
            | Caller::AccessKey(_)
            | Caller::Job(_)
            | Caller::AppPassword(_)
            | Caller::Nobody
            | Caller::System => None,
        }
    }
}

impl OwnedRow for Mailbox {
    type Owner = MailboxReader;
    type Id = MailboxId;

    async fn load(store: &Store, owner: MailboxReader, id: MailboxId) -> Result<Option<Self>, StoreError> {
        store.mailbox_of(owner.org_id, id, owner.user_id).await
    }
}
