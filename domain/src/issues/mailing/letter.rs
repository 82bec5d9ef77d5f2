//! A message to a desk, as it is read.

use super::{LOOP_HEADER, MARKER};
use crate::{
    issues::{key::IssueKey, limits::SUMMARY_LEN_MAX, portal::REPLY_LEN},
    mail::{Correspondent, HEAD_BYTES_MAX, MailContent, MailFile, MessageIdHash, REFERENCES_MAX, fields},
    token::sha256_hex,
};

/// Characters of a Message-ID that are kept (RFC 5322 2.1.1).
const MESSAGE_ID_LEN_MAX: usize = 998;
/// Addresses of a message that are looked at.
const ADDRESSES_MAX: usize = 200;
/// What stands at the end of a text that is too long.
const CUT: &str = "\n\n[This message was longer.]";
/// Lines that a mail program tells in who wrote what follows.
const ATTRIBUTION_LINES: usize = 2;

/// A message to a desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its Message-ID without brackets; one of its content where it has none.
    pub message_id: String,
    /// The messages that it names: those that it answers, then its conversation, from the last one back.
    pub names: Vec<MessageIdHash>,
    /// Who wrote it.
    pub from: Option<Correspondent>,
    /// To whom it went, and who got a copy, in small letters.
    pub to: Vec<String>,
    /// What it is about, on one line.
    pub subject: String,
    /// What its sender wrote.
    pub text: String,
    /// What stands below the line above which answers are written.
    pub quoted: Option<String>,
    /// Whether a program sent it (RFC 3834), or a list.
    pub is_automatic: bool,
    /// Its files.
    pub files: Vec<MailFile>,
}

impl Letter {
    /// Reads the bytes of a message; `envelope_from` is empty for the null sender.
    pub fn read(raw: &[u8], envelope_from: &str) -> Self {
        let content = MailContent::read(raw);
        let older = content.references.len().saturating_sub(REFERENCES_MAX);
        let references = content.references[older..].iter().rev();
        let names = content.in_reply_to.iter().take(REFERENCES_MAX).chain(references);
        let encoded = encoded_ids(raw);
        let (text, quoted) = parted(&content.text.text.replace("\r\n", "\n"));
        let message_id = id_or_made(content.message_id.as_deref(), raw);
        let to = content.to.iter().chain(&content.cc).take(ADDRESSES_MAX).map(|it| it.email.clone());
        Self {
            names: names.chain(&encoded).map(|id| MessageIdHash::of(id)).collect(),
            to: to.collect(),
            subject: line(&content.subject),
            text,
            quoted,
            is_automatic: envelope_from.is_empty() || is_automatic(raw),
            message_id,
            from: content.from,
            files: content.files,
        }
    }

    /// What a request is called that it begins.
    pub fn summary(&self) -> String {
        let summary = cut(&self.subject, SUMMARY_LEN_MAX).trim();
        if summary.is_empty() { "(no subject)".to_owned() } else { summary.to_owned() }
    }

    /// What it says, of at most as many characters as a comment has; `note` stands behind it.
    pub fn body(&self, note: &str) -> String {
        let text = if self.text.is_empty() { "(no text)" } else { self.text.as_str() };
        let room = REPLY_LEN.end().saturating_sub(note.chars().count());
        if text.chars().count() <= room {
            return format!("{text}{note}");
        }
        format!("{}{CUT}{note}", cut(text, room.saturating_sub(CUT.len())).trim_end())
    }
}

/// The keys of issues that a subject has in brackets.
pub fn keys_in(subject: &str) -> impl Iterator<Item = IssueKey> {
    subject.split('[').skip(1).filter_map(|rest| rest.split_once(']')?.0.trim().parse().ok())
}

/// The Message-IDs of fields that a program encoded as if they were texts, as Python's does with long ones.
fn encoded_ids(raw: &[u8]) -> Vec<String> {
    let is_encoded = |value: &[u8]| value.windows(2).any(|pair| pair == b"=?");
    let names = fields(raw).filter(|field| field.is("In-Reply-To") || field.is("References"));
    let texts = names.filter(|field| is_encoded(field.value)).map(|field| {
        // Of all fields, a subject is read as a text.
        MailContent::read(&[&b"Subject:"[..], field.value, &b"\r\n"[..]].concat()).subject
    });
    let ids = |text: String| -> Vec<String> {
        text.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0.to_owned())).collect()
    };
    texts.take(2).flat_map(ids).take(REFERENCES_MAX).collect()
}

