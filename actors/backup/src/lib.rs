//! The authenticator backup of one person (contract A 4.1).
//!
//! The actor knows the revision only; the text stays in the store. A refusal is never given from memory alone: another
//! node may have saved meanwhile, so the store is asked first.

use actors_base::{Area, Services, asked_from};
use domain::{
    Context, Error, Result,
    backup::{self, BackupDraft, BackupHead, saved_head},
    id::UserId,
};
use kernel::{Command, Handle, Resource, Turn};
use store::{
    Change, EmailTo, OutboxEntry, Store,
    audit::{AuditEntry, AuditTarget},
};

/// What goes over all areas knows of backups.
pub const AREA: Area = Area::named("backup");

/// One person's backup.
pub struct Backup {
    head: Option<BackupHead>,
}

/// Saves a backup over the revision that the phone last saw.
#[derive(Debug)]
pub struct SaveBackup(pub BackupDraft);

/// What became of a backup that was to be saved.
#[derive(Debug)]
pub enum BackupSaved {
    /// It was saved; this is the next revision.
    Saved(backup::Backup),
    /// The backup changed since the phone last saw it; this is the one now there.
    Changed(Option<backup::Backup>),
}

/// Deletes the backup; answers whether there was one.
#[derive(Debug)]
pub struct DeleteBackup;

impl Resource for Backup {
    type Key = UserId;
    type Services = Services;

    const KIND: &'static str = "backup";

    async fn load(key: &UserId, services: &Services) -> Result<Self> {
        Ok(Self { head: services.store.backup_head(*key).await? })
    }
}

impl Command for SaveBackup {
    type Reply = BackupSaved;

    const NAME: &'static str = "save";
}

impl Handle<SaveBackup> for Backup {
    async fn handle(&mut self, SaveBackup(draft): &SaveBackup, turn: &mut Turn<'_, Self>) -> Result<BackupSaved> {
        let (user_id, now) = (*turn.key(), turn.now());
        let Some(head) = saved_head(self.head, draft.seen_revision, now) else {
            return self.changed(&turn.services().store, user_id).await.map(BackupSaved::Changed);
        };
        let saved = backup::Backup {
            salt: draft.salt.clone(),
            ciphertext: draft.ciphertext.clone(),
            revision: head.revision,
            created_at: head.created_at,
            updated_at: now,
        };
        let mut change = Change::new();
        change.backup_save(user_id, self.head, &saved);
        change.audit_add(now, AuditEntry::new(turn.context(), "backup.saved", AuditTarget::new("backup", user_id)));
        turn.commit(change).await?;
        self.head = Some(head);
        Ok(BackupSaved::Saved(saved))
    }
}

impl Command for DeleteBackup {
    type Reply = bool;

    const NAME: &'static str = "delete";
}

impl Handle<DeleteBackup> for Backup {
    async fn handle(&mut self, _: &DeleteBackup, turn: &mut Turn<'_, Self>) -> Result<bool> {
        let (user_id, now) = (*turn.key(), turn.now());
        let Some(head) = self.head else {
            return self.changed(&turn.services().store, user_id).await.map(|_none| false);
        };
        let mut change = Change::new();
        change.backup_delete(user_id, head);
        change.audit_add(now, AuditEntry::new(turn.context(), "backup.deleted", AuditTarget::new("backup", user_id)));
        change.outbox_add(now, &letter(user_id, turn.context()));
        turn.commit(change).await?;
        self.head = None;
        Ok(true)
    }
}

/// Tells the person that their backup is gone: whoever deletes it takes away the way back from a lost phone.
fn letter(user_id: UserId, context: &Context) -> OutboxEntry {
    let body = format!(
        "Your authenticator backup was deleted. The accounts on your phone stay, but nothing brings them back if you lose it, \
         until the app saves a backup again.\n\n{}\nIf this wasn't you, change your password and look through where you \
         are signed in.\n",
        asked_from(context)
    );
    let subject = "Your authenticator backup was deleted".to_owned();
    OutboxEntry::Email { to: EmailTo::Person(user_id), subject, body, calendar: None }
}

impl Backup {
    /// The backup that the store holds, provided that it is the one this actor knows.
    async fn changed(&self, store: &Store, user_id: UserId) -> Result<Option<backup::Backup>> {
        let current = store.backup(user_id).await?;
        let head =
            current.as_ref().map(|backup| BackupHead { revision: backup.revision, created_at: backup.created_at });
        if head == self.head { Ok(current) } else { Err(Error::Stale) }
    }
}
