//! Changing the key set: a new passphrase, or stronger key derivation.

use domain::{
    Result,
    vault::{Account, KeysetDraft, Proof, VaultEvent, keyset_changed},
};
use kernel::{Command, Handle, Turn};
use store::Change;

use super::{Signer, Vault};

/// Puts a key set in the place of the one that the device last saw.
#[derive(Debug)]
pub struct PutKeyset {
    /// The new key set.
    pub draft: KeysetDraft,
    /// The signature.
    pub proof: Proof,
}

impl Command for PutKeyset {
    type Reply = Account;

    const NAME: &'static str = "put_keyset";
}

impl Handle<PutKeyset> for Vault {
    async fn handle(&mut self, command: &PutKeyset, turn: &mut Turn<'_, Self>) -> Result<Account> {
        let outcome = self.put_keyset(command, turn).await;
        self.answer(outcome, turn).await
    }
}

impl Vault {
    async fn put_keyset(&mut self, command: &PutKeyset, turn: &mut Turn<'_, Self>) -> Result<Account> {
        let (user_id, now) = (*turn.key(), turn.now());
        let signed = self.signed(&command.proof, Signer::Registered, now)?;
        let open = self.open()?;
        let account = open.account.with_keyset(&command.draft, now).ok_or_else(keyset_changed)?;
        let mut change = Change::new();
        change.vault_confirm(open.seen);
        change.vault_keyset_put(user_id, &account);
        open.event_record(VaultEvent::KeysetChanged, Some(&command.proof), turn).tell(&mut change);
        self.commit(change, signed, turn).await?;

        let open = self.open_mut()?;
        open.seen = open.seen.next();
        open.account = account.clone();
        Ok(account)
    }
}
