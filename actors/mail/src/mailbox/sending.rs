//! Sending: the commit in which a message is sent makes the message, its place in a conversation, a row for each recipient, and
//! the jobs that bring it there.

use domain::{
    Email, Result, Scope, Timestamp,
    id::{MailMessageId, MailThreadId, OrgId},
    mail::{
        Conversation, DeliveryState, Leaving, MailBox, MailDraft, Mailbox, OrgDomain, Outgoing, RECIPIENTS_MAX,
        SEND_PER_DAY, already_sent, day_is_over, domain_of, domain_removed, no_message, no_recipient, sender_not_own,
        too_many_recipients,
    },
};
use kernel::{Command, Handle, Turn};
use store::Store;

use super::{
    Draft, MailboxOwner,
    filing::{Filing, Written},
    open,
    writing::{WrittenBytes, draft_at, message_in, own_message},
};

/// Sends a message: one that a client wrote, or a draft.
#[derive(Clone, Debug)]
pub struct MailSend {
    /// The organization.
    pub org_id: OrgId,
    /// The message's id; a draft's own.
    pub id: MailMessageId,
    /// The version of the draft that is sent; none for a message that a client wrote.
    pub draft: Option<i64>,
    /// Who sends it by the envelope: an address of the mailbox.
    pub sender: Email,
    /// To whom; each once.
    pub recipients: Vec<Email>,
    /// The message, with `Bcc` where it has any.
    pub bytes: WrittenBytes,
    /// When it leaves.
    pub leaves: Leaves,
}

/// When a message leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// At once.
    Now,
    /// In a moment, so that it can be taken back.
    Held(Timestamp),
    /// Later; until then it stands among what is scheduled.
    Scheduled(Timestamp),
}

impl Leaves {
    const fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Now => now,
            Self::Held(at) | Self::Scheduled(at) => at,
        }
    }

    const fn state(self) -> DeliveryState {
        match self {
            Self::Now => DeliveryState::Queued,
            Self::Held(_) | Self::Scheduled(_) => DeliveryState::Held,
        }
    }

    const fn place(self) -> MailBox {
        match self {
            Self::Now | Self::Held(_) => MailBox::Sent,
            Self::Scheduled(_) => MailBox::Scheduled,
        }
    }
}

/// A message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailSent {
    /// Its id.
    pub message_id: MailMessageId,
    /// Its conversation.
    pub thread_id: MailThreadId,
    /// When it leaves.
    pub leaves_at: Timestamp,
}

impl Command for MailSend {
    type Reply = MailSent;

    const NAME: &'static str = "mail_send";
}

