//! Keys of machines: telling their people that they end soon (contract A 6, `secret.rotation_due`).
//!
//! A key is made and deleted by its organization. The only thing that belongs to the key is its timer.

use actors_base::{Services, event::Event};
use domain::{
    Result, Timestamp,
    git::ROTATION_NOTICE,
    id::{KeyId, OrgId},
    notify::ResourceType,
};
use kernel::{Handle, Resource, TimerFired, Turn};
use serde_json::json;
use store::{Change, accounts::Key};

/// The name of the timer that tells of a key's end.
const ROTATION: &str = "rotation";

/// A machine's key. Nothing of it is kept in memory.
#[derive(Debug)]
pub struct MachineKey;

impl Resource for MachineKey {
    type Key = KeyId;
    type Services = Services;

    const KIND: &'static str = "machine_key";

    async fn load(_: &KeyId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// Has the key's person be told before it ends.
pub(crate) fn remind(change: &mut Change, org_id: OrgId, id: KeyId, expires_at: Timestamp) {
    let due = expires_at.before(ROTATION_NOTICE);
    change.timer_set_for(org_id, MachineKey::KIND, &id.to_string(), ROTATION, due);
}

/// Has nobody be told of a key that goes.
pub(crate) fn forget(change: &mut Change, id: KeyId) {
    change.timer_cancel(MachineKey::KIND, &id.to_string(), ROTATION);
}

impl Handle<TimerFired> for MachineKey {
    async fn handle(&mut self, _: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        if let Some(key) = turn.services().store.key_of_machine(*turn.key()).await? {
            event(&key).emit(&mut change, turn.now());
        }
        turn.commit(change).await
    }
}

fn event(key: &Key) -> Event {
    let data = [("keyId", json!(key.id)), ("machine", json!(key.name)), ("expiresAt", json!(key.expires_at))];
    Event {
        org_id: Some(key.org_id),
        user_ids: vec![key.maker],
        body: format!("Git on {} can use its key for seven more days. Make another before it ends.", key.name),
        within: vec![(ResourceType::Org, key.org_id.to_string())],
        data: data.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        ..Event::new(
            "secret.rotation_due",
            ("key", key.id.to_string()),
            format!("The git key of {} ends soon", key.name),
        )
    }
}
