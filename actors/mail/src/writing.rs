//! Writing and sending messages: they are made into bytes, and read again, outside of turns; then their mailbox's owner decides.

use std::{sync::Arc, time::Duration};

use actors_base::Services;
use bytes::Bytes;
use domain::{
    Context, Email, Error, Result, Tenant, Timestamp,
    id::{AttachmentId, MailMessageId},
    mail::{
        Correspondent, DraftChange, DraftContent, DraftFile, DraftMode, MESSAGE_BYTES_MAX, MailContent, MailDraft,
        MailMessage, Mailbox, RawId, authors, clean_html, compose, draft_changed, file_bytes, file_check,
        message_too_large, no_draft, no_file, no_message, own_message_id, schedule_check, sender_not_own, sender_of,
        with_surroundings,
    },
};
use kernel::{Cpu, CpuKind, Registry};

use crate::mailbox::{DraftWrite, Leaves, MailPutOff, MailSend, MailSent, MailboxOwner, WrittenBytes, draft_sent};

/// Writes drafts, and sends. A cheap handle.
#[derive(Clone)]
pub struct MailWriting {
    pub(crate) services: Services,
    cpu: Cpu,
    mailboxes: Registry<MailboxOwner>,
}

/// A draft to be made.
#[derive(Clone, Debug)]
pub struct NewDraft {
    /// What it has to do with another message.
    pub mode: DraftMode,
    /// Which one.
    pub about: Option<MailMessageId>,
    /// What is said beside what follows from that.
    pub says: DraftChange,
}

/// A file to be added to a draft.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// What it is called, checked.
    pub name: String,
    /// Its type, checked.
    pub content_type: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// A message that a client wrote whole.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Who sends it by the envelope: an address of the mailbox.
    pub sender: Email,
    /// To whom.
    pub recipients: Vec<Email>,
    /// Its bytes, with CR LF at the end of each line.
    pub bytes: Bytes,
}

impl MailWriting {
    /// With the owners of mailboxes.
    pub const fn new(services: Services, cpu: Cpu, mailboxes: Registry<MailboxOwner>) -> Self {
        Self { services, cpu, mailboxes }
    }

    /// Makes a draft: with the mailbox's signature, and above the message that it answers or passes on.
    ///
    /// 404 for a message that the mailbox hasn't, 400 for a sender that isn't the mailbox's.
    pub async fn create(&self, mailbox: &Mailbox, new: NewDraft, asking: Context) -> Result<MailDraft> {
        let (store, now) = (&self.services.store, self.services.store.now());
        let from = sender_of(mailbox, new.says.from.as_deref())?;
        let other = match (new.mode, new.about) {
            (DraftMode::New, _) => None,
            (_, Some(id)) => Some((id, self.read(mailbox, id).await?)),
            (_, None) => return Err(Error::invalid("messageId", "Name the message that it is about.")),
        };
        let mut content = other.as_ref().map_or_else(DraftContent::default, |(id, other)| {
            let own: Vec<Email> = mailbox.addresses().cloned().collect();
            DraftContent::about(new.mode, *id, other, &own)
        });
        self.cleaned(mailbox, new.says).await?.apply(&mut content);
        content.from = own_name(mailbox, &from);
        let signature = store.mail_state(mailbox.id).await?.signature;
        let is_forward = new.mode == DraftMode::Forward;
        let surrounding = move || {
            with_surroundings(&mut content, &signature, other.as_ref().map(|(_, other)| other), is_forward);
            content
        };
        let content = self.cpu.run(Tenant::Org(mailbox.org_id), CpuKind::Document, surrounding).await?;
        let id = MailMessageId::new(now);
        let passed_on = match new.about.filter(|_| is_forward) {
            Some(about) => self.files_of(mailbox, about).await?,
            None => Vec::new(),
        };
        self.write_with(mailbox, (id, None), content, passed_on, asking).await
    }

    /// Adds a file to a draft.
    ///
    /// 404 for a draft that isn't there, 400 for a file too many, 413 for too many bytes.
    pub async fn attach(
        &self,
        mailbox: &Mailbox,
        id: MailMessageId,
        file: NewFile,
        asking: Context,
    ) -> Result<MailDraft> {
        let draft = self.draft_now(mailbox, id).await?;
        self.write_with(mailbox, (id, Some(draft.version)), draft.content, vec![file], asking).await
    }

