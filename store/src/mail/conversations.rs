//! Conversations whole, as they are decided on and written.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    Timestamp,
    id::{MailMessageId, MailThreadId, MailboxId},
    mail::{Conversation, MailBox, MailCategory, MailMessage, MailWords, MessageIdHash, Placing, RawId, View},
};
use sea_orm::Value;

use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct MessageRow {
        message_id: String,
        thread_id: String,
        raw_id: String,
        size: i64,
        head: String,
        envelope_from: String,
        received_at: i64,
        sent_at: Option<i64>,
        people: String,
        subject: String,
        snippet: String,
        files: String,
        verdict: String,
        rule: String,
        is_unparsed: bool,
        place: String,
        is_incoming: bool,
        is_unread: bool,
        is_starred: bool,
        category: String,
    }
}

row! {
    struct ThreadStateRow {
        thread_id: String,
        base_subject: String,
        labels: String,
        snoozed_until: Option<i64>,
        raised_at: Option<i64>,
    }
}

row! {
    struct AliasedRow {
        alias_id: String,
        thread_id: String,
    }
}

row! {
    struct ThreadIdRow {
        thread_id: String,
    }
}

row! {
    struct DoublesRow {
        doubles: i64,
    }
}

/// What is read of a message.
const MESSAGE_COLUMNS: &str = "message_id, thread_id, raw_id, size, head, envelope_from, received_at, sent_at, people, subject, snippet, files, \
     verdict, rule, is_unparsed, box AS place, is_incoming, is_unread, is_starred, category";
/// Conversations, or Message-IDs, that a statement names at most.
const AT_ONCE: usize = 400;

/// `$from, …`, so many.
pub(super) fn placeholders(from: usize, count: usize) -> String {
    (from..from + count).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ")
}

/// Ids as values.
pub(super) fn values<T: ToString>(ids: &[T]) -> impl Iterator<Item = Value> {
    ids.iter().map(|id| Value::from(id.to_string()))
}

fn message(row: MessageRow) -> Result<MailMessage, StoreError> {
    let corrupt = || StoreError::corrupt(format_args!("mail_messages {}", row.message_id));
    Ok(MailMessage {
        placing: Placing {
            id: row.message_id.parse().map_err(|_| corrupt())?,
            place: MailBox::from_name(&row.place).ok_or_else(corrupt)?,
            is_incoming: row.is_incoming,
            is_unread: row.is_unread,
            is_starred: row.is_starred,
            category: MailCategory::from_name(&row.category).ok_or_else(corrupt)?,
            at: Timestamp(row.received_at),
        },
        raw_id: row.raw_id.parse::<RawId>().map_err(|_| corrupt())?,
        size: u64::try_from(row.size).map_err(|_| corrupt())?,
        people: json::read("mail_messages.people", &row.people)?,
        files: json::read("mail_messages.files", &row.files)?,
        verdict: json::read("mail_messages.verdict", &row.verdict)?,
        head: row.head,
        envelope_from: row.envelope_from,
        subject: row.subject,
        snippet: row.snippet,
        sent_at: row.sent_at.map(Timestamp),
        rule: row.rule,
        is_unparsed: row.is_unparsed,
    })
}

/// The id of a conversation, as a row has it.
pub(super) fn thread_id(text: &str) -> Result<MailThreadId, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt("the id of a conversation"))
}

impl Store {
    /// The conversations with these ids, by the ids that were asked for: one that is a part of another by now is that one. Those
    /// that aren't there are left out.
    pub async fn mail_conversations(
        &self,
        mailbox_id: MailboxId,
        ids: &[MailThreadId],
    ) -> Result<BTreeMap<MailThreadId, Conversation>, StoreError> {
        let mut found = BTreeMap::new();
        for some in ids.chunks(AT_ONCE) {
            let aliases = self.mail_aliases(mailbox_id, some).await?;
            let real: Vec<MailThreadId> = some.iter().map(|id| aliases.get(id).copied().unwrap_or(*id)).collect();
            let whole = self.mail_conversations_read(mailbox_id, &real).await?;
            for (asked, real) in some.iter().zip(&real) {
                if let Some(conversation) = whole.get(real) {
                    found.insert(*asked, conversation.clone());
                }
            }
        }
        Ok(found)
    }

    async fn mail_aliases(
        &self,
        mailbox_id: MailboxId,
        ids: &[MailThreadId],
    ) -> Result<BTreeMap<MailThreadId, MailThreadId>, StoreError> {
        let text = format!(
            "SELECT alias_id, thread_id FROM mail_thread_aliases WHERE mailbox_id = $1 AND alias_id IN ({})",
            placeholders(2, ids.len())
        );
        let all = std::iter::once(mailbox_id.to_string().into()).chain(values(ids));
        let rows: Vec<AliasedRow> = self.reader().rows(&Sql::new(text, all)).await?;
        rows.into_iter().map(|row| Ok((thread_id(&row.alias_id)?, thread_id(&row.thread_id)?))).collect()
    }

