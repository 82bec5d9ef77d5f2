//! Messages as they are written here (RFC 5322, MIME), and what of them travels.

use mail_builder::{
    MessageBuilder,
    headers::{address::Address, content_type::ContentType, date::Date, message_id::MessageId},
    mime::{BodyPart, MimePart},
};

use super::{Correspondent, DraftContent, DraftFile, MailContent, clean_html, fields, stamp};
use crate::{Timestamp, id::MailMessageId, mail::domain_of};

/// The Message-ID of a message that is written here, without brackets.
pub fn own_message_id(id: MailMessageId, from: &crate::Email) -> String {
    format!("{id}@{}", domain_of(from))
}

/// The bytes of a message: as it is kept, with `Bcc`, and with these files. Lines are short and of seven bits, whatever they say.
pub fn compose(content: &DraftContent, message_id: &str, date: Timestamp, files: &[(DraftFile, Vec<u8>)]) -> Vec<u8> {
    let mut message = MessageBuilder::new().from(address(&content.from));
    for (name, people) in [("To", &content.to), ("Cc", &content.cc), ("Bcc", &content.bcc)] {
        if !people.is_empty() {
            message = message.header(name, Address::new_list(people.iter().map(address).collect()));
        }
    }
    message = message
        .subject(content.subject.as_str())
        .date(Date::new(date.as_millis().div_euclid(1_000)))
        .message_id(message_id);
    if !content.in_reply_to.is_empty() {
        message = message.in_reply_to(MessageId::from(content.in_reply_to.as_slice()));
    }
    if !content.references.is_empty() {
        message = message.references(MessageId::from(content.references.as_slice()));
    }
    message = message.text_body(lines(&content.text));
    if let Some(html) = &content.html {
        message = message.html_body(lines(html));
    }
    for (file, bytes) in files {
        message = message.attachment(file.content_type.as_str(), file.name.as_str(), BodyPart::Binary(bytes.into()));
    }
    written(message)
}

pub(super) fn written(message: MessageBuilder<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.serialize(&mut bytes);
    // A message ends with a line.
    if !bytes.ends_with(b"\r\n") {
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

pub(super) fn address(it: &Correspondent) -> Address<'_> {
    Address::new_address(it.name.as_deref(), it.email.as_str())
}

/// A text whose lines end as those of mail do.
pub(super) fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}

/// What of a message travels: all but `Bcc`, which nobody but its sender sees.
pub fn without_bcc(message: &[u8]) -> Vec<u8> {
    let mut travels = Vec::with_capacity(message.len());
    let mut at = 0;
    for field in fields(message).filter(|field| field.is("Bcc")) {
        travels.extend_from_slice(&message[at..field.place.start]);
        at = field.place.end;
    }
    travels.extend_from_slice(&message[at..]);
    travels
}

/// What a new draft says beside what its writer does: the mailbox's signature, and the message that it answers or passes on.
pub fn with_surroundings(content: &mut DraftContent, signature: &str, other: Option<&MailContent>, is_forward: bool) {
    let (text, html) = (std::mem::take(&mut content.text), content.html.take());
    let other_html = other.and_then(|other| other.html.as_ref()).map(|html| clean_html(&html.text));
    let needs_html = html.is_some() || !signature.is_empty() || other_html.is_some();
    let mut new_text = text.clone();
    if !signature.is_empty() {
        new_text = format!("{new_text}\n\n-- \n{}", super::text_of(signature));
    }
    if let Some(other) = other {
        new_text = format!("{new_text}\n\n{}", quoted(other, is_forward));
    }
    content.html = needs_html.then(|| {
        let own = html.unwrap_or_else(|| paragraphs(&text));
        let signed = if signature.is_empty() { String::new() } else { format!("<div>-- <br>{signature}</div>") };
        let quote = other.map_or_else(String::new, |other| {
            let said = other_html.unwrap_or_else(|| paragraphs(&other.text.text));
            format!(
                "<div>{}</div><blockquote>{said}</blockquote>",
                escaped(&introduction(other, is_forward)).replace('\n', "<br>")
            )
        });
        format!("{own}{signed}{quote}")
    });
    content.text = new_text;
}

