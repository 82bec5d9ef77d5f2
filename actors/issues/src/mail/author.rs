//! Who wrote a message.

use domain::{
    Email, Result,
    id::{OrgId, UserId},
    issues::{
        issue::Issue,
        portal::{ServiceDesk, Visitor, is_let_in, takes_part},
    },
    mail::{Outcome, Verdict},
};
use store::Store;

use crate::portal::visitor;

/// Who wrote a message, as far as it tells.
#[derive(Clone, Debug)]
pub(super) struct Author {
    /// Their address, in small letters.
    pub email: String,
    /// Whether somebody vouches for the message coming from there.
    pub is_verified: bool,
    /// Who has the address here, where the desk is there for them.
    account: Option<UserId>,
}

/// The account of an address: of a member, or of whoever showed that the address is theirs.
pub(super) async fn account_of(store: &Store, org_id: OrgId, email: &Email) -> Result<Option<Visitor>> {
    let Some(person) = store.person_by_email(email).await? else { return Ok(None) };
    let visitor = visitor(store, org_id, person.id).await?;
    let is_theirs = visitor.is_member || visitor.confirmed_email.as_ref() == Some(email);
    Ok(is_theirs.then_some(visitor))
}

impl Author {
    pub fn new(desk: &ServiceDesk, email: &Email, visitor: Option<&Visitor>, verdict: &Verdict) -> Self {
        let account = visitor.filter(|visitor| is_let_in(desk, visitor)).map(|visitor| visitor.user_id);
        Self { email: email.to_string(), is_verified: verdict.dmarc == Outcome::Pass, account }
    }

    /// Whoever acts: nobody where anybody could have written the message in their name.
    pub fn person(&self) -> Option<UserId> {
        self.account.filter(|_| self.is_verified)
    }

    /// Whether the message says to be of somebody who raised the request or takes part in it.
    pub fn takes_part(&self, issue: &Issue) -> bool {
        let by_mail = issue.requester_email.iter().chain(&issue.email_participants).any(|it| *it == self.email);
        issue.request_type_id.is_some() && (by_mail || self.account.is_some_and(|person| takes_part(issue, person)))
    }
}
