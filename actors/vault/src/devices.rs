//! The devices that the vault is on.

use domain::{
    Result,
    account::SignInEnd,
    id::SignInId,
    vault::{
        DEVICES_MAX, Device, DeviceDraft, DeviceId, Proof, VaultEvent, device_removed, no_such_device, too_many_devices,
    },
};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
};

use super::{Signer, Vault, sign_in_of, tell};

/// Registers a device, or renames it; signed by that device.
#[derive(Debug)]
pub struct PutDevice {
    /// What the device says of itself.
    pub draft: DeviceDraft,
    /// The signature.
    pub proof: Proof,
}

impl Command for PutDevice {
    type Reply = Device;

    const NAME: &'static str = "put_device";
}

impl Handle<PutDevice> for Vault {
    async fn handle(&mut self, command: &PutDevice, turn: &mut Turn<'_, Self>) -> Result<Device> {
        let outcome = self.put_device(command, turn).await;
        self.answer(outcome, turn).await
    }
}

/// Removes a device for good; signed by any registered one, itself included. Ends the sign-in that the device syncs over,
/// unless it is the one that asks, and answers which.
#[derive(Debug)]
pub struct RemoveDevice {
    /// The device.
    pub device_id: DeviceId,
    /// The signature.
    pub proof: Proof,
}

impl Command for RemoveDevice {
    type Reply = Option<SignInId>;

    const NAME: &'static str = "remove_device";
}

impl Handle<RemoveDevice> for Vault {
    async fn handle(&mut self, command: &RemoveDevice, turn: &mut Turn<'_, Self>) -> Result<Option<SignInId>> {
        let outcome = self.remove_device(command, turn).await;
        self.answer(outcome, turn).await
    }
}

/// Notes that a device asked for the vault, at most once a minute; and that it syncs over the sign-in that asks, where the
/// one that it was known to sync over is no more.
#[derive(Debug)]
pub struct DeviceSeen {
    /// The device.
    pub device_id: DeviceId,
}

impl Command for DeviceSeen {
    type Reply = ();

    const NAME: &'static str = "device_seen";
}

impl Handle<DeviceSeen> for Vault {
    async fn handle(&mut self, DeviceSeen { device_id }: &DeviceSeen, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (user_id, now) = (*turn.key(), turn.now());
        let device = self.open.as_mut().and_then(|open| open.devices.get_mut(device_id));
        let Some(device) = device.filter(|device| device.seen_is_due(now)) else { return Ok(()) };
        let store = &turn.services().store;
        let is_bound = match device.sign_in_id {
            Some(known) => store.sign_in(user_id, known).await?.is_some_and(|sign_in| sign_in.expires_at > now),
            None => false,
        };
        let asking = sign_in_of(turn.context()).filter(|_| !is_bound);
        let mut change = Change::new();
        change.vault_device_seen(user_id, *device_id, now);
        if let Some(sign_in_id) = asking {
            change.vault_device_bind(user_id, *device_id, sign_in_id);
        }
        turn.commit(change).await?;
        device.last_seen_at = now;
        device.sign_in_id = asking.or(device.sign_in_id);
        Ok(())
    }
}

impl Vault {
    async fn put_device(&mut self, command: &PutDevice, turn: &mut Turn<'_, Self>) -> Result<Device> {
        let now = turn.now();
        let PutDevice { draft, proof } = command;
        let device_id = draft.device_id;
        let signed = self.signed(proof, Signer::Only(device_id), now)?;
        let open = self.open()?;
        if open.removed_devices.contains(&device_id) {
            return Err(device_removed());
        }
        let known = open.devices.get(&device_id);
        let asking = sign_in_of(turn.context());
        if known.is_none() && open.devices.len() >= DEVICES_MAX {
            return Err(too_many_devices());
        }
        let device = match known {
            Some(known) => {
                let sign_in_id = asking.or(known.sign_in_id);
                Device { name: draft.name.clone(), platform: draft.platform, sign_in_id, ..known.clone() }
            }
            None => Device::registered(draft, asking, now),
        };
        let mut change = Change::new();
        change.vault_confirm(open.seen);
        change.vault_device_put(*turn.key(), &device);
        if known.is_none() {
            let mut event_record = open.event_record(VaultEvent::DeviceAdded, None, turn);
            event_record.device = Some((device_id, Some(&device.name)));
            event_record.tell(&mut change);
        } else {
            tell::changed(&mut change, *turn.key(), (open.record.vault_id, open.record.revision), now);
        }
        self.commit(change, signed, turn).await?;

        let open = self.open_mut()?;
        open.seen = open.seen.next();
        open.devices.insert(device_id, device.clone());
        Ok(device)
    }

    async fn remove_device(&mut self, command: &RemoveDevice, turn: &mut Turn<'_, Self>) -> Result<Option<SignInId>> {
        let now = turn.now();
        let device_id = command.device_id;
        let signed = self.signed(&command.proof, Signer::Registered, now)?;
        let open = self.open()?;
        let device = open.devices.get(&device_id).ok_or_else(no_such_device)?;
        let mut change = Change::new();
        change.vault_confirm(open.seen);
        change.vault_device_remove(*turn.key(), device_id, now);
        let ended = device.sign_in_id.filter(|id| Some(*id) != sign_in_of(turn.context()));
        if let Some(id) = ended {
            change.sign_in_end_because(now, id, SignInEnd::DeviceRemoved);
            change.audit_add(now, AuditEntry::new(turn.context(), "sign_in.ended", AuditTarget::new("sign_in", id)));
        }
        let mut event_record = open.event_record(VaultEvent::DeviceRemoved, None, turn);
        event_record.device = Some((device_id, Some(&device.name)));
        event_record.tell(&mut change);
        self.commit(change, signed, turn).await?;

        let open = self.open_mut()?;
        open.seen = open.seen.next();
        open.devices.remove(&device_id);
        open.removed_devices.insert(device_id);
        Ok(ended)
    }
}
