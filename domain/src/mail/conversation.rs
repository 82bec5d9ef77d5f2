//! A conversation with its messages, and the row that lists show of it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Candidate, Correspondent, MailBox, MailFile, Placing, RawId, ThreadState, Verdict};
use crate::{
    Timestamp,
    id::{MailLabelId, MailThreadId},
};

/// Participants that a list shows.
const PARTICIPANTS_MAX: usize = 5;
/// How long the same bytes from the same sender are the same message, sent again.
pub const DOUBLE_FOR: std::time::Duration = std::time::Duration::from_hours(24);

/// Whom a message is from and to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MailPeople {
    /// Who wrote it.
    pub from: Option<Correspondent>,
    /// To whom.
    pub to: Vec<Correspondent>,
    /// Who gets a copy.
    pub cc: Vec<Correspondent>,
    /// Who gets one unseen.
    pub bcc: Vec<Correspondent>,
    /// Where answers go.
    pub reply_to: Vec<Correspondent>,
}

/// A message that is filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailMessage {
    /// Where it lies and what people did with it.
    pub placing: Placing,
    /// Its bytes.
    pub raw_id: RawId,
    /// How many bytes it has.
    pub size: u64,
    /// The lines that stand before its bytes when they are read.
    pub head: String,
    /// Who sent it by the envelope.
    pub envelope_from: String,
    /// Whom it is from and to.
    pub people: MailPeople,
    /// What it is about.
    pub subject: String,
    /// The beginning of what it says.
    pub snippet: String,
    /// When it was sent by its own word.
    pub sent_at: Option<Timestamp>,
    /// Its files.
    pub files: Vec<MailFile>,
    /// What it was found to be when it came.
    pub verdict: Verdict,
    /// The rule that its category follows from.
    pub rule: String,
    /// Whether it could not be read, and is shown as it came.
    pub is_unparsed: bool,
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: MailThreadId,
    /// What it is about, without prefixes.
    pub base_subject: String,
    /// Its messages, as they came.
    pub messages: Vec<MailMessage>,
    /// Its labels.
    pub labels: BTreeSet<MailLabelId>,
    /// When it comes back.
    pub snoozed_until: Option<Timestamp>,
    /// When it came back.
    pub raised_at: Option<Timestamp>,
}

impl Conversation {
    /// One without messages.
    pub const fn new(id: MailThreadId, base_subject: String) -> Self {
        let labels = BTreeSet::new();
        Self { id, base_subject, messages: Vec::new(), labels, snoozed_until: None, raised_at: None }
    }

    /// As far as it decides where the conversation stands.
    pub fn state(&self) -> ThreadState {
        ThreadState {
            id: self.id,
            messages: self.messages.iter().map(|it| it.placing.clone()).collect(),
            labels: self.labels.clone(),
            snoozed_until: self.snoozed_until,
            raised_at: self.raised_at,
        }
    }

    /// Has it be as `state` says, which was made of its own.
    pub fn apply(&mut self, state: ThreadState) {
        for (message, placing) in self.messages.iter_mut().zip(state.messages) {
            message.placing = placing;
        }
        (self.labels, self.snoozed_until, self.raised_at) = (state.labels, state.snoozed_until, state.raised_at);
    }

    /// Adds a message, where its moment puts it. What is snoozed comes back with it.
    pub fn add(&mut self, message: MailMessage, now: Timestamp) {
        let is_news = message.placing.place == MailBox::Inbox;
        self.messages.push(message);
        self.sort();
        if is_news {
            let mut state = self.state();
            state.come_back(now);
            self.apply(state);
        }
    }

    /// Adds a message that is no news, where its moment puts it: what is snoozed stays so.
    pub fn add_aside(&mut self, message: MailMessage) {
        self.messages.push(message);
        self.sort();
    }

    /// Takes another one in.
    pub fn merge(&mut self, other: Self) {
        self.messages.extend(other.messages);
        self.labels.extend(other.labels);
        self.snoozed_until = self.snoozed_until.or(other.snoozed_until);
        self.raised_at = self.raised_at.max(other.raised_at);
        self.sort();
    }

    fn sort(&mut self) {
        self.messages.sort_by_key(|it| (it.placing.at, it.placing.id));
    }

    /// The addresses of those who take part.
    pub fn addresses(&self) -> BTreeSet<String> {
        let people = self.messages.iter().map(|it| &it.people);
        people.flat_map(|it| it.from.iter().chain(&it.to).chain(&it.cc)).map(|it| it.email.clone()).collect()
    }

    /// As a message may belong to it.
    pub fn candidate(&self, is_named: bool) -> Candidate {
        let people = self.addresses();
        let last_at = self.state().last_at();
        Candidate { id: self.id, subject: self.base_subject.clone(), is_named, people, last_at }
    }

