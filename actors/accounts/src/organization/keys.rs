//! API keys.

use domain::{
    Error, KeyKind, Result, Scope, Timestamp, Token, TokenKind,
    account::SEEN_EVERY,
    id::KeyId,
    key::{KEYS_MAX, scopes_for_key},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{Change, accounts::Key, audit::AuditTarget};

use super::{Organization, PEOPLE_ONLY, changed, changed_with, current, found, full, store_of};

/// How much of a secret's end a key is recognized by.
const HINT_LEN: usize = 4;

/// What a key's secret is recognized by.
pub(super) fn hint(token: &Token) -> String {
    let secret = token.reveal();
    secret[secret.len() - HINT_LEN..].to_owned()
}

/// Makes a key. For people: a key makes no keys.
#[derive(Clone, Debug)]
pub struct MakeKey {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub kind: KeyKind,
    /// The names of what it may do; nothing that its maker may not.
    pub scopes: Vec<String>,
    /// When it stops working by itself.
    pub expires_at: Option<Timestamp>,
}

/// Deletes a key.
#[derive(Clone, Copy, Debug)]
pub struct DeleteKey(pub KeyId);

/// Notes that a key was used. Told at most once an hour.
#[derive(Clone, Copy, Debug)]
pub struct NoteKeyUse(pub KeyId);

impl Command for MakeKey {
    type Reply = (Key, Token);

    const NAME: &'static str = "make_key";
}

impl Handle<MakeKey> for Organization {
    async fn handle(&mut self, command: &MakeKey, turn: &mut Turn<'_, Self>) -> Result<(Key, Token)> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::KeysWrite)?;
        let maker = authority.person(PEOPLE_ONLY)?;
        let (now, store) = (turn.now(), store_of(turn));
        let scopes = scopes_for_key(command.scopes.iter().map(String::as_str), &authority)?;
        if command.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::invalid("expiresAt", "Choose a time in the future."));
        }
        if store.keys_count(organization.id).await? >= KEYS_MAX {
            return Err(full("keys", KEYS_MAX));
        }
        let token = Token::generate(TokenKind::Key)?;
        let key = Key {
            id: KeyId::new(now),
            org_id: organization.id,
            name: command.name.clone(),
            kind: command.kind,
            scopes,
            hint: hint(&token),
            maker,
            created_at: now,
            expires_at: command.expires_at,
            last_used_at: None,
            machine_id: None,
        };
        let metadata = json!({
            "kind": key.kind.as_str(),
            "scopes": scopes.iter().collect::<Vec<_>>(),
            "expiresAt": key.expires_at,
        });
        let target = AuditTarget::new("key", key.id).labelled(&key.name);
        let mut change = changed_with(turn, &organization, "key.made", target, Some(metadata));
        change.key_add(&key, token.hash());
        turn.commit(change).await?;
        Ok((key, token))
    }
}

impl Command for DeleteKey {
    type Reply = ();

    const NAME: &'static str = "delete_key";
}

impl Handle<DeleteKey> for Organization {
    async fn handle(&mut self, DeleteKey(id): &DeleteKey, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::KeysWrite)?;
        let key = store_of(turn).key(organization.id, *id).await?;
        let key = key.ok_or_else(|| Error::not_found("Key not found."))?;
        let mut change = changed(turn, &organization, "key.deleted", AuditTarget::new("key", id).labelled(&key.name));
        change.key_remove(turn.now(), *id);
        turn.commit(change).await
    }
}

impl Command for NoteKeyUse {
    type Reply = ();

    const NAME: &'static str = "note_key_use";
}

impl Handle<NoteKeyUse> for Organization {
    async fn handle(&mut self, NoteKeyUse(id): &NoteKeyUse, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, now) = (found(turn).await?, turn.now());
        let key = store_of(turn).key(organization.id, *id).await?;
        if key.is_none_or(|key| key.last_used_at.is_some_and(|at| at.after(SEEN_EVERY) > now)) {
            return Ok(());
        }
        let mut change = Change::new();
        change.key_used(*id, now);
        turn.commit(change).await
    }
}
