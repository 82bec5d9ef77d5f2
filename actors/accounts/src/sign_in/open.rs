//! Signing in.

use domain::{
    App, Email, Error, Platform, Result, Timestamp, Token, TokenKind, account::SIGN_INS_MAX, account::STEP_UP_LASTS,
    id::SignInId,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, Store,
    accounts::{Person, SignIn},
    audit::{ActorKind, AuditActor, AuditEntry, AuditTarget},
};

use super::{SignInGuard, places};
use crate::{
    login_attempt::LoginAttempt,
    passwords,
    second_factor::{self, Checked, Used},
};

/// Signs in with the password and, once enrolled, a second factor.
#[derive(Clone)]
pub struct OpenSignIn {
    /// What was typed as the password.
    pub password: String,
    /// What was typed as the second factor.
    pub otp: Option<String>,
    /// The app that the sign-in is for.
    pub app: App,
    /// What the app runs on.
    pub platform: Platform,
    /// The app's install.
    pub install_id: Option<String>,
}

/// A new sign-in.
#[derive(Debug)]
pub struct Opened {
    /// The credential, shown once.
    pub token: Token,
    /// The sign-in.
    pub sign_in: SignIn,
    /// Who signed in.
    pub person: Person,
}

impl Command for OpenSignIn {
    type Reply = Opened;

    const NAME: &'static str = "open";
}

impl Handle<OpenSignIn> for SignInGuard {
    async fn handle(&mut self, command: &OpenSignIn, turn: &mut Turn<'_, Self>) -> Result<Opened> {
        let (email, now) = (turn.key(), turn.now());
        let services = turn.services();
        let store = &services.store;
        let attempt = LoginAttempt::begin(store, email, now).await?;
        let (person, is_right) = known(command, email, turn).await?;
        let person = match person {
            Some(person) if is_right => person,
            person => return attempt.fail(turn, person.as_ref(), wrong_credentials()).await,
        };
        let factor = match (&command.otp, &person.otp_secret) {
            (_, None) => None,
            (None, Some(_)) => return Err(code_wanted()),
            (Some(typed), Some(_)) => match second_factor::check(store, &person, typed, now).await? {
                Checked::Right(used) => Some(used),
                Checked::NotEnrolled | Checked::Wrong => return attempt.fail(turn, Some(&person), wrong_code()).await,
            },
        };
        let mut change = Change::new();
        attempt.succeed(&mut change);
        open(change, person, factor, command, turn).await
    }
}

/// The person with the address, and whether the password is theirs; it takes as long for an address that nobody has.
async fn known(command: &OpenSignIn, email: &Email, turn: &Turn<'_, SignInGuard>) -> Result<(Option<Person>, bool)> {
    let services = turn.services();
    let person = services.store.person_by_email(email).await?;
    let hash = person.as_ref().map(|person| person.password_hash.as_str());
    let is_right = passwords::verify(turn, services.settings.password_cost, &command.password, hash).await?;
    Ok((person, is_right))
}

async fn open(
    mut change: Change,
    mut person: Person,
    factor: Option<Used>,
    command: &OpenSignIn,
    turn: &mut Turn<'_, SignInGuard>,
) -> Result<Opened> {
    let (services, now) = (turn.services(), turn.now());
    let cost = services.settings.password_cost;
    let is_cheap = !passwords::made_at(cost, &person.password_hash);
    if is_cheap {
        person.password_hash = passwords::hash(turn, cost, &command.password).await?;
    }
    if let Some(used) = &factor {
        used.spend(&mut change, &mut person, now);
    }
    // Either way this takes the person's turn: a password that changes meanwhile makes this stale, and this makes a change of
    // the password stale, which then ends this sign-in too.
    if is_cheap || factor.is_some() {
        change.person_set(&person);
    } else {
        change.person_turn(&person);
    }
    person.version += 1;
    let token = Token::generate(TokenKind::SignIn)?;
    let sign_in = SignIn {
        id: SignInId::new(now),
        user_id: person.id,
        app: command.app,
        platform: command.platform,
        install_id: command.install_id.clone(),
        ip: turn.context().ip,
        user_agent: turn.context().user_agent.as_deref().map(str::to_owned),
        created_at: now,
        last_seen_at: now,
        expires_at: now.after(services.settings.sign_in_lasts),
        confirmed_until: factor.is_some().then(|| now.after(STEP_UP_LASTS)),
    };
    make_room(&mut change, &services.store, &person, now).await?;
    places::note(&mut change, &services.store, &person, &sign_in).await?;
    change.sign_in_add(&sign_in, token.hash());
    let target = AuditTarget::new("sign_in", sign_in.id);
    let metadata =
        json!({ "app": sign_in.app, "platform": sign_in.platform, "factor": factor.as_ref().map(Used::name) });
    let entry = AuditEntry::new(turn.context(), "sign_in.opened", target).by(actor(&person)).with_metadata(metadata);
    change.audit_add(now, entry);
    turn.commit(change).await?;
    Ok(Opened { token, sign_in, person })
}

/// Ends what has expired and, when there are too many, what was unused for longest.
async fn make_room(change: &mut Change, store: &Store, person: &Person, now: Timestamp) -> Result<()> {
    let mut sign_ins = store.sign_ins(person.id).await?;
    sign_ins.sort_by_key(|sign_in| std::cmp::Reverse(sign_in.last_seen_at));
    let room = usize::try_from(SIGN_INS_MAX).unwrap_or(usize::MAX) - 1;
    for (place, sign_in) in sign_ins.iter().enumerate() {
        if sign_in.expires_at <= now || place >= room {
            change.sign_in_end(now, sign_in.id);
        }
    }
    Ok(())
}

/// Who acts: nobody is signed in while signing in.
pub(super) fn actor(person: &Person) -> AuditActor {
    AuditActor { kind: ActorKind::User, id: person.id.to_string(), label: None }
}

fn wrong_credentials() -> Error {
    Error::SignInFailed { code: "wrong_credentials", message: "That email or password is wrong.".into() }
}

fn code_wanted() -> Error {
    Error::SignInFailed { code: "code_wanted", message: "Enter the code from your authenticator app.".into() }
}

fn wrong_code() -> Error {
    Error::SignInFailed { code: "wrong_code", message: "That code is wrong.".into() }
}
