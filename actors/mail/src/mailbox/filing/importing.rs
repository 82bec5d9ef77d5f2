//! Filing messages of an import. They are placed as their file says, and nothing else follows from them: nobody is told of each,
//! nothing snoozed comes back, and the same bytes are in the mailbox once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use domain::{
    Error, Result, Timestamp,
    id::{MailImportId, MailLabelId, MailMessageId, MailThreadId},
    mail::{
        FiledAs, IMPORT_FAULTS_MAX, ImportCounts, ImportFault, ImportPlace, LABELS_MAX, LabelColor, MailBox,
        MailContent, MailImport, MailImportState, MailLabel, MailMessage, MailWords, Placing, RawId, Verdict,
        categorize, import_over, label_folded,
    },
};
use kernel::{Command, Handle, Turn};
use store::mail::NewRaw;

use super::{super::transfers::tell_import, Filing, MailboxOwner, Touched, people};

/// A message of an import, as it was read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The name of its bytes.
    pub raw_id: RawId,
    /// Its bytes; none where the mailbox had them when they were read.
    pub raw: Option<NewRaw>,
    /// How many there are.
    pub size: u64,
    /// What it says.
    pub content: MailContent,
    /// What is searched of it.
    pub words: MailWords,
    /// Whether it could not be read.
    pub is_unparsed: bool,
    /// When it came.
    pub at: Timestamp,
    /// Where it goes.
    pub filed: FiledAs,
}

/// Files messages of an import, and notes how far it is; answers the import as it is then. What was filed already isn't filed again.
#[derive(Clone, Debug)]
pub struct MailImportFile {
    /// Which import.
    pub id: MailImportId,
    /// How many commits had filed messages of it when these were read.
    pub commits: i64,
    /// How far its file was read with these.
    pub place: ImportPlace,
    /// What could not be read among these.
    pub faults: Vec<ImportFault>,
    /// The messages.
    pub messages: Arc<Vec<Imported>>,
}

impl Command for MailImportFile {
    type Reply = MailImport;

    const NAME: &'static str = "mail_import_file";
}

impl Handle<MailImportFile> for MailboxOwner {
    async fn handle(&mut self, command: &MailImportFile, turn: &mut Turn<'_, Self>) -> Result<MailImport> {
        let (store, now, mailbox_id) = (turn.services().store.clone(), turn.now(), *turn.key());
        let import = store.mail_import(command.id).await?;
        let runs = |it: &MailImport| it.mailbox_id == mailbox_id && it.state == MailImportState::Running;
        let import = import.filter(runs).ok_or_else(import_over)?;
        if import.commits != command.commits {
            return Ok(import);
        }
        let mailbox = store.mailbox_by_id(mailbox_id).await?.ok_or_else(import_over)?;
        let mut labels = Labels::new(store.mail_labels(mailbox_id).await?, now);
        let mut filing = Filing::new(&store, &mailbox, self.draft(&mailbox), now);
        let counts = Box::pin(filing.import_all(&command.messages, &mut labels)).await?;
        let mut draft = filing.end();
        // Lists are read anew when the import tells how far it is.
        draft.is_quiet = true;
        for label in &labels.made {
            draft.change.mail_label_add(mailbox_id, label, now);
            draft.labels.insert(label.id);
        }
        let after = advanced(&import, command, counts);
        draft.change.mail_import_advance(&import, &after);
        tell_import(&mut draft.change, &mailbox, &after, now);
        self.commit(turn, &mailbox, draft).await?;
        Ok(after)
    }
}

/// The import behind what was filed.
fn advanced(import: &MailImport, command: &MailImportFile, counts: ImportCounts) -> MailImport {
    let (before, failed) = (import.counts, command.faults.len() as u64);
    let mut faults = import.faults.clone();
    faults.extend(command.faults.iter().cloned());
    faults.truncate(IMPORT_FAULTS_MAX);
    MailImport {
        place: command.place,
        commits: import.commits + 1,
        counts: ImportCounts {
            read: before.read + command.messages.len() as u64 + failed,
            filed: before.filed + counts.filed,
            duplicates: before.duplicates + counts.duplicates,
            failed: before.failed + failed,
        },
        faults,
        ..import.clone()
    }
}

/// The labels of a mailbox, and those that an import makes.
struct Labels {
    by_name: BTreeMap<String, MailLabelId>,
    all: Vec<MailLabel>,
    made: Vec<MailLabel>,
    now: Timestamp,
}

