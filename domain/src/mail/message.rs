//! A message as it is read: whatever bytes came, something of it can be shown.

use std::borrow::Cow;

use mail_parser::{
    Address, DateTime, Encoding, HeaderName, HeaderValue, MessageParser, MessagePart, MimeHeaders, PartType,
};
use serde::{Deserialize, Serialize};

use super::{BaseSubject, FileEncoding, FilePlace, MailCategory, MailTraces, Traits, calendar_part::invitation};
use crate::{Timestamp, calendar::itip::MailInvitation};

/// Bytes of a message's text, and of its HTML, that are shown.
pub const BODY_BYTES_MAX: usize = 512 * 1024;
/// Bytes of a message's text that are searched.
pub const WORDS_BYTES_MAX: usize = 256 * 1024;
/// Parts of a message that are read; what else there is, is in the message as it came.
pub const PARTS_MAX: usize = 500;
/// Characters of a subject that are kept.
const SUBJECT_CHARS: usize = 1_000;
/// Characters of the beginning of a text that lists show.
const SNIPPET_CHARS: usize = 200;
/// Addresses of a field that are kept.
const ADDRESSES_MAX: usize = 500;
/// Characters of a name, and of an address.
const NAME_CHARS: usize = 320;

/// Somebody whom a message is from or to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Correspondent {
    /// What they are called.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Their address, in small letters.
    pub email: String,
}

/// A file in a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailFile {
    /// The number of its part in the message.
    pub part: u32,
    /// What it is called; empty where nothing says so.
    pub name: String,
    /// Its type, such as `image/png`.
    pub content_type: String,
    /// Bytes, decoded.
    pub size: usize,
    /// Whether it is shown in the text.
    pub inline: bool,
    /// By what the HTML names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub content_id: Option<String>,
    /// Where its bytes stand in the message; none where only reading the message whole gives them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<FilePlace>,
}

/// A body, cut where it is too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailBody {
    /// What is shown.
    pub text: String,
    /// Whether there is more of it.
    pub is_truncated: bool,
}

/// What a message says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailContent {
    /// Its own Message-ID.
    pub message_id: Option<String>,
    /// The Message-IDs that it answers.
    pub in_reply_to: Vec<String>,
    /// The Message-IDs of the conversation, the oldest first.
    pub references: Vec<String>,
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
    /// What it is about, as it was written.
    pub subject: String,
    /// When it was sent by its own word.
    pub sent_at: Option<Timestamp>,
    /// The text.
    pub text: MailBody,
    /// The HTML as it came: it is cleaned before anybody sees it.
    pub html: Option<MailBody>,
    /// Its files.
    pub files: Vec<MailFile>,
    /// What only a search asks for.
    pub traces: MailTraces,
    /// What it says of events.
    pub invitation: Option<MailInvitation>,
    /// What decides on its category.
    marks: Marks,
}

/// What headers and markup say of how a message was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a header or a mark of its own")]
struct Marks {
    unsubscribes: bool,
    is_bulk: bool,
    is_list: bool,
    is_automatic: bool,
    has_order_markup: bool,
    wants_no_answer: bool,
    is_answer: bool,
    is_passed_on: bool,
}

/// Headers of what programs and lists send, beside those of campaigns.
const PROGRAM_HEADERS: [&str; 5] = ["List-Id", "List-Post", "List-Help", "List-Unsubscribe", "X-Autoreply"];
/// Headers that those who send campaigns write.
const CAMPAIGN_HEADERS: [&str; 6] =
    ["Feedback-ID", "X-Campaign", "X-Campaign-ID", "X-CampaignID", "X-Mailchimp-ID", "X-SG-EID"];
/// What schema.org calls an order, an invoice, a ticket.
const ORDER_MARKUP: [&str; 6] =
    ["schema.org/order", "schema.org/invoice", "\"order\"", "\"invoice\"", "\"parceldelivery\"", "reservation\""];

