//! Who a bearer token stands for, without a database read when it was seen in the last seconds.
//!
//! A revocation must hold on every node within a second. So each node reads the store's feed of revocations twice a
//! second, and at once when the hub says that there is one; what it names is forgotten. While the feed can't be read,
//! nothing remembered counts, and every token is looked up.

mod access_keys;
mod memory;

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use actix_web::http::header;
use actors::{
    organization::{NoteAccessKeyUse, NoteKeyUse},
    person::NoteSignInUse,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    Caller, Context, Error, Origin, Timestamp, Token, TokenHash,
    access_key::AccessKeyId,
    account::SignInEnd,
    id::{KeyId, SignInId, UserId},
    pipelines::checkout::CHECKOUT_PREFIX,
};
use store::{
    Revocation, RevocationKind, Store,
    accounts::{AccessKeyCredential, Credential, KeyCredential, SignInCredential},
};

use self::memory::Memory;
use crate::{
    call::Call,
    error::Result,
    revocations::{Subscribers, Subscription},
    state::State,
};

/// How old the last look at the feed may be for what is remembered to count.
const TRUSTED_FOR: Duration = Duration::from_secs(1);
/// How long writing down the use of a credential may take.
const NOTE_TIMEOUT: Duration = Duration::from_secs(10);

/// The tokens and access keys that this node remembers.
pub struct Credentials {
    tokens: Memory<TokenHash, Credential>,
    access_keys: Memory<AccessKeyId, Arc<AccessKeyCredential>>,
    born: Instant,
    /// When the feed was last read, in milliseconds after `born`; 0 for never.
    read_at: AtomicU64,
    subscribers: Arc<Subscribers>,
}

impl Default for Credentials {
    fn default() -> Self {
        Self {
            tokens: Memory::default(),
            access_keys: Memory::default(),
            born: Instant::now(),
            read_at: AtomicU64::new(0),
            subscribers: Arc::default(),
        }
    }
}

impl Credentials {
    /// Who asks: nobody without a credential, 401 with one that is not, or no longer, good.
    pub async fn caller(&self, call: &Call, store: &Store) -> Result<Caller> {
        if !call.request.headers().contains_key(header::AUTHORIZATION) {
            return Ok(Caller::Nobody);
        }
        let said = call.header(header::AUTHORIZATION).ok_or(Error::Unauthenticated)?;
        let password = if call.endpoint.facts.asked_by.shows_password() { basic_password(said) } else { None };
        let token = password.as_deref().or_else(|| bearer(said)).ok_or(Error::Unauthenticated)?;
        if password.is_some() && token.starts_with(CHECKOUT_PREFIX) {
            // What a job fetches its repository with is no credential of anybody's; the repository looks at it.
            return Ok(Caller::Nobody);
        }
        let token: Token = token.parse().map_err(|_| Error::Unauthenticated)?;
        let caller = self.caller_by_token(&token, store).await?;
        if self.tokens.use_is_due(&token.hash(), store.now()) {
            note_use(&call.state, &caller);
        }
        Ok(caller)
    }

    /// Who the token stands for.
    pub async fn caller_by_token(&self, token: &Token, store: &Store) -> Result<Caller> {
        let hash = token.hash();
        let now = store.now();
        if let Some(caller) = self.recall(&hash, now) {
            return Ok(caller);
        }
        let epoch = self.tokens.epoch();
        let Some(credential) = store.credential(token).await? else {
            let end = store.sign_in_ended(hash).await?;
            return Err(end.map_or(Error::Unauthenticated, SignInEnd::error).into());
        };
        let caller = credential.caller(now).ok_or(Error::Unauthenticated)?;
        self.remember(hash, credential, epoch);
        Ok(caller)
    }

    fn recall(&self, hash: &TokenHash, now: Timestamp) -> Option<Caller> {
        if !self.is_trusted() {
            return None;
        }
        self.tokens.recall(hash, |credential| credential.caller(now))
    }

    /// Remembers what was read at `epoch`, unless something was revoked since.
    fn remember(&self, hash: TokenHash, credential: Credential, epoch: u64) {
        let noted_at = last_use(&credential);
        self.tokens.remember(hash, credential, noted_at, epoch);
    }

    /// Looks up anew what concerns this target. For a handler that has just changed something of it, so that this node
    /// knows before it answers; the feed reaches the others, and the sockets.
    pub fn refresh(&self, kind: RevocationKind, target_id: impl std::fmt::Display) {
        let mut revoked = Revoked::default();
        revoked.add(kind, &target_id.to_string());
        self.forget_credentials(&revoked);
    }

