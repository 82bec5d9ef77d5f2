//! What is searched of messages, and what a query asks of them.
//!
//! Messages and queries are cut into the same words as pages are (`domain::pages::search`), but have no stems: a word of a query
//! is found as it is written, without case and accents, in any language.

mod asked;
mod evaluate;
mod question;
mod reading;
#[cfg(test)]
mod tests;
mod traces;

use std::{borrow::Cow, collections::BTreeSet};

pub use self::{
    evaluate::MessageFacts,
    question::{Asked, Joined, MailField, MailQuestion, Step, WordsAsked},
    traces::MailTraces,
};
use super::{Correspondent, MailContent, MessageIdHash, WORDS_BYTES_MAX};
use crate::pages::search::words;

/// Bytes of the words of people, and of the names of files, of a message that are searched.
const PEOPLE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a message's index, which PostgreSQL keeps below a megabyte.
const INDEX_BYTES_MAX: usize = 900_000;
/// Bytes of a word in that index, beside its own: the places where it stands.
const ENTRY_BYTES: usize = 12;

/// Bytes of the words of a field that has its own place beside everybody's.
const FIELD_BYTES_MAX: usize = 16 * 1024;
/// Bytes by which those words are longer in the index: the name of the field, and a sign.
const FIELD_NAME_BYTES: usize = 12;

/// The words of a message: in small letters and without accents, a space between two of them; and what else is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailWords {
    /// Those of the subject.
    pub subject: String,
    /// Those of the sender's name and address.
    pub senders: String,
    /// Those of the names and addresses of everybody whom it is to.
    pub receivers: String,
    /// Those of whom of these gets a copy.
    pub cc: String,
    /// Those of whom of these gets one unseen.
    pub bcc: String,
    /// Those of the lists that it came over.
    pub list: String,
    /// Those of the addresses that it was brought to.
    pub delivered_to: String,
    /// Those of the names of its files.
    pub files: String,
    /// Those of its text.
    pub body: String,
    /// Its own Message-ID.
    pub message_id: Option<MessageIdHash>,
    /// Whether it has a calendar's object.
    pub has_invitation: bool,
}

impl MailWords {
    /// Those of what a message says.
    pub fn of(content: &MailContent) -> Self {
        let mut room = INDEX_BYTES_MAX;
        let text = &content.text.text;
        let text = &text[..text.floor_char_boundary(WORDS_BYTES_MAX)];
        let receivers = content.to.iter().chain(&content.cc).chain(&content.bcc);
        let traces = &content.traces;
        Self {
            subject: cut([content.subject.as_str()], WORDS_BYTES_MAX, &mut room),
            senders: cut(content.from.iter().flat_map(named), PEOPLE_BYTES_MAX, &mut room),
            receivers: cut(receivers.flat_map(named), PEOPLE_BYTES_MAX, &mut room),
            cc: cut_beside(content.cc.iter().flat_map(named), &mut room),
            bcc: cut_beside(content.bcc.iter().flat_map(named), &mut room),
            list: cut_beside(traces.lists.iter().flat_map(named), &mut room),
            delivered_to: cut_beside(traces.delivered_to.iter().map(String::as_str), &mut room),
            files: cut(content.files.iter().map(|file| file.name.as_str()), PEOPLE_BYTES_MAX, &mut room),
            body: cut([text], WORDS_BYTES_MAX, &mut room),
            message_id: content.message_id.as_deref().map(MessageIdHash::of),
            has_invitation: traces.has_invitation,
        }
    }

    /// The same of a message that was brought to this address by its envelope.
    #[must_use]
    pub fn brought_to(mut self, address: &str) -> Self {
        let mut room = FIELD_BYTES_MAX;
        let words = cut([address], FIELD_BYTES_MAX, &mut room);
        let all = format!("{words} {}", self.delivered_to);
        all.trim().clone_into(&mut self.delivered_to);
        self
    }

    /// The parts of the message in which words are looked for.
    pub fn parts(&self, field: Option<MailField>) -> Vec<&str> {
        match field {
            None => vec![&self.subject, &self.senders, &self.receivers, &self.files, &self.body],
            Some(MailField::Subject) => vec![&self.subject],
            Some(MailField::Senders) => vec![&self.senders],
            Some(MailField::Receivers) => vec![&self.receivers],
            Some(MailField::Cc) => vec![&self.cc],
            Some(MailField::Bcc) => vec![&self.bcc],
            Some(MailField::List) => vec![&self.list],
            Some(MailField::DeliveredTo) => vec![&self.delivered_to],
            Some(MailField::Files) => vec![&self.files],
        }
    }
}

/// What a correspondent is found by.
fn named(it: &Correspondent) -> [&str; 2] {
    [it.name.as_deref().unwrap_or_default(), &it.email]
}

/// The words of texts, as many as there is room for.
fn cut<'t>(texts: impl IntoIterator<Item = &'t str>, bytes_max: usize, room: &mut usize) -> String {
    cut_with(texts, bytes_max, ENTRY_BYTES, room)
}

/// The words of a field that is searched for itself, too.
fn cut_beside<'t>(texts: impl IntoIterator<Item = &'t str>, room: &mut usize) -> String {
    cut_with(texts, FIELD_BYTES_MAX, ENTRY_BYTES + FIELD_NAME_BYTES, room)
}

fn cut_with<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    bytes_max: usize,
    entry_bytes: usize,
    room: &mut usize,
) -> String {
    let mut cut = String::new();
    let mut known: BTreeSet<Cow<'t, str>> = BTreeSet::new();
    for word in texts.into_iter().flat_map(words) {
        let is_new = !known.contains(&word.folded);
        let bytes = if is_new { word.folded.len() + entry_bytes } else { 0 };
        if bytes > *room || cut.len() + word.folded.len() >= bytes_max {
            break;
        }
        *room -= bytes;
        if !cut.is_empty() {
            cut.push(' ');
        }
        cut.push_str(&word.folded);
        if is_new {
            known.insert(word.folded);
        }
    }
    cut
}
