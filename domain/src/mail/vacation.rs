//! What is answered to who writes while a mailbox's people are away (RFC 3834), and to whom: to people who wrote to the mailbox, never
//! to programs, lists and those who may not be who they say.

use std::{ops::RangeInclusive, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    Arrival, Correspondent, DraftContent, MailBox, MailContent, Mailbox, Outcome, compose, fields, text_of, without_tag,
};
use crate::{Email, Result, Timestamp, account::text_check, problems::Problems};

/// How long a sender who was answered isn't answered again.
pub const ANSWERED_FOR: Duration = Duration::from_hours(7 * 24);
/// Characters of an answer's subject.
pub const VACATION_SUBJECT_LEN: RangeInclusive<usize> = 0..=200;
/// Characters of an answer's text, and of its HTML.
pub const VACATION_TEXT_LEN_MAX: usize = 20_000;
/// Recipients to whom a mailbox sent in a day from which on nobody is answered: the rest of a day's is for what people write.
pub const ANSWERS_UP_TO: u64 = 1_000;
/// The header of what a program answers, and what stands in it (RFC 3834 5).
const AUTO_SUBMITTED: &str = "Auto-Submitted";
const AUTO_REPLIED: &str = "auto-replied";

/// What a mailbox answers while its people are away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Vacation {
    /// Whether anybody is answered.
    pub enabled: bool,
    /// From when on.
    pub from: Option<Timestamp>,
    /// Until when.
    pub until: Option<Timestamp>,
    /// What answers are about; empty where that follows from what is answered.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The HTML, where there is any; clean.
    pub html: Option<String>,
    /// Only those whom the mailbox wrote to before.
    pub only_contacts: bool,
    /// Only those of the organization.
    pub only_org: bool,
}

impl Vacation {
    /// As it is kept: with a text where there is HTML.
    ///
    /// 400 for one that says nothing, and for an end before the beginning.
    pub fn check(mut self) -> Result<Self> {
        let mut problems = Problems::new();
        let subject = problems.keep(text_check("subject", &self.subject, &VACATION_SUBJECT_LEN))?;
        let fits = |text: &str| text.chars().count() <= VACATION_TEXT_LEN_MAX;
        problems.require(fits(&self.text), "text", "Use at most 20,000 characters.");
        problems.require(self.html.as_deref().is_none_or(fits), "html", "Use at most 20,000 characters.");
        if let (Some(from), Some(until)) = (self.from, self.until) {
            problems.require(from < until, "until", "Choose an end behind the beginning.");
        }
        if self.text.trim().is_empty() {
            self.text = self.html.as_deref().map(text_of).unwrap_or_default();
        }
        let says = !self.text.trim().is_empty();
        problems.require(says || !self.enabled, "text", "Write what is answered.");
        problems.into_result()?;
        Ok(Self { subject: subject.unwrap_or_default(), ..self })
    }

    /// Whether anybody is answered at this moment.
    pub fn is_on(&self, now: Timestamp) -> bool {
        self.enabled && self.from.is_none_or(|from| from <= now) && self.until.is_none_or(|until| now < until)
    }
}

/// Beginnings and ends of the first parts of addresses that programs read.
const PROGRAMS_BEGIN: [&str; 11] = [
    "mailer-daemon",
    "postmaster",
    "listserv",
    "majordomo",
    "owner-",
    "noreply",
    "no-reply",
    "no_reply",
    "donotreply",
    "do-not-reply",
    "bounce",
];
const PROGRAMS_END: [&str; 5] = ["-request", "-owner", "-bounces", "-bounce", "-relay"];

