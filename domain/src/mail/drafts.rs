//! Messages that are being written.

use serde::{Deserialize, Serialize};

use super::{
    BODY_BYTES_MAX, Correspondent, MESSAGE_MB_MAX, MailContent, MailFile, RECIPIENTS_MAX, REFERENCES_MAX, RawId,
    message_too_large,
};
use crate::{
    Email, Error, Result, Timestamp,
    id::{AttachmentId, MailMessageId, MailThreadId, MailboxId},
    problems::Problems,
};

/// Drafts of a mailbox.
pub const DRAFTS_MAX: u64 = 1_000;
/// Characters of a subject.
pub const DRAFT_SUBJECT_LEN_MAX: usize = 1_000;
/// Bytes of a text, and of its HTML.
pub const DRAFT_BODY_BYTES_MAX: usize = BODY_BYTES_MAX;
/// Characters of a name.
const NAME_LEN_MAX: usize = 200;
/// Files of a draft.
pub const DRAFT_FILES_MAX: usize = 100;
/// Characters of a file's name.
const FILE_NAME_LEN: std::ops::RangeInclusive<usize> = 1..=255;
/// Characters of a file's type (RFC 6838 4.2).
const FILE_TYPE_LEN_MAX: usize = 255;
/// The type of a file of which nothing else is said, or nothing that can be sent so.
const FILE_TYPE_USUAL: &str = "application/octet-stream";

/// What a message that is written has to do with another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftMode {
    /// Nothing.
    #[default]
    New,
    /// It answers whoever wrote that one.
    Reply,
    /// It answers everybody.
    ReplyAll,
    /// It passes that one on.
    Forward,
}

impl DraftMode {
    const ALL: [(Self, &'static str); 4] =
        [(Self::New, "new"), (Self::Reply, "reply"), (Self::ReplyAll, "reply_all"), (Self::Forward, "forward")];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("new", |(_, name)| name)
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, it)| *it == name).map(|(it, _)| *it)
    }
}

/// What a draft says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DraftContent {
    /// What it has to do with another message.
    pub mode: DraftMode,
    /// Which one.
    pub about: Option<MailMessageId>,
    /// Who writes.
    pub from: Correspondent,
    /// To whom.
    pub to: Vec<Correspondent>,
    /// Who gets a copy.
    pub cc: Vec<Correspondent>,
    /// Who gets one unseen.
    pub bcc: Vec<Correspondent>,
    /// What it is about.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The HTML, where there is any.
    pub html: Option<String>,
    /// The Message-IDs that it answers.
    pub in_reply_to: Vec<String>,
    /// The Message-IDs of the conversation, the oldest first.
    pub references: Vec<String>,
    /// The files, in the order in which they were added.
    pub files: Vec<DraftFile>,
}

/// A file of a draft, whose bytes are kept where those of messages are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftFile {
    /// Its id.
    pub id: AttachmentId,
    /// What it is called.
    pub name: String,
    /// Its type, such as `image/png`.
    pub content_type: String,
    /// Bytes.
    pub size: u64,
    /// Its bytes.
    pub raw_id: RawId,
}

/// A message that is being written. Its id stays when it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailDraft {
    /// Its id.
    pub id: MailMessageId,
    /// Whose.
    pub mailbox_id: MailboxId,
    /// The conversation that it stands in.
    pub thread_id: MailThreadId,
    /// Counts its changes.
    pub version: i64,
    /// What it says.
    pub content: DraftContent,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Whether it is sent, and can be taken back yet.
    pub is_sent: bool,
}

/// What is written, as far as it is said; the rest stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DraftChange {
    /// The address that it is from, one of the mailbox.
    pub from: Option<String>,
    /// To whom.
    pub to: Option<Vec<Correspondent>>,
    /// Who gets a copy.
    pub cc: Option<Vec<Correspondent>>,
    /// Who gets one unseen.
    pub bcc: Option<Vec<Correspondent>>,
    /// What it is about.
    pub subject: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// The HTML; an empty one is none.
    pub html: Option<String>,
}