    async fn mail_conversations_read(
        &self,
        mailbox_id: MailboxId,
        ids: &[MailThreadId],
    ) -> Result<BTreeMap<MailThreadId, Conversation>, StoreError> {
        let among = placeholders(2, ids.len());
        let all = || std::iter::once(Value::from(mailbox_id.to_string())).chain(values(ids));
        let text = format!(
            "SELECT thread_id, base_subject, labels, snoozed_until, raised_at FROM mail_threads \
             WHERE mailbox_id = $1 AND thread_id IN ({among})"
        );
        let mut found = BTreeMap::new();
        for row in self.reader().rows::<ThreadStateRow>(&Sql::new(text, all())).await? {
            let id = thread_id(&row.thread_id)?;
            let labels = json::read("mail_threads.labels", &row.labels)?;
            let (snoozed_until, raised_at) = (row.snoozed_until.map(Timestamp), row.raised_at.map(Timestamp));
            let messages = Vec::new();
            let it = Conversation { id, base_subject: row.base_subject, messages, labels, snoozed_until, raised_at };
            found.insert(id, it);
        }
        let text = format!(
            "SELECT {MESSAGE_COLUMNS} FROM mail_messages WHERE mailbox_id = $1 AND thread_id IN ({among}) \
             ORDER BY received_at, message_id"
        );
        for row in self.reader().rows::<MessageRow>(&Sql::new(text, all())).await? {
            if let Some(conversation) = found.get_mut(&thread_id(&row.thread_id)?) {
                conversation.messages.push(message(row)?);
            }
        }
        Ok(found)
    }

    /// The mailbox's message with this id, and the conversation that it belongs to.
    pub async fn mail_message(
        &self,
        mailbox_id: MailboxId,
        id: MailMessageId,
    ) -> Result<Option<(MailThreadId, MailMessage)>, StoreError> {
        let text = format!("SELECT {MESSAGE_COLUMNS} FROM mail_messages WHERE mailbox_id = $1 AND message_id = $2");
        let values = [mailbox_id.to_string().into(), id.to_string().into()];
        let Some(row) = self.reader().row::<MessageRow>(&Sql::new(text, values)).await? else { return Ok(None) };
        Ok(Some((thread_id(&row.thread_id)?, message(row)?)))
    }