/// Who is answered for a message that arrived and lies in `place`; nobody where a program, a list or a bulk sender wrote, where its
/// sender may be another, and where it wasn't written to the mailbox.
pub fn answered(mailbox: &Mailbox, arrival: &Arrival, content: &MailContent, place: MailBox) -> Option<Email> {
    if !matches!(place, MailBox::Inbox | MailBox::Archive) || content.is_automatic() || arrival.envelope_from.is_empty()
    {
        return None;
    }
    let from: Email = content.from.as_ref()?.email.parse().ok()?;
    // Who nobody vouches for is answered where the envelope says the same.
    let is_theirs = match arrival.verdict.dmarc {
        Outcome::Pass => true,
        Outcome::Fail => false,
        _ => arrival.envelope_from.eq_ignore_ascii_case(from.as_str()),
    };
    let (local, _) = from.as_str().rsplit_once('@')?;
    let is_program = PROGRAMS_BEGIN.iter().any(|begin| local.starts_with(begin))
        || PROGRAMS_END.iter().any(|end| local.ends_with(end));
    let is_own = |address: &Email| mailbox.addresses().any(|own| *own == without_tag(address) || own == address);
    let is_to_us = content.to.iter().chain(&content.cc).filter_map(|it| it.email.parse().ok()).any(|it| is_own(&it));
    (is_theirs && !is_program && is_to_us && !is_own(&from)).then_some(from)
}

/// The bytes of an answer.
pub fn vacation_answer(
    vacation: &Vacation,
    mailbox: &Mailbox,
    (to, content): (&Email, &MailContent),
    message_id: &str,
    now: Timestamp,
) -> Vec<u8> {
    let name = Some(mailbox.display_name.clone()).filter(|name| !name.is_empty());
    let subject = match vacation.subject.as_str() {
        "" => format!("Auto: {}", content.subject),
        subject => subject.to_owned(),
    };
    let says = DraftContent {
        from: Correspondent { name, email: mailbox.address.to_string() },
        to: vec![Correspondent { name: None, email: to.to_string() }],
        subject,
        text: vacation.text.clone(),
        html: vacation.html.clone(),
        in_reply_to: content.message_id.iter().cloned().collect(),
        references: content.references.iter().chain(&content.message_id).cloned().collect(),
        ..DraftContent::default()
    };
    let marks = format!("{AUTO_SUBMITTED}: {AUTO_REPLIED}\r\nX-Auto-Response-Suppress: All\r\nPrecedence: bulk\r\n");
    [marks.into_bytes(), compose(&says, message_id, now, &[])].concat()
}