/// What another message said, below who said it: each line behind `>`, or whole where it is passed on.
fn quoted(other: &MailContent, is_forward: bool) -> String {
    let introduction = introduction(other, is_forward);
    if is_forward {
        return format!("{introduction}\n\n{}", other.text.text);
    }
    let said = other.text.text.trim_end().lines();
    let said: Vec<String> =
        said.map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") }).collect();
    format!("{introduction}\n{}", said.join("\n"))
}

fn introduction(other: &MailContent, is_forward: bool) -> String {
    let shown = |it: &Correspondent| match &it.name {
        Some(name) => format!("{name} <{}>", it.email),
        None => it.email.clone(),
    };
    let from = other.from.as_ref().map(shown).unwrap_or_default();
    let date = other.sent_at.map(stamp::date).unwrap_or_default();
    if !is_forward {
        return if date.is_empty() { format!("{from} wrote:") } else { format!("On {date}, {from} wrote:") };
    }
    let to = other.to.iter().map(shown).collect::<Vec<_>>().join(", ");
    format!("---------- Forwarded message ----------\nFrom: {from}\nDate: {date}\nSubject: {}\nTo: {to}", other.subject)
}

pub(super) fn paragraphs(text: &str) -> String {
    format!("<div>{}</div>", escaped(text).replace("\r\n", "\n").replace('\n', "<br>"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What a report of delivery is about.
#[derive(Clone, Debug)]
pub struct Report<'r> {
    /// Its own Message-ID, without brackets.
    pub message_id: &'r str,
    /// What this server is called.
    pub host: &'r str,
    /// Who sent the message.
    pub to: &'r str,
    /// When this is said.
    pub at: Timestamp,
    /// Whether it was not delivered, and won't be; late otherwise.
    pub has_failed: bool,
    /// To whom, and what was said of them.
    pub recipients: &'r [(String, String)],
    /// The message, as it is kept.
    pub message: &'r [u8],
}

/// Tells who sent a message what became of it (RFC 3464), in the message's own conversation.
pub fn report(it: &Report<'_>) -> Vec<u8> {
    let about = MailContent::read(&it.message[..it.message.len().min(super::HEAD_BYTES_MAX)]);
    let (word, told) = if it.has_failed {
        ("Undelivered", "Your message could not be delivered to these recipients, and is not tried again:")
    } else {
        (
            "Delayed",
            "Your message could not be delivered to these recipients yet. It is tried for four days; send nothing again:",
        )
    };
    let said: Vec<String> = it.recipients.iter().map(|(to, reply)| format!("  {to}\n    {reply}")).collect();
    let text = format!("{told}\n\n{}\n\nSubject: {}\n", said.join("\n\n"), about.subject);
    let head_end = fields(it.message).last().map_or(0, |field| field.place.end);
    let head = ascii(&String::from_utf8_lossy(&without_bcc(&it.message[..head_end])));
    let seven_bit = |kind: &'static str, text: String| {
        MimePart::new(ContentType::new(kind), BodyPart::Text(text.into())).transfer_encoding("7bit")
    };
    let kind = ContentType::new("multipart/report").attribute("report-type", "delivery-status");
    let parts = vec![
        MimePart::new("text/plain", BodyPart::Text(lines(&text).into())),
        seven_bit("message/delivery-status", status(it)),
        seven_bit("text/rfc822-headers", head),
    ];
    let from = Address::new_address(Some("Mail Delivery System"), format!("mailer-daemon@{}", it.host));
    let mut message = MessageBuilder::new()
        .from(from)
        .to(it.to)
        .subject(format!("[{word}] {}", about.subject))
        .date(Date::new(it.at.as_millis().div_euclid(1_000)))
        .message_id(it.message_id)
        .header("Auto-Submitted", mail_builder::headers::raw::Raw::new("auto-replied"));
    if let Some(id) = about.message_id {
        message = message.in_reply_to(id.clone()).references(id);
    }
    written(message.body(MimePart::new(kind, parts)))
}

/// The part of a report that programs read.
fn status(it: &Report<'_>) -> String {
    let action = if it.has_failed { "failed" } else { "delayed" };
    let class = if it.has_failed { '5' } else { '4' };
    let mut groups = vec![format!("Reporting-MTA: dns; {}\r\n", it.host)];
    groups.extend(it.recipients.iter().map(|(to, reply)| {
        let code = enhanced(reply).filter(|code| code.starts_with(class));
        let code = code.unwrap_or_else(|| format!("{class}.0.0"));
        let reply = ascii(reply).replace(['\r', '\n'], " ");
        format!(
            "Final-Recipient: rfc822; {to}\r\nAction: {action}\r\nStatus: {code}\r\nDiagnostic-Code: smtp; {reply}\r\n"
        )
    }));
    groups.join("\r\n")
}

/// The enhanced status code of a reply, such as `5.1.1` (RFC 3463).
fn enhanced(reply: &str) -> Option<String> {
    let is_code = |word: &&str| {
        let parts: Vec<&str> = word.split('.').collect();
        parts.len() == 3
            && parts.iter().all(|it| (1..=3).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_digit()))
    };
    reply.split_whitespace().find(is_code).map(str::to_owned)
}

