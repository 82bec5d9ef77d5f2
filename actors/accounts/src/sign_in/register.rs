//! Making an account.

use domain::{
    Error, Result, TokenHash,
    account::{Password, Registration, invitation_gone},
    id::OrgId,
};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    accounts::Person,
    audit::{AuditEntry, AuditTarget},
};

use super::{SignInGuard, open::actor, places};
use crate::{organization::accept_invite, passwords, person::new_person};

/// Makes an account for the address that the guard is for.
#[derive(Clone, Debug)]
pub struct Register {
    /// The password.
    pub password: Password,
    /// What the person is called.
    pub name: String,
    /// The token of the invitation that they hold.
    pub invite: Option<TokenHash>,
}

/// A new account.
#[derive(Debug)]
pub struct Registered {
    /// Whose it is.
    pub person: Person,
    /// The organization that the invitation led into.
    pub org_id: Option<OrgId>,
}

/// Makes an account without regard to who may register, with a password that the person should change. For operators.
#[derive(Clone, Debug)]
pub struct CreateAccount {
    /// The password.
    pub password: Password,
    /// What the person is called.
    pub name: String,
}

impl Command for Register {
    type Reply = Registered;

    const NAME: &'static str = "register";
}

impl Handle<Register> for SignInGuard {
    async fn handle(&mut self, command: &Register, turn: &mut Turn<'_, Self>) -> Result<Registered> {
        let (email, now, services) = (turn.key(), turn.now(), turn.services());
        let store = &services.store;
        match (services.settings.registration, command.invite) {
            (Registration::Closed, _) => return Err(closed()),
            (Registration::Invite, None) => return Err(invite_wanted()),
            _ => {}
        }
        let invite = match command.invite {
            Some(hash) => Some(store.invite_by_token(hash).await?.ok_or_else(invitation_gone)?),
            None => None,
        };
        if let Some(invite) = &invite {
            invite.invitation.accept_check(email, now)?;
        }
        if store.person_by_email(email).await?.is_some() {
            return Err(email_taken());
        }
        let cost = services.settings.password_cost;
        let hash = passwords::hash(turn, cost, command.password.reveal()).await?;
        let person = new_person(email.clone(), command.name.clone(), hash, now);
        let mut change = Change::new();
        change.person_add(&person);
        places::note_address(&mut change, &person, turn.context(), now);
        let target = AuditTarget::new("person", person.id).labelled(&person.name);
        change.audit_add(now, AuditEntry::new(turn.context(), "person.registered", target).by(actor(&person)));
        if let Some(invite) = &invite {
            accept_invite(&mut change, store, turn.context(), invite, &person, now).await?;
        }
        turn.commit(change).await?;
        Ok(Registered { person, org_id: invite.map(|invite| invite.org_id) })
    }
}

impl Command for CreateAccount {
    type Reply = Person;

    const NAME: &'static str = "create_account";
}

impl Handle<CreateAccount> for SignInGuard {
    async fn handle(&mut self, command: &CreateAccount, turn: &mut Turn<'_, Self>) -> Result<Person> {
        let (email, now, services) = (turn.key(), turn.now(), turn.services());
        if services.store.person_by_email(email).await?.is_some() {
            return Err(email_taken());
        }
        let hash = passwords::hash(turn, services.settings.password_cost, command.password.reveal()).await?;
        let person = Person { password_change_due: true, ..new_person(email.clone(), command.name.clone(), hash, now) };
        let mut change = Change::new();
        change.person_add(&person);
        let target = AuditTarget::new("person", person.id).labelled(&person.name);
        change.audit_add(now, AuditEntry::new(turn.context(), "person.created", target));
        turn.commit(change).await?;
        Ok(person)
    }
}

/// 409: somebody has this address.
fn email_taken() -> Error {
    Error::conflict("email_taken", "There is an account with this email already.")
}

fn closed() -> Error {
    Error::forbidden("registration_closed", "Registration is closed.")
}

fn invite_wanted() -> Error {
    Error::forbidden("invite_wanted", "Registration is by invitation.")
}
