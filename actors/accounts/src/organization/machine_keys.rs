//! Keys with which people's machines use git (contract C 4.3).

use actors_base::event::Event;
use domain::{
    Caller, Error, KeyKind, PersonCaller, Platform, Result, Scope, Timestamp, Token, TokenKind,
    account::step_up_check,
    git::{
        MACHINE_KEY_LASTS, MACHINES_MAX, Machine, command_line_only, machine_key_not_found, machine_scopes,
        too_many_machines,
    },
    id::{KeyId, UserId},
    notify::ResourceType,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, Store,
    accounts::{self, Key},
    audit::AuditTarget,
};

use super::{Organization, changed, changed_with, current, keys::hint, store_of};
use crate::machine_key;

/// Makes a key for a machine, in the place of the one that it had. For people on the command line who have just shown their
/// second factor.
#[derive(Clone, Debug)]
pub struct MakeMachineKey(pub Machine);

/// Deletes the key of one of the caller's machines.
#[derive(Clone, Copy, Debug)]
pub struct DeleteMachineKey(pub KeyId);

/// Whoever asks on the command line.
fn on_command_line<'a>(turn: &Turn<'a, Organization>) -> Result<&'a PersonCaller> {
    match &turn.context().caller {
        Caller::Person(person) if person.platform == Platform::Cli => Ok(person),
        _ => Err(command_line_only()),
    }
}

impl Command for MakeMachineKey {
    type Reply = (Key, Token);

    const NAME: &'static str = "make_machine_key";
}

impl Handle<MakeMachineKey> for Organization {
    async fn handle(
        &mut self,
        MakeMachineKey(machine): &MakeMachineKey,
        turn: &mut Turn<'_, Self>,
    ) -> Result<(Key, Token)> {
        let caller = on_command_line(turn)?;
        let (organization, authority) = current(turn).await?;
        let scopes = machine_scopes(&authority)?;
        let (now, store) = (turn.now(), store_of(turn));
        fresh_factor(store, caller, now).await?;
        let earlier = store.machine_key(organization.id, caller.user_id, &machine.id).await?;
        room_check(store, &organization, caller.user_id, earlier.as_ref(), now).await?;
        let token = Token::generate(TokenKind::Key)?;
        let expires_at = now.after(MACHINE_KEY_LASTS);
        let key = Key {
            id: KeyId::new(now),
            org_id: organization.id,
            name: machine.name.clone(),
            kind: KeyKind::Api,
            scopes,
            hint: hint(&token),
            maker: caller.user_id,
            created_at: now,
            expires_at: Some(expires_at),
            last_used_at: None,
            machine_id: Some(machine.id.clone()),
        };
        let about = json!({ "machineId": machine.id.as_str(), "replaces": earlier.as_ref().map(|key| key.id) });
        let mut change = changed_with(turn, &organization, "git_key.made", target(&key), Some(about));
        if let Some(earlier) = &earlier {
            change.key_remove(now, earlier.id);
            machine_key::forget(&mut change, earlier.id);
        }
        change.key_add(&key, token.hash());
        machine_key::remind(&mut change, organization.id, key.id, expires_at);
        tell_owners(&mut change, turn, &organization, &key).await?;
        turn.commit(change).await?;
        Ok((key, token))
    }
}

/// 403 unless the person has a second factor and has just shown it; who has none reads that enrolling one would do.
async fn fresh_factor(store: &Store, caller: &PersonCaller, now: Timestamp) -> Result<()> {
    let person = store.person(caller.user_id).await?.ok_or(Error::Unauthenticated)?;
    if person.otp_secret.is_none() {
        return step_up_check(None, now).map_err(|refusal| refusal.adding("enrol", true));
    }
    let sign_in = store.sign_in(caller.user_id, caller.sign_in_id).await?.ok_or(Error::Unauthenticated)?;
    step_up_check(sign_in.confirmed_until, now)
}

/// 400 where this would be a machine too many.
async fn room_check(
    store: &Store,
    organization: &accounts::Organization,
    maker: UserId,
    earlier: Option<&Key>,
    now: Timestamp,
) -> Result<()> {
    let keys = store.machine_keys(organization.id, maker, now).await?;
    let others = keys.iter().filter(|key| earlier.is_none_or(|earlier| earlier.id != key.id)).count();
    if others as u64 >= MACHINES_MAX { Err(too_many_machines()) } else { Ok(()) }
}

/// Tells the organization's owners of a new key (contract A 6, `security.git_key`).
async fn tell_owners(
    change: &mut Change,
    turn: &Turn<'_, Organization>,
    organization: &accounts::Organization,
    key: &Key,
) -> Result<()> {
    let ip = turn.context().ip;
    let data = [("keyId", json!(key.id)), ("machine", json!(key.name)), ("ip", json!(ip))];
    let address = ip.map_or_else(|| "unknown".to_owned(), |ip| ip.to_string());
    Event {
        org_id: Some(organization.id),
        user_ids: store_of(turn).owners(organization.id).await?,
        body: format!("Somebody made a key for git on {} in {}.\n\nAddress: {address}", key.name, organization.name),
        within: vec![(ResourceType::Org, organization.id.to_string())],
        data: data.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        ..Event::new("security.git_key", ("key", key.id.to_string()), format!("New git key for {}", key.name))
    }
    .emit(change, turn.now());
    Ok(())
}

impl Command for DeleteMachineKey {
    type Reply = ();

    const NAME: &'static str = "delete_machine_key";
}

impl Handle<DeleteMachineKey> for Organization {
    async fn handle(&mut self, DeleteMachineKey(id): &DeleteMachineKey, turn: &mut Turn<'_, Self>) -> Result<()> {
        let caller = on_command_line(turn)?;
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::GitRead)?;
        let key = store_of(turn).key(organization.id, *id).await?;
        let key = key.filter(|key| key.machine_id.is_some() && key.maker == caller.user_id);
        let key = key.ok_or_else(machine_key_not_found)?;
        let mut change = changed(turn, &organization, "git_key.deleted", target(&key));
        change.key_remove(turn.now(), key.id);
        machine_key::forget(&mut change, key.id);
        turn.commit(change).await
    }
}

fn target(key: &Key) -> AuditTarget {
    AuditTarget::new("key", key.id).labelled(&key.name)
}
