//! Filing what arrived: which conversation each message belongs to, where it lies, and what it is called there.

mod importing;
mod invitations;
mod reports;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use domain::{
    Result, Timestamp,
    id::{MailMessageId, MailThreadId},
    mail::{
        Arrival, Conversation, DOUBLE_FOR, Joins, MailBox, MailContent, MailMessage, MailPeople, MailWords, Mailbox,
        MessageIdHash, Placed, Placing, RawId, Reported, SUBJECT_JOINS_FOR, Strand, ThreadState, categorize, joins,
    },
};
use kernel::{Command, Handle, Turn};
use store::{Store, mail::NewRaw};

pub use self::importing::{Imported, MailImportFile};
use self::invitations::keep_invitation;
pub(crate) use self::reports::tell_of_delivery;
use super::{
    Draft, MailboxOwner,
    rules::{Ruled, Rules},
};

/// A message that arrived, as it was read.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// How it came.
    pub arrival: Arrival,
    /// What it says.
    pub content: MailContent,
    /// What is searched of it.
    pub words: MailWords,
    /// How many bytes it has.
    pub size: u64,
    /// What another server reports by it of a message of ours.
    pub reported: Vec<Reported>,
    /// Whether it could not be read.
    pub is_unparsed: bool,
}

/// Files messages, first come first; the arrivals are gone with the commit. Those of a mailbox that is gone are dropped.
#[derive(Clone, Debug)]
pub struct MailFile {
    /// What arrived.
    pub arrived: Arc<Vec<Arrived>>,
}

impl Command for MailFile {
    type Reply = ();

    const NAME: &'static str = "mail_file";
}

impl Handle<MailFile> for MailboxOwner {
    async fn handle(&mut self, command: &MailFile, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, now) = (turn.services().store.clone(), turn.now());
        let platform = &turn.services().settings.platform_domain;
        let ids = command.arrived.iter().map(|arrived| arrived.arrival.id);
        let Some(mailbox) = store.mailbox_by_id(*turn.key()).await? else {
            let mut change = store::Change::new();
            change.mail_arrivals_remove(ids);
            change.mail_raw_release(now, command.arrived.iter().map(|arrived| arrived.arrival.raw_id));
            return turn.commit(change).await;
        };
        let mut filing = Filing::new(&store, &mailbox, self.draft(&mailbox), now);
        filing.rules = Some(Rules::load(turn, &mailbox, &command.arrived).await?);
        for arrived in command.arrived.iter() {
            filing.file(arrived, platform).await?;
        }
        let mut draft = filing.end();
        draft.change.mail_arrivals_remove(ids);
        self.commit(turn, &mailbox, draft).await
    }
}

/// A conversation that messages are added to.
struct Touched {
    before: Option<ThreadState>,
    /// What is stored of where its messages lie.
    stored: BTreeMap<MailMessageId, Placing>,
    after: Conversation,
}

impl Touched {
    fn begun(id: MailThreadId, base_subject: String) -> Self {
        Self { before: None, stored: BTreeMap::new(), after: Conversation::new(id, base_subject) }
    }

    fn there(after: Conversation) -> Self {
        let before = after.state();
        let stored = before.messages.iter().map(|it| (it.id, it.clone())).collect();
        Self { before: Some(before), stored, after }
    }
}

/// A message that the mailbox writes.
pub(super) struct Written<'w> {
    pub message: MailMessage,
    pub content: &'w MailContent,
    pub raw: &'w NewRaw,
    /// The conversation that it stands in, or is put into.
    pub there: Option<Conversation>,
}

/// What a commit files.
pub(super) struct Filing<'f> {
    store: &'f Store,
    mailbox: &'f Mailbox,
    now: Timestamp,
    draft: Draft,
    touched: BTreeMap<MailThreadId, Touched>,
    /// The Message-IDs of what this commit files.
    named: BTreeMap<MessageIdHash, BTreeSet<MailThreadId>>,
    /// What became a part of another conversation.
    merged: BTreeMap<MailThreadId, MailThreadId>,
    seen: BTreeSet<(RawId, String)>,
    doubles: Vec<RawId>,
    /// What the mailbox does by itself with what arrives; nothing with what it writes, and with what is imported.
    rules: Option<Rules>,
}

impl<'f> Filing<'f> {
    pub(super) fn new(store: &'f Store, mailbox: &'f Mailbox, draft: Draft, now: Timestamp) -> Self {
        let (touched, named, merged) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self {
            store,
            mailbox,
            now,
            draft,
            touched,
            named,
            merged,
            seen: BTreeSet::new(),
            doubles: Vec::new(),
            rules: None,
        }
    }