impl MailContent {
    /// Reads the bytes of a message. What can't be read as a message is shown as a text.
    pub fn read(raw: &[u8]) -> Self {
        let Some(message) = MessageParser::default().parse(raw) else { return Self::unparsed(raw) };
        let people = |address: Option<&Address<'_>>| correspondents(address);
        let text = bodies(message.text_body_count(), |at| message.body_text(at));
        let is_html = message.html_bodies().any(|part| matches!(part.body, PartType::Html(_)));
        let html = is_html.then(|| bodies(message.html_body_count(), |at| message.body_html(at)));
        Self {
            message_id: message.message_id().map(str::to_owned),
            in_reply_to: ids(message.in_reply_to()),
            references: ids(message.references()),
            from: people(message.from().or_else(|| message.sender())).into_iter().next(),
            to: people(message.to()),
            cc: people(message.cc()),
            bcc: people(message.bcc()),
            reply_to: people(message.reply_to()),
            subject: cut_chars(&plain(message.subject().unwrap_or_default()), SUBJECT_CHARS).to_owned(),
            sent_at: message.date().and_then(moment),
            files: files(&message),
            traces: MailTraces::of(&message),
            invitation: invitation(&message),
            marks: marks(&message, html.as_ref()),
            text,
            html,
        }
    }

    /// What can't be read as a message: all of it is its text.
    pub fn unparsed(raw: &[u8]) -> Self {
        let text = plain_text(&String::from_utf8_lossy(&raw[..raw.len().min(BODY_BYTES_MAX)]));
        let text = MailBody { is_truncated: raw.len() > BODY_BYTES_MAX, text };
        Self { text, ..Self::default() }
    }

    /// The beginning of what it says, on a line.
    pub fn snippet(&self) -> String {
        let words = self.text.text.lines().filter(|line| !line.trim_start().starts_with('>'));
        let mut line = String::new();
        for word in words.flat_map(str::split_whitespace) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            if line.len() >= SNIPPET_CHARS * 4 {
                break;
            }
        }
        cut_chars(&line, SNIPPET_CHARS).to_owned()
    }

    /// What it is about.
    pub fn base_subject(&self) -> BaseSubject {
        BaseSubject::of(&self.subject)
    }

    /// What decides on its category, with what the mailbox knows of its sender.
    pub fn traits(&self, chosen: Option<MailCategory>, answers_us: bool) -> Traits {
        Traits {
            chosen,
            answers_us,
            sender: self.from.as_ref().map(|from| from.email.clone()).unwrap_or_default(),
            subject: self.subject.clone(),
            has_order_markup: self.marks.has_order_markup,
            unsubscribes: self.marks.unsubscribes,
            is_bulk: self.marks.is_bulk,
            is_list: self.marks.is_list,
            is_automatic: self.marks.is_automatic,
        }
    }

    /// Whether a program, a list or a bulk sender sent it, or its sender wants no program's answer (RFC 3834 2).
    pub const fn is_automatic(&self) -> bool {
        self.marks.wants_no_answer || self.marks.is_automatic || self.marks.is_bulk
    }

    /// Whether a program answered by it.
    pub const fn is_answer(&self) -> bool {
        self.marks.is_answer
    }

    /// Whether a mailbox passed it on.
    pub const fn is_passed_on(&self) -> bool {
        self.marks.is_passed_on
    }

    /// Everybody whom it is from and to, each address once.
    pub fn people(&self) -> impl Iterator<Item = &Correspondent> {
        self.from.iter().chain(&self.to).chain(&self.cc)
    }
}

/// The addresses of all who a message says it is from, in all of its `From` fields, in small letters.
pub fn authors(raw: &[u8]) -> Vec<String> {
    let Some(message) = MessageParser::default().parse_headers(raw) else { return Vec::new() };
    let all = message.header_values(HeaderName::From).flat_map(|value| correspondents(value.as_address()));
    all.map(|author| author.email).collect()
}