impl Labels {
    fn new(all: Vec<MailLabel>, now: Timestamp) -> Self {
        let by_name = all.iter().map(|label| (label.folded(), label.id)).collect();
        Self { by_name, all, made: Vec::new(), now }
    }

    /// The labels of these names; those beyond what a mailbox may have are left out.
    fn ids(&mut self, names: &[String]) -> BTreeSet<MailLabelId> {
        names.iter().filter_map(|name| self.id(name)).collect()
    }

    fn id(&mut self, name: &str) -> Option<MailLabelId> {
        let folded = label_folded(name);
        if let Some(id) = self.by_name.get(&folded) {
            return Some(*id);
        }
        if self.all.len() >= LABELS_MAX {
            return None;
        }
        let color = LabelColor::least_used(&self.all);
        let label = MailLabel { id: MailLabelId::new(self.now), name: name.to_owned(), color };
        self.by_name.insert(folded, label.id);
        self.all.push(label.clone());
        self.made.push(label.clone());
        Some(label.id)
    }
}

impl Filing<'_> {
    async fn import_all(&mut self, messages: &[Imported], labels: &mut Labels) -> Result<ImportCounts> {
        let names: Vec<RawId> = messages.iter().map(|it| it.raw_id).collect();
        let mut known = self.store.mail_threads_of_raw(self.mailbox.id, &names).await?;
        let mut counts = ImportCounts::default();
        for message in messages {
            let labels = labels.ids(&message.filed.labels);
            if let Some(id) = known.get(&message.raw_id) {
                self.label(*id, &labels).await?;
                counts.duplicates += 1;
                continue;
            }
            let id = self.import(message, labels).await?;
            known.insert(message.raw_id, id);
            counts.filed += 1;
        }
        Ok(counts)
    }

    /// Gives a conversation labels that it may have already.
    async fn label(&mut self, id: MailThreadId, labels: &BTreeSet<MailLabelId>) -> Result<()> {
        if labels.is_empty() {
            return Ok(());
        }
        let id = self.now_named(id);
        for conversation in self.load(&BTreeSet::from([id])).await? {
            let touched = self.touched.entry(conversation.id).or_insert_with(|| Touched::there(conversation));
            touched.after.labels.extend(labels);
        }
        Ok(())
    }

    /// Files a message; the conversation that it is in.
    async fn import(&mut self, it: &Imported, labels: BTreeSet<MailLabelId>) -> Result<MailThreadId> {
        // It was in the mailbox when it was read, and was deleted since.
        let raw = it.raw.as_ref().ok_or_else(|| Error::conflict("import_changed", "Read these messages again."))?;
        let content = &it.content;
        let strand = self.strand(it.at, content);
        let id = self.conversation(&strand).await?;
        let sender = content.from.as_ref().map(|from| from.email.as_str()).unwrap_or_default();
        let chosen = self.store.mail_sender_category(self.mailbox.id, sender).await?;
        let is_own = it.filed.place == MailBox::Sent || self.mailbox.addresses().any(|own| own.as_str() == sender);
        let base_subject = strand.subject.as_str().to_owned();
        let touched = self.touched.entry(id).or_insert_with(|| Touched::begun(id, base_subject));
        let answers_us = touched.after.messages.iter().any(|message| !message.placing.is_incoming);
        let categorized = categorize(&content.traits(chosen, answers_us));
        let message = MailMessage {
            placing: Placing {
                id: MailMessageId::new(self.now),
                place: it.filed.place,
                is_incoming: !is_own,
                is_unread: it.filed.is_unread && !is_own,
                is_starred: it.filed.is_starred,
                category: categorized.category,
                at: it.at,
            },
            raw_id: it.raw_id,
            size: it.size,
            head: String::new(),
            envelope_from: String::new(),
            people: people(content),
            subject: content.subject.clone(),
            snippet: content.snippet(),
            sent_at: content.sent_at,
            files: content.files.clone(),
            verdict: Verdict::default(),
            rule: categorized.rule.to_owned(),
            is_unparsed: it.is_unparsed,
        };
        let (mailbox_id, modseq) = (self.mailbox.id, self.draft.modseq);
        self.draft.change.mail_raw_name(self.now, raw);
        self.draft.change.mail_message_add(mailbox_id, id, &message, &it.words, modseq);
        self.draft.change.mail_references_add(mailbox_id, id, &strand.hashes);
        touched.stored.insert(message.placing.id, message.placing.clone());
        touched.after.add_aside(message);
        touched.after.labels.extend(labels);
        for hash in strand.hashes {
            self.named.entry(hash).or_default().insert(id);
        }
        Ok(id)
    }
}
