//! Drafts: messages that are being written. Each stands in a conversation as a message that its mailbox wrote, and keeps its id
//! when it is sent.

use std::sync::Arc;

use domain::{
    Result, Timestamp,
    id::{MailMessageId, OrgId},
    mail::{
        Conversation, DRAFTS_MAX, DraftContent, DraftFile, DraftMode, MailBox, MailCategory, MailContent, MailDraft,
        MailMessage, Mailbox, Placing, RawId, Verdict, draft_changed, no_draft, no_thread, too_many_drafts,
    },
};
use kernel::{Command, Handle, Turn};
use store::{Store, mail::NewRaw};

use super::{
    MailboxOwner,
    filing::{Filing, Written, people},
    open,
};

/// The bytes of a message that was written, and what is read of them.
#[derive(Clone, Debug)]
pub struct WrittenBytes {
    /// The bytes.
    pub raw: NewRaw,
    /// What they say.
    pub content: Arc<MailContent>,
    /// How many there are.
    pub size: u64,
}

/// Writes a draft: a new one, or what one says now.
#[derive(Clone, Debug)]
pub struct DraftWrite {
    /// The organization.
    pub org_id: OrgId,
    /// Its id.
    pub id: MailMessageId,
    /// The version that was read; none for a new one.
    pub version: Option<i64>,
    /// What it says.
    pub content: DraftContent,
    /// The same as a message, without files.
    pub bytes: WrittenBytes,
    /// The bytes of files that are new.
    pub added: Vec<NewRaw>,
}

impl Command for DraftWrite {
    type Reply = MailDraft;

    const NAME: &'static str = "draft_write";
}