impl DraftChange {
    /// Adds a problem for each field that breaks a rule, and writes what was sent as it is kept.
    pub fn check(&mut self, problems: &mut Problems) {
        for (path, people) in [("to", &mut self.to), ("cc", &mut self.cc), ("bcc", &mut self.bcc)] {
            let Some(people) = people else { continue };
            let most = usize::try_from(RECIPIENTS_MAX).unwrap_or(usize::MAX);
            problems.require(people.len() <= most, path, "A message has at most 500 recipients.");
            for it in people {
                let address = Email::parse(path, &it.email);
                problems.require(address.is_ok(), path, "This isn't an e-mail address.");
                it.email = address.map_or_else(|_| String::new(), |address| address.to_string());
                let name = line(it.name.as_deref().unwrap_or_default());
                problems.require(name.chars().count() <= NAME_LEN_MAX, path, "A name has at most 200 characters.");
                it.name = Some(name).filter(|name| !name.is_empty());
            }
        }
        if let Some(subject) = &mut self.subject {
            *subject = line(subject);
            let fits = subject.chars().count() <= DRAFT_SUBJECT_LEN_MAX;
            problems.require(fits, "subject", "Use at most 1,000 characters.");
        }
        for (path, body) in [("text", &self.text), ("html", &self.html)] {
            let fits = body.as_ref().is_none_or(|body| body.len() <= DRAFT_BODY_BYTES_MAX);
            problems.require(fits, path, "Use at most 512 KB.");
        }
    }

    /// Writes it into what a draft says. A text follows from HTML that came without one.
    pub fn apply(self, content: &mut DraftContent) {
        let Self { from: _, to, cc, bcc, subject, text, html } = self;
        for (field, new) in [(&mut content.to, to), (&mut content.cc, cc), (&mut content.bcc, bcc)] {
            if let Some(new) = new {
                *field = new;
            }
        }
        if let Some(subject) = subject {
            content.subject = subject;
        }
        if let Some(html) = html {
            content.text = text.unwrap_or_else(|| text_of(&html));
            content.html = Some(html).filter(|html| !html.is_empty());
        } else if let Some(text) = text {
            // What the HTML said is not what the text says now.
            content.text = text;
            content.html = None;
        }
    }
}

impl DraftContent {
    /// Its files, as a message shows them.
    pub fn files_shown(&self) -> Vec<MailFile> {
        let shown = |(part, file): (u32, &DraftFile)| MailFile {
            part,
            name: file.name.clone(),
            content_type: file.content_type.clone(),
            size: usize::try_from(file.size).unwrap_or(usize::MAX),
            inline: false,
            content_id: None,
            place: None,
        };
        (1..).zip(&self.files).map(shown).collect()
    }

    /// 400 for more files than a draft may have, 413 for more bytes than a message may.
    pub fn files_check(&self) -> Result<()> {
        if self.files.len() > DRAFT_FILES_MAX {
            return Err(too_many_files());
        }
        let files: u64 = self.files.iter().map(|file| file.size).sum();
        if files > u64::from(MESSAGE_MB_MAX) * 1024 * 1024 { Err(message_too_large()) } else { Ok(()) }
    }

    /// All recipients, each address once.
    pub fn recipients(&self) -> Vec<Email> {
        let mut found: Vec<Email> = Vec::new();
        for it in self.to.iter().chain(&self.cc).chain(&self.bcc) {
            if let Ok(address) = it.email.parse::<Email>()
                && !found.contains(&address)
            {
                found.push(address);
            }
        }
        found
    }

    /// What answering or passing on another message begins with: whom it is to, what it is about, which Message-IDs it names.
    /// `own` are the mailbox's addresses.
    pub fn about(mode: DraftMode, id: MailMessageId, other: &MailContent, own: &[Email]) -> Self {
        let is_own = |it: &Correspondent| own.iter().any(|own| own.as_str() == it.email);
        let others = |people: &[Correspondent]| people.iter().filter(|it| !is_own(it)).cloned().collect::<Vec<_>>();
        let mut content = Self { mode, about: Some(id), ..Self::default() };
        let prefix = match mode {
            DraftMode::New => return Self::default(),
            DraftMode::Forward => "Fwd: ",
            DraftMode::Reply | DraftMode::ReplyAll => {
                // Who answers their own message goes on with those whom it was to.
                let was_ours = other.from.as_ref().is_some_and(is_own);
                let writer = || other.from.iter().cloned().collect();
                let writers = if other.reply_to.is_empty() { writer() } else { other.reply_to.clone() };
                content.to = if was_ours { other.to.clone() } else { writers };
                if mode == DraftMode::ReplyAll {
                    let mut copied = if was_ours { Vec::new() } else { others(&other.to) };
                    copied.extend(others(&other.cc));
                    copied.retain(|it| content.to.iter().all(|to| to.email != it.email));
                    content.cc = copied;
                }
                content.in_reply_to = other.message_id.iter().cloned().collect();
                "Re: "
            }
        };
        content.references.clone_from(&other.references);
        content.references.extend(other.message_id.clone());
        let surplus = content.references.len().saturating_sub(REFERENCES_MAX);
        content.references.drain(..surplus);
        let has_prefix = other.subject.get(..prefix.len()).is_some_and(|it| it.eq_ignore_ascii_case(prefix));
        content.subject = if has_prefix { other.subject.clone() } else { format!("{prefix}{}", other.subject) };
        content
    }
}

