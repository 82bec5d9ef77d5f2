//! Making a vault, in the place of one whose reset is due as well.

use domain::{
    Result,
    vault::{DeviceId, NewVault, Proof, VaultEvent, VaultRecord, not_signed, vault_exists},
};
use kernel::{Command, Handle, Turn};
use store::{Change, vault::VaultSeen};

use super::{Signed, Vault, sign_in_of, state::OpenVault, tell::VaultEventRecord};

/// Makes account, vault and first device together; signed with the new vault's own key, by the new device.
#[derive(Debug)]
pub struct CreateVault {
    /// What is to be made.
    pub vault: NewVault,
    /// The signature.
    pub proof: Proof,
}

impl Command for CreateVault {
    type Reply = ();

    const NAME: &'static str = "create";
}

impl Handle<CreateVault> for Vault {
    async fn handle(&mut self, command: &CreateVault, turn: &mut Turn<'_, Self>) -> Result<()> {
        let outcome = self.create(command, turn).await;
        self.answer(outcome, turn).await
    }
}

impl Vault {
    async fn create(&mut self, CreateVault { vault, proof }: &CreateVault, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (user_id, now) = (*turn.key(), turn.now());
        let replaced = match &self.open {
            Some(open) if !open.reset.is_some_and(|reset| reset.is_due(now)) => return Err(vault_exists()),
            other => other.as_ref(),
        };
        let request = proof.signed()?;
        request.verify(&vault.signing_key, now)?;
        let device_id: DeviceId = vault.device.device_id;
        if request.signature.device_id != device_id {
            return Err(not_signed());
        }
        let signed = Signed { signature: self.signatures.fresh(request)?, by: device_id };

        let device = vault.first_device(sign_in_of(turn.context()), now);
        let (account, record) = (vault.account(now), vault.record(now));
        let seen = VaultSeen::first(user_id, now);
        let mut change = Change::new();
        let event_record = |vault: &VaultRecord, event| VaultEventRecord {
            context: turn.context(),
            user_id,
            vault_id: vault.vault_id,
            revision: vault.revision,
            event,
            now,
            device: Some((device_id, Some(&device.name))),
        };
        if let Some(old) = replaced {
            change.vault_delete(old.seen);
            event_record(&old.record, VaultEvent::Replaced).tell(&mut change);
        }
        change.vault_create(seen, &account, &record);
        change.vault_device_put(user_id, &device);
        event_record(&record, VaultEvent::Created).tell(&mut change);
        self.commit(change, signed, turn).await?;

        let mut open = OpenVault::new(account, record, seen);
        open.devices.insert(device_id, device);
        self.open = Some(open);
        Ok(())
    }
}
