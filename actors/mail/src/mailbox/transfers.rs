//! Imports into a mailbox and exports of it: beginning them, giving them their file, starting and ending them. What is in the files
//! is read and written by jobs.

use domain::{
    Result, Timestamp,
    id::{MailExportId, MailImportId, OrgId},
    mail::{
        IMPORTS_MAX, ImportCounts, ImportPlace, MailExport, MailExportState, MailImport, MailImportKind,
        MailImportState, Mailbox, TRANSFER_KEPT, export_under_way, import_has_begun, import_over,
        import_upload_missing, no_mail_import, too_many_imports,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, NewWork, OutboxEntry,
    audit::{AuditEntry, AuditTarget},
    blobs::contents::NewContent,
};

use super::{MailboxOwner, open};
use crate::{
    exporting::MAIL_EXPORT,
    importing::MAIL_IMPORT,
    transfer_ends::{MAIL_TRANSFER_ENDS, TransferEnd},
};

/// Makes an import, which waits for its file.
#[derive(Clone, Copy, Debug)]
pub struct MailImportBegin {
    /// The organization.
    pub org_id: OrgId,
    /// What the file is.
    pub kind: MailImportKind,
    /// How many bytes it has.
    pub size: u64,
}

impl Command for MailImportBegin {
    type Reply = MailImport;

    const NAME: &'static str = "mail_import_begin";
}

impl Handle<MailImportBegin> for MailboxOwner {
    async fn handle(&mut self, command: &MailImportBegin, turn: &mut Turn<'_, Self>) -> Result<MailImport> {
        let (mailbox, now, store) = (open(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        let created_by = turn.authority(command.org_id).await?.person(domain::mail::MEMBERS_ONLY)?;
        if store.mail_imports_open(mailbox.id).await? >= IMPORTS_MAX {
            return Err(too_many_imports());
        }
        let import = MailImport {
            id: MailImportId::new(now),
            org_id: mailbox.org_id,
            mailbox_id: mailbox.id,
            created_by,
            kind: command.kind,
            size: command.size,
            state: MailImportState::Waiting,
            content: None,
            place: ImportPlace::default(),
            commits: 0,
            counts: ImportCounts::default(),
            faults: Vec::new(),
            error: None,
            created_at: now,
            ended_at: None,
        };
        let mut change = Change::new();
        change.mail_import_add(&import);
        let end = NewWork::new(MAIL_TRANSFER_ENDS.name, mailbox.org_id, &TransferEnd::Import(import.id));
        change.work_add(now, end.with_key(import.id.to_string()).not_before(now.after(TRANSFER_KEPT)));
        turn.commit(change).await?;
        Ok(import)
    }
}

/// Gives an import that waits its file.
#[derive(Clone, Debug)]
pub struct MailImportFill {
    /// The organization.
    pub org_id: OrgId,
    /// Which import.
    pub id: MailImportId,
    /// The file.
    pub content: NewContent,
}

impl Command for MailImportFill {
    type Reply = ();

    const NAME: &'static str = "mail_import_fill";
}

impl Handle<MailImportFill> for MailboxOwner {
    async fn handle(&mut self, command: &MailImportFill, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mailbox = open(turn, command.org_id).await?;
        let import = import_of(turn, &mailbox, command.id).await?;
        if import.state != MailImportState::Waiting {
            return Err(import_has_begun());
        }
        let mut change = Change::new();
        change.mail_import_fill(&import, &command.content, turn.now());
        turn.commit(change).await
    }
}

/// Has an import that waits run; one that runs goes on.
#[derive(Clone, Copy, Debug)]
pub struct MailImportStart {
    /// The organization.
    pub org_id: OrgId,
    /// Which import.
    pub id: MailImportId,
}

impl Command for MailImportStart {
    type Reply = MailImport;

    const NAME: &'static str = "mail_import_start";
}

impl Handle<MailImportStart> for MailboxOwner {
    async fn handle(&mut self, command: &MailImportStart, turn: &mut Turn<'_, Self>) -> Result<MailImport> {
        let mailbox = open(turn, command.org_id).await?;
        let import = import_of(turn, &mailbox, command.id).await?;
        match import.state {
            MailImportState::Running => return Ok(import),
            MailImportState::Waiting if import.content.is_none() => return Err(import_upload_missing()),
            MailImportState::Waiting => {}
            MailImportState::Done | MailImportState::Failed | MailImportState::Cancelled => return Err(import_over()),
        }
        let (mut change, now) = (Change::new(), turn.now());
        change.mail_import_run(import.id);
        let work = NewWork::new(MAIL_IMPORT.name, mailbox.org_id, &import.id);
        change.work_add(now, work.with_key(import.id.to_string()));
        let entry = AuditEntry::new(turn.context(), "mail.import", AuditTarget::new("mailbox", mailbox.id));
        let metadata = json!({ "importId": import.id, "kind": import.kind, "size": import.size });
        change.audit_add(now, entry.in_org(mailbox.org_id).with_metadata(metadata));
        turn.commit(change).await?;
        Ok(MailImport { state: MailImportState::Running, ..import })
    }
}

/// Calls an import off; what it filed stays.
#[derive(Clone, Copy, Debug)]
pub struct MailImportCancel {
    /// The organization.
    pub org_id: OrgId,
    /// Which import.
    pub id: MailImportId,
}

impl Command for MailImportCancel {
    type Reply = MailImport;

    const NAME: &'static str = "mail_import_cancel";
}

impl Handle<MailImportCancel> for MailboxOwner {
    async fn handle(&mut self, command: &MailImportCancel, turn: &mut Turn<'_, Self>) -> Result<MailImport> {
        let (mailbox, now) = (open(turn, command.org_id).await?, turn.now());
        let import = import_of(turn, &mailbox, command.id).await?;
        if import.ended_at.is_some() {
            return Err(import_over());
        }
        let mut change = Change::new();
        change.work_cancel(MAIL_IMPORT.name, &import.id.to_string());
        let after = ended(&mut change, &mailbox, import, MailImportState::Cancelled, None, now);
        turn.commit(change).await?;
        Ok(after)
    }
}

/// Ends an import that ran: it is done, or came to nothing more for this reason.
#[derive(Clone, Debug)]
pub struct MailImportEnd {
    /// Which import.
    pub id: MailImportId,
    /// Why it came to nothing more.
    pub error: Option<String>,
}

impl Command for MailImportEnd {
    type Reply = ();

    const NAME: &'static str = "mail_import_end";
}

impl Handle<MailImportEnd> for MailboxOwner {
    async fn handle(&mut self, command: &MailImportEnd, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, now) = (turn.services().store.clone(), turn.now());
        let import = store.mail_import(command.id).await?.filter(|it| it.ended_at.is_none());
        let Some(import) = import else { return Ok(()) };
        let mut change = Change::new();
        let state = if command.error.is_some() { MailImportState::Failed } else { MailImportState::Done };
        match store.mailbox_by_id(*turn.key()).await? {
            Some(mailbox) => drop(ended(&mut change, &mailbox, import, state, command.error.as_deref(), now)),
            None => change.mail_import_end(&import, state, command.error.as_deref(), now),
        }
        turn.commit(change).await
    }
}

/// Has the mailbox be written to a file.
#[derive(Clone, Copy, Debug)]
pub struct MailExportBegin {
    /// The organization.
    pub org_id: OrgId,
}

impl Command for MailExportBegin {
    type Reply = MailExport;

    const NAME: &'static str = "mail_export_begin";
}

impl Handle<MailExportBegin> for MailboxOwner {
    async fn handle(&mut self, command: &MailExportBegin, turn: &mut Turn<'_, Self>) -> Result<MailExport> {
        let (mailbox, now, store) = (open(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        let created_by = turn.authority(command.org_id).await?.person(domain::mail::MEMBERS_ONLY)?;
        if store.mail_exports(mailbox.id).await?.iter().any(|it| it.state == MailExportState::Running) {
            return Err(export_under_way());
        }
        let export = MailExport {
            id: MailExportId::new(now),
            org_id: mailbox.org_id,
            mailbox_id: mailbox.id,
            created_by,
            state: MailExportState::Running,
            content: None,
            size: 0,
            messages: 0,
            created_at: now,
            ended_at: None,
        };
        let mut change = Change::new();
        change.mail_export_add(&export);
        let work = NewWork::new(MAIL_EXPORT.name, mailbox.org_id, &export.id);
        change.work_add(now, work.with_key(export.id.to_string()));
        let entry = AuditEntry::new(turn.context(), "mail.export", AuditTarget::new("mailbox", mailbox.id));
        change.audit_add(now, entry.in_org(mailbox.org_id).with_metadata(json!({ "exportId": export.id })));
        turn.commit(change).await?;
        Ok(export)
    }
}

/// The mailbox's import with this id.
async fn import_of(turn: &Turn<'_, MailboxOwner>, mailbox: &Mailbox, id: MailImportId) -> Result<MailImport> {
    let found = turn.services().store.mail_import(id).await?;
    found.filter(|it| it.mailbox_id == mailbox.id).ok_or_else(no_mail_import)
}

/// Ends an import, and tells the members.
fn ended(
    change: &mut Change,
    mailbox: &Mailbox,
    import: MailImport,
    state: MailImportState,
    error: Option<&str>,
    now: Timestamp,
) -> MailImport {
    change.mail_import_end(&import, state, error, now);
    let error = error.map(str::to_owned);
    let after = MailImport { state, error, content: None, ended_at: Some(now), ..import };
    tell_import(change, mailbox, &after, now);
    after
}

/// Tells the members of a mailbox how far an import is.
pub(super) fn tell_import(change: &mut Change, mailbox: &Mailbox, import: &MailImport, now: Timestamp) {
    let ImportCounts { read, filed, duplicates, failed } = import.counts;
    let message = json!({
        "type": "mail.import", "mailboxId": mailbox.id, "importId": import.id, "state": import.shown_state(),
        "read": read, "filed": filed, "duplicates": duplicates, "failed": failed,
    });
    for &user_id in &mailbox.members {
        change.outbox_add(now, &OutboxEntry::Live { user_id, message: message.clone() });
    }
}