/// The Message-ID of a message, of which only the head is read.
pub fn message_id_of(raw: &[u8]) -> String {
    id_or_made(MailContent::read(&raw[..raw.len().min(HEAD_BYTES_MAX)]).message_id.as_deref(), raw)
}

fn id_or_made(id: Option<&str>, raw: &[u8]) -> String {
    let id = id.map(str::trim).filter(|id| !id.is_empty());
    id.map_or_else(|| made_of(raw), |id| cut(id, MESSAGE_ID_LEN_MAX).to_owned())
}

fn made_of(raw: &[u8]) -> String {
    let mut hash = sha256_hex(raw);
    hash.truncate(32);
    format!("{hash}@no-message-id.invalid")
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

fn is_automatic(raw: &[u8]) -> bool {
    fields(raw).any(|field| {
        let value = String::from_utf8_lossy(field.value).to_ascii_lowercase();
        let ends = |it: char| matches!(it, ';' | '(') || it.is_whitespace();
        let word = value.trim_start().split(ends).next().unwrap_or_default();
        if field.is("Auto-Submitted") {
            word != "no"
        } else if field.is("Precedence") {
            matches!(word, "bulk" | "list" | "junk")
        } else {
            field.is("List-Id") || field.is(LOOP_HEADER)
        }
    })
}

/// What was written above the marker, and what stands below it.
fn parted(text: &str) -> (String, Option<String>) {
    let Some(at) = text.find(MARKER) else { return (text.trim().to_owned(), None) };
    let begins = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let is_quoted = text[begins..at].trim_matches(|it: char| it == '>' || it.is_whitespace()).is_empty();
    let above = if is_quoted { &text[..begins] } else { &text[..at] };
    let (said, told) = said(above);
    let quoted = format!("{told}{}", text[at + MARKER.len()..].trim());
    (said, (!quoted.is_empty()).then(|| cut(&quoted, *REPLY_LEN.end()).to_owned()))
}

/// A text without the lines in which a mail program says who wrote what follows, and those lines.
fn said(above: &str) -> (String, String) {
    let mut lines: Vec<&str> = above.lines().collect();
    let is_empty = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('>');
    while lines.last().is_some_and(is_empty) {
        lines.pop();
    }
    let mut told = String::new();
    if lines.last().is_some_and(|line| line.trim_end().ends_with(':')) {
        let from = lines.len().saturating_sub(ATTRIBUTION_LINES);
        let named = lines[from..].iter().rposition(|line| line.contains('@')).map(|at| from + at);
        let begun = lines[from..].iter().rposition(|line| line.trim_start().starts_with("On ")).map(|at| from + at);
        if let Some(first) = named.into_iter().chain(begun).min() {
            told = format!("{}\n", lines.split_off(first).join("\n"));
        }
    }
    (lines.join("\n").trim().to_owned(), told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Letter {
        Letter::read(message.replace('\n', "\r\n").as_bytes(), "eve@example.org")
    }

    #[test]
    fn what_stands_above_the_line_was_written_and_what_stands_below_it_is_kept() {
        for (above, said) in [
            ("Thanks!\n\nOn Fri, Help <help@example.org> wrote:\n", "Thanks!"),
            ("Thanks!\n\nOn Fri, Help\n<help@example.org> wrote:\n\n> \n", "Thanks!"),
            ("Thanks!\nAm Freitag schrieb help@example.org:\n", "Thanks!"),
            ("I need:\n\n", "I need:"),
            ("Two\n\nparagraphs\n", "Two\n\nparagraphs"),
            ("", ""),
        ] {
            let it = read(&format!("From: e@example.org\n\n{above}> {MARKER}\n> \n> Hello\n> there\n"));
            assert_eq!(it.text, said, "{above:?}");
            let quoted = it.quoted.expect("what was said before");
            assert!(quoted.ends_with("> \n> Hello\n> there"), "{quoted:?}");
            assert_eq!(quoted.contains("help@"), above.contains("help@"), "{quoted:?}");
        }
        let it = read("From: e@example.org\n\nNo line\n> but this\n");
        assert_eq!((it.text.as_str(), it.quoted), ("No line\n> but this", None));
    }

    #[test]
    fn html_is_read_as_a_text() {
        let it = read(&format!(
            "From: e@example.org\nContent-Type: text/html\n\n<p>Hi <b>there</b><script>alert(1)</script></p><blockquote>\
             <p>{MARKER}</p><p>Hello</p></blockquote>\n"
        ));
        assert!(it.text.contains("Hi there") && !it.text.contains('<') && !it.text.contains("Hello"), "{:?}", it.text);
        assert!(it.quoted.is_some_and(|quoted| quoted.contains("Hello")));
    }

    #[test]
    fn programs_and_lists_are_known() {
        for (header, is) in [
            ("Auto-Submitted: auto-replied", true),
            ("Auto-Submitted: auto-generated; x=y", true),
            ("Auto-Submitted: no", false),
            ("AUTO-SUBMITTED:  No (by hand)", false),
            ("Precedence: bulk", true),
            ("Precedence: LIST", true),
            ("Precedence: junk", true),
            ("Precedence: first-class", false),
            ("List-Id: <a.example.org>", true),
            ("X-Troupe-Loop: mx.example.org", true),
            ("X-Other: bulk", false),
        ] {
            assert_eq!(read(&format!("From: e@example.org\n{header}\n\nHello\n")).is_automatic, is, "{header}");
        }
        assert!(Letter::read(b"From: e@example.org\r\n\r\nHello\r\n", "").is_automatic);
    }

    #[test]
    fn a_message_without_an_id_has_the_same_one_each_time() {
        let (one, other) = (read("From: e@example.org\n\nHello\n"), read("From: e@example.org\n\nHullo\n"));
        assert_eq!(one.message_id, read("From: e@example.org\n\nHello\n").message_id);
        assert_ne!(one.message_id, other.message_id);
        let named = read(
            "From: e@example.org\nMessage-ID: <1@example.org>\nIn-Reply-To: <2@example.org>\n\
                          References: <3@example.org> <4@example.org>\n\nHello\n",
        );
        assert_eq!(named.message_id, "1@example.org");
        assert_eq!(named.names, ["2@example.org", "4@example.org", "3@example.org"].map(MessageIdHash::of));
    }

    #[test]
    fn ids_that_were_encoded_as_a_text_are_read() {
        let it = read(
            "From: e@example.org\nIn-Reply-To: =?utf-8?q?=3Ciss=5F01m8dv0m5cem9bg6pxz80hczrb=2Efd5fb1c46609b2f?=\n\
             \x20=?utf-8?q?9=40desk=2Eexample=2Eorg=3E?=\n\nHello\n",
        );
        let named = MessageIdHash::of("iss_01m8dv0m5cem9bg6pxz80hczrb.fd5fb1c46609b2f9@desk.example.org");
        assert!(it.names.contains(&named), "{:?}", it.names);
    }

    #[test]
    fn keys_stand_in_brackets() {
        let keys = |subject| keys_in(subject).map(|key| key.to_string()).collect::<Vec<_>>();
        assert_eq!(keys("Re: [HELP-12] Fire [web-3] [x] [HELP-] HELP-4 [HELP-5"), ["HELP-12", "WEB-3"]);
    }

    #[test]
    fn a_body_is_as_long_as_a_comment_may_be() {
        let of = |length: usize| Letter { text: "é".repeat(length), ..read("From: e@example.org\n\nx\n") };
        assert_eq!(of(32_000).body("").chars().count(), 32_000);
        assert!(of(32_001).body("").ends_with("longer.]") && of(32_001).body("").chars().count() <= 32_000);
        assert!(of(32_000).body("\n\nA note").ends_with("longer.]\n\nA note"));
        assert_eq!(of(0).body(""), "(no text)");
        assert_eq!(Letter { subject: "é".repeat(300), ..of(0) }.summary().chars().count(), 255);
    }
}
