//! Whom a change of the vault is told to: the vault's log, the audit trail, the person's e-mail, their other devices.
//!
//! All of it leaves with the commit.

use actors_base::asked_from;
use domain::{
    Context, Timestamp,
    id::UserId,
    vault::{DeviceId, DeviceName, VaultEvent, VaultId},
};
use serde_json::json;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    outbox::{EmailTo, OutboxEntry},
    vault::VaultLogEntry,
};

/// Something that happened to a person's vault.
pub(super) struct VaultEventRecord<'a> {
    pub context: &'a Context,
    pub user_id: UserId,
    pub vault_id: VaultId,
    /// The revision of its items.
    pub revision: i64,
    pub event: VaultEvent,
    pub now: Timestamp,
    /// The device that it is about, or that did it, and what it is called where that is known.
    pub device: Option<(DeviceId, Option<&'a DeviceName>)>,
}

impl VaultEventRecord<'_> {
    /// Writes it to the log and the audit trail, tells the person's devices, and e-mails the person where the contract says
    /// so (contract A 6).
    pub fn tell(&self, change: &mut Change) {
        let mut entry = VaultLogEntry::new(self.context, self.event, self.now);
        if let Some((device_id, name)) = self.device {
            entry = entry.about(device_id, name);
        }
        change.vault_log_add(self.user_id, entry);
        let target = AuditTarget::new("vault", self.vault_id);
        change.audit_add(self.now, AuditEntry::new(self.context, self.event.as_str(), target));
        changed(change, self.user_id, (self.vault_id, self.revision), self.now);
        if let Some(email) = self.email() {
            change.outbox_add(self.now, &email);
        }
    }

    fn email(&self) -> Option<OutboxEntry> {
        let (subject, what) = match self.event {
            VaultEvent::KeysetChanged => (
                "The keys of your passwords vault were changed",
                "The keys that open your passwords vault were changed, as happens with a new passphrase.",
            ),
            VaultEvent::Deleted => {
                ("Your passwords vault was deleted", "Your passwords vault was deleted, with everything in it.")
            }
            VaultEvent::Replaced => (
                "Your passwords vault was replaced",
                "The reset of your passwords vault came due, and a new vault took its place. \
                 Everything in the old one is deleted.",
            ),
            VaultEvent::ResetRequested => (
                "Your passwords vault is going to be reset",
                "Somebody who is signed in as you, and can't open your passwords vault, asked to reset it. \
                 In seven days a new vault may take its place, and everything in it will be lost. \
                 Open the vault on one of your devices to cancel the reset.",
            ),
            VaultEvent::DeviceAdded => {
                ("Your passwords vault is on a new device", "A new device opened your passwords vault.")
            }
            VaultEvent::Created | VaultEvent::ResetCancelled | VaultEvent::DeviceRemoved => return None,
        };
        let body = format!(
            "{what}\n\n{}\nIf this wasn't you, change your password and look through your devices.\n",
            self.origin()
        );
        Some(OutboxEntry::Email {
            to: EmailTo::Person(self.user_id),
            subject: subject.to_owned(),
            body,
            calendar: None,
        })
    }

    fn origin(&self) -> String {
        let device = match self.device {
            Some((_, Some(name))) => format!("Device: {name}\n"),
            _ => String::new(),
        };
        device + &asked_from(self.context)
    }
}

/// Tells the person's devices that something about the vault changed, whose items are at this revision: who knows that
/// revision has only the rest to look at.
pub(super) fn changed(change: &mut Change, user_id: UserId, (vault_id, revision): (VaultId, i64), now: Timestamp) {
    let message = json!({ "type": "vault.changed", "vaultId": vault_id.as_str(), "revision": revision });
    change.outbox_add(now, &OutboxEntry::Live { user_id, message });
}