/// The bytes of a file, decoded; none where the message has no such part.
pub fn file_bytes(raw: &[u8], part: u32) -> Option<Vec<u8>> {
    let message = MessageParser::default().parse(raw)?;
    let is_file = message.attachments.contains(&part) && message.attachments.len() <= PARTS_MAX;
    let part = message.part(part).filter(|_| is_file)?;
    Some(contents(&message.raw_message, part).to_vec())
}

fn bodies<'m>(count: usize, body: impl Fn(usize) -> Option<Cow<'m, str>>) -> MailBody {
    let mut all = MailBody::default();
    for text in (0..count.min(PARTS_MAX)).filter_map(body) {
        if !all.text.is_empty() {
            all.text.push('\n');
        }
        let room = BODY_BYTES_MAX.saturating_sub(all.text.len());
        let fits = text.floor_char_boundary(room);
        all.is_truncated |= fits < text.len();
        all.text.push_str(&plain_text(&text[..fits]));
    }
    all
}

fn files(message: &mail_parser::Message<'_>) -> Vec<MailFile> {
    let parts = message.attachments.iter().take(PARTS_MAX);
    parts.filter_map(|&number| Some(file(&message.raw_message, number, message.part(number)?))).collect()
}

fn file(raw: &[u8], number: u32, part: &MessagePart<'_>) -> MailFile {
    let (is_message, inline) = (part.is_message(), matches!(part.body, PartType::InlineBinary(_)));
    let stated = part.content_type().map(|it| match it.subtype() {
        Some(subtype) => format!("{}/{subtype}", it.ctype()).to_lowercase(),
        None => it.ctype().to_lowercase(),
    });
    let usual = if is_message { "message/rfc822" } else { "application/octet-stream" };
    let is_plain = |it: &String| it.bytes().all(|byte| byte.is_ascii_graphic()) && it.contains('/');
    MailFile {
        part: number,
        name: cut_chars(&plain(part.attachment_name().unwrap_or_default()), NAME_CHARS).to_owned(),
        content_type: stated.filter(is_plain).unwrap_or_else(|| usual.to_owned()),
        size: contents(raw, part).len(),
        inline,
        place: place(raw, part),
        content_id: part.content_id().map(|id| cut_chars(&plain(id), NAME_CHARS).to_owned()),
    }
}

fn place(raw: &[u8], part: &MessagePart<'_>) -> Option<FilePlace> {
    let encoding = match part.encoding {
        Encoding::None => FileEncoding::Plain,
        Encoding::Base64 => FileEncoding::Base64,
        Encoding::QuotedPrintable => return None,
    };
    let bytes = usize::try_from(part.offset_body).ok()?..usize::try_from(part.offset_end).ok()?;
    FilePlace::of(raw, bytes, encoding, contents(raw, part))
}

/// The bytes of a part, decoded. A message within the message says that all of the message is its bytes.
pub(super) fn contents<'m>(raw: &'m [u8], part: &'m MessagePart<'_>) -> &'m [u8] {
    let place = usize::try_from(part.offset_body).ok().zip(usize::try_from(part.offset_end).ok());
    match (part.is_message() && part.encoding == Encoding::None, place) {
        (true, Some((start, end))) => raw.get(start..end).unwrap_or_default(),
        _ => part.contents(),
    }
}