/// Whether a program wrote a message as an answer: it travels with the null sender, so that nothing answers it.
pub fn is_automatic_answer(message: &[u8]) -> bool {
    let says_so = |value: &[u8]| {
        let value = value.trim_ascii();
        value.get(..AUTO_REPLIED.len()).is_some_and(|it| it.eq_ignore_ascii_case(AUTO_REPLIED.as_bytes()))
    };
    fields(message).any(|field| field.is(AUTO_SUBMITTED) && says_so(field.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::samples::{arrival, mailbox};

    fn read(head: &str) -> MailContent {
        MailContent::read(format!("{head}\n\nHello").replace('\n', "\r\n").as_bytes())
    }

    fn who(head: &str, envelope_from: &str, dmarc: Outcome) -> Option<String> {
        let answered = answered(&mailbox(), &arrival(envelope_from, dmarc), &read(head), MailBox::Inbox);
        answered.map(|it| it.to_string())
    }

    const FROM_BOB: &str = "From: Bob <bob@example.org>\nTo: Ada <ada@acme.example>\nSubject: Lunch";

    #[test]
    fn people_who_write_to_the_mailbox_are_answered() {
        let bob = Some("bob@example.org".to_owned());
        assert_eq!(who(FROM_BOB, "bob@example.org", Outcome::None), bob);
        assert_eq!(who(FROM_BOB, "b-17@bounces.example.org", Outcome::Pass), bob);
        for to in ["To: ADA+shop@acme.example", "Cc: sales@acme.example", "To: a@b.c, sales@acme.example"] {
            assert_eq!(who(&format!("From: bob@example.org\n{to}"), "bob@example.org", Outcome::None), bob, "{to}");
        }
    }

    #[test]
    fn who_may_be_another_and_who_wrote_to_others_is_not() {
        assert_eq!(who(FROM_BOB, "", Outcome::Pass), None);
        assert_eq!(who(FROM_BOB, "bob@example.org", Outcome::Fail), None);
        assert_eq!(who(FROM_BOB, "mallory@example.net", Outcome::None), None);
        assert_eq!(who("From: bob@example.org\nTo: team@acme.example", "bob@example.org", Outcome::Pass), None);
        assert_eq!(who("From: sales@acme.example\nTo: ada@acme.example", "sales@acme.example", Outcome::Pass), None);
        let (mailbox, arrival, content) = (mailbox(), arrival("bob@example.org", Outcome::Pass), read(FROM_BOB));
        for (place, is) in [(MailBox::Archive, true), (MailBox::Spam, false), (MailBox::Trash, false)] {
            assert_eq!(answered(&mailbox, &arrival, &content, place).is_some(), is, "{place:?}");
        }
    }

    #[test]
    fn programs_lists_and_bulk_senders_are_not() {
        for mark in [
            "Auto-Submitted: auto-replied",
            "Auto-Submitted: auto-generated",
            "Precedence: bulk",
            "Precedence: list",
            "Precedence: Junk",
            "List-Id: <a.example.org>",
            "List-Unsubscribe: <https://example.org>",
            "List-Post: NO",
            "X-Auto-Response-Suppress: OOF, DR",
            "X-Auto-Response-Suppress: All",
            "Feedback-ID: a",
            "X-Autoreply: yes",
        ] {
            assert_eq!(who(&format!("{FROM_BOB}\n{mark}"), "bob@example.org", Outcome::Pass), None, "{mark}");
        }
        for mark in ["Auto-Submitted: no", "Precedence: first-class", "X-Auto-Response-Suppress: DR, RN"] {
            assert!(who(&format!("{FROM_BOB}\n{mark}"), "bob@example.org", Outcome::Pass).is_some(), "{mark}");
        }
        for local in ["noreply", "MAILER-DAEMON", "owner-list", "list-request", "list-bounces", "no-reply-17"] {
            let head = format!("From: {local}@example.org\nTo: ada@acme.example");
            assert_eq!(who(&head, &format!("{local}@example.org"), Outcome::Pass), None, "{local}");
        }
    }

    #[test]
    fn an_answer_says_what_it_is_and_what_it_answers() {
        let vacation = Vacation { enabled: true, text: "Away".to_owned(), ..Vacation::default() };
        let content = read(&format!("{FROM_BOB}\nMessage-ID: <1@example.org>\nReferences: <0@example.org>"));
        let to = "bob@example.org".parse().expect("an address");
        let bytes = vacation_answer(&vacation, &mailbox(), (&to, &content), "2@acme.example", Timestamp(0));
        let answer = MailContent::read(&bytes);
        assert_eq!(answer.subject, "Auto: Lunch");
        assert_eq!(answer.in_reply_to, ["1@example.org"]);
        assert_eq!(answer.references, ["0@example.org", "1@example.org"]);
        assert!(is_automatic_answer(&bytes) && answer.is_automatic());
        assert!(!is_automatic_answer(b"Subject: Auto-Submitted: auto-replied\r\n\r\n"));
        assert!(!is_automatic_answer(b"Auto-Submitted: auto-generated\r\n\r\n"));
    }

    #[test]
    fn it_says_something_and_ends_after_it_begins() {
        let at = |from: i64, until: i64| Vacation {
            enabled: true,
            text: "Away".to_owned(),
            from: Some(Timestamp(from)),
            until: Some(Timestamp(until)),
            ..Vacation::default()
        };
        assert!(at(2, 1).check().is_err() && at(1, 1).check().is_err());
        let it = at(1, 3).check().expect("a vacation");
        assert_eq!([0, 1, 2, 3].map(|now| it.is_on(Timestamp(now))), [false, true, true, false]);
        assert!(!Vacation { enabled: false, ..it }.is_on(Timestamp(2)));
        assert!(Vacation { enabled: true, ..Vacation::default() }.check().is_err());
        assert!(Vacation::default().check().is_ok());
        let html = Vacation { enabled: true, html: Some("<p>Away</p>".to_owned()), ..Vacation::default() };
        assert_eq!(html.check().expect("a vacation").text.trim(), "Away");
        let long = |length| Vacation { text: "a".repeat(length), ..Vacation::default() }.check().is_ok();
        assert_eq!([20_000, 20_001].map(long), [true, false]);
    }
}
