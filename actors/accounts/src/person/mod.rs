//! One person's account: who they are, their password and second factor, their sign-ins.
//!
//! The actor puts a person's changes in order. It holds nothing in memory: the guard of their sign-ins writes the
//! same row, so each command reads it, decides, and commits against the version that it read.

mod app_passwords;
mod email;
mod otp;
mod password;
mod phone;
mod profile;
mod sign_ins;

use actors_base::Services;
use domain::{Caller, Email, Error, PersonCaller, Result, Timestamp, id::UserId};
use kernel::{Resource, Turn};
use store::{
    Change, EmailTo, OutboxEntry, accounts,
    audit::{AuditEntry, AuditTarget},
};

pub use self::{
    app_passwords::{MakeAppPassword, RevokeAppPassword},
    email::{ConfirmEmail, SendEmailCode},
    otp::{ConfirmOtp, EnrolOtp, Enrolment, RemoveOtp, StepUp},
    password::{ChangePassword, ResetPassword},
    phone::{CodeSent, ConfirmPhone, SendPhoneCode},
    profile::ChangeProfile,
    sign_ins::{EndSignIn, EndSignIns, IssueSignIn, NoteSignInUse},
};

/// A person's account.
#[derive(Debug)]
pub struct Person;

impl Resource for Person {
    type Key = UserId;
    type Services = Services;

    const KIND: &'static str = "person";

    async fn load(_: &UserId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// An account that was never changed.
pub(crate) fn new_person(email: Email, name: String, password_hash: String, now: Timestamp) -> accounts::Person {
    accounts::Person {
        id: UserId::new(now),
        email,
        name,
        password_hash,
        password_change_due: false,
        locale: None,
        time_zone: None,
        phone: None,
        otp_secret: None,
        otp_pending: None,
        otp_last_step: 0,
        version: 1,
        created_at: now,
        updated_at: now,
    }
}

/// The account as it is now.
async fn current(turn: &Turn<'_, Person>) -> Result<accounts::Person> {
    let person = turn.services().store.person(*turn.key()).await?;
    person.ok_or_else(|| Error::not_found("Person not found."))
}

/// The sign-in through which the person asks.
fn asking<'a>(turn: &Turn<'a, Person>) -> Result<&'a PersonCaller> {
    match &turn.context().caller {
        Caller::Person(person) if person.user_id == *turn.key() => Ok(person),
        _ => Err(Error::Unauthenticated),
    }
}

/// Writes the audit entry of something that a person did to their own account.
fn audit(change: &mut Change, turn: &Turn<'_, Person>, action: &str) {
    let target = AuditTarget::new("person", turn.key());
    change.audit_add(turn.now(), AuditEntry::new(turn.context(), action, target));
}

/// E-mails the person about their account's security.
fn email(change: &mut Change, turn: &Turn<'_, Person>, subject: &str, what: &str) {
    let body = format!("{what}\n\nIf this wasn't you, ask the people who run this server for help at once.\n");
    let entry =
        OutboxEntry::Email { to: EmailTo::Person(*turn.key()), subject: subject.to_owned(), body, calendar: None };
    change.outbox_add(turn.now(), &entry);
}
