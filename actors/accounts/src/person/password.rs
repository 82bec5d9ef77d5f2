//! Changing and resetting the password.

use domain::{Error, Result, account::Password, id::SignInId};
use kernel::{Command, Handle, Turn};
use store::{Change, Store};

use super::{Person, asking, audit, current, email};
use crate::{login_attempt::LoginAttempt, passwords};

/// Changes the password and ends every other sign-in, and all app passwords.
#[derive(Clone)]
pub struct ChangePassword {
    /// What was typed as the password of now.
    pub current: String,
    /// The next one.
    pub new: Password,
}

/// Sets a password that somebody else chose, switches the second factor off, and ends every sign-in and app password.
/// For operators.
#[derive(Clone, Debug)]
pub struct ResetPassword {
    /// The password.
    pub new: Password,
}

impl Command for ChangePassword {
    type Reply = ();

    const NAME: &'static str = "change_password";
}

impl Handle<ChangePassword> for Person {
    async fn handle(&mut self, command: &ChangePassword, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (mut person, now) = (current(turn).await?, turn.now());
        let services = turn.services();
        let cost = services.settings.password_cost;
        let kept = asking(turn)?.sign_in_id;
        let attempt = LoginAttempt::begin(&services.store, &person.email, now).await?;
        if !passwords::verify(turn, cost, &command.current, Some(&person.password_hash)).await? {
            return attempt.fail(turn, Some(&person), wrong_password()).await;
        }
        person.password_hash = passwords::hash(turn, cost, command.new.reveal()).await?;
        person.password_change_due = false;
        person.updated_at = now;
        let mut change = Change::new();
        change.person_set(&person);
        end_sign_ins(&mut change, &services.store, turn, Some(kept)).await?;
        change.app_passwords_end(person.id);
        audit(&mut change, turn, "password.changed");
        email(&mut change, turn, "Your password was changed", "Your password was changed. Every other sign-in ended.");
        turn.commit(change).await
    }
}

impl Command for ResetPassword {
    type Reply = ();

    const NAME: &'static str = "reset_password";
}

impl Handle<ResetPassword> for Person {
    async fn handle(&mut self, command: &ResetPassword, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (mut person, now) = (current(turn).await?, turn.now());
        let services = turn.services();
        person.password_hash = passwords::hash(turn, services.settings.password_cost, command.new.reveal()).await?;
        person.password_change_due = true;
        person.otp_secret = None;
        person.otp_pending = None;
        person.updated_at = now;
        let mut change = Change::new();
        change.person_set(&person);
        change.recovery_codes_set(person.id, &[]);
        change.attempts_clear(person.email.as_str());
        end_sign_ins(&mut change, &services.store, turn, None).await?;
        change.app_passwords_end(person.id);
        audit(&mut change, turn, "password.reset");
        email(&mut change, turn, "Your password was reset", "Your password was reset. Every sign-in ended.");
        turn.commit(change).await
    }
}

/// Ends the person's sign-ins but for the one that is kept.
async fn end_sign_ins(
    change: &mut Change,
    store: &Store,
    turn: &Turn<'_, Person>,
    kept: Option<SignInId>,
) -> Result<()> {
    for sign_in in store.sign_ins(*turn.key()).await? {
        if Some(sign_in.id) != kept {
            change.sign_in_end(turn.now(), sign_in.id);
        }
    }
    Ok(())
}

fn wrong_password() -> Error {
    Error::forbidden("wrong_password", "That password is wrong.")
}
