//! Mailboxes: made, changed, deleted.

use domain::{
    Result, Scope,
    id::{MailboxId, UserId},
    mail::{MAILBOXES_MAX, Mailbox, address_in_use, mailbox_address, members_belong, no_mailbox, too_many_mailboxes},
};
use kernel::{Command, Handle, Turn};

use crate::{
    directory::{MailDirectory, has_domain},
    removal::delete_after,
};

/// Makes a mailbox.
#[derive(Clone, Debug)]
pub struct MailboxCreate {
    /// What stands before the `@`.
    pub local_part: String,
    /// What stands behind it.
    pub domain: String,
    /// What it is called, checked.
    pub display_name: String,
    /// Who opens it, each once.
    pub members: Vec<UserId>,
}

impl Command for MailboxCreate {
    type Reply = Mailbox;

    const NAME: &'static str = "mailbox_create";
}

impl Handle<MailboxCreate> for MailDirectory {
    async fn handle(&mut self, command: &MailboxCreate, turn: &mut Turn<'_, Self>) -> Result<Mailbox> {
        let (org_id, now) = (*turn.key(), turn.now());
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let store = &turn.services().store;
        has_domain(turn, &command.domain).await?;
        let address = mailbox_address(&command.local_part, &command.domain)?;
        members_check(turn, &command.members).await?;
        if store.mail_address_is_taken(org_id, &address).await? {
            return Err(address_in_use());
        }
        if store.mailboxes_count(org_id).await? >= MAILBOXES_MAX {
            return Err(too_many_mailboxes());
        }
        let mailbox = Mailbox {
            id: MailboxId::new(now),
            org_id,
            address,
            display_name: command.display_name.clone(),
            members: command.members.clone(),
            aliases: Vec::new(),
            version: 1,
            created_at: now,
        };
        let mut change = self.mailbox_change(turn, "mailbox.created", &mailbox);
        change.mailbox_add(&mailbox);
        self.commit(turn, change).await?;
        Ok(mailbox)
    }
}

/// Changes a mailbox; nothing of what is `None`.
#[derive(Clone, Debug)]
pub struct MailboxUpdate {
    /// Which.
    pub id: MailboxId,
    /// What it is called, checked.
    pub display_name: Option<String>,
    /// Who opens it, each once.
    pub members: Option<Vec<UserId>>,
}

impl Command for MailboxUpdate {
    type Reply = Mailbox;

    const NAME: &'static str = "mailbox_update";
}

impl Handle<MailboxUpdate> for MailDirectory {
    async fn handle(&mut self, command: &MailboxUpdate, turn: &mut Turn<'_, Self>) -> Result<Mailbox> {
        let org_id = *turn.key();
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let before = turn.services().store.mailbox(org_id, command.id).await?.ok_or_else(no_mailbox)?;
        let mut after = before.clone();
        if let Some(members) = &command.members {
            members_check(turn, members).await?;
            after.members.clone_from(members);
        }
        if let Some(display_name) = &command.display_name {
            after.display_name.clone_from(display_name);
        }
        if after == before {
            return Ok(before);
        }
        let action = if after.members == before.members { "mailbox.changed" } else { "mailbox.members_changed" };
        let mut change = self.mailbox_change(turn, action, &after);
        change.mailbox_set(&after);
        self.commit(turn, change).await?;
        Ok(Mailbox { version: after.version + 1, ..after })
    }
}

/// Deletes a mailbox: it is out of sight and its address free at once, what lies in it is deleted by a job.
#[derive(Clone, Copy, Debug)]
pub struct MailboxDelete(pub MailboxId);

impl Command for MailboxDelete {
    /// Whether anything was in it.
    type Reply = bool;

    const NAME: &'static str = "mailbox_delete";
}

impl Handle<MailboxDelete> for MailDirectory {
    async fn handle(&mut self, MailboxDelete(id): &MailboxDelete, turn: &mut Turn<'_, Self>) -> Result<bool> {
        let (org_id, now) = (*turn.key(), turn.now());
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let store = &turn.services().store;
        let mailbox = store.mailbox(org_id, *id).await?.ok_or_else(no_mailbox)?;
        let has_events = store.calendar_book(*id).await?.events > 0;
        let mut change = self.mailbox_change(turn, "mailbox.deleted", &mailbox);
        change.mailbox_close(mailbox.id, mailbox.version, now);
        delete_after(&mut change, org_id, now);
        self.commit(turn, change).await?;
        Ok(has_events)
    }
}

/// 400 for members who don't belong to the organization.
async fn members_check(turn: &Turn<'_, MailDirectory>, members: &[UserId]) -> Result<()> {
    if members.is_empty() {
        return Ok(());
    }
    let found = turn.services().store.members_among(*turn.key(), members, &[]).await?;
    if found.len() == members.len() { Ok(()) } else { Err(members_belong()) }
}
