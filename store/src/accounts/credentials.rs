//! What a bearer token stands for, in one read.

use super::{named, parsed};
use crate::{Store, StoreError, reader::row, sql::Sql};
use domain::{
    App, Caller, KeyCaller, KeyKind, PersonCaller, Platform, Timestamp, Token, TokenHash, TokenKind,
    key::scopes_from_text,
};

/// What a token stands for, as it is now. A token that was revoked stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A person's sign-in.
    SignIn(SignInCredential),
    /// An organization's key.
    Key(KeyCredential),
}

/// A person's sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInCredential {
    /// Who it is.
    pub caller: PersonCaller,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When its last use was last written down.
    pub last_seen_at: Timestamp,
}

/// An organization's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCredential {
    /// Which it is.
    pub caller: KeyCaller,
    /// When it stops working by itself.
    pub expires_at: Option<Timestamp>,
    /// When its last use was last written down.
    pub last_used_at: Option<Timestamp>,
}

impl Credential {
    /// Who calls with it at `now`; nobody when it has expired.
    pub fn caller(&self, now: Timestamp) -> Option<Caller> {
        match self {
            Self::SignIn(sign_in) if sign_in.expires_at > now => Some(Caller::Person(sign_in.caller.clone())),
            Self::Key(key) if key.expires_at.is_none_or(|at| at > now) => Some(Caller::Key(key.caller.clone())),
            _ => None,
        }
    }
}

row! {
    struct SignInRow {
        id: String,
        user_id: String,
        app: String,
        platform: String,
        last_seen_at: i64,
        expires_at: i64,
        confirmed_until: Option<i64>,
    }
}

row! {
    struct KeyRow {
        id: String,
        org_id: String,
        maker: String,
        kind: String,
        scopes: String,
        expires_at: Option<i64>,
        last_used_at: Option<i64>,
        machine_id: Option<String>,
    }
}

impl TryFrom<SignInRow> for SignInCredential {
    type Error = StoreError;

    fn try_from(row: SignInRow) -> Result<Self, StoreError> {
        Ok(Self {
            caller: PersonCaller {
                user_id: parsed("sign_ins.user_id", &row.user_id)?,
                sign_in_id: parsed("sign_ins.id", &row.id)?,
                app: named("sign_ins.app", App::from_name(&row.app))?,
                platform: named("sign_ins.platform", Platform::from_name(&row.platform))?,
                confirmed_until: row.confirmed_until.map(Timestamp),
            },
            expires_at: Timestamp(row.expires_at),
            last_seen_at: Timestamp(row.last_seen_at),
        })
    }
}

impl TryFrom<KeyRow> for KeyCredential {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        Ok(Self {
            caller: KeyCaller {
                key_id: parsed("api_keys.id", &row.id)?,
                org_id: parsed("api_keys.org_id", &row.org_id)?,
                maker: parsed("api_keys.maker", &row.maker)?,
                kind: named("api_keys.kind", KeyKind::from_name(&row.kind))?,
                scopes: scopes_from_text(&row.scopes),
                is_machine: row.machine_id.is_some(),
            },
            expires_at: row.expires_at.map(Timestamp),
            last_used_at: row.last_used_at.map(Timestamp),
        })
    }
}

impl Store {
    /// What the token stands for; nothing when it was never issued, was revoked, or opens something else.
    pub async fn credential(&self, token: &Token) -> Result<Option<Credential>, StoreError> {
        match token.kind() {
            TokenKind::SignIn => self.sign_in_by_token(token.hash()).await,
            TokenKind::Key => self.key_by_token(token.hash()).await,
            TokenKind::AppPassword
            | TokenKind::Invite
            | TokenKind::Hook
            | TokenKind::Runner
            | TokenKind::RunnerRegistration
            | TokenKind::Job => Ok(None),
        }
    }

    async fn sign_in_by_token(&self, hash: TokenHash) -> Result<Option<Credential>, StoreError> {
        let sql = Sql::new(
            "SELECT id, user_id, app, platform, last_seen_at, expires_at, confirmed_until \
             FROM sign_ins WHERE token_hash = $1",
            [hash.0.to_vec().into()],
        );
        let row: Option<SignInRow> = self.credential_reader().row(&sql).await?;
        Ok(row.map(SignInCredential::try_from).transpose()?.map(Credential::SignIn))
    }

    async fn key_by_token(&self, hash: TokenHash) -> Result<Option<Credential>, StoreError> {
        let sql = Sql::new(
            "SELECT k.id, k.org_id, k.maker, k.kind, k.scopes, k.expires_at, k.last_used_at, k.machine_id \
             FROM api_keys k JOIN organizations o ON o.id = k.org_id WHERE k.token_hash = $1",
            [hash.0.to_vec().into()],
        );
        let row: Option<KeyRow> = self.credential_reader().row(&sql).await?;
        Ok(row.map(KeyCredential::try_from).transpose()?.map(Credential::Key))
    }
}
