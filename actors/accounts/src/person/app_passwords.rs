//! App passwords: making and revoking them.

use domain::{
    Error, Result, Token, TokenKind,
    account::step_up_check,
    app_password::{APP_PASSWORDS_MAX, AppPasswordUse, app_password_not_found, too_many_app_passwords},
    id::{AppPasswordId, OrgId},
    mail::MEMBERS_ONLY,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change,
    accounts::{self, AppPassword},
    audit::{AuditEntry, AuditTarget},
};

use super::{Person, asking, current, email};

/// Makes an app password. Whoever has a second factor must have shown it within the last ten minutes.
#[derive(Clone, Debug)]
pub struct MakeAppPassword {
    /// The organization whose mailboxes it opens.
    pub org_id: OrgId,
    /// What it is called.
    pub name: String,
    /// What it is for, each once.
    pub uses: Vec<AppPasswordUse>,
}

/// Revokes an app password.
#[derive(Clone, Copy, Debug)]
pub struct RevokeAppPassword(pub AppPasswordId);

impl Command for MakeAppPassword {
    type Reply = (AppPassword, Token);

    const NAME: &'static str = "make_app_password";
}

impl Handle<MakeAppPassword> for Person {
    async fn handle(&mut self, command: &MakeAppPassword, turn: &mut Turn<'_, Self>) -> Result<(AppPassword, Token)> {
        // Read before the app passwords: one that is made meanwhile makes this stale, and so does a change of the password.
        let (person, now) = (current(turn).await?, turn.now());
        turn.authority(command.org_id).await?.person(MEMBERS_ONLY)?;
        fresh_factor_check(&person, turn).await?;
        if turn.services().store.app_passwords(person.id).await?.len() >= APP_PASSWORDS_MAX {
            return Err(too_many_app_passwords());
        }
        let token = Token::generate(TokenKind::AppPassword)?;
        let MakeAppPassword { org_id, name, uses } = command.clone();
        let id = AppPasswordId::new(now);
        let password = AppPassword { id, user_id: person.id, org_id, name, uses, created_at: now, last_used_at: None };
        let mut change = Change::new();
        change.person_turn(&person);
        change.app_password_add(&password, token.hash());
        audit(&mut change, turn, "app_password.created", &password);
        let what = format!("A password for a mail client was made: \"{}\".", password.name);
        email(&mut change, turn, "A password for a mail client was made", &what);
        turn.commit(change).await?;
        Ok((password, token))
    }
}

impl Command for RevokeAppPassword {
    type Reply = ();

    const NAME: &'static str = "revoke_app_password";
}

impl Handle<RevokeAppPassword> for Person {
    async fn handle(&mut self, command: &RevokeAppPassword, turn: &mut Turn<'_, Self>) -> Result<()> {
        let all = turn.services().store.app_passwords(*turn.key()).await?;
        let password = all.iter().find(|it| it.id == command.0).ok_or_else(app_password_not_found)?;
        let mut change = Change::new();
        change.app_password_remove(password.id);
        audit(&mut change, turn, "app_password.revoked", password);
        turn.commit(change).await
    }
}

fn audit(change: &mut Change, turn: &Turn<'_, Person>, action: &str, password: &AppPassword) {
    let target = AuditTarget::new("app_password", password.id).labelled(&password.name);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(password.org_id);
    change.audit_add(turn.now(), entry.with_metadata(json!({ "uses": password.uses })));
}

/// 403 when the person has a second factor and has not just shown it.
async fn fresh_factor_check(person: &accounts::Person, turn: &Turn<'_, Person>) -> Result<()> {
    if person.otp_secret.is_none() {
        return Ok(());
    }
    let sign_in = turn.services().store.sign_in(person.id, asking(turn)?.sign_in_id).await?;
    step_up_check(sign_in.ok_or(Error::Unauthenticated)?.confirmed_until, turn.now())
}