    /// Takes a file from a draft.
    ///
    /// 404 for a draft or a file that isn't there.
    pub async fn detach(
        &self,
        mailbox: &Mailbox,
        id: MailMessageId,
        file: AttachmentId,
        asking: Context,
    ) -> Result<MailDraft> {
        let MailDraft { version, mut content, .. } = self.draft_now(mailbox, id).await?;
        let place = content.files.iter().position(|it| it.id == file).ok_or_else(no_file)?;
        content.files.remove(place);
        self.write(mailbox, (id, Some(version)), content, asking).await
    }

    /// Changes a draft: what is said, on top of the version that was read.
    ///
    /// 404 for a draft that isn't there, 409 for one in another version.
    pub async fn change(
        &self,
        mailbox: &Mailbox,
        (id, version): (MailMessageId, i64),
        says: DraftChange,
        asking: Context,
    ) -> Result<MailDraft> {
        let draft = self.draft(mailbox, (id, version)).await?;
        let mut content = draft.content;
        if let Some(from) = &says.from {
            content.from = own_name(mailbox, &sender_of(mailbox, Some(from))?);
        }
        let says = self.cleaned(mailbox, says).await?;
        says.apply(&mut content);
        self.write(mailbox, (id, Some(version)), content, asking).await
    }

    /// Sends a draft: at `send_at`, or once it can't be taken back any more.
    ///
    /// 400 without a recipient, 404 and 409 as for a change, 409 for a domain that may not send, 413 for one that is too large, 429
    /// for too many recipients in a day.
    pub async fn send(
        &self,
        mailbox: &Mailbox,
        (id, version): (MailMessageId, i64),
        send_at: Option<Timestamp>,
        undo: Duration,
        asking: Context,
    ) -> Result<MailSent> {
        let now = self.services.store.now();
        let leaves = match send_at {
            Some(at) => Leaves::Scheduled(schedule_check(at, now)?),
            None if undo.is_zero() => Leaves::Now,
            None => Leaves::Held(now.after(undo)),
        };
        let content = self.draft(mailbox, (id, version)).await?.content;
        let date = match leaves {
            Leaves::Now => now,
            Leaves::Held(at) | Leaves::Scheduled(at) => at,
        };
        let (sender, recipients) = (sender_of(mailbox, Some(&content.from.email))?, content.recipients());
        let bytes = self.composed(mailbox, id, content, date).await?;
        let raw = bytes.raw.clone();
        let command = MailSend { org_id: mailbox.org_id, id, draft: Some(version), sender, recipients, bytes, leaves };
        let sent = self.mailboxes.ask(&mailbox.id, command, asking).await;
        self.kept(sent, &raw).await
    }

    /// Has a message that was scheduled leave at another moment.
    ///
    /// 404 for one that wasn't sent from a draft, 409 for one that left.
    pub async fn put_off(
        &self,
        mailbox: &Mailbox,
        id: MailMessageId,
        send_at: Timestamp,
        asking: Context,
    ) -> Result<MailSent> {
        let store = &self.services.store;
        let leaves_at = schedule_check(send_at, store.now())?;
        if store.mail_outgoing(mailbox.id, id).await?.is_empty() {
            return Err(no_message());
        }
        let content = draft_sent(store, mailbox, id).await?.content;
        let bytes = self.composed(mailbox, id, content, leaves_at).await?;
        let raw = bytes.raw.clone();
        let put_off = MailPutOff { org_id: mailbox.org_id, id, leaves_at, bytes };
        let moved = self.mailboxes.ask(&mailbox.id, put_off, asking).await;
        self.kept(moved, &raw).await
    }

