//! A query, as a tree whose parts stand one behind the other: what is joined stands before what joins it, so that a query of any
//! depth is worked off without a function that calls itself.

use std::slice;

use super::reading::read;
use crate::{
    Result, Timestamp,
    mail::{MailBox, MailCategory, MessageIdHash},
    notify::Zone,
};

/// A part of a message that has words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailField {
    /// The subject.
    Subject,
    /// The sender.
    Senders,
    /// Everybody whom it is to, openly or not.
    Receivers,
    /// Who gets a copy.
    Cc,
    /// Who gets one unseen.
    Bcc,
    /// The list that it came over.
    List,
    /// The addresses that it was brought to.
    DeliveredTo,
    /// The names of files.
    Files,
}

/// Words that a message shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordsAsked {
    /// Where; anywhere where nothing is said: in subject, senders, receivers, names of files and text.
    pub field: Option<MailField>,
    /// Which, as messages have them; never none.
    pub words: Vec<String>,
    /// Whether they stand one behind the other in one part.
    pub is_phrase: bool,
    /// Whether the last one may go on.
    pub goes_on: bool,
}

/// What a query asks of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It has words.
    Words(WordsAsked),
    /// It has a file that isn't shown in its text.
    HasFile,
    /// It has a calendar's object in it.
    HasInvitation,
    /// Its own Message-ID is this one.
    MessageId(MessageIdHash),
    /// Whether nobody has read it.
    Unread(bool),
    /// It has a star.
    Starred,
    /// Its conversation comes back later.
    Snoozed,
    /// Its conversation has the label of this name, in small letters.
    Label(String),
    /// It lies there.
    In(MailBox),
    /// It lies anywhere, spam and trash included.
    Anywhere,
    /// It is of this category.
    Category(MailCategory),
    /// It came before then.
    Before(Timestamp),
    /// It came then or later.
    Since(Timestamp),
    /// It has more bytes.
    Larger(u64),
    /// It has fewer bytes.
    Smaller(u64),
}

/// How parts of a query are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined {
    /// The one part doesn't hold.
    Not,
    /// All of them hold.
    All,
    /// One of them holds.
    Any,
}

/// A step of working a query off, with a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Puts what is asked on the stack.
    Asked(Asked),
    /// Takes so many from it, never none, and puts the one that they are.
    Joined(Joined, usize),
}

/// A query. One that asks nothing finds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailQuestion {
    steps: Vec<Step>,
}

impl MailQuestion {
    /// Reads a query; none where there is nothing but spaces. Days are days in `zone`, and times that are past are counted from
    /// `now`.
    ///
    /// 400 for a value that its operator can't have, and for a query that is too long or too deep.
    pub fn parse(text: &str, zone: &Zone, now: Timestamp) -> Result<Option<Self>> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { steps: read(text, zone, now)? }))
    }

    /// Whether it asks nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Its steps, first to last.
    pub fn steps(&self) -> slice::Iter<'_, Step> {
        self.steps.iter()
    }

    /// Works it off: `asked` says what each thing that is asked comes to, `joined` what several of these come to together. None
    /// where it asks nothing.
    pub fn worked_off<T>(
        &self,
        mut asked: impl FnMut(&Asked) -> T,
        mut joined: impl FnMut(Joined, Vec<T>) -> T,
    ) -> Option<T> {
        let mut stack: Vec<T> = Vec::new();
        for step in &self.steps {
            let next = match step {
                Step::Asked(it) => asked(it),
                Step::Joined(how, count) => {
                    let parts = stack.split_off(stack.len().saturating_sub(*count));
                    joined(*how, parts)
                }
            };
            stack.push(next);
        }
        stack.pop()
    }

    /// Whether it says itself where messages lie: a part of it that isn't turned round does.
    pub fn says_where(&self) -> bool {
        // Whether one says so that isn't turned round, and whether one does that is.
        let asked = |it: &Asked| (matches!(it, Asked::In(_) | Asked::Anywhere), false);
        let joined = |how: Joined, parts: Vec<(bool, bool)>| {
            let (here, turned) = (parts.iter().any(|part| part.0), parts.iter().any(|part| part.1));
            if how == Joined::Not { (turned, here) } else { (here, turned) }
        };
        self.worked_off(asked, joined).is_some_and(|(here, _)| here)
    }
}