/// What HTML says, as a text.
pub fn text_of(html: &str) -> String {
    mail_parser::decoders::html::html_to_text(html).trim().to_owned()
}

/// A text without line ends and other control characters.
fn line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect::<String>().trim().to_owned()
}

/// What a file is called, and its type, as they were sent. What can't be a type of one file is the usual one.
pub fn file_check(name: &str, content_type: Option<&str>) -> Result<(String, String)> {
    let name = line(name);
    if !FILE_NAME_LEN.contains(&name.chars().count()) {
        return Err(Error::invalid("name", "Use 1 to 255 characters."));
    }
    let is_type = |it: &&str| {
        let is_word = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
        };
        let is_several = it.starts_with("multipart/") || it.starts_with("message/");
        it.len() <= FILE_TYPE_LEN_MAX
            && !is_several
            && it.split_once('/').is_some_and(|(kind, subtype)| is_word(kind) && is_word(subtype))
    };
    let content_type = content_type.map(|it| it.trim().to_ascii_lowercase());
    let content_type = content_type.as_deref().filter(is_type).unwrap_or(FILE_TYPE_USUAL);
    Ok((name, content_type.to_owned()))
}

/// The message of the 404 for a draft.
pub const DRAFT_NOT_FOUND: &str = "Draft not found";
/// Past [`DRAFT_FILES_MAX`].
pub const TOO_MANY_FILES: &str = "A message has at most 100 attachments.";
/// Past [`DRAFTS_MAX`].
pub const TOO_MANY_DRAFTS: &str = "A mailbox has at most 1,000 drafts.";
/// For a version that isn't the draft's.
pub const DRAFT_CHANGED: &str = "This draft was changed meanwhile.";

/// 404 for a draft that the mailbox hasn't.
pub fn no_draft() -> Error {
    Error::not_found(DRAFT_NOT_FOUND)
}

/// 400 for one file too many.
pub fn too_many_files() -> Error {
    Error::bad_request("limit_reached", TOO_MANY_FILES)
}

/// 400 for one draft too many.
pub fn too_many_drafts() -> Error {
    Error::bad_request("limit_reached", TOO_MANY_DRAFTS)
}

/// 409 for a draft that has another version.
pub fn draft_changed() -> Error {
    Error::conflict("stale_revision", DRAFT_CHANGED)
}

