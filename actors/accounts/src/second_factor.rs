//! Checking a code or a recovery code against a person's second factor.

use domain::{Error, Result, Timestamp, otp::SecondFactor};
use store::{Change, EmailTo, OutboxEntry, Store, accounts::Person};

/// What a shown second factor came to.
pub(crate) enum Checked {
    /// The person has none.
    NotEnrolled,
    /// It is right, and must be used up in the same commit.
    Right(Used),
    /// It is wrong, or was used before.
    Wrong,
}

/// A second factor that is right once.
pub(crate) enum Used {
    /// A code of this step of time.
    Code(i64),
    /// The recovery code with this hash.
    Recovery(String),
}

/// Checks what somebody typed.
pub(crate) async fn check(store: &Store, person: &Person, typed: &str, now: Timestamp) -> Result<Checked> {
    let Some(secret) = &person.otp_secret else { return Ok(Checked::NotEnrolled) };
    let used = match SecondFactor::parse(typed) {
        Some(SecondFactor::Code(code)) => secret.accept(&code, now, person.otp_last_step).map(Used::Code),
        Some(SecondFactor::Recovery(code)) => {
            let hash = code.hash();
            store.recovery_code_exists(person.id, &hash).await?.then_some(Used::Recovery(hash))
        }
        None => None,
    };
    Ok(used.map_or(Checked::Wrong, Checked::Right))
}

impl Used {
    /// Uses it up; `person` is to be written in the same change. Stale when somebody else was faster.
    pub fn spend(&self, change: &mut Change, person: &mut Person, now: Timestamp) {
        match self {
            Self::Code(step) => person.otp_last_step = *step,
            Self::Recovery(hash) => {
                change.recovery_code_spend(person.id, hash);
                let entry = OutboxEntry::Email {
                    to: EmailTo::Person(person.id),
                    subject: "A recovery code was used".to_owned(),
                    body: "One of your recovery codes was used in place of your authenticator app. It can't be used \
                           again.\n\nIf this wasn't you, change your password and end the sign-ins that you don't \
                           know.\n"
                        .to_owned(),
                    calendar: None,
                };
                change.outbox_add(now, &entry);
            }
        }
    }

    /// How it is named in the audit trail.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Code(_) => "code",
            Self::Recovery(_) => "recovery_code",
        }
    }
}

/// 409: the person has no second factor.
pub(crate) fn not_enrolled() -> Error {
    Error::conflict("otp_not_enrolled", "You have no second factor yet.")
}

/// 403: a second factor of somebody who is signed in is wrong.
pub(crate) fn wrong_code() -> Error {
    Error::forbidden("wrong_code", "That code is wrong.")
}
