//! Ending sign-ins, noting their use, and issuing them to operators.

use domain::{App, Error, Platform, Result, Token, TokenKind, account::SEEN_EVERY, id::SignInId};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    accounts::SignIn,
    audit::{AuditEntry, AuditTarget},
};

use super::{Person, current};

/// Ends one of the person's sign-ins, and all that is tied to it.
#[derive(Clone, Copy, Debug)]
pub struct EndSignIn(pub SignInId);

/// Ends all of the person's sign-ins, and their app passwords; answers how many sign-ins there were.
#[derive(Clone, Copy, Debug)]
pub struct EndSignIns;

/// Notes that a sign-in's token was used, which lets it live on. Told at most once an hour.
#[derive(Clone, Copy, Debug)]
pub struct NoteSignInUse(pub SignInId);

/// Makes a sign-in without a password. For operators at the command line.
#[derive(Clone, Copy, Debug)]
pub struct IssueSignIn {
    /// The app that it is for.
    pub app: App,
    /// The platform.
    pub platform: Platform,
}

impl Command for EndSignIn {
    type Reply = ();

    const NAME: &'static str = "end_sign_in";
}

impl Handle<EndSignIn> for Person {
    async fn handle(&mut self, EndSignIn(id): &EndSignIn, turn: &mut Turn<'_, Self>) -> Result<()> {
        let now = turn.now();
        let found = turn.services().store.sign_in(*turn.key(), *id).await?;
        if found.is_none_or(|sign_in| sign_in.expires_at <= now) {
            return Err(Error::not_found("Sign-in not found."));
        }
        let mut change = Change::new();
        change.sign_in_end(now, *id);
        change.audit_add(now, AuditEntry::new(turn.context(), "sign_in.ended", AuditTarget::new("sign_in", id)));
        turn.commit(change).await
    }
}

impl Command for EndSignIns {
    type Reply = usize;

    const NAME: &'static str = "end_sign_ins";
}

impl Handle<EndSignIns> for Person {
    async fn handle(&mut self, _: &EndSignIns, turn: &mut Turn<'_, Self>) -> Result<usize> {
        // Read before the sign-ins: one that is opened meanwhile makes this stale.
        let (person, now) = (current(turn).await?, turn.now());
        let sign_ins = turn.services().store.sign_ins(*turn.key()).await?;
        let mut change = Change::new();
        change.person_turn(&person);
        change.app_passwords_end(person.id);
        for sign_in in &sign_ins {
            change.sign_in_end(now, sign_in.id);
            let target = AuditTarget::new("sign_in", sign_in.id);
            change.audit_add(now, AuditEntry::new(turn.context(), "sign_in.ended", target));
        }
        turn.commit(change).await?;
        Ok(sign_ins.iter().filter(|sign_in| sign_in.expires_at > now).count())
    }
}

impl Command for NoteSignInUse {
    type Reply = ();

    const NAME: &'static str = "note_sign_in_use";
}

impl Handle<NoteSignInUse> for Person {
    async fn handle(&mut self, NoteSignInUse(id): &NoteSignInUse, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (services, now) = (turn.services(), turn.now());
        let found = services.store.sign_in(*turn.key(), *id).await?;
        if found.is_none_or(|sign_in| sign_in.last_seen_at.after(SEEN_EVERY) > now || sign_in.expires_at <= now) {
            return Ok(());
        }
        let mut change = Change::new();
        change.sign_in_seen(*id, now, now.after(services.settings.sign_in_lasts));
        turn.commit(change).await
    }
}

impl Command for IssueSignIn {
    type Reply = (Token, SignIn);

    const NAME: &'static str = "issue_sign_in";
}

impl Handle<IssueSignIn> for Person {
    async fn handle(&mut self, command: &IssueSignIn, turn: &mut Turn<'_, Self>) -> Result<(Token, SignIn)> {
        let (person, now) = (current(turn).await?, turn.now());
        let token = Token::generate(TokenKind::SignIn)?;
        let sign_in = SignIn {
            id: SignInId::new(now),
            user_id: person.id,
            app: command.app,
            platform: command.platform,
            install_id: None,
            ip: None,
            user_agent: None,
            created_at: now,
            last_seen_at: now,
            expires_at: now.after(turn.services().settings.sign_in_lasts),
            confirmed_until: None,
        };
        let mut change = Change::new();
        change.person_turn(&person);
        change.sign_in_add(&sign_in, token.hash());
        let target = AuditTarget::new("sign_in", sign_in.id);
        change.audit_add(now, AuditEntry::new(turn.context(), "sign_in.issued", target));
        turn.commit(change).await?;
        Ok((token, sign_in))
    }
}
