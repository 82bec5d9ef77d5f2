//! What is asked of the index, in the language of the database's: FTS5's, or that of `tsquery`.
//!
//! Some words of a message stand among those of its receivers under the name of a field (`:cc:ada`). No word of a query has a `:`, so
//! that only who asks for the field finds them.

use domain::{
    id::MailboxId,
    mail::{Asked, Joined, MailField, MailWords, WordsAsked},
};
use sea_orm::DbBackend;

/// Stands among the words of a message with a calendar's object.
const INVITATION: &str = ":has:invitation";
/// Stands before the hash of a message's own Message-ID.
const MESSAGE_ID: &str = ":id:";
/// The columns of `mail_words` that are searched where nothing is said.
const ANYWHERE: [&str; 5] = ["subject", "senders", "receivers", "files", "body"];

/// The columns of a part of a message.
pub(super) fn columns(field: Option<MailField>) -> &'static [&'static str] {
    match field {
        None => &ANYWHERE,
        Some(MailField::Subject) => &["subject"],
        Some(MailField::Senders) => &["senders"],
        Some(MailField::Files) => &["files"],
        Some(MailField::Receivers | MailField::Cc | MailField::Bcc | MailField::List | MailField::DeliveredTo) => {
            &["receivers"]
        }
    }
}

/// What stands before the words of a field that has no column of its own.
pub(super) const fn before(field: Option<MailField>) -> &'static str {
    match field {
        Some(MailField::Cc) => ":cc:",
        Some(MailField::Bcc) => ":bcc:",
        Some(MailField::List) => ":list:",
        Some(MailField::DeliveredTo) => ":to:",
        _ => "",
    }
}

/// The words of a message's receivers, with those of fields that have no column.
pub(super) fn receivers(words: &MailWords) -> String {
    let mut all = words.receivers.clone();
    let mut put = |before: &str, word: &str| {
        if !all.is_empty() {
            all.push(' ');
        }
        all.extend([before, word]);
    };
    for field in [MailField::Cc, MailField::Bcc, MailField::List, MailField::DeliveredTo] {
        let parts = words.parts(Some(field));
        for word in parts.iter().flat_map(|part| part.split(' ')).filter(|word| !word.is_empty()) {
            put(before(Some(field)), word);
        }
    }
    if words.has_invitation {
        put(INVITATION, "");
    }
    if let Some(hash) = &words.message_id {
        put(MESSAGE_ID, hash.as_str());
    }
    all
}

/// The index of a mailbox.
pub(super) struct Index {
    pub backend: DbBackend,
    pub mailbox_id: MailboxId,
}

impl Index {
    fn is_postgres(&self) -> bool {
        self.backend == DbBackend::Postgres
    }

    /// What is asked of the index; none where it has no answer. Of words that stand one behind the other it knows that they are there.
    pub(super) fn asks(&self, asked: &Asked) -> Option<String> {
        match asked {
            Asked::Words(asked) => Some(self.words(asked)),
            Asked::HasInvitation => Some(self.word(Some(MailField::Receivers), INVITATION, false)),
            Asked::MessageId(hash) => {
                let word = format!("{MESSAGE_ID}{}", hash.as_str());
                Some(self.word(Some(MailField::Receivers), &word, false))
            }
            _ => None,
        }
    }

    fn words(&self, asked: &WordsAsked) -> String {
        let last = asked.words.len().saturating_sub(1);
        let each = asked.words.iter().enumerate().map(|(place, word)| {
            let word = format!("{}{word}", before(asked.field));
            self.word(asked.field, &word, asked.goes_on && place == last)
        });
        self.joined(Joined::All, &each.collect::<Vec<_>>())
    }

    /// That a word stands in a part of a message.
    fn word(&self, field: Option<MailField>, word: &str, goes_on: bool) -> String {
        if !self.is_postgres() {
            let end = if goes_on { " *" } else { "" };
            return format!("{{{}}} : \"{word}\"{end}", columns(field).join(" "));
        }
        let (name, weight) = match field {
            None => ("", ""),
            Some(MailField::Subject) => ("", "A"),
            Some(MailField::Senders) => ("", "B"),
            Some(MailField::Files) => ("_f_", ""),
            Some(_) => ("", "C"),
        };
        let mark = match (goes_on, weight) {
            (false, "") => String::new(),
            (false, weight) => format!(":{weight}"),
            (true, weight) => format!(":*{weight}"),
        };
        format!("'{name}{word}'{mark}")
    }

    /// Several of these; never none.
    pub(super) fn joined(&self, how: Joined, parts: &[String]) -> String {
        let (and, or) = if self.is_postgres() { (" & ", " | ") } else { (" AND ", " OR ") };
        match (how, parts) {
            (Joined::Not, parts) if self.is_postgres() => format!("!({})", parts.join(and)),
            // FTS5 knows no more than that one thing holds without another.
            (Joined::Not, parts) => format!("({} NOT ({}))", self.mailbox(), parts.join(and)),
            (_, [part]) => part.clone(),
            (Joined::All, parts) => format!("({})", parts.join(and)),
            (Joined::Any, parts) => format!("({})", parts.join(or)),
        }
    }

    /// That a message is the mailbox's.
    fn mailbox(&self) -> String {
        let id = self.mailbox_id;
        if self.is_postgres() { format!("'_{id}'") } else { format!("mailbox : \"{id}\"") }
    }

    /// The same of the mailbox's messages alone.
    pub(super) fn here(&self, asks: String) -> String {
        self.joined(Joined::All, &[self.mailbox(), asks])
    }
}