    /// Sends a message that a client wrote, at once. It gets a Message-ID and a date where it has none.
    ///
    /// 400 for a sender that isn't the mailbox's, by the envelope or in `From`, and as for a draft.
    pub async fn submit(&self, mailbox: &Mailbox, submission: Submission, asking: Context) -> Result<MailSent> {
        let Submission { sender, mut recipients, bytes } = submission;
        recipients.sort();
        recipients.dedup();
        let now = self.services.store.now();
        let id = MailMessageId::new(now);
        let message_id = own_message_id(id, &sender);
        let reading = move || {
            let (content, authors) = (MailContent::read(&bytes), authors(&bytes));
            let mut added = String::new();
            if content.message_id.is_none() {
                added = format!("Message-ID: <{message_id}>\r\n");
            }
            if content.sent_at.is_none() {
                added = format!("{added}Date: {}\r\n", domain::mail::mail_date(now));
            }
            if added.is_empty() {
                return (bytes, content, authors);
            }
            let bytes = Bytes::from([added.as_bytes(), &bytes].concat());
            let content = MailContent::read(&bytes);
            (bytes, content, authors)
        };
        let (bytes, content, authors) = self.cpu.run(Tenant::Org(mailbox.org_id), CpuKind::Document, reading).await?;
        let is_own = |author: &String| mailbox.addresses().any(|own| own.as_str() == author);
        if authors.is_empty() || !authors.iter().all(is_own) {
            return Err(sender_not_own());
        }
        let bytes = self.stored(mailbox, bytes, content).await?;
        let raw = bytes.raw.clone();
        let org_id = mailbox.org_id;
        let command = MailSend { org_id, id, draft: None, sender, recipients, bytes, leaves: Leaves::Now };
        let sent = self.mailboxes.ask(&mailbox.id, command, asking).await;
        self.kept(sent, &raw).await
    }

    /// What is said, with HTML that may be shown.
    async fn cleaned(&self, mailbox: &Mailbox, mut says: DraftChange) -> Result<DraftChange> {
        let Some(html) = says.html.take() else { return Ok(says) };
        let cleaning = move || clean_html(&html);
        says.html = Some(self.cpu.run(Tenant::Org(mailbox.org_id), CpuKind::Document, cleaning).await?);
        Ok(says)
    }

    async fn draft_now(&self, mailbox: &Mailbox, id: MailMessageId) -> Result<MailDraft> {
        let found = self.services.store.mail_draft(mailbox.id, id).await?.filter(|draft| !draft.is_sent);
        found.ok_or_else(no_draft)
    }

    /// The draft in this version.
    async fn draft(&self, mailbox: &Mailbox, (id, version): (MailMessageId, i64)) -> Result<MailDraft> {
        let draft = self.draft_now(mailbox, id).await?;
        if draft.version == version { Ok(draft) } else { Err(draft_changed()) }
    }

    async fn write(
        &self,
        mailbox: &Mailbox,
        (id, version): (MailMessageId, Option<i64>),
        content: DraftContent,
        asking: Context,
    ) -> Result<MailDraft> {
        self.write_with(mailbox, (id, version), content, Vec::new(), asking).await
    }

    /// Writes a draft with files that are new.
    async fn write_with(
        &self,
        mailbox: &Mailbox,
        (id, version): (MailMessageId, Option<i64>),
        mut content: DraftContent,
        files: Vec<NewFile>,
        asking: Context,
    ) -> Result<MailDraft> {
        let (store, now) = (&self.services.store, self.services.store.now());
        let mut added = Vec::with_capacity(files.len());
        content.files.extend(files.iter().map(|file| DraftFile {
            id: AttachmentId::new(now),
            name: file.name.clone(),
            content_type: file.content_type.clone(),
            size: file.bytes.len() as u64,
            raw_id: RawId::of(&file.bytes),
        }));
        content.files_check()?;
        for file in files {
            added.push(store.mail_raw_write(mailbox.org_id, file.bytes).await?);
        }
        // What is being written is shown without its files' bytes: they are added when it is sent.
        let bytes = self.composed(mailbox, id, DraftContent { files: Vec::new(), ..content.clone() }, now).await?;
        let mut raws = added.clone();
        raws.push(bytes.raw.clone());
        let write = DraftWrite { org_id: mailbox.org_id, id, version, content, bytes, added };
        let mut written = self.mailboxes.ask(&mailbox.id, write, asking).await;
        for raw in &raws {
            written = self.kept(written, raw).await;
        }
        written
    }