fn marks(message: &mail_parser::Message<'_>, html: Option<&MailBody>) -> Marks {
    let text = |name: &'static str| message.header(HeaderName::from(name)).and_then(HeaderValue::as_text);
    let is_there = |name: &'static str| message.header(HeaderName::from(name)).is_some();
    let markup = html.map(|html| html.text.to_ascii_lowercase()).unwrap_or_default();
    let is_marked_up = markup.contains("schema.org");
    Marks {
        unsubscribes: is_there("List-Unsubscribe"),
        is_bulk: text("Precedence").is_some_and(|it| it.trim().eq_ignore_ascii_case("bulk"))
            || CAMPAIGN_HEADERS.into_iter().any(is_there),
        is_list: is_there("List-Id"),
        is_automatic: text("Auto-Submitted").is_some_and(|it| !it.trim().eq_ignore_ascii_case("no")),
        is_answer: text("Auto-Submitted").is_some_and(|it| it.trim().to_ascii_lowercase().starts_with("auto-replied")),
        is_passed_on: is_there("X-Troupe-Forwarded"),
        wants_no_answer: PROGRAM_HEADERS.into_iter().any(is_there)
            || text("Precedence")
                .is_some_and(|it| ["list", "junk"].iter().any(|word| it.trim().eq_ignore_ascii_case(word)))
            || text("X-Auto-Response-Suppress").is_some_and(suppresses),
        has_order_markup: is_marked_up && ORDER_MARKUP.iter().any(|words| markup.contains(words)),
    }
}

/// Whether what a sender suppresses are answers of who is away.
fn suppresses(value: &str) -> bool {
    let mut words = value.split([',', ' ']).map(str::trim);
    words.any(|word| ["all", "oof", "autoreply"].iter().any(|it| word.eq_ignore_ascii_case(it)))
}

pub(super) fn correspondents(address: Option<&Address<'_>>) -> Vec<Correspondent> {
    let all = address.into_iter().flat_map(Address::iter).take(ADDRESSES_MAX);
    let one = |it: &mail_parser::Addr<'_>| {
        let email = cut_chars(&plain(it.address()?), NAME_CHARS).to_lowercase();
        let name = it.name().map(|name| cut_chars(&plain(name), NAME_CHARS).to_owned());
        (!email.is_empty()).then_some(Correspondent { name: name.filter(|name| !name.is_empty()), email })
    };
    all.filter_map(one).collect()
}