    async fn file(&mut self, arrived: &Arrived, platform: &str) -> Result<()> {
        let (arrival, content) = (&arrived.arrival, &arrived.content);
        if self.is_double(arrival).await? {
            self.doubles.push(arrival.raw_id);
            return Ok(());
        }
        let strand = self.strand(arrival.received_at, content);
        let id = match self.reported(arrived, platform).await? {
            Some(id) => id,
            None => self.conversation(&strand).await?,
        };
        let sender = content.from.as_ref().map(|from| from.email.as_str()).unwrap_or_default();
        let chosen = self.store.mail_sender_category(self.mailbox.id, sender).await?;
        let base_subject = strand.subject.as_str().to_owned();
        let touched = self.touched.entry(id).or_insert_with(|| Touched::begun(id, base_subject));
        let answers_us = touched.after.messages.iter().any(|message| !message.placing.is_incoming);
        let categorized = categorize(&content.traits(chosen, answers_us));
        let mut message = MailMessage {
            placing: Placing {
                id: MailMessageId::new(self.now),
                place: match arrival.verdict.placed {
                    Placed::Inbox => MailBox::Inbox,
                    Placed::Spam => MailBox::Spam,
                },
                is_incoming: true,
                is_unread: true,
                is_starred: false,
                category: categorized.category,
                at: arrival.received_at,
            },
            raw_id: arrival.raw_id,
            size: arrived.size,
            head: arrival.head.clone(),
            envelope_from: arrival.envelope_from.clone(),
            people: people(content),
            subject: content.subject.clone(),
            snippet: content.snippet(),
            sent_at: content.sent_at,
            files: content.files.clone(),
            verdict: arrival.verdict.clone(),
            rule: categorized.rule.to_owned(),
            is_unparsed: arrived.is_unparsed,
        };
        if let Some(rules) = &mut self.rules {
            let (mailbox, now, conversation) = (self.mailbox, self.now, &mut touched.after);
            let ruled = Ruled { mailbox, arrived, message: &mut message, conversation, now };
            rules.apply(self.store, &mut self.draft.change, ruled).await?;
        }
        let (mailbox_id, modseq) = (self.mailbox.id, self.draft.modseq);
        self.draft.change.mail_message_add(mailbox_id, id, &message, &arrived.words, modseq);
        self.draft.change.mail_references_add(mailbox_id, id, &strand.hashes);
        keep_invitation(&mut self.draft.change, self.now, arrived, (id, &message));
        touched.stored.insert(message.placing.id, message.placing.clone());
        touched.after.add(message, self.now);
        for hash in strand.hashes {
            self.named.entry(hash).or_default().insert(id);
        }
        Ok(())
    }

    /// Files a message that the mailbox writes, in place of what is there of it: in the conversation that is given, or in the one
    /// that it belongs to, whose id is answered.
    pub(super) async fn write(&mut self, written: Written<'_>) -> Result<MailThreadId> {
        let Written { message, content, raw, there } = written;
        let (mailbox_id, modseq, message_id) = (self.mailbox.id, self.draft.modseq, message.placing.id);
        let strand = self.strand(message.placing.at, content);
        let id = match there {
            Some(conversation) => {
                let id = conversation.id;
                self.touched.insert(id, Touched::there(conversation));
                id
            }
            None => self.conversation(&strand).await?,
        };
        let base_subject = strand.subject.as_str().to_owned();
        let touched = self.touched.entry(id).or_insert_with(|| Touched::begun(id, base_subject));
        let place = touched.after.messages.iter().position(|it| it.placing.id == message_id);
        match place.map(|place| touched.after.messages.remove(place)) {
            Some(before) => {
                self.draft.change.mail_message_rewrite(self.now, mailbox_id, message_id, (before.raw_id, raw));
            }
            None => self.draft.change.mail_raw_name(self.now, raw),
        }
        self.draft.change.mail_message_add(mailbox_id, id, &message, &MailWords::of(content), modseq);
        // What is only being written is nobody's answer yet.
        if message.placing.place != MailBox::Drafts {
            self.draft.change.mail_references_add(mailbox_id, id, &strand.hashes);
        }
        touched.stored.insert(message_id, message.placing.clone());
        touched.after.add(message, self.now);
        Ok(id)
    }

    /// The conversation that a message belongs to, the one that is named first where it belongs to several.
    async fn conversation(&mut self, strand: &Strand) -> Result<MailThreadId> {
        Ok(match self.joins(strand).await? {
            Joins::New => MailThreadId::new(self.now),
            Joins::Thread { id, merged } => {
                for other in merged {
                    self.merge(other, id);
                }
                id
            }
        })
    }