    /// The conversations that these messages of the mailbox belong to.
    pub async fn mail_threads_of(
        &self,
        mailbox_id: MailboxId,
        ids: &BTreeSet<MailMessageId>,
    ) -> Result<Vec<MailThreadId>, StoreError> {
        let ids: Vec<MailMessageId> = ids.iter().copied().collect();
        let mut found = BTreeSet::new();
        for some in ids.chunks(AT_ONCE) {
            let text = format!(
                "SELECT DISTINCT thread_id FROM mail_messages WHERE mailbox_id = $1 AND message_id IN ({})",
                placeholders(2, some.len())
            );
            let all = std::iter::once(mailbox_id.to_string().into()).chain(values(some));
            for row in self.reader().rows::<ThreadIdRow>(&Sql::new(text, all)).await? {
                found.insert(thread_id(&row.thread_id)?);
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The conversations that have seen one of these Message-IDs.
    pub async fn mail_threads_named(
        &self,
        mailbox_id: MailboxId,
        hashes: &[MessageIdHash],
    ) -> Result<Vec<MailThreadId>, StoreError> {
        let mut found = Vec::new();
        for some in hashes.chunks(AT_ONCE) {
            let text = format!(
                "SELECT DISTINCT thread_id FROM mail_references WHERE mailbox_id = $1 AND hash IN ({})",
                placeholders(2, some.len())
            );
            let names = some.iter().map(|hash| Value::from(hash.as_str()));
            let all = std::iter::once(mailbox_id.to_string().into()).chain(names);
            for row in self.reader().rows::<ThreadIdRow>(&Sql::new(text, all)).await? {
                found.push(thread_id(&row.thread_id)?);
            }
        }
        Ok(found)
    }

    /// The last conversations about something whose last message came since then, at most 20.
    pub async fn mail_threads_about(
        &self,
        mailbox_id: MailboxId,
        base_subject: &str,
        since: Timestamp,
    ) -> Result<Vec<MailThreadId>, StoreError> {
        let statement = "SELECT thread_id FROM mail_threads WHERE mailbox_id = $1 AND base_subject = $2 \
                         AND last_at >= $3 ORDER BY last_at DESC LIMIT 20";
        let values = [mailbox_id.to_string().into(), base_subject.into(), since.0.into()];
        let rows: Vec<ThreadIdRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(|row| thread_id(&row.thread_id)).collect()
    }

    /// Conversations in the inbox whose last sender is this one and that are of another category, at most `limit`.
    pub async fn mail_threads_to_move(
        &self,
        mailbox_id: MailboxId,
        sender: &str,
        category: MailCategory,
        limit: u32,
    ) -> Result<Vec<MailThreadId>, StoreError> {
        let statement = "SELECT t.thread_id FROM mail_threads AS t JOIN mail_places AS p \
                         ON p.mailbox_id = t.mailbox_id AND p.thread_id = t.thread_id AND p.place = $4 \
                         WHERE t.mailbox_id = $1 AND t.sender = $2 AND p.category <> $3 ORDER BY t.thread_id LIMIT $5";
        let values = [
            mailbox_id.to_string().into(),
            sender.into(),
            category.as_str().into(),
            View::Inbox.name().into(),
            i64::from(limit).into(),
        ];
        let rows: Vec<ThreadIdRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(|row| thread_id(&row.thread_id)).collect()
    }

    /// Whether these bytes came to the mailbox from this sender since then. What the mailbox sent itself didn't come.
    pub async fn mail_has(
        &self,
        mailbox_id: MailboxId,
        raw_id: RawId,
        envelope_from: &str,
        since: Timestamp,
    ) -> Result<bool, StoreError> {
        let statement = "SELECT COUNT(*) AS doubles FROM mail_messages WHERE mailbox_id = $1 AND raw_id = $2 \
                         AND envelope_from = $3 AND received_at >= $4 AND is_incoming = $5";
        let (mailbox, raw) = (mailbox_id.to_string(), raw_id.to_string());
        let values = [mailbox.into(), raw.into(), envelope_from.into(), since.0.into(), true.into()];
        let found = self.reader().row::<DoublesRow>(&Sql::new(statement, values)).await?;
        Ok(found.is_some_and(|found| found.doubles > 0))
    }
}

impl Change {
    /// Adds a message that is filed, with what is searched of it.
    pub fn mail_message_add(
        &mut self,
        mailbox_id: MailboxId,
        thread_id: MailThreadId,
        message: &MailMessage,
        words: &MailWords,
        modseq: i64,
    ) {
        let statement = "INSERT INTO mail_messages (mailbox_id, message_id, thread_id, raw_id, size, head, \
                         envelope_from, received_at, sent_at, people, subject, snippet, files, verdict, rule, \
                         is_unparsed, box, is_incoming, is_unread, is_starred, category, modseq) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
                         $20, $21, $22)";
        let placing = &message.placing;
        let values: [Value; 22] = [
            mailbox_id.to_string().into(),
            placing.id.to_string().into(),
            thread_id.to_string().into(),
            message.raw_id.to_string().into(),
            i64::try_from(message.size).unwrap_or(i64::MAX).into(),
            message.head.clone().into(),
            message.envelope_from.clone().into(),
            placing.at.0.into(),
            message.sent_at.map(|at| at.0).into(),
            json::text(&message.people).into(),
            message.subject.clone().into(),
            message.snippet.clone().into(),
            json::text(&message.files).into(),
            json::text(&message.verdict).into(),
            message.rule.clone().into(),
            message.is_unparsed.into(),
            placing.place.as_str().into(),
            placing.is_incoming.into(),
            placing.is_unread.into(),
            placing.is_starred.into(),
            placing.category.as_str().into(),
            modseq.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.mail_words_add(mailbox_id, placing.id, words);
    }

    /// Writes where a message lies and what people did with it.
    pub fn mail_message_place(&mut self, mailbox_id: MailboxId, placing: &Placing, modseq: i64) {
        let statement = "UPDATE mail_messages SET box = $3, is_unread = $4, is_starred = $5, category = $6, modseq = $7, \
                         thrown_at = CASE WHEN box = $3 THEN thrown_at END WHERE mailbox_id = $1 AND message_id = $2";
        let values = [
            mailbox_id.to_string().into(),
            placing.id.to_string().into(),
            placing.place.as_str().into(),
            placing.is_unread.into(),
            placing.is_starred.into(),
            placing.category.as_str().into(),
            modseq.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that a conversation has seen these Message-IDs.
    pub fn mail_references_add(&mut self, mailbox_id: MailboxId, thread_id: MailThreadId, hashes: &[MessageIdHash]) {
        for hash in hashes {
            let statement = "INSERT INTO mail_references (mailbox_id, hash, thread_id) VALUES ($1, $2, $3) \
                             ON CONFLICT (mailbox_id, hash, thread_id) DO NOTHING";
            let values = [mailbox_id.to_string().into(), hash.as_str().into(), thread_id.to_string().into()];
            self.run_statement(Sql::new(statement, values), Expect::Any);
        }
    }

    /// Writes a conversation's row, and the views that it stands in.
    pub fn mail_thread_set(&mut self, mailbox_id: MailboxId, conversation: &Conversation) {
        let (state, row) = (conversation.state(), conversation.row());
        let (mailbox, thread) = (mailbox_id.to_string(), conversation.id.to_string());
        let statement = "INSERT INTO mail_threads (mailbox_id, thread_id, base_subject, sender, last_at, labels, \
                         snoozed_until, raised_at, shown) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                         ON CONFLICT (mailbox_id, thread_id) DO UPDATE SET base_subject = excluded.base_subject, \
                         sender = excluded.sender, last_at = excluded.last_at, labels = excluded.labels, \
                         snoozed_until = excluded.snoozed_until, raised_at = excluded.raised_at, \
                         shown = excluded.shown";
        let values: [Value; 9] = [
            mailbox.clone().into(),
            thread.clone().into(),
            conversation.base_subject.clone().into(),
            row.sender.as_ref().map(|sender| sender.email.clone()).into(),
            row.last_at.0.into(),
            json::text(&conversation.labels).into(),
            conversation.snoozed_until.map(|at| at.0).into(),
            conversation.raised_at.map(|at| at.0).into(),
            json::text(&row).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.mail_places_clear(mailbox_id, conversation.id);
        for view in state.views() {
            let statement = "INSERT INTO mail_places (mailbox_id, place, thread_id, sort_at, category) \
                             VALUES ($1, $2, $3, $4, $5)";
            let values = [
                mailbox.clone().into(),
                view.place().into(),
                thread.clone().into(),
                row.sort_at.0.into(),
                row.category.as_str().into(),
            ];
            self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
    }

    fn mail_places_clear(&mut self, mailbox_id: MailboxId, thread_id: MailThreadId) {
        let statement = "DELETE FROM mail_places WHERE mailbox_id = $1 AND thread_id = $2";
        let values = [mailbox_id.to_string().into(), thread_id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Has a conversation be a part of another one, under whose id it is found from then on.
    pub fn mail_thread_merge(&mut self, mailbox_id: MailboxId, from: MailThreadId, into: MailThreadId) {
        for statement in [
            "UPDATE mail_messages SET thread_id = $3 WHERE mailbox_id = $1 AND thread_id = $2",
            "INSERT INTO mail_references (mailbox_id, hash, thread_id) SELECT mailbox_id, hash, $3 FROM mail_references \
             WHERE mailbox_id = $1 AND thread_id = $2 ON CONFLICT (mailbox_id, hash, thread_id) DO NOTHING",
            "UPDATE mail_thread_aliases SET thread_id = $3 WHERE mailbox_id = $1 AND thread_id = $2",
            "INSERT INTO mail_thread_aliases (mailbox_id, alias_id, thread_id) VALUES ($1, $2, $3)",
        ] {
            let values = [mailbox_id.to_string().into(), from.to_string().into(), into.to_string().into()];
            self.run_statement(Sql::new(statement, values), Expect::Any);
        }
        for statement in [
            "DELETE FROM mail_references WHERE mailbox_id = $1 AND thread_id = $2",
            "DELETE FROM mail_threads WHERE mailbox_id = $1 AND thread_id = $2",
        ] {
            let values = [mailbox_id.to_string().into(), from.to_string().into()];
            self.run_statement(Sql::new(statement, values), Expect::Any);
        }
        self.mail_places_clear(mailbox_id, from);
    }

    /// Deletes a conversation with its messages, whose bytes are let go.
    pub fn mail_thread_delete(&mut self, now: Timestamp, mailbox_id: MailboxId, conversation: &Conversation) {
        let ids: Vec<MailMessageId> = conversation.messages.iter().map(|message| message.placing.id).collect();
        self.mail_folder_entries_leave(now, mailbox_id, &ids);
        self.calendar_messages_forget(mailbox_id, &ids);
        for statement in [
            "DELETE FROM mail_words WHERE mailbox_id = $1 AND message_id IN \
             (SELECT message_id FROM mail_messages WHERE mailbox_id = $1 AND thread_id = $2)",
            "DELETE FROM mail_messages WHERE mailbox_id = $1 AND thread_id = $2",
            "DELETE FROM mail_references WHERE mailbox_id = $1 AND thread_id = $2",
            "DELETE FROM mail_thread_aliases WHERE mailbox_id = $1 AND thread_id = $2",
            "DELETE FROM mail_threads WHERE mailbox_id = $1 AND thread_id = $2",
        ] {
            let values = [mailbox_id.to_string().into(), conversation.id.to_string().into()];
            self.run_statement(Sql::new(statement, values), Expect::Any);
        }
        self.mail_places_clear(mailbox_id, conversation.id);
        self.mail_raw_release(now, conversation.messages.iter().map(|message| message.raw_id));
    }
}