    /// Forgets what the revocations name, and tells the sockets that they concern.
    pub fn forget(&self, revocations: &[Revocation]) {
        if revocations.is_empty() {
            return;
        }
        let mut revoked = Revoked::default();
        for revocation in revocations {
            revoked.add(revocation.kind, &revocation.target_id);
        }
        self.forget_credentials(&revoked);
        for id in revoked.ended {
            self.subscribers.sign_in_ended(id);
        }
        for id in revoked.users {
            self.subscribers.user_changed(id);
        }
    }

    fn forget_credentials(&self, revoked: &Revoked) {
        self.tokens.forget(|credential| revoked.concerns(credential));
        self.access_keys.forget(|credential| revoked.concerns_access_key(credential));
    }

    /// Forgets everything, and has every socket look again.
    pub fn forget_all(&self) {
        self.tokens.forget(|_| true);
        self.access_keys.forget(|_| true);
        self.subscribers.all_changed();
    }

    /// Has a socket hear of what concerns this person and this sign-in, from now on.
    pub(crate) fn subscribe(&self, user_id: UserId, sign_in_id: Option<SignInId>) -> Subscription {
        self.subscribers.subscribe(user_id, sign_in_id)
    }

    /// The feed was read at this moment.
    pub(crate) fn feed_was_read(&self, began: Instant) {
        let millis = began.saturating_duration_since(self.born).as_millis();
        self.read_at.store(u64::try_from(millis).unwrap_or(u64::MAX).max(1), Ordering::SeqCst);
    }

    fn is_trusted(&self) -> bool {
        let read_at = self.read_at.load(Ordering::SeqCst);
        read_at > 0 && self.born.elapsed().saturating_sub(Duration::from_millis(read_at)) < TRUSTED_FOR
    }
}

/// The token of a bearer header.
pub fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What a job fetches its repository with, where that is asked for with it.
pub fn checkout_of(call: &Call) -> Option<String> {
    let said = call.header(header::AUTHORIZATION).filter(|_| call.endpoint.facts.asked_by.shows_password())?;
    basic_password(said).filter(|password| password.starts_with(CHECKOUT_PREFIX))
}

/// The password of a header as git sends it; the name beside it may be any.
fn basic_password(header: &str) -> Option<String> {
    let (scheme, pair) = header.split_once(' ')?;
    let pair = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(pair.trim()).ok())??;
    Some(String::from_utf8(pair).ok()?.split_once(':')?.1.to_owned())
}

fn last_use(credential: &Credential) -> Option<Timestamp> {
    match credential {
        Credential::SignIn(sign_in) => Some(sign_in.last_seen_at),
        Credential::Key(key) => key.last_used_at,
    }
}

/// Has the owner of a credential write down that it was used; nobody waits for that.
fn note_use(state: &State, caller: &Caller) {
    let context = Context::system(Origin::Actor, Instant::now() + NOTE_TIMEOUT);
    let actors = &state.actors;
    let told = match caller {
        Caller::Person(person) => actors.person.tell(&person.user_id, NoteSignInUse(person.sign_in_id), context),
        Caller::Key(key) => actors.organization.tell(&key.org_id, NoteKeyUse(key.key_id), context),
        Caller::AccessKey(key) => actors.organization.tell(&key.org_id, NoteAccessKeyUse(key.id), context),
        Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => Ok(()),
    };
    if let Err(error) = told {
        tracing::debug!(%error, "the use of a credential was not noted");
    }
}

/// What revocations name.
#[derive(Default)]
struct Revoked {
    ended: HashSet<SignInId>,
    changed: HashSet<SignInId>,
    users: HashSet<UserId>,
    keys: HashSet<KeyId>,
    access_keys: HashSet<AccessKeyId>,
}

impl Revoked {
    fn add(&mut self, kind: RevocationKind, target_id: &str) {
        let is_read = match kind {
            RevocationKind::SignIn => target_id.parse().map(|id| self.ended.insert(id)),
            RevocationKind::SignInChanged => target_id.parse().map(|id| self.changed.insert(id)),
            RevocationKind::User => target_id.parse().map(|id| self.users.insert(id)),
            RevocationKind::Key => match target_id.parse() {
                Ok(id) => Ok(self.access_keys.insert(id)),
                Err(_) => target_id.parse().map(|id| self.keys.insert(id)),
            },
        };
        if is_read.is_err() {
            tracing::error!(kind = kind.as_str(), target_id, "a revocation of nothing that there can be");
        }
    }

