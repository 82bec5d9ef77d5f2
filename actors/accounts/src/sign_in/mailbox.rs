//! Letting the mail client of a person in: with the address of a mailbox, and an app password of one of its members.

use std::time::Duration;

use domain::{
    Caller, Email, Error, Result, Scope, Token,
    app_password::{AppPasswordCaller, AppPasswordUse},
    mail::Mailbox,
};
use kernel::{Command, Handle, Turn};
use store::{Change, Store, accounts::AppPassword};

use super::SignInGuard;
use crate::login_attempt::LoginAttempt;

/// How often it is noted that an app password was used.
const USE_NOTED_EVERY: Duration = Duration::from_hours(1);

/// Shows an app password for the mailbox with the guard's address.
#[derive(Clone)]
pub struct OpenMailbox {
    /// What was typed as the password.
    pub password: String,
    /// What the client wants to do.
    pub opens: AppPasswordUse,
}

/// A mailbox that was opened.
#[derive(Clone, Debug)]
pub struct OpenedMailbox {
    /// The mailbox.
    pub mailbox: Mailbox,
    /// Who opened it.
    pub caller: AppPasswordCaller,
}

impl Command for OpenMailbox {
    type Reply = OpenedMailbox;

    const NAME: &'static str = "open_mailbox";
}

impl Handle<OpenMailbox> for SignInGuard {
    async fn handle(&mut self, command: &OpenMailbox, turn: &mut Turn<'_, Self>) -> Result<OpenedMailbox> {
        let (address, now, store) = (turn.key(), turn.now(), turn.services().store.clone());
        let attempt = LoginAttempt::begin_at_mailbox(&store, address, now).await?;
        let Some((password, mailbox)) = found(&store, address, command).await? else {
            return attempt.fail(turn, None, wrong_app_password()).await;
        };
        // Who may not is told so, and guessed nothing.
        let AppPassword { id, user_id, org_id, .. } = password;
        let caller = AppPasswordCaller { id, user_id, org_id, opens: command.opens };
        let authority = store.authority(org_id, &Caller::AppPassword(caller)).await?;
        if command.opens == AppPasswordUse::Smtp {
            authority.require(Scope::MailSend)?;
        }
        let is_noted = password.last_used_at.is_some_and(|at| at > now.before(USE_NOTED_EVERY));
        if !is_noted || attempt.has_failures() {
            let mut change = Change::new();
            attempt.succeed(&mut change);
            change.app_password_used(id, now);
            turn.commit(change).await?;
        }
        Ok(OpenedMailbox { mailbox, caller })
    }
}

/// The app password and the mailbox that it opens; none where anything about the two is wrong.
async fn found(store: &Store, address: &Email, command: &OpenMailbox) -> Result<Option<(AppPassword, Mailbox)>> {
    let Ok(token) = command.password.parse::<Token>() else { return Ok(None) };
    let password = store.app_password_by_token(&token).await?;
    let Some(password) = password.filter(|it| it.uses.contains(&command.opens)) else { return Ok(None) };
    let mailbox = store.mailbox_within(password.org_id, address).await?;
    Ok(mailbox.filter(|it| it.members.contains(&password.user_id)).map(|mailbox| (password, mailbox)))
}

fn wrong_app_password() -> Error {
    Error::SignInFailed { code: "wrong_credentials", message: "That address or app password is wrong.".into() }
}