/// The address that a message is from: the one that was named, which must be the mailbox's, or its own.
pub fn sender_of(mailbox: &super::Mailbox, named: Option<&str>) -> Result<Email> {
    let Some(named) = named else { return Ok(mailbox.address.clone()) };
    let named = named.trim().to_ascii_lowercase();
    let found = mailbox.addresses().find(|own| own.as_str() == named);
    found.cloned().ok_or_else(|| Error::invalid("from", "This isn't an address of the mailbox."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(email: &str) -> Correspondent {
        Correspondent { name: None, email: email.to_owned() }
    }

    fn other() -> MailContent {
        let message = "From: bob@example.com\r\nTo: ada@example.org, carol@example.com\r\nCc: dan@example.com, \
                       ada+list@example.org\r\nSubject: Lunch\r\nMessage-ID: <2@example.com>\r\n\
                       References: <1@example.com>\r\n\r\nHello\r\n";
        MailContent::read(message.as_bytes())
    }

    fn own() -> Vec<Email> {
        ["ada@example.org", "ada+list@example.org"].map(|it| it.parse().expect("an address")).to_vec()
    }

    fn emails(people: &[Correspondent]) -> Vec<&str> {
        people.iter().map(|it| it.email.as_str()).collect()
    }

    #[test]
    fn an_answer_goes_to_who_wrote_and_to_all_others_where_that_is_wanted() {
        let id = MailMessageId::new(Timestamp(1));
        let reply = DraftContent::about(DraftMode::Reply, id, &other(), &own());
        assert_eq!((emails(&reply.to), emails(&reply.cc)), (vec!["bob@example.com"], vec![]));
        assert_eq!((reply.subject.as_str(), reply.in_reply_to), ("Re: Lunch", vec!["2@example.com".to_owned()]));
        assert_eq!(reply.references, ["1@example.com", "2@example.com"]);
        let all = DraftContent::about(DraftMode::ReplyAll, id, &other(), &own());
        assert_eq!(emails(&all.to), ["bob@example.com"]);
        assert_eq!(emails(&all.cc), ["carol@example.com", "dan@example.com"]);
    }

    #[test]
    fn who_answers_their_own_message_goes_on_with_those_whom_it_was_to() {
        let mut ours = other();
        ours.from = Some(person("ada@example.org"));
        "re: Lunch".clone_into(&mut ours.subject);
        let reply = DraftContent::about(DraftMode::ReplyAll, MailMessageId::new(Timestamp(1)), &ours, &own());
        assert_eq!(emails(&reply.to), ["ada@example.org", "carol@example.com"]);
        assert_eq!((emails(&reply.cc), reply.subject.as_str()), (vec!["dan@example.com"], "re: Lunch"));
    }

    #[test]
    fn references_are_fifty_at_most() {
        for (before, after) in [(48, 49), (49, 50), (50, 50), (51, 50)] {
            let mut it = other();
            it.references = (0..before).map(|number| format!("{number}@example.com")).collect();
            let reply = DraftContent::about(DraftMode::Forward, MailMessageId::new(Timestamp(1)), &it, &own());
            assert_eq!((reply.references.len(), reply.to.len()), (after, 0));
            assert_eq!(reply.references.last().map(String::as_str), Some("2@example.com"));
        }
    }

    #[test]
    fn html_brings_its_text_and_a_new_text_takes_the_html_away() {
        let mut content = DraftContent::default();
        let html = DraftChange { html: Some("<p>Hello <b>Bob</b></p>".to_owned()), ..DraftChange::default() };
        html.apply(&mut content);
        assert!(content.text.contains("Hello Bob") && content.html.is_some(), "{content:?}");
        DraftChange { text: Some("Hi".to_owned()), ..DraftChange::default() }.apply(&mut content);
        assert_eq!((content.text.as_str(), content.html), ("Hi", None));
    }

    #[test]
    fn files_are_a_hundred_and_25_mb_at_most() {
        let file = |size| DraftFile {
            id: AttachmentId::new(Timestamp(1)),
            name: "a".to_owned(),
            content_type: FILE_TYPE_USUAL.to_owned(),
            size,
            raw_id: RawId::of(b""),
        };
        let fits = |files: Vec<DraftFile>| DraftContent { files, ..DraftContent::default() }.files_check().is_ok();
        assert_eq!([99, 100, 101].map(|count| fits(vec![file(1); count])), [true, true, false]);
        let most = 25 * 1024 * 1024;
        assert_eq!([most - 1, most, most + 1].map(|size| fits(vec![file(size)])), [true, true, false]);
        assert!(!fits(vec![file(most), file(1)]));
    }

    #[test]
    fn a_file_has_a_name_and_a_type_of_one_file() {
        for (sent, kept) in [
            (Some("image/PNG "), "image/png"),
            (None, FILE_TYPE_USUAL),
            (Some("multipart/mixed"), FILE_TYPE_USUAL),
            (Some("message/rfc822"), FILE_TYPE_USUAL),
            (Some("image/png; name=a"), FILE_TYPE_USUAL),
            (Some("image"), FILE_TYPE_USUAL),
        ] {
            let found = file_check(" a\r\nb.png ", sent).expect("a file");
            assert_eq!(found, ("a  b.png".to_owned(), kept.to_owned()), "{sent:?}");
        }
        for (length, fits) in [(0, false), (1, true), (255, true), (256, false)] {
            assert_eq!(file_check(&"a".repeat(length), None).is_ok(), fits, "{length}");
        }
    }

    #[test]
    fn recipients_count_once_and_are_five_hundred_a_field() {
        let content = DraftContent {
            to: vec![person("a@example.com"), person("b@example.com")],
            bcc: vec![person("a@example.com"), person("c@example.com")],
            ..DraftContent::default()
        };
        let found: Vec<String> = content.recipients().iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a@example.com", "b@example.com", "c@example.com"]);
        for (count, fits) in [(499, true), (500, true), (501, false)] {
            let to = (0..count).map(|number| person(&format!("p{number}@example.com"))).collect();
            let mut problems = Problems::default();
            DraftChange { to: Some(to), ..DraftChange::default() }.check(&mut problems);
            assert_eq!(problems.into_result().is_ok(), fits, "{count}");
        }
    }
}
