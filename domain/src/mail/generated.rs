//! Messages that a program writes in an organization's name. Each says so (RFC 3834), so that no other program answers it.

use mail_builder::{
    MessageBuilder,
    headers::{date::Date, message_id::MessageId, raw::Raw},
};

use super::{
    Correspondent,
    composing::{address, lines, paragraphs, written},
};
use crate::{Timestamp, issues::mailing::LOOP_HEADER};

/// A message of a program's.
#[derive(Clone, Debug)]
pub struct Generated<'g> {
    /// Who sends it.
    pub from: &'g Correspondent,
    /// To whom: one address.
    pub to: &'g str,
    /// Where answers go, where not to who sends it.
    pub reply_to: Option<&'g str>,
    /// What it is about.
    pub subject: &'g str,
    /// What it says; as HTML it says the same.
    pub text: &'g str,
    /// Its own Message-ID, without brackets.
    pub message_id: &'g str,
    /// The messages before it, the oldest first; it answers the last one.
    pub references: &'g [String],
    /// What this server is called.
    pub host: &'g str,
    /// When it is written.
    pub at: Timestamp,
}

/// The bytes of the message.
pub fn generated(it: &Generated<'_>) -> Vec<u8> {
    // A line break in a subject would be another header.
    let subject = it.subject.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut message = MessageBuilder::new()
        .from(address(it.from))
        .to(it.to)
        .subject(subject)
        .date(Date::new(it.at.as_millis().div_euclid(1_000)))
        .message_id(it.message_id)
        .header("Auto-Submitted", Raw::new("auto-generated"))
        .header(LOOP_HEADER, Raw::new(it.host));
    if let Some(reply_to) = it.reply_to {
        message = message.reply_to(reply_to);
    }
    if let Some(last) = it.references.last() {
        message = message.in_reply_to(MessageId::from(std::slice::from_ref(last)));
        message = message.references(MessageId::from(it.references));
    }
    written(message.text_body(lines(it.text)).html_body(lines(&paragraphs(it.text))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{issues::mailing::Letter, mail::MailContent};

    #[test]
    fn a_generated_message_says_what_it_is_and_which_conversation_it_belongs_to() {
        let from = Correspondent { name: Some("Help, desk".to_owned()), email: "help@example.org".to_owned() };
        let references = ["1@example.com".to_owned(), "2@example.com".to_owned()];
        let bytes = generated(&Generated {
            from: &from,
            to: "eve@example.com",
            reply_to: Some("help+1-00@example.org"),
            subject: "[HELP-1] Fire\r\nBcc: bob@example.com",
            text: "Hello\n<b>there</b>",
            message_id: "iss_1.0@example.org",
            references: &references,
            host: "mx.example.org",
            at: Timestamp(1_800_014_400_000),
        });
        let read = MailContent::read(&bytes);
        assert_eq!((read.from, read.to[0].email.as_str()), (Some(from), "eve@example.com"));
        assert_eq!(read.reply_to[0].email, "help+1-00@example.org");
        assert_eq!((read.subject.as_str(), read.bcc.len()), ("[HELP-1] Fire Bcc: bob@example.com", 0));
        assert_eq!((read.in_reply_to, read.references), (vec!["2@example.com".to_owned()], references.to_vec()));
        assert_eq!(read.text.text.replace("\r\n", "\n").trim_end(), "Hello\n<b>there</b>");
        assert!(read.html.expect("HTML").text.contains("Hello<br>"), "{}", String::from_utf8_lossy(&bytes));
        assert!(Letter::read(&bytes, "help@example.org").is_automatic);
    }
}