fn ascii(text: &str) -> String {
    text.chars().map(|it| if it.is_ascii() && it != '\0' { it } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_014_400_000);

    fn person(name: Option<&str>, email: &str) -> Correspondent {
        Correspondent { name: name.map(str::to_owned), email: email.to_owned() }
    }

    fn content() -> DraftContent {
        DraftContent {
            from: person(Some("Ada Löwe"), "ada@example.org"),
            to: vec![person(None, "bob@example.com"), person(Some("Carol, C."), "carol@example.com")],
            bcc: vec![person(None, "dan@example.com")],
            subject: "Grüße".to_owned(),
            text: format!("Hello\n.\nÄ{}", "x".repeat(2_000)),
            html: Some("<p>Hello</p>".to_owned()),
            in_reply_to: vec!["1@example.com".to_owned()],
            references: vec!["0@example.com".to_owned(), "1@example.com".to_owned()],
            ..DraftContent::default()
        }
    }

    #[test]
    fn what_is_written_is_read_as_it_was_meant() {
        let bytes = compose(&content(), "9@example.org", NOW, &[]);
        assert!(bytes.is_ascii(), "{}", String::from_utf8_lossy(&bytes));
        for line in bytes.split(|byte| *byte == b'\n') {
            assert!(line.len() <= 998 && line.last().is_none_or(|last| *last == b'\r'), "{line:?}");
        }
        let read = MailContent::read(&bytes);
        assert_eq!(read.from, Some(content().from));
        assert_eq!((read.to, read.bcc), (content().to, content().bcc));
        assert_eq!((read.subject.as_str(), read.message_id.as_deref()), ("Grüße", Some("9@example.org")));
        assert_eq!((read.in_reply_to, read.references), (content().in_reply_to, content().references));
        assert_eq!(read.sent_at, Some(NOW));
        assert_eq!(read.text.text.replace("\r\n", "\n").trim_end(), content().text);
        assert!(read.html.expect("HTML").text.contains("<p>Hello</p>"));
    }

    #[test]
    fn files_travel_byte_by_byte() {
        let all: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
        let file = |name: &str, content_type: &str, bytes: &[u8]| {
            let (id, raw_id) = (crate::id::AttachmentId::new(NOW), crate::mail::RawId::of(bytes));
            let (name, content_type) = (name.to_owned(), content_type.to_owned());
            (DraftFile { id, name, content_type, size: bytes.len() as u64, raw_id }, bytes.to_vec())
        };
        let files = [file("Grüße.png", "image/png", &all), file("a \"b\".txt", "text/plain", b"one\ntwo\r\nthree")];
        let bytes = compose(&content(), "9@example.org", NOW, &files);
        assert!(bytes.is_ascii());
        let read = MailContent::read(&bytes);
        assert_eq!(read.text.text.replace("\r\n", "\n").trim_end(), content().text);
        for (found, (file, sent)) in read.files.iter().zip(&files) {
            assert_eq!((&found.name, &found.content_type), (&file.name, &file.content_type));
            assert_eq!(crate::mail::file_bytes(&bytes, found.part).as_ref(), Some(sent));
        }
        assert_eq!(read.files.len(), 2);
    }

    #[test]
    fn bcc_stays_here() {
        let bytes = compose(&content(), "9@example.org", NOW, &[]);
        let travels = without_bcc(&bytes);
        assert!(!String::from_utf8_lossy(&travels).contains("dan@example.com"));
        assert_eq!(MailContent::read(&travels).text, MailContent::read(&bytes).text);
        let folded = b"To: a@b.c\r\nbcc: d@e.f,\r\n g@h.i\r\nSubject: s\r\n\r\nBcc: body\r\n";
        assert_eq!(without_bcc(folded), b"To: a@b.c\r\nSubject: s\r\n\r\nBcc: body\r\n");
    }

    #[test]
    fn an_answer_stands_above_the_signature_and_what_is_quoted() {
        let other = MailContent::read(
            b"From: Bob <bob@example.com>\r\nTo: ada@example.org\r\nSubject: Lunch\r\n\
              Date: Fri, 15 Jan 2027 12:00:00 +0000\r\n\r\nToday?\r\n\r\n> quoted\r\n",
        );
        let mut it = DraftContent { text: "Yes".to_owned(), ..DraftContent::default() };
        with_surroundings(&mut it, "", Some(&other), false);
        let quote = "On Fri, 15 Jan 2027 12:00:00 +0000, Bob <bob@example.com> wrote:\n> Today?\n>\n> > quoted";
        assert_eq!((it.text, it.html), (format!("Yes\n\n{quote}"), None));
        let mut it = DraftContent { text: "<Yes>".to_owned(), ..DraftContent::default() };
        with_surroundings(&mut it, "<p>Ada</p>", Some(&other), true);
        assert!(it.text.starts_with("<Yes>\n\n-- \nAda\n\n---------- Forwarded"), "{}", it.text);
        let html = it.html.expect("HTML");
        assert!(html.starts_with("<div>&lt;Yes&gt;</div><div>-- <br><p>Ada</p></div>"), "{html}");
        assert!(html.contains("Subject: Lunch<br>") && html.contains("Today?"), "{html}");
    }

    #[test]
    fn a_report_is_read_by_people_and_programs_and_joins_the_conversation() {
        let message = compose(&content(), "9@example.org", NOW, &[]);
        let recipients = [("bob@example.com".to_owned(), "550 5.1.1 no such usér".to_owned())];
        let of = |has_failed| {
            let report = Report {
                message_id: "r@mx.example.org",
                host: "mx.example.org",
                to: "ada@example.org",
                at: NOW,
                has_failed,
                recipients: &recipients,
                message: &message,
            };
            String::from_utf8(super::report(&report)).expect("seven bits")
        };
        let failed = of(true);
        for part in [
            "multipart/report",
            "report-type",
            "Final-Recipient: rfc822; bob@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\n",
            "Diagnostic-Code: smtp; 550 5.1.1 no such us?r\r\n",
            "Auto-Submitted: auto-replied\r\n",
        ] {
            assert!(failed.contains(part), "{part} is not in {failed}");
        }
        assert!(!failed.contains("dan@example.com"), "{failed}");
        let read = MailContent::read(failed.as_bytes());
        assert_eq!(read.base_subject(), crate::mail::BaseSubject::of("Grüße"));
        assert_eq!(read.in_reply_to, ["9@example.org"]);
        assert!(of(false).contains("Action: delayed\r\nStatus: 4.0.0\r\n"));
    }
}
