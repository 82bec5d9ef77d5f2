//! Deleting a vault at once, with its key; or asking for a reset, without; and taking that back.

use domain::{
    Result,
    vault::{Proof, Reset, VaultEvent},
};
use kernel::{Command, Handle, Turn};
use store::Change;

use super::{Signer, Vault, reminder};

/// Deletes the vault when signed; asks for its reset when not signed at all.
#[derive(Debug)]
pub struct DeleteVault {
    /// The signature, where there is one.
    pub proof: Proof,
}

/// What became of a vault that was to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VaultDeleted {
    /// It is gone.
    Deleted,
    /// A new vault may replace it once this reset is due.
    ResetPending(Reset),
}

impl Command for DeleteVault {
    type Reply = VaultDeleted;

    const NAME: &'static str = "delete";
}

impl Handle<DeleteVault> for Vault {
    async fn handle(&mut self, DeleteVault { proof }: &DeleteVault, turn: &mut Turn<'_, Self>) -> Result<VaultDeleted> {
        let outcome = match proof {
            Proof::Missing => self.request_reset(turn).await.map(VaultDeleted::ResetPending),
            Proof::Malformed | Proof::Signed(_) => self.delete(proof, turn).await.map(|()| VaultDeleted::Deleted),
        };
        self.answer(outcome, turn).await
    }
}

/// Takes the request for a reset back.
#[derive(Debug)]
pub struct CancelReset {
    /// The signature.
    pub proof: Proof,
}

impl Command for CancelReset {
    type Reply = ();

    const NAME: &'static str = "cancel_reset";
}

impl Handle<CancelReset> for Vault {
    async fn handle(&mut self, CancelReset { proof }: &CancelReset, turn: &mut Turn<'_, Self>) -> Result<()> {
        let outcome = self.cancel_reset(proof, turn).await;
        self.answer(outcome, turn).await
    }
}

impl Vault {
    async fn delete(&mut self, proof: &Proof, turn: &mut Turn<'_, Self>) -> Result<()> {
        let signed = self.signed(proof, Signer::Any, turn.now())?;
        let open = self.open()?;
        let mut change = Change::new();
        change.vault_delete(open.seen);
        open.event_record(VaultEvent::Deleted, Some(proof), turn).tell(&mut change);
        reminder::cancel(&mut change, *turn.key());
        self.commit(change, signed, turn).await?;
        self.open = None;
        Ok(())
    }

    async fn request_reset(&mut self, turn: &mut Turn<'_, Self>) -> Result<Reset> {
        let (user_id, now) = (*turn.key(), turn.now());
        let open = self.open()?;
        if let Some(pending) = open.reset {
            self.confirm(&turn.services().store, user_id).await?;
            return Ok(pending);
        }
        let reset = Reset { requested_at: now };
        let mut change = Change::new();
        change.vault_confirm(open.seen);
        change.vault_reset_put(user_id, Some(reset));
        reminder::set(&mut change, user_id, reset, now);
        open.event_record(VaultEvent::ResetRequested, None, turn).tell(&mut change);
        turn.commit(change).await?;
        self.open_mut()?.reset_changed(Some(reset));
        Ok(reset)
    }

    async fn cancel_reset(&mut self, proof: &Proof, turn: &mut Turn<'_, Self>) -> Result<()> {
        let signed = self.signed(proof, Signer::Any, turn.now())?;
        let open = self.open()?;
        let mut change = Change::new();
        change.vault_confirm(open.seen);
        if open.reset.is_some() {
            change.vault_reset_put(*turn.key(), None);
            reminder::cancel(&mut change, *turn.key());
            open.event_record(VaultEvent::ResetCancelled, Some(proof), turn).tell(&mut change);
        }
        self.commit(change, signed, turn).await?;
        self.open_mut()?.reset_changed(None);
        Ok(())
    }
}
