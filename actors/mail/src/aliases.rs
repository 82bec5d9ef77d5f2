//! Aliases: other addresses that are a mailbox's.

use domain::{
    Email, Result, Scope,
    id::MailboxId,
    mail::{ALIASES_MAX, Mailbox, address_in_use, alias_address, domain_of, no_alias, no_mailbox, too_many_aliases},
};
use kernel::{Command, Handle, Turn};

use crate::directory::{MailDirectory, has_domain};

/// Gives a mailbox an alias.
#[derive(Clone, Debug)]
pub struct AliasAdd {
    /// Which mailbox.
    pub mailbox_id: MailboxId,
    /// The address, as it was sent.
    pub address: String,
}

impl Command for AliasAdd {
    type Reply = Mailbox;

    const NAME: &'static str = "mailbox_alias_add";
}

impl Handle<AliasAdd> for MailDirectory {
    async fn handle(&mut self, command: &AliasAdd, turn: &mut Turn<'_, Self>) -> Result<Mailbox> {
        let (org_id, now) = (*turn.key(), turn.now());
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let store = &turn.services().store;
        let mut mailbox = store.mailbox(org_id, command.mailbox_id).await?.ok_or_else(no_mailbox)?;
        let alias = alias_address(&command.address)?;
        has_domain(turn, domain_of(&alias)).await?;
        if store.mail_address_is_taken(org_id, &alias).await? {
            return Err(address_in_use());
        }
        if mailbox.aliases.len() >= ALIASES_MAX {
            return Err(too_many_aliases());
        }
        mailbox.aliases.push(alias.clone());
        let mut change = self.mailbox_change(turn, "mail.alias_added", &mailbox);
        change.mailbox_touch(&mailbox);
        change.mailbox_alias_add(&mailbox, &alias, now);
        self.commit(turn, change).await?;
        Ok(Mailbox { version: mailbox.version + 1, ..mailbox })
    }
}

/// Takes an alias from the mailbox that has it.
#[derive(Clone, Debug)]
pub struct AliasRemove(pub Email);

impl Command for AliasRemove {
    type Reply = Mailbox;

    const NAME: &'static str = "mailbox_alias_remove";
}

impl Handle<AliasRemove> for MailDirectory {
    async fn handle(&mut self, AliasRemove(alias): &AliasRemove, turn: &mut Turn<'_, Self>) -> Result<Mailbox> {
        let org_id = *turn.key();
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let mut mailbox = turn.services().store.mailbox_aliased(org_id, alias).await?.ok_or_else(no_alias)?;
        mailbox.aliases.retain(|other| other != alias);
        let mut change = self.mailbox_change(turn, "mail.alias_removed", &mailbox);
        change.mailbox_touch(&mailbox);
        change.mailbox_alias_remove(&mailbox, alias);
        self.commit(turn, change).await?;
        Ok(Mailbox { version: mailbox.version + 1, ..mailbox })
    }
}
