//! Confirming the account's e-mail address: a code is mailed there, and typed back. What counts an account by its address, as a help
//! center's list of customers does, counts it only then.

use domain::{
    Email, Error, Result, Timestamp,
    notify::phone::{CODE_LASTS, CODE_TRIES_MAX, ConfirmationCode, count_code, no_code, wrong_code},
};
use kernel::{Command, Handle, Turn};
use store::{Change, EmailTo, OutboxEntry, accounts::EmailConfirmation};

use super::{Person, audit, current};

/// Mails a code to the account's address. Answers until when it counts.
#[derive(Clone, Copy, Debug)]
pub struct SendEmailCode;

/// Confirms the account's address; answers it.
#[derive(Clone, Debug)]
pub struct ConfirmEmail(pub ConfirmationCode);

impl Command for SendEmailCode {
    type Reply = Timestamp;

    const NAME: &'static str = "send_email_code";
}

impl Command for ConfirmEmail {
    type Reply = Email;

    const NAME: &'static str = "confirm_email";
}

impl Handle<SendEmailCode> for Person {
    async fn handle(&mut self, _: &SendEmailCode, turn: &mut Turn<'_, Self>) -> Result<Timestamp> {
        let (person, user_id, now) = (current(turn).await?, *turn.key(), turn.now());
        let before = turn.services().store.email_confirmation(user_id).await?;
        let unknown = EmailConfirmation {
            user_id,
            email: person.email.clone(),
            confirmed_at: None,
            code: None,
            tries: 0,
            codes_sent: Vec::new(),
            version: 0,
        };
        let mut known = before.unwrap_or(unknown);
        count_code(&mut known.codes_sent, now)?;
        let (code, until) = (ConfirmationCode::generate()?, now.after(CODE_LASTS));
        known.code = Some((code.hash(user_id, person.email.as_str()), until));
        known.tries = 0;
        known.version += 1;
        let mut change = Change::new();
        change.email_confirmation_set(&known);
        let entry = OutboxEntry::Email {
            to: EmailTo::Address(person.email.to_string()),
            subject: "Confirm your address".to_owned(),
            body: format!("{} is your code to confirm this address. It counts for ten minutes.\n", code.reveal()),
            calendar: None,
        };
        change.outbox_add_for(user_id, now, &entry);
        audit(&mut change, turn, "person.email_code_sent");
        turn.commit(change).await?;
        Ok(until)
    }
}

impl Handle<ConfirmEmail> for Person {
    async fn handle(&mut self, ConfirmEmail(typed): &ConfirmEmail, turn: &mut Turn<'_, Self>) -> Result<Email> {
        let (person, user_id, now) = (current(turn).await?, *turn.key(), turn.now());
        let known = turn.services().store.email_confirmation(user_id).await?;
        let mut known = known.filter(|it| it.tries < i64::from(CODE_TRIES_MAX)).ok_or_else(no_code)?;
        let code = known.code.take().filter(|(_, until)| *until > now);
        let (hash, until) = code.ok_or_else(no_code)?;
        known.version += 1;
        if hash != typed.hash(user_id, person.email.as_str()) {
            let counted = EmailConfirmation { tries: known.tries + 1, code: Some((hash, until)), ..known };
            return self.wrong_email_code(&counted, turn).await;
        }
        known.email = person.email.clone();
        known.confirmed_at = Some(now);
        let mut change = Change::new();
        change.email_confirmation_set(&known);
        audit(&mut change, turn, "person.email_confirmed");
        turn.commit(change).await?;
        Ok(person.email)
    }
}

impl Person {
    /// Counts a wrong code, durably, before saying so.
    async fn wrong_email_code<T>(&self, counted: &EmailConfirmation, turn: &mut Turn<'_, Self>) -> Result<T, Error> {
        let mut change = Change::new();
        change.email_confirmation_set(counted);
        turn.commit(change).await?;
        Err(wrong_code())
    }
}