fn ids(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(id) => vec![id.to_string()],
        HeaderValue::TextList(ids) => ids.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

/// The moment that a date names, where it can be one.
pub(super) fn moment(date: &DateTime) -> Option<Timestamp> {
    date.is_valid().then(|| Timestamp(date.to_timestamp().saturating_mul(1000)))
}

/// A line without line ends and other control characters.
fn plain(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect::<String>().trim().to_owned()
}

/// A text without what no database keeps.
fn plain_text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn cut_chars(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::categorize;

    fn read(message: &str) -> MailContent {
        MailContent::read(message.replace('\n', "\r\n").as_bytes())
    }

    #[test]
    fn what_a_message_says_is_read() {
        let it = read(
            "From: =?utf-8?q?Bj=C3=B6rn?= <Bjorn@Example.org>\nTo: ada@example.org, Team: a@b.c, d@e.f;\nSubject: Re: Lunch\n\
             Message-ID: <2@example.org>\nIn-Reply-To: <1@example.org>\nReferences: <0@example.org>\n <1@example.org>\n\
             Date: Mon, 23 Nov 2026 09:00:00 +0100\n\n> quoted\nSee  you\n there.\n",
        );
        let from = Correspondent { name: Some("Björn".to_owned()), email: "bjorn@example.org".to_owned() };
        assert_eq!(it.from, Some(from));
        assert_eq!(it.message_id.as_deref(), Some("2@example.org"));
        assert_eq!(it.references, ["0@example.org", "1@example.org"]);
        assert_eq!(it.sent_at, Some(Timestamp(1_795_420_800_000)));
        assert_eq!((it.subject.as_str(), it.snippet().as_str()), ("Re: Lunch", "See you there."));
        assert_eq!(it.html, None);
    }

    #[test]
    fn files_are_named_by_their_part_and_decoded() {
        let message = "From: a@b.c\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nHello\n--x\n\
                       Content-Type: image/png; name=\"dot.png\"\nContent-Disposition: attachment\n\
                       Content-Transfer-Encoding: base64\n\nAAEC\n--x--\n";
        let it = read(message);
        let [file] = it.files.as_slice() else { panic!("{:?}", it.files) };
        assert_eq!((file.name.as_str(), file.content_type.as_str(), file.size), ("dot.png", "image/png", 3));
        let raw = message.replace('\n', "\r\n");
        assert_eq!(file_bytes(raw.as_bytes(), file.part), Some(vec![0, 1, 2]));
        let place = file.place.expect("a place");
        assert_eq!(&raw.as_bytes()[usize::try_from(place.start).expect("a place")..][..4], b"AAEC");
        assert_eq!(file_bytes(raw.as_bytes(), 0), None);
        assert_eq!(file_bytes(raw.as_bytes(), u32::MAX), None);
    }

    #[test]
    fn a_message_within_a_message_is_a_file_of_its_own_bytes() {
        let parts = "Subject: Inner\nContent-Type: multipart/mixed; boundary=y\n\n--y\n\nbody\n--y--\n";
        for inner in [parts, "Subject: Inner\n\nbody", "From: a@b.c\nSubject: Inner\n\none\n\ntwo\n"] {
            let message = format!(
                "From: a@b.c\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nHello\n--x\n\
                 Content-Type: message/rfc822\nContent-Disposition: attachment\n\n{inner}\n--x--\n"
            );
            let (it, raw) = (read(&message), message.replace('\n', "\r\n"));
            let [file] = it.files.as_slice() else { panic!("{:?}", it.files) };
            let (inner, bytes) = (inner.replace('\n', "\r\n"), file_bytes(raw.as_bytes(), file.part));
            assert_eq!(String::from_utf8(bytes.expect("a file")).expect("text"), inner);
            assert_eq!((file.content_type.as_str(), file.size), ("message/rfc822", inner.len()));
        }
    }

    #[test]
    fn whatever_comes_can_be_shown() {
        let deep = (0..1_000).fold(String::new(), |head, level| {
            format!("{head}Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n")
        });
        let wide =
            format!("Content-Type: multipart/mixed; boundary=x\n\n{}", "--x\nContent-Type: a/b\n\n1\n".repeat(10_000));
        for message in [
            "",
            "\0\0\0",
            "no head",
            &deep,
            &wide,
            "Subject: =?x?q?=?=?=?=\nContent-Type: text/plain; charset=lies\n\n\u{fffd}",
        ] {
            let it = read(message);
            assert!(it.files.len() <= PARTS_MAX && !it.text.text.contains('\0'));
        }
        assert!(!MailContent::unparsed(b"a\0b").text.text.contains('\0'));
    }

    #[test]
    fn a_body_is_cut_at_its_most_and_says_so() {
        for (len, is_truncated) in [(BODY_BYTES_MAX - 1, false), (BODY_BYTES_MAX, false), (BODY_BYTES_MAX + 1, true)] {
            let it = MailContent::read(format!("From: a@b.c\r\n\r\n{}", "a".repeat(len)).as_bytes());
            assert_eq!((it.text.is_truncated, it.text.text.len()), (is_truncated, len.min(BODY_BYTES_MAX)));
        }
    }

    #[test]
    fn headers_and_markup_decide_on_the_category() {
        let of = |head: &str| {
            categorize(&read(&format!("From: shop@example.org\n{head}\n\nHello")).traits(None, false)).category
        };
        assert_eq!(of("Subject: a"), MailCategory::Primary);
        assert_eq!(of("List-Unsubscribe: <https://example.org>\nPrecedence: bulk"), MailCategory::Promotions);
        assert_eq!(of("List-Id: <list.example.org>"), MailCategory::Updates);
        assert_eq!(of("Auto-Submitted: no"), MailCategory::Primary);
        assert_eq!(of("Auto-Submitted: auto-generated"), MailCategory::Updates);
    }
}