    /// The files of a message of the mailbox, to be passed on.
    async fn files_of(&self, mailbox: &Mailbox, id: MailMessageId) -> Result<Vec<NewFile>> {
        let (message, raw) = self.raw(mailbox, id).await?;
        let decoding = move || {
            let decoded = |file: &domain::mail::MailFile| {
                let bytes = file_bytes(&raw, file.part)?.into();
                let (name, content_type) = file_check(&file.name, Some(&file.content_type))
                    .ok()
                    .unwrap_or_else(|| (format!("attachment-{}", file.part), file.content_type.clone()));
                Some(NewFile { name, content_type, bytes })
            };
            message.files.iter().filter_map(decoded).collect()
        };
        self.cpu.run(Tenant::Org(mailbox.org_id), CpuKind::Document, decoding).await
    }

    /// What a draft says as a message.
    async fn composed(
        &self,
        mailbox: &Mailbox,
        id: MailMessageId,
        content: DraftContent,
        date: Timestamp,
    ) -> Result<WrittenBytes> {
        let from: Email = content.from.email.parse()?;
        let message_id = own_message_id(id, &from);
        let mut files = Vec::with_capacity(content.files.len());
        for file in &content.files {
            let bytes = self.services.store.mail_raw_bytes(file.raw_id).await?;
            let gone = || Error::internal(format!("the bytes of a file {} are gone", file.id));
            files.push((file.clone(), bytes.ok_or_else(gone)?.to_vec()));
        }
        let composing = move || {
            let bytes = Bytes::from(compose(&content, &message_id, date, &files));
            let read = MailContent::read(&bytes);
            (bytes, read)
        };
        let (bytes, read) = self.cpu.run(Tenant::Org(mailbox.org_id), CpuKind::Document, composing).await?;
        self.stored(mailbox, bytes, read).await
    }

    async fn stored(&self, mailbox: &Mailbox, bytes: Bytes, content: MailContent) -> Result<WrittenBytes> {
        let size = bytes.len() as u64;
        if size > MESSAGE_BYTES_MAX {
            return Err(message_too_large());
        }
        let raw = self.services.store.mail_raw_write(mailbox.org_id, bytes).await?;
        Ok(WrittenBytes { raw, content: Arc::new(content), size })
    }

    /// What was answered; where that is a refusal, the bytes are cleared away.
    async fn kept<T>(&self, answer: Result<T>, raw: &store::mail::NewRaw) -> Result<T> {
        if answer.is_err()
            && let Err(error) = self.services.store.mail_raw_abandon(raw).await
        {
            tracing::debug!(%error, "the bytes of a message that was not written are swept later");
        }
        answer
    }

    /// A message of the mailbox, and its bytes.
    async fn raw(&self, mailbox: &Mailbox, id: MailMessageId) -> Result<(MailMessage, Bytes)> {
        let store = &self.services.store;
        let thread_id = store.mail_thread_of(mailbox.id, id).await?.ok_or_else(no_message)?;
        let conversation = store.mail_conversations(mailbox.id, &[thread_id]).await?.remove(&thread_id);
        let messages = conversation.into_iter().flat_map(|conversation| conversation.messages);
        let message = messages.into_iter().find(|it| it.placing.id == id).ok_or_else(no_message)?;
        let raw = store.mail_raw_bytes(message.raw_id).await?.ok_or_else(no_message)?;
        Ok((message, raw))
    }

    /// What a message of the mailbox says.
    async fn read(&self, mailbox: &Mailbox, id: MailMessageId) -> Result<MailContent> {
        let (message, raw) = self.raw(mailbox, id).await?;
        let reading = move || if message.is_unparsed { MailContent::unparsed(&raw) } else { MailContent::read(&raw) };
        self.cpu.run(Tenant::Org(mailbox.org_id), CpuKind::Document, reading).await
    }
}

/// The mailbox as who writes.
pub(crate) fn own_name(mailbox: &Mailbox, address: &Email) -> Correspondent {
    let name = Some(mailbox.display_name.clone()).filter(|name| !name.is_empty());
    Correspondent { name, email: address.to_string() }
}
