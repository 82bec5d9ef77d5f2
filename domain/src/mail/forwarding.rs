//! Passing on what arrives, as filters say: to mailboxes and members of the organization, whose addresses are known to be theirs. A
//! message is passed on as it came, once.

use super::{Arrival, MailBox, MailContent, Mailbox, domain_of, fields, without_tag};
use crate::{Email, Error, Result};

/// For an address that nobody of the organization has.
pub const FORWARDS_WITHIN: &str = "Forward to a mailbox or a member of the organization.";
/// Recipients of what filters forward of one message.
pub const FORWARDS_MAX: usize = 20;
/// What is written before a message that is passed on: it is never passed on again.
const PASSED_ON: &str = "X-Troupe-Forwarded";

/// Whether a message that arrived, and lies in `place`, may be passed on to an address: not spam, what nobody sent, what a program
/// answered, what was passed on before or came back, nor to the mailbox itself or its sender.
pub fn may_be_passed_on(
    mailbox: &Mailbox,
    arrival: &Arrival,
    content: &MailContent,
    place: MailBox,
    to: &Email,
) -> bool {
    let is_own =
        |text: &str| text.parse::<Email>().is_ok_and(|it| mailbox.addresses().any(|own| *own == without_tag(&it)));
    let comes_back = content.traces.delivered_to.iter().any(|it| is_own(it));
    let is_from = content.from.as_ref().is_some_and(|from| from.email == to.as_str());
    let is_new = !content.is_passed_on() && !content.is_answer() && !comes_back;
    is_new && place != MailBox::Spam && !arrival.envelope_from.is_empty() && !is_own(to.as_str()) && !is_from
}

/// The bytes of a message that a mailbox passes on.
pub fn passed_on(mailbox: &Mailbox, raw: &[u8]) -> Vec<u8> {
    let address = &mailbox.address;
    let head = format!("{PASSED_ON}: {}\r\nDelivered-To: {address}\r\n", domain_of(address));
    [head.as_bytes(), raw].concat()
}

/// Whether a message was passed on: what is said of it here says nothing of who wrote it.
pub fn is_passed_on(message: &[u8]) -> bool {
    fields(message).any(|field| field.is(PASSED_ON))
}

/// 400 for an address that nobody of the organization has.
pub fn forwards_within() -> Error {
    Error::bad_request("forward_unconfirmed", FORWARDS_WITHIN)
}

/// To whom is passed on, as it was sent.
pub fn forward_check(path: &str, address: &str) -> Result<String> {
    Email::parse(path, address).map(|address| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::{
        Outcome,
        samples::{arrival, mailbox},
    };

    fn may(head: &str, envelope_from: &str, place: MailBox, to: &str) -> bool {
        let arrival = arrival(envelope_from, Outcome::default());
        let content = MailContent::read(format!("From: bob@example.org\r\n{head}\r\nHello").as_bytes());
        may_be_passed_on(&mailbox(), &arrival, &content, place, &to.parse().expect("an address"))
    }

    #[test]
    fn what_people_and_programs_send_is_passed_on_once() {
        let usual = |head: &str| may(head, "bob@example.org", MailBox::Inbox, "kim@acme.example");
        assert!(usual("") && usual("Auto-Submitted: auto-generated\r\n") && usual("List-Id: <a.example.org>\r\n"));
        assert!(may("", "bob@example.org", MailBox::Trash, "kim@acme.example"));
        for head in [
            "Auto-Submitted: auto-replied\r\n",
            "X-Troupe-Forwarded: acme.example\r\n",
            "Delivered-To: ada@acme.example\r\n",
            "Delivered-To: sales+a@acme.example\r\n",
        ] {
            assert!(!usual(head), "{head}");
        }
        assert!(usual("Delivered-To: kim@acme.example\r\n"));
        assert!(!may("", "", MailBox::Inbox, "kim@acme.example"));
        assert!(!may("", "bob@example.org", MailBox::Spam, "kim@acme.example"));
        for to in ["ada@acme.example", "sales@acme.example", "ada+a@acme.example", "bob@example.org"] {
            assert!(!may("", "bob@example.org", MailBox::Inbox, to), "{to}");
        }
    }

    #[test]
    fn what_was_passed_on_says_so_and_is_otherwise_as_it_came() {
        let raw = b"Subject: Lunch\r\n\r\nHello\r\n";
        let passed = passed_on(&mailbox(), raw);
        assert!(passed.ends_with(raw) && is_passed_on(&passed) && !is_passed_on(raw));
        assert!(MailContent::read(&passed).is_passed_on());
        assert_eq!(MailContent::read(&passed).traces.delivered_to, ["ada@acme.example"]);
    }
}
