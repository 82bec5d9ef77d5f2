//! Which conversation a message belongs to.
//!
//! Messages are of one conversation when one names the other's Message-ID and both are about the same. A client that leaves
//! references out still answers: a reply's prefix, a subject of two words and a common participant say so for two weeks.

use std::{collections::BTreeSet, time::Duration};

use super::BaseSubject;
use crate::{Timestamp, id::MailThreadId, token::sha256_hex};

/// Message-IDs of a message's `References` that are kept, from the last one back.
pub const REFERENCES_MAX: usize = 50;
/// How long a subject joins what doesn't refer to each other.
pub const SUBJECT_JOINS_FOR: Duration = Duration::from_hours(14 * 24);
/// How long the hash of a Message-ID is, in characters.
const HASH_LEN: usize = 32;

/// The hash of a Message-ID, by which it is looked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageIdHash(String);

impl MessageIdHash {
    /// Of a Message-ID; the brackets around it don't count, its case does (RFC 5322 3.6.4).
    pub fn of(message_id: &str) -> Self {
        let id = message_id.trim().trim_start_matches('<').trim_end_matches('>');
        let mut hash = sha256_hex(id.as_bytes());
        hash.truncate(HASH_LEN);
        Self(hash)
    }

    /// As it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What of a message decides on its conversation.
#[derive(Clone, Debug)]
pub struct Strand {
    /// The message's own Message-ID and those that it names, each once.
    pub hashes: Vec<MessageIdHash>,
    /// Whether it names another message.
    pub refers: bool,
    /// What it is about.
    pub subject: BaseSubject,
    /// The addresses that it is from and to, in small letters, without the mailbox's own.
    pub people: BTreeSet<String>,
    /// When it came.
    pub at: Timestamp,
}

impl Strand {
    /// The hashes of a message's own Message-ID, of `In-Reply-To` and of the last of `References`.
    pub fn hashes<'m>(
        own: Option<&'m str>,
        in_reply_to: impl IntoIterator<Item = &'m str>,
        references: &'m [String],
    ) -> Vec<MessageIdHash> {
        let last = references.len().saturating_sub(REFERENCES_MAX);
        let named = in_reply_to.into_iter().take(REFERENCES_MAX).chain(references[last..].iter().map(String::as_str));
        let mut seen = BTreeSet::new();
        own.into_iter().chain(named).map(MessageIdHash::of).filter(|hash| seen.insert(hash.clone())).collect()
    }
}

/// A conversation that a message may belong to.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its id.
    pub id: MailThreadId,
    /// What it is about.
    pub subject: String,
    /// Whether it shares a Message-ID with the message.
    pub is_named: bool,
    /// The addresses of those who take part, in small letters.
    pub people: BTreeSet<String>,
    /// When its last message came.
    pub last_at: Timestamp,
}

/// Where a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joins {
    /// It begins a conversation.
    New,
    /// It belongs to this one, and the others turn out to be a part of that.
    Thread {
        /// The oldest of them.
        id: MailThreadId,
        /// What is joined with it.
        merged: Vec<MailThreadId>,
    },
}

/// Which of the candidates a message belongs to.
pub fn joins(strand: &Strand, candidates: &[Candidate]) -> Joins {
    let about = |it: &&Candidate| it.subject == strand.subject.as_str();
    let mut named: Vec<_> = candidates.iter().filter(about).filter(|it| it.is_named).map(|it| it.id).collect();
    named.sort_unstable();
    named.dedup();
    if let Some((&id, merged)) = named.split_first() {
        return Joins::Thread { id, merged: merged.to_vec() };
    }
    let by_subject = !strand.refers && strand.subject.is_reply() && strand.subject.is_telling();
    let recent = strand.at.before(SUBJECT_JOINS_FOR);
    let fits = |it: &&Candidate| it.last_at >= recent && !it.people.is_disjoint(&strand.people);
    let found = candidates.iter().filter(|_| by_subject).filter(about).filter(fits);
    match found.max_by_key(|it| (it.last_at, it.id)) {
        Some(found) => Joins::Thread { id: found.id, merged: Vec::new() },
        None => Joins::New,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn strand(subject: &str, refers: bool) -> Strand {
        let people = BTreeSet::from(["bob@example.org".to_owned()]);
        Strand { hashes: Vec::new(), refers, subject: BaseSubject::of(subject), people, at: NOW }
    }

    fn candidate(made_at: i64, subject: &str, is_named: bool) -> Candidate {
        Candidate {
            id: MailThreadId::new(Timestamp(made_at)),
            subject: BaseSubject::of(subject).as_str().to_owned(),
            is_named,
            people: BTreeSet::from(["bob@example.org".to_owned()]),
            last_at: NOW,
        }
    }

    fn to(candidate: &Candidate) -> Joins {
        Joins::Thread { id: candidate.id, merged: Vec::new() }
    }

    #[test]
    fn a_message_belongs_to_what_it_names_as_long_as_it_is_about_the_same() {
        let there = candidate(1, "Lunch", true);
        assert_eq!(joins(&strand("Re: lunch", true), std::slice::from_ref(&there)), to(&there));
        assert_eq!(joins(&strand("Dinner", true), &[there]), Joins::New);
        assert_eq!(joins(&strand("Lunch", true), &[]), Joins::New);
    }

    #[test]
    fn conversations_that_turn_out_to_be_one_are_joined_with_the_oldest() {
        let (younger, older) = (candidate(2, "Lunch", true), candidate(1, "Lunch", true));
        let other = candidate(0, "Dinner", true);
        let joined = joins(&strand("Lunch", true), &[younger.clone(), older.clone(), other, younger.clone()]);
        assert_eq!(joined, Joins::Thread { id: older.id, merged: vec![younger.id] });
    }

    #[test]
    fn without_references_a_reply_joins_by_its_subject_for_two_weeks() {
        let there = candidate(1, "Lunch on Friday", false);
        let at = |last_at| Candidate { last_at, ..there.clone() };
        let reply = strand("Re: Lunch on Friday", false);
        let oldest = NOW.before(SUBJECT_JOINS_FOR);
        assert_eq!(joins(&reply, &[at(oldest)]), to(&there));
        assert_eq!(joins(&reply, &[at(Timestamp(oldest.0 - 1))]), Joins::New);
        assert_eq!(joins(&strand("Lunch on Friday", false), std::slice::from_ref(&there)), Joins::New);
        assert_eq!(joins(&strand("Re: Lunch on Friday", true), std::slice::from_ref(&there)), Joins::New);
        let strangers = Candidate { people: BTreeSet::from(["eve@example.org".to_owned()]), ..there };
        assert_eq!(joins(&reply, &[strangers]), Joins::New);
        assert_eq!(joins(&strand("Re: Lunch", false), &[candidate(1, "Lunch", false)]), Joins::New);
    }

    #[test]
    fn the_last_references_are_kept_each_once() {
        let references: Vec<String> = (0..60).map(|number| format!("<{number}@example.org>")).collect();
        let hashes = Strand::hashes(Some("own@example.org"), ["59@example.org"], &references);
        assert_eq!(hashes.len(), 1 + REFERENCES_MAX);
        assert!(hashes.contains(&MessageIdHash::of("10@example.org")));
        assert!(!hashes.contains(&MessageIdHash::of("9@example.org")));
        assert_eq!(MessageIdHash::of(" <a@b> "), MessageIdHash::of("a@b"));
        assert_ne!(MessageIdHash::of("A@b"), MessageIdHash::of("a@b"));
    }
}
