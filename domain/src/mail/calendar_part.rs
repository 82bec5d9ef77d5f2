//! What a message says of events: read when it comes (RFC 6047), and written when calendars send something.

use mail_builder::{
    MessageBuilder,
    headers::{address::Address, content_type::ContentType, date::Date, raw::Raw},
    mime::{BodyPart, MimePart},
};
use mail_parser::{Message, MessagePart, MimeHeaders};

use super::{
    Correspondent, PARTS_MAX,
    composing::{address, lines, written},
    message::contents,
};
use crate::{Timestamp, calendar::itip::MailInvitation};

/// What the message says of events, where it does.
pub(super) fn invitation(message: &Message<'_>) -> Option<MailInvitation> {
    let is_of = |kind: &'static str, subtype: &'static str| {
        move |part: &&MessagePart<'_>| {
            part.content_type().is_some_and(|it| {
                it.ctype().eq_ignore_ascii_case(kind) && it.subtype().is_some_and(|it| it.eq_ignore_ascii_case(subtype))
            })
        }
    };
    let parts = || message.parts.iter().take(PARTS_MAX);
    let part = parts().find(is_of("text", "calendar")).or_else(|| parts().find(is_of("application", "ics")))?;
    MailInvitation::read(contents(&message.raw_message, part))
}

/// A message about an event.
#[derive(Clone, Debug)]
pub struct CalendarLetter<'l> {
    /// Who sends it.
    pub from: Correspondent,
    /// To whom.
    pub to: &'l [String],
    /// What it is about.
    pub subject: &'l str,
    /// The text for people.
    pub text: &'l str,
    /// What it asks for (RFC 5546).
    pub method: &'l str,
    /// The same for programs.
    pub file: &'l str,
}

/// The bytes of a message about an event: the text, beside it the same for programs, and that as a file for those that know only
/// files.
pub fn calendar_letter(letter: &CalendarLetter<'_>, message_id: &str, date: Timestamp) -> Vec<u8> {
    let kind = ContentType::new("text/calendar").attribute("method", letter.method).attribute("charset", "utf-8");
    let file = || BodyPart::Binary(letter.file.as_bytes().into());
    let said =
        vec![MimePart::new("text/plain", BodyPart::Text(lines(letter.text).into())), MimePart::new(kind, file())];
    let parts = vec![
        MimePart::new("multipart/alternative", said),
        MimePart::new("application/ics", file()).attachment("invite.ics"),
    ];
    let to = letter.to.iter().map(|to| Address::new_address(None::<&str>, to.as_str())).collect();
    let message = MessageBuilder::new()
        .from(address(&letter.from))
        .header("To", Address::new_list(to))
        .subject(letter.subject)
        .date(Date::new(date.as_millis().div_euclid(1_000)))
        .message_id(message_id)
        // Nobody's absence is told to a calendar.
        .header("Auto-Submitted", Raw::new("auto-generated"))
        .body(MimePart::new("multipart/mixed", parts));
    written(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::MailContent;

    const FILE: &str = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:a@x\r\nDTSTART:20261123T090000Z\r\n\
                        SUMMARY:Grüße\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

    #[test]
    fn what_is_written_of_an_event_is_read_as_it_was_meant() {
        let letter = CalendarLetter {
            from: Correspondent { name: Some("Ada".to_owned()), email: "ada@a.example".to_owned() },
            to: &["bob@b.example".to_owned()],
            subject: "Invitation: Grüße",
            text: "Grüße\nWhen: soon",
            method: "REQUEST",
            file: FILE,
        };
        let bytes = calendar_letter(&letter, "1@a.example", Timestamp(1_795_000_000_000));
        assert!(bytes.is_ascii());
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("text/calendar; method=\"REQUEST\""), "{text}");
        let read = MailContent::read(&bytes);
        assert_eq!(read.text.text.trim_end().replace("\r\n", "\n"), "Grüße\nWhen: soon");
        let invitation = read.invitation.expect("an invitation");
        assert_eq!((invitation.method.as_str(), invitation.uid.as_str()), ("REQUEST", "a@x"));
        assert_eq!(invitation.file, FILE);
    }

    #[test]
    fn a_message_of_a_calendar_alone_is_one() {
        let bytes = format!("From: a@b.c\r\nContent-Type: text/calendar; method=REQUEST\r\n\r\n{FILE}");
        let read = MailContent::read(bytes.as_bytes()).invitation.expect("an invitation");
        assert_eq!(read.uid, "a@x");
        assert_eq!(MailContent::read(b"From: a@b.c\r\n\r\nBEGIN:VCALENDAR\r\n").invitation, None);
    }
}