impl Handle<MailSend> for MailboxOwner {
    async fn handle(&mut self, command: &MailSend, turn: &mut Turn<'_, Self>) -> Result<MailSent> {
        let (mailbox, now, store) =
            (open_to_send(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        let draft = match command.draft {
            Some(version) => Some(draft_at(&store, &mailbox, command.id, version).await?),
            None => None,
        };
        sender_check(turn, &mailbox, &command.sender).await?;
        recipients_check(&store, &mailbox, &command.recipients, now).await?;
        let there = match &draft {
            Some(draft) => Some(self.conversation_of(&store, &mailbox, draft.id).await?),
            None => None,
        };
        let leaves_at = command.leaves.at(now);
        let (place, sender) = (command.leaves.place(), command.sender.to_string());
        let message = own_message(command.id, place, leaves_at, &command.bytes, sender);
        let mut filing = Filing::new(&store, &mailbox, self.draft(&mailbox), now);
        let (content, raw) = (&*command.bytes.content, &command.bytes.raw);
        let thread_id = filing.write(Written { message, content, raw, there }).await?;
        let mut end = filing.end();
        for person in content.to.iter().chain(&content.cc).chain(&content.bcc).take(RECIPIENTS_MAX as usize) {
            end.change.mail_person_written(mailbox.id, person, now);
        }
        let rows: Vec<Outgoing> = command.recipients.iter().map(|to| outgoing(command, &mailbox, to, now)).collect();
        end.change.mail_outgoing_add(now, &rows);
        match draft {
            Some(draft) if command.leaves != Leaves::Now => {
                let sent = MailDraft { is_sent: true, version: draft.version + 1, ..draft };
                end.change.mail_draft_set(&sent);
            }
            Some(draft) => end.change.mail_draft_remove(now, mailbox.id, draft.id, &draft.content),
            None => {}
        }
        self.commit(turn, &mailbox, end).await?;
        Ok(MailSent { message_id: command.id, thread_id, leaves_at })
    }
}

fn outgoing(command: &MailSend, mailbox: &Mailbox, recipient: &Email, now: Timestamp) -> Outgoing {
    let leaves_at = command.leaves.at(now);
    let leaving = Leaving {
        org_id: mailbox.org_id,
        mailbox_id: mailbox.id,
        message_id: command.id,
        raw_id: command.bytes.raw.id(),
        sender: &command.sender,
    };
    Outgoing { state: command.leaves.state(), due: leaves_at, leaves_at, ..leaving.to(recipient, now) }
}

/// Takes back a message that has not left: it is a draft again.
#[derive(Clone, Copy, Debug)]
pub struct MailUnsend {
    /// The organization.
    pub org_id: OrgId,
    /// Which message.
    pub id: MailMessageId,
}

impl Command for MailUnsend {
    type Reply = MailDraft;

    const NAME: &'static str = "mail_unsend";
}

impl Handle<MailUnsend> for MailboxOwner {
    async fn handle(&mut self, command: &MailUnsend, turn: &mut Turn<'_, Self>) -> Result<MailDraft> {
        let (mailbox, now, store) =
            (open_to_send(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        let held = held(&store, &mailbox, command.id, now).await?;
        let before = store.mail_draft(mailbox.id, command.id).await?.filter(|draft| draft.is_sent);
        let before = before.ok_or_else(already_sent)?;
        let mut draft = self.draft(&mailbox);
        let conversation = self.conversation_of(&store, &mailbox, command.id).await?;
        replace(&mut draft, conversation, command.id, MailBox::Drafts);
        draft.change.mail_outgoing_take_back(mailbox.id, command.id, held.len() as u64);
        let after = MailDraft { is_sent: false, version: before.version + 1, updated_at: now, ..before };
        draft.change.mail_draft_set(&after);
        self.commit(turn, &mailbox, draft).await?;
        Ok(after)
    }
}

/// Has a message that was scheduled leave at another moment.
#[derive(Clone, Debug)]
pub struct MailPutOff {
    /// The organization.
    pub org_id: OrgId,
    /// Which message.
    pub id: MailMessageId,
    /// When it leaves.
    pub leaves_at: Timestamp,
    /// The message with this date.
    pub bytes: WrittenBytes,
}

impl Command for MailPutOff {
    type Reply = MailSent;

    const NAME: &'static str = "mail_put_off";
}

impl Handle<MailPutOff> for MailboxOwner {
    async fn handle(&mut self, command: &MailPutOff, turn: &mut Turn<'_, Self>) -> Result<MailSent> {
        let (mailbox, now, store) =
            (open_to_send(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        let held = held(&store, &mailbox, command.id, now).await?;
        let conversation = self.conversation_of(&store, &mailbox, command.id).await?;
        let scheduled = message_in(Some(&conversation), command.id);
        let scheduled = scheduled.filter(|it| it.placing.place == MailBox::Scheduled).ok_or_else(already_sent)?;
        let (leaves_at, sender) = (command.leaves_at, scheduled.envelope_from.clone());
        let message = own_message(command.id, MailBox::Scheduled, leaves_at, &command.bytes, sender);
        let mut filing = Filing::new(&store, &mailbox, self.draft(&mailbox), now);
        let (content, raw) = (&*command.bytes.content, &command.bytes.raw);
        let thread_id = filing.write(Written { message, content, raw, there: Some(conversation) }).await?;
        let mut end = filing.end();
        end.change.mail_outgoing_take_back(mailbox.id, command.id, held.len() as u64);
        let (due, raw_id, created_at) = (leaves_at, raw.id(), now);
        let moved = held.into_iter().map(|row| Outgoing { due, leaves_at, raw_id, created_at, ..row });
        end.change.mail_outgoing_add(now, &moved.collect::<Vec<_>>());
        self.commit(turn, &mailbox, end).await?;
        Ok(MailSent { message_id: command.id, thread_id, leaves_at })
    }
}

/// Has a message whose time has come be on its way: it can't be taken back from then on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MailLeave(pub MailMessageId);

impl Command for MailLeave {
    type Reply = ();

    const NAME: &'static str = "mail_leave";
}

impl Handle<MailLeave> for MailboxOwner {
    async fn handle(&mut self, MailLeave(id): &MailLeave, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (now, store) = (turn.now(), turn.services().store.clone());
        let Some(mailbox) = store.mailbox_by_id(*turn.key()).await? else { return Ok(()) };
        let rows = store.mail_outgoing(mailbox.id, *id).await?;
        let held = rows.iter().filter(|row| row.state == DeliveryState::Held).count();
        if held == 0 || rows.iter().any(|row| row.state == DeliveryState::Held && row.due > now) {
            return Ok(());
        }
        let mut draft = self.draft(&mailbox);
        if let Ok(conversation) = self.conversation_of(&store, &mailbox, *id).await {
            replace(&mut draft, conversation, *id, MailBox::Sent);
        }
        draft.change.mail_outgoing_release(mailbox.id, *id, held as u64);
        if let Some(written) = store.mail_draft(mailbox.id, *id).await? {
            draft.change.mail_draft_remove(now, mailbox.id, written.id, &written.content);
        }
        self.commit(turn, &mailbox, draft).await
    }
}

/// Puts a message of a conversation elsewhere, but for one that was thrown away meanwhile.
fn replace(draft: &mut Draft, mut conversation: Conversation, id: MailMessageId, to: MailBox) {
    let before = conversation.state();
    let is_ours = |place: MailBox| matches!(place, MailBox::Sent | MailBox::Scheduled);
    let may_move = |it: &&mut domain::mail::MailMessage| {
        it.placing.id == id && (is_ours(it.placing.place) || to == MailBox::Drafts)
    };
    for message in conversation.messages.iter_mut().filter(may_move) {
        message.placing.place = to;
    }
    if conversation.state() != before {
        draft.rewrite(&before, &conversation);
    }
}

/// The rows of a message, all of which are held yet; 409 where it is on its way.
async fn held(store: &Store, mailbox: &Mailbox, id: MailMessageId, now: Timestamp) -> Result<Vec<Outgoing>> {
    let rows = store.mail_outgoing(mailbox.id, id).await?;
    if rows.is_empty() {
        return Err(no_message());
    }
    let is_held = |row: &Outgoing| row.state == DeliveryState::Held && row.due > now;
    if rows.iter().all(is_held) { Ok(rows) } else { Err(already_sent()) }
}

/// The mailbox, as a person who may send opens it.
async fn open_to_send(turn: &Turn<'_, MailboxOwner>, org_id: OrgId) -> Result<Mailbox> {
    let mailbox = open(turn, org_id).await?;
    turn.authority(org_id).await?.require(Scope::MailSend)?;
    Ok(mailbox)
}

/// The sender is one of the mailbox's addresses, whose domain may send: 409 where it may not.
pub(super) async fn sender_check(turn: &Turn<'_, MailboxOwner>, mailbox: &Mailbox, sender: &Email) -> Result<()> {
    if !mailbox.addresses().any(|own| own == sender) {
        return Err(sender_not_own());
    }
    let (store, platform) = (&turn.services().store, &turn.services().settings.platform_domain);
    let name = domain_of(sender).parse().map_err(|_| domain_removed())?;
    match store.org_domain(mailbox.org_id, &name, platform).await?.ok_or_else(domain_removed)? {
        OrgDomain::Lent { .. } => Ok(()),
        OrgDomain::Claimed(domain) => domain.sending_check(),
    }
}

/// 400 for nobody and for too many, 429 for too many in a day.
async fn recipients_check(store: &Store, mailbox: &Mailbox, recipients: &[Email], now: Timestamp) -> Result<()> {
    let count = recipients.len() as u64;
    if count == 0 {
        return Err(no_recipient());
    }
    if count > u64::from(RECIPIENTS_MAX) {
        return Err(too_many_recipients());
    }
    let all = store.mail_sent_in_a_day(mailbox.id, now).await? + count;
    let surplus = all.saturating_sub(u64::from(SEND_PER_DAY));
    if surplus == 0 {
        return Ok(());
    }
    let again_at = store.mail_day_has_room(mailbox.id, now, surplus).await?;
    let millis = u64::try_from(again_at.0.saturating_sub(now.0)).unwrap_or_default().max(1_000);
    Err(day_is_over(std::time::Duration::from_millis(millis)))
}

/// What a message says that was sent and can be taken back; 409 where it is on its way.
pub(crate) async fn draft_sent(store: &Store, mailbox: &Mailbox, id: MailMessageId) -> Result<MailDraft> {
    let found = store.mail_draft(mailbox.id, id).await?;
    found.filter(|draft| draft.is_sent).ok_or_else(already_sent)
}
