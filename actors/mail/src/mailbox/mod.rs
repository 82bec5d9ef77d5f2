//! A mailbox: its conversations, and what people do with them.
//!
//! Nothing but its state is kept in memory: a command reads the conversations that it decides on, and the state was read before
//! them. Each commit counts the state's revision up, so that no two nodes both decide on one state.

mod acting;
mod acting_on;
mod automatic;
mod filing;
mod filters;
mod labels;
mod posting;
mod purging;
mod rules;
mod senders;
mod sending;
mod settings;
mod transfers;
mod vacation;
mod worker;
mod writing;

use std::collections::BTreeSet;

use actors_base::Services;
use domain::{
    Result, Timestamp,
    id::{MailLabelId, MailThreadId, MailboxId, OrgId},
    mail::{Conversation, MEMBERS_ONLY, MailBox, MailMessage, Mailbox, Tally, ThreadState, no_mailbox},
};
use kernel::{Resource, Turn};
use serde_json::json;
use store::{Change, OutboxEntry, mail::MailState};

use self::purging::purge_later;
pub use self::{
    acting::ThreadsAct,
    acting_on::MessagesAct,
    filing::{Arrived, Imported, MailFile, MailImportFile},
    filters::{FilterApply, FilterCreate, FilterDelete, FilterUpdate, FiltersOrder},
    labels::{LabelCreate, LabelDelete, LabelUpdate},
    posting::MailPost,
    senders::{SenderBlock, SenderCategorize},
    sending::{Leaves, MailPutOff, MailSend, MailSent, MailUnsend},
    settings::MailboxSettings,
    transfers::{MailExportBegin, MailImportBegin, MailImportCancel, MailImportEnd, MailImportFill, MailImportStart},
    vacation::VacationSet,
    worker::{MAIL_FILING_JOB, MailFiler},
    writing::{DraftDelete, DraftWrite, WrittenBytes},
};
pub(crate) use self::{
    filing::tell_of_delivery,
    filters::{FilterStep, filtered},
    sending::{MailLeave, draft_sent},
};

/// The owner of a mailbox.
#[derive(Debug)]
pub struct MailboxOwner {
    state: MailState,
}

impl Resource for MailboxOwner {
    type Key = MailboxId;
    type Services = Services;

    const KIND: &'static str = "mailbox";

    async fn load(id: &MailboxId, services: &Services) -> Result<Self> {
        Ok(Self { state: services.store.mail_state(*id).await? })
    }
}

/// The mailbox, as a person opens it: 403 for who is no person, 404 for who is no member of it.
async fn open(turn: &Turn<'_, MailboxOwner>, org_id: OrgId) -> Result<Mailbox> {
    let user_id = turn.authority(org_id).await?.person(MEMBERS_ONLY)?;
    turn.services().store.mailbox_of(org_id, *turn.key(), user_id).await?.ok_or_else(no_mailbox)
}

/// What a commit does to conversations.
struct Draft {
    mailbox_id: MailboxId,
    modseq: i64,
    change: Change,
    tally: Tally,
    touched: BTreeSet<MailThreadId>,
    /// Labels that are made, changed or deleted.
    labels: BTreeSet<MailLabelId>,
    /// Whether a conversation that is written has messages in spam or in the trash.
    has_thrown: bool,
    /// Whether nobody is told of its conversations one by one.
    is_quiet: bool,
}

impl Draft {
    /// Writes a conversation that is there already, with what changed of its messages.
    fn rewrite(&mut self, before: &ThreadState, after: &Conversation) {
        for (was, message) in before.messages.iter().zip(&after.messages) {
            if *was != message.placing {
                self.change.mail_message_place(self.mailbox_id, &message.placing, self.modseq);
            }
        }
        self.set(Some(before), after);
    }

    /// Writes a conversation's row, places and counts.
    fn set(&mut self, before: Option<&ThreadState>, after: &Conversation) {
        if let Some(before) = before {
            self.tally.add(before, -1);
        }
        self.tally.add(&after.state(), 1);
        let is_thrown = |message: &MailMessage| matches!(message.placing.place, MailBox::Spam | MailBox::Trash);
        self.has_thrown |= after.messages.iter().any(is_thrown);
        self.change.mail_thread_set(self.mailbox_id, after);
        self.touched.insert(after.id);
    }

    /// Deletes a conversation.
    fn delete(&mut self, now: Timestamp, conversation: &Conversation) {
        self.tally.add(&conversation.state(), -1);
        self.change.mail_thread_delete(now, self.mailbox_id, conversation);
        self.touched.insert(conversation.id);
    }
}

impl MailboxOwner {
    fn draft(&self, mailbox: &Mailbox) -> Draft {
        let (change, tally, modseq) = (Change::new(), Tally::default(), self.state.revision + 1);
        let (touched, labels) = (BTreeSet::new(), BTreeSet::new());
        Draft { mailbox_id: mailbox.id, modseq, change, tally, touched, labels, has_thrown: false, is_quiet: false }
    }

    /// Commits a draft, and tells the members what changed.
    async fn commit(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox, draft: Draft) -> Result<()> {
        let next = MailState { revision: draft.modseq, ..self.state.clone() };
        let mut change = Change::new();
        change.mailbox_confirm(mailbox.id);
        change.mail_state_turn(mailbox.id, &next);
        change.append(draft.change);
        change.mail_folders_follow(turn.now(), mailbox.id, draft.touched.iter().copied(), draft.modseq);
        change.mail_counts_add(mailbox.id, &draft.tally);
        if draft.has_thrown {
            change.mail_thrown_note(mailbox.id, turn.now());
            purge_later(&mut change, mailbox, turn.now());
        }
        let mut message = json!({
            "type": "mail.changed", "mailboxId": mailbox.id, "threadIds": draft.touched, "modseq": next.revision,
        });
        if !draft.labels.is_empty() {
            message["labelIds"] = json!(draft.labels);
        }
        let is_news = (!draft.touched.is_empty() && !draft.is_quiet) || !draft.labels.is_empty();
        for &user_id in mailbox.members.iter().filter(|_| is_news) {
            change.outbox_add(turn.now(), &OutboxEntry::Live { user_id, message: message.clone() });
        }
        turn.commit(change).await?;
        self.state = next;
        Ok(())
    }
}