    /// Whether its sender, who lost our answer, sends again what is filed already.
    async fn is_double(&mut self, arrival: &Arrival) -> Result<bool> {
        let since = arrival.received_at.before(DOUBLE_FOR);
        let is_new = self.seen.insert((arrival.raw_id, arrival.envelope_from.clone()));
        Ok(!is_new || self.store.mail_has(self.mailbox.id, arrival.raw_id, &arrival.envelope_from, since).await?)
    }

    fn strand(&self, at: Timestamp, content: &MailContent) -> Strand {
        let in_reply_to = content.in_reply_to.iter().map(String::as_str);
        let is_own = |email: &str| self.mailbox.addresses().any(|own| own.as_str() == email);
        let people = content.people().filter(|it| !is_own(&it.email)).map(|it| it.email.clone());
        Strand {
            hashes: Strand::hashes(content.message_id.as_deref(), in_reply_to, &content.references),
            refers: !content.in_reply_to.is_empty() || !content.references.is_empty(),
            subject: content.base_subject(),
            people: people.collect(),
            at,
        }
    }

    /// Which conversation the message belongs to; what it says of them is in `touched` then.
    async fn joins(&mut self, strand: &Strand) -> Result<Joins> {
        let mut named = self.store.mail_threads_named(self.mailbox.id, &strand.hashes).await?;
        named.extend(strand.hashes.iter().filter_map(|hash| self.named.get(hash)).flatten());
        let named: BTreeSet<MailThreadId> = named.into_iter().map(|id| self.now_named(id)).collect();
        let mut candidates: Vec<_> = self.load(&named).await?.iter().map(|it| it.candidate(true)).collect();
        if !strand.refers && strand.subject.is_reply() && strand.subject.is_telling() {
            let (about, since) = (strand.subject.as_str(), strand.at.before(SUBJECT_JOINS_FOR));
            let mut alike = self.store.mail_threads_about(self.mailbox.id, about, since).await?;
            let here = self.touched.iter().filter(|(_, it)| it.after.base_subject == about);
            alike.extend(here.map(|(id, _)| *id));
            let alike: BTreeSet<MailThreadId> = alike.into_iter().map(|id| self.now_named(id)).collect();
            candidates.extend(self.load(&alike).await?.iter().map(|it| it.candidate(false)));
        }
        let joined = joins(strand, &candidates);
        if let Joins::Thread { id, merged } = &joined {
            let ids: BTreeSet<MailThreadId> = merged.iter().copied().chain([*id]).collect();
            for conversation in self.load(&ids).await? {
                self.touched.entry(conversation.id).or_insert_with(|| Touched::there(conversation));
            }
        }
        Ok(joined)
    }

    fn now_named(&self, id: MailThreadId) -> MailThreadId {
        self.merged.get(&id).copied().unwrap_or(id)
    }

    /// Conversations as this commit leaves them so far.
    async fn load(&mut self, ids: &BTreeSet<MailThreadId>) -> Result<Vec<Conversation>> {
        let here = ids.iter().filter_map(|id| self.touched.get(id)).map(|it| it.after.clone());
        let mut found: Vec<Conversation> = here.collect();
        let others: Vec<MailThreadId> = ids.iter().copied().filter(|id| !self.touched.contains_key(id)).collect();
        if !others.is_empty() {
            found.extend(self.store.mail_conversations(self.mailbox.id, &others).await?.into_values());
        }
        Ok(found)
    }

    fn merge(&mut self, other: MailThreadId, into: MailThreadId) {
        let Some(gone) = self.touched.remove(&other) else { return };
        if let Some(before) = &gone.before {
            self.draft.tally.add(before, -1);
        }
        if let Some(touched) = self.touched.get_mut(&into) {
            touched.stored.extend(gone.stored);
            touched.after.merge(gone.after);
        }
        self.draft.change.mail_thread_merge(self.mailbox.id, other, into);
        self.draft.touched.insert(other);
        self.merged.values_mut().filter(|id| **id == other).for_each(|id| *id = into);
        self.merged.insert(other, into);
    }

    /// What is to be committed.
    pub(super) fn end(mut self) -> Draft {
        for (_, Touched { before, stored, after }) in std::mem::take(&mut self.touched) {
            // What is snoozed comes back with a message, and so do the messages that were there.
            for message in &after.messages {
                if stored.get(&message.placing.id).is_some_and(|it| *it != message.placing) {
                    self.draft.change.mail_message_place(self.mailbox.id, &message.placing, self.draft.modseq);
                }
            }
            self.draft.set(before.as_ref(), &after);
        }
        self.draft.change.mail_raw_release(self.now, self.doubles);
        self.draft
    }
}

pub(super) fn people(content: &MailContent) -> MailPeople {
    MailPeople {
        from: content.from.clone(),
        to: content.to.clone(),
        cc: content.cc.clone(),
        bcc: content.bcc.clone(),
        reply_to: content.reply_to.clone(),
    }
}