impl Handle<DraftWrite> for MailboxOwner {
    async fn handle(&mut self, command: &DraftWrite, turn: &mut Turn<'_, Self>) -> Result<MailDraft> {
        let (mailbox, now, store) = (open(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        let before = if let Some(version) = command.version {
            Some(draft_at(&store, &mailbox, command.id, version).await?)
        } else {
            room_check(&store, &mailbox).await?;
            None
        };
        let there = match &before {
            Some(before) => Some(self.conversation_of(&store, &mailbox, before.id).await?),
            None => answered(&store, &mailbox, &command.content).await?,
        };
        let at = message_in(there.as_ref(), command.id).map_or(now, |it| it.placing.at);
        let sender = command.content.from.email.clone();
        let message = own_message(command.id, MailBox::Drafts, at, &command.bytes, sender);
        let message = MailMessage { files: command.content.files_shown(), ..message };
        let mut filing = Filing::new(&store, &mailbox, self.draft(&mailbox), now);
        let (content, raw) = (&*command.bytes.content, &command.bytes.raw);
        let thread_id = filing.write(Written { message, content, raw, there }).await?;
        let gone: Vec<RawId> = before.as_ref().map_or_else(Vec::new, |before| files_gone(before, &command.content));
        let draft = MailDraft {
            id: command.id,
            mailbox_id: mailbox.id,
            thread_id,
            version: before.map_or(1, |before| before.version + 1),
            content: command.content.clone(),
            updated_at: now,
            is_sent: false,
        };
        let mut end = filing.end();
        command.added.iter().for_each(|raw| end.change.mail_raw_name(now, raw));
        end.change.mail_raw_release(now, gone);
        end.change.mail_draft_set(&draft);
        self.commit(turn, &mailbox, end).await?;
        Ok(draft)
    }
}

/// Deletes a draft, with its message.
#[derive(Clone, Copy, Debug)]
pub struct DraftDelete {
    /// The organization.
    pub org_id: OrgId,
    /// Its id.
    pub id: MailMessageId,
}

impl Command for DraftDelete {
    type Reply = ();

    const NAME: &'static str = "draft_delete";
}

impl Handle<DraftDelete> for MailboxOwner {
    async fn handle(&mut self, command: &DraftDelete, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (mailbox, now, store) = (open(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        let found = store.mail_draft(mailbox.id, command.id).await?.filter(|draft| !draft.is_sent);
        let found = found.ok_or_else(no_draft)?;
        let mut conversation = self.conversation_of(&store, &mailbox, found.id).await?;
        let before = conversation.state();
        let mut draft = self.draft(&mailbox);
        draft.change.mail_draft_remove(now, mailbox.id, found.id, &found.content);
        if conversation.messages.len() == 1 {
            draft.delete(now, &conversation);
        } else if let Some(place) = conversation.messages.iter().position(|it| it.placing.id == found.id) {
            let message = conversation.messages.remove(place);
            draft.change.mail_message_take_out(now, mailbox.id, &message);
            draft.set(Some(&before), &conversation);
        }
        self.commit(turn, &mailbox, draft).await
    }
}

impl MailboxOwner {
    /// The conversation that a message of the mailbox stands in.
    pub(super) async fn conversation_of(
        &self,
        store: &Store,
        mailbox: &Mailbox,
        id: MailMessageId,
    ) -> Result<Conversation> {
        let thread_id = store.mail_thread_of(mailbox.id, id).await?.ok_or_else(no_draft)?;
        store.mail_conversations(mailbox.id, &[thread_id]).await?.remove(&thread_id).ok_or_else(no_thread)
    }
}

/// The bytes of files that a draft has no more.
fn files_gone(before: &MailDraft, after: &DraftContent) -> Vec<RawId> {
    let is_gone = |file: &&DraftFile| after.files.iter().all(|it| it.id != file.id);
    before.content.files.iter().filter(is_gone).map(|file| file.raw_id).collect()
}

/// 400 for a mailbox that has as many drafts as it may.
async fn room_check(store: &Store, mailbox: &Mailbox) -> Result<()> {
    if store.mail_drafts_count(mailbox.id).await? >= DRAFTS_MAX { Err(too_many_drafts()) } else { Ok(()) }
}

/// The draft in this version; 409 where it has another one.
pub(super) async fn draft_at(store: &Store, mailbox: &Mailbox, id: MailMessageId, version: i64) -> Result<MailDraft> {
    let draft = store.mail_draft(mailbox.id, id).await?.filter(|draft| !draft.is_sent).ok_or_else(no_draft)?;
    if draft.version == version { Ok(draft) } else { Err(draft_changed()) }
}

/// The conversation of the message that a new draft answers or passes on.
async fn answered(store: &Store, mailbox: &Mailbox, content: &DraftContent) -> Result<Option<Conversation>> {
    let Some(about) = content.about.filter(|_| content.mode != DraftMode::New) else { return Ok(None) };
    let Some(thread_id) = store.mail_thread_of(mailbox.id, about).await? else { return Ok(None) };
    Ok(store.mail_conversations(mailbox.id, &[thread_id]).await?.remove(&thread_id))
}

pub(super) fn message_in(conversation: Option<&Conversation>, id: MailMessageId) -> Option<&MailMessage> {
    conversation?.messages.iter().find(|it| it.placing.id == id)
}

/// A message that the mailbox wrote.
pub(super) fn own_message(
    id: MailMessageId,
    place: MailBox,
    at: Timestamp,
    bytes: &WrittenBytes,
    sender: String,
) -> MailMessage {
    let content = &bytes.content;
    MailMessage {
        placing: Placing {
            id,
            place,
            is_incoming: false,
            is_unread: false,
            is_starred: false,
            category: MailCategory::default(),
            at,
        },
        raw_id: bytes.raw.id(),
        size: bytes.size,
        head: String::new(),
        envelope_from: sender,
        people: people(content),
        subject: content.subject.clone(),
        snippet: content.snippet(),
        sent_at: content.sent_at,
        files: content.files.clone(),
        verdict: Verdict::default(),
        rule: String::new(),
        is_unparsed: false,
    }
}
