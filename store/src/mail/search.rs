//! The full text of messages: written with each message, and searched.
//!
//! What is looked for comes as words of letters and digits ([`MailQuestion`]), so that no text of a client's is ever read as a
//! language of the database's. The mailbox is a word of each message: a search costs what there is in the mailbox that is
//! searched. The index finds words; what it doesn't know is asked of the messages that it finds, such as whether words stand one
//! behind the other.

mod index;
mod part;
#[cfg(test)]
mod tests;

use domain::{
    id::{MailMessageId, MailboxId},
    mail::{MailQuestion, MailWords},
};
use sea_orm::{DbBackend, Value};

use self::{
    index::{Index, receivers},
    part::Part,
};
use crate::{Change, Expect, sql::Sql};

/// Messages that a search looks at, where more are found: those that were filed last.
const FOUND_MAX: u32 = 10_000;

/// Values of a statement, in the order in which they got their numbers.
pub(super) struct Bound(pub Vec<Value>);

impl Bound {
    /// The place of one more.
    pub(super) fn put(&mut self, value: impl Into<Value>) -> String {
        self.0.push(value.into());
        format!("${}", self.0.len())
    }
}

/// Selects messages of the mailbox, whose place is `$1`, and their conversations, for which all that is asked holds. Must not be
/// asked of a question that asks nothing.
pub(super) fn found(backend: DbBackend, mailbox_id: MailboxId, question: &MailQuestion, bound: &mut Bound) -> String {
    let index = Index { backend, mailbox_id };
    let all = question.worked_off(|asked| Part::of(&index, asked), |how, parts| Part::joined(&index, how, parts));
    let (asks, left) = all.map(|all| (all.index, all.left)).unwrap_or_default();
    let conditions = if left.holds() { String::new() } else { format!(" AND {}", left.written(bound)) };
    let Some(asks) = asks else {
        return format!(
            "SELECT m.thread_id AS thread_id, m.message_id AS message_id FROM mail_messages AS m JOIN mail_words AS w \
             ON w.mailbox_id = m.mailbox_id AND w.message_id = m.message_id \
             WHERE m.mailbox_id = $1{conditions} ORDER BY m.received_at DESC, m.message_id DESC LIMIT {FOUND_MAX}"
        );
    };
    let asked = bound.put(index.here(asks));
    if backend == DbBackend::Postgres {
        return format!(
            "SELECT m.thread_id AS thread_id, m.message_id AS message_id FROM mail_words AS w JOIN mail_messages AS m \
             ON m.mailbox_id = w.mailbox_id AND m.message_id = w.message_id WHERE w.mailbox_id = $1 \
             AND w.word_index @@ CAST(CAST({asked} AS TEXT) AS TSQUERY){conditions} ORDER BY w.no DESC LIMIT {FOUND_MAX}"
        );
    }
    format!(
        "SELECT m.thread_id AS thread_id, m.message_id AS message_id FROM mail_word_index CROSS JOIN mail_words AS w \
         CROSS JOIN mail_messages AS m \
         WHERE mail_word_index MATCH {asked} AND w.no = mail_word_index.rowid AND w.mailbox_id = $1 \
         AND m.mailbox_id = w.mailbox_id AND m.message_id = w.message_id{conditions} \
         ORDER BY mail_word_index.rowid DESC LIMIT {FOUND_MAX}"
    )
}

impl Change {
    /// Has a message found by its words from now on.
    pub(super) fn mail_words_add(&mut self, mailbox_id: MailboxId, id: MailMessageId, words: &MailWords) {
        let statement = "INSERT INTO mail_words (mailbox_id, message_id, subject, senders, receivers, files, body) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let receivers = receivers(words);
        let MailWords { subject, senders, files, body, .. } = words.clone();
        let values: [Value; 7] = [
            mailbox_id.to_string().into(),
            id.to_string().into(),
            subject.into(),
            senders.into(),
            receivers.into(),
            files.into(),
            body.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