    /// The row that lists show of it.
    pub fn row(&self) -> ThreadRow {
        let state = self.state();
        let last = self.messages.last();
        let mut participants: Vec<Correspondent> = Vec::new();
        for from in self.messages.iter().filter_map(|it| it.people.from.as_ref()) {
            let is_new = participants.iter().all(|it| it.email != from.email);
            if is_new && participants.len() < PARTICIPANTS_MAX {
                participants.push(from.clone());
            }
        }
        let incoming = self.messages.iter().rev().find(|it| it.placing.is_incoming);
        ThreadRow {
            id: self.id,
            subject: self.messages.first().map(|it| it.subject.clone()).unwrap_or_default(),
            snippet: last.map(|it| it.snippet.clone()).unwrap_or_default(),
            participants,
            last_at: state.last_at(),
            sort_at: state.sort_at(),
            messages: self.messages.len(),
            unread: state.unread(),
            is_starred: state.is_starred(),
            labels: self.labels.iter().copied().collect(),
            place: state.main_box(),
            has_files: self.messages.iter().any(|it| it.files.iter().any(|file| !file.inline)),
            category: state.category(),
            sender: incoming.and_then(|it| it.people.from.clone()),
            snoozed_until: self.snoozed_until,
        }
    }
}

/// What lists show of a conversation (contract B 2.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRow {
    /// Its id.
    pub id: MailThreadId,
    /// What its first message is about.
    pub subject: String,
    /// The beginning of its last message.
    pub snippet: String,
    /// Who wrote, in the order in which they spoke.
    pub participants: Vec<Correspondent>,
    /// When its last message came.
    pub last_at: Timestamp,
    /// By what it is listed.
    pub sort_at: Timestamp,
    /// How many messages it has.
    pub messages: usize,
    /// How many of them nobody has read.
    pub unread: usize,
    /// Whether it has a star.
    pub is_starred: bool,
    /// Its labels.
    pub labels: Vec<MailLabelId>,
    /// The contract's `box`.
    pub place: MailBox,
    /// Whether it has files that aren't shown in a text.
    pub has_files: bool,
    /// Its category.
    pub category: super::MailCategory,
    /// Who wrote last of those who aren't the mailbox.
    pub sender: Option<Correspondent>,
    /// When it comes back.
    pub snoozed_until: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::MailMessageId, mail::MailCategory};

    fn message(at: i64, from: &str) -> MailMessage {
        let at = Timestamp(at);
        MailMessage {
            placing: Placing {
                id: MailMessageId::new(at),
                place: MailBox::Inbox,
                is_incoming: true,
                is_unread: true,
                is_starred: false,
                category: MailCategory::Primary,
                at,
            },
            raw_id: RawId::of(b""),
            size: 0,
            head: String::new(),
            envelope_from: String::new(),
            people: MailPeople {
                from: Some(Correspondent { name: None, email: from.to_owned() }),
                ..MailPeople::default()
            },
            subject: format!("from {from}"),
            snippet: format!("by {from}"),
            sent_at: None,
            files: Vec::new(),
            verdict: Verdict::default(),
            rule: String::new(),
            is_unparsed: false,
        }
    }

    #[test]
    fn a_row_names_the_first_subject_the_last_words_and_five_who_spoke() {
        let mut it = Conversation::new(MailThreadId::new(Timestamp(1)), String::new());
        for (at, name) in [(7, "g"), (1, "a"), (2, "b"), (3, "a"), (4, "c"), (5, "d"), (6, "e")] {
            it.add(message(at, &format!("{name}@example.org")), Timestamp(at));
        }
        let row = it.row();
        assert_eq!((row.subject.as_str(), row.snippet.as_str()), ("from a@example.org", "by g@example.org"));
        let names: Vec<_> = row.participants.iter().map(|it| &it.email[..1]).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e"]);
        assert_eq!((row.messages, row.unread, row.last_at), (7, 7, Timestamp(7)));
        assert_eq!(row.sender.map(|it| it.email), Some("g@example.org".to_owned()));
    }

    #[test]
    fn a_message_brings_back_what_is_snoozed() {
        let mut it = Conversation::new(MailThreadId::new(Timestamp(1)), String::new());
        it.add(message(1, "a@example.org"), Timestamp(1));
        it.messages[0].placing.place = MailBox::Archive;
        it.snoozed_until = Some(Timestamp(1_000));
        it.add(message(2, "b@example.org"), Timestamp(3));
        assert_eq!((it.snoozed_until, it.raised_at), (None, Some(Timestamp(3))));
        assert!(it.messages.iter().all(|it| it.placing.place == MailBox::Inbox));
    }
}
