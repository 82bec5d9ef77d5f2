//! What the actor knows of a vault.

use std::collections::{BTreeMap, HashSet};

use domain::{
    Result,
    id::{SignInId, UserId},
    vault::{Account, Device, DeviceId, ItemHeads, Proof, Reset, VaultEvent, VaultRecord},
};
use kernel::Turn;
use store::{
    Store,
    vault::{StoredVault, VaultSeen},
};

use super::{Vault, tell::VaultEventRecord};

/// A vault that exists.
pub(super) struct OpenVault {
    pub account: Account,
    pub record: VaultRecord,
    pub reset: Option<Reset>,
    pub seen: VaultSeen,
    pub devices: BTreeMap<DeviceId, Device>,
    /// Ids that may not be registered again.
    pub removed_devices: HashSet<DeviceId>,
    pub items: ItemHeads,
}

impl OpenVault {
    pub async fn load(store: &Store, user_id: UserId) -> Result<Option<Self>> {
        // The version comes first: whatever changes after it makes the next commit stale.
        let Some(StoredVault { account, record, reset, seen }) = store.vault(user_id).await? else {
            return Ok(None);
        };
        let mut open = Self::new(account, record, seen);
        open.reset = reset;
        for stored in store.vault_devices(user_id).await? {
            if stored.removed {
                open.removed_devices.insert(stored.device.device_id);
            } else {
                open.devices.insert(stored.device.device_id, stored.device);
            }
        }
        open.items = store.vault_index(user_id).await?.into_iter().map(|item| (item.item_id, item.head)).collect();
        Ok(Some(open))
    }

    /// A vault without items, devices and reset.
    pub fn new(account: Account, record: VaultRecord, seen: VaultSeen) -> Self {
        Self {
            account,
            record,
            reset: None,
            seen,
            devices: BTreeMap::new(),
            removed_devices: HashSet::new(),
            items: ItemHeads::new(),
        }
    }

    /// `event` on this vault, now, through the device that signed `by`.
    pub fn event_record<'a>(
        &'a self,
        event: VaultEvent,
        by: Option<&Proof>,
        turn: &Turn<'a, Vault>,
    ) -> VaultEventRecord<'a> {
        let signer = by.and_then(|proof| proof.signed().ok()).map(|request| request.signature.device_id);
        let name = |device_id| self.devices.get(&device_id).map(|device| &device.name);
        VaultEventRecord {
            context: turn.context(),
            user_id: *turn.key(),
            vault_id: self.record.vault_id,
            revision: self.record.revision,
            event,
            now: turn.now(),
            device: signer.map(|device_id| (device_id, name(device_id))),
        }
    }

    /// Notes that a device syncs over this sign-in.
    pub fn bind(&mut self, device_id: DeviceId, sign_in_id: SignInId) {
        if let Some(device) = self.devices.get_mut(&device_id) {
            device.sign_in_id = Some(sign_in_id);
        }
    }

    /// Notes a committed change of the reset.
    pub fn reset_changed(&mut self, reset: Option<Reset>) {
        self.reset = reset;
        self.seen = self.seen.next();
    }
}