    /// Whether the credential is spoken of.
    fn concerns(&self, credential: &Credential) -> bool {
        match credential {
            Credential::SignIn(SignInCredential { caller, .. }) => {
                self.users.contains(&caller.user_id)
                    || self.ended.contains(&caller.sign_in_id)
                    || self.changed.contains(&caller.sign_in_id)
            }
            Credential::Key(KeyCredential { caller, .. }) => {
                self.users.contains(&caller.maker) || self.keys.contains(&caller.key_id)
            }
        }
    }

    /// Whether the access key is spoken of.
    fn concerns_access_key(&self, credential: &AccessKeyCredential) -> bool {
        self.users.contains(&credential.caller.maker) || self.access_keys.contains(&credential.caller.id)
    }
}

#[cfg(test)]
mod tests {
    use domain::{App, PersonCaller, Platform, TokenKind, account::SEEN_EVERY};

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn sign_in() -> (Token, SignInCredential) {
        let caller = PersonCaller {
            user_id: UserId::new(NOW),
            sign_in_id: SignInId::new(NOW),
            app: App::Account,
            platform: Platform::Web,
            confirmed_until: None,
        };
        let credential = SignInCredential { caller, expires_at: NOW.after(Duration::from_mins(1)), last_seen_at: NOW };
        (Token::generate(TokenKind::SignIn).unwrap(), credential)
    }

    fn remembering(token: &Token, sign_in: &SignInCredential) -> Credentials {
        let credentials = Credentials::default();
        // So that it counts however long the test takes.
        credentials.feed_was_read(Instant::now() + Duration::from_hours(1));
        credentials.remember(token.hash(), Credential::SignIn(sign_in.clone()), 0);
        credentials
    }

    fn revocation(kind: RevocationKind, target_id: &impl ToString) -> Revocation {
        Revocation { seq: 1, kind, target_id: target_id.to_string(), at: NOW }
    }

    #[test]
    fn a_token_seen_just_now_is_recalled_until_it_expires() {
        let (token, sign_in) = sign_in();
        let credentials = remembering(&token, &sign_in);
        assert_eq!(credentials.recall(&token.hash(), NOW), Some(Caller::Person(sign_in.caller.clone())));
        assert_eq!(credentials.recall(&token.hash(), sign_in.expires_at), None);
    }

    #[test]
    fn a_revocation_of_the_sign_in_or_of_its_person_is_felt_at_once_and_another_is_not() {
        let (token, sign_in) = sign_in();
        let felt = [
            revocation(RevocationKind::SignIn, &sign_in.caller.sign_in_id),
            revocation(RevocationKind::SignInChanged, &sign_in.caller.sign_in_id),
            revocation(RevocationKind::User, &sign_in.caller.user_id),
        ];
        for revocation in felt {
            let credentials = remembering(&token, &sign_in);
            credentials.forget(&[revocation]);
            assert_eq!(credentials.recall(&token.hash(), NOW), None);
        }
        let credentials = remembering(&token, &sign_in);
        credentials.forget(&[revocation(RevocationKind::SignIn, &SignInId::new(NOW))]);
        assert!(credentials.recall(&token.hash(), NOW).is_some());
    }

    #[test]
    fn what_was_read_before_a_revocation_is_not_remembered_after_it() {
        let (token, sign_in) = sign_in();
        let credentials = remembering(&token, &sign_in);
        let epoch = credentials.tokens.epoch();
        credentials.forget(&[revocation(RevocationKind::SignIn, &sign_in.caller.sign_in_id)]);
        credentials.remember(token.hash(), Credential::SignIn(sign_in), epoch);
        assert_eq!(credentials.recall(&token.hash(), NOW), None);
    }

    #[test]
    fn nothing_remembered_counts_while_the_feed_cannot_be_read() {
        let (token, sign_in) = sign_in();
        let credentials = remembering(&token, &sign_in);
        credentials.read_at.store(0, Ordering::SeqCst);
        assert_eq!(credentials.recall(&token.hash(), NOW), None);
    }

    #[test]
    fn the_use_of_a_token_is_noted_once_an_hour() {
        let (token, sign_in) = sign_in();
        let credentials = remembering(&token, &sign_in);
        let hour = NOW.after(SEEN_EVERY);
        assert!(!credentials.tokens.use_is_due(&token.hash(), hour.before(Duration::from_millis(1))));
        assert!(credentials.tokens.use_is_due(&token.hash(), hour));
        assert!(!credentials.tokens.use_is_due(&token.hash(), hour));
    }

    #[test]
    fn the_scheme_is_bearer_in_any_case() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer abc "), Some("abc"));
        assert_eq!(bearer("Basic abc"), None);
        assert_eq!(bearer("abc"), None);
    }
}
