//! What files of mail say of a message beside its bytes: where it lay, under which labels, whether it was read.

use mail_parser::{DateTime, MessageParser};

use super::super::{LABELS_MAX, MailBox, fields, label_name_check, message::moment};
use crate::Timestamp;

/// Fields that programs write into an mbox, which are no part of the message.
const BESIDE: [&str; 9] =
    ["Status", "X-Status", "X-Keywords", "X-UID", "X-IMAP", "X-IMAPbase", "X-Gmail-Labels", "X-GM-THRID", RECEIVED];
/// When a message came, as an export says it: to the millisecond.
const RECEIVED: &str = "X-Troupe-Received";

/// Where a message lay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Folder {
    /// In one of the mailbox's boxes.
    Box(MailBox),
    /// Under a label.
    Label(String),
}

/// How an imported message is filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiledAs {
    /// Where.
    pub place: MailBox,
    /// Under which labels, by their names.
    pub labels: Vec<String>,
    /// Whether nobody has read it.
    pub is_unread: bool,
    /// Whether it has a star.
    pub is_starred: bool,
}

impl Folder {
    /// The folder that other programs call so. What isn't finished there can't be sent from here, and lies in the archive.
    pub fn named(name: &str) -> Self {
        let plain = name.trim().trim_start_matches("[Gmail]/").trim_start_matches("[Google Mail]/");
        match plain.to_lowercase().as_str() {
            "" | "inbox" | "maildir" | "mbox" | "mail" | "new" => Self::Box(MailBox::Inbox),
            "sent" | "sent mail" | "sent items" | "sent messages" | "sent-mail" => Self::Box(MailBox::Sent),
            "spam" | "junk" | "junk e-mail" | "junk email" | "bulk mail" => Self::Box(MailBox::Spam),
            "trash" | "bin" | "deleted" | "deleted items" | "deleted messages" => Self::Box(MailBox::Trash),
            "archive"
            | "archived"
            | "archives"
            | "all mail"
            | "all mail including spam and trash"
            | "draft"
            | "drafts"
            | "scheduled"
            | "outbox"
            | "chat"
            | "chats" => Self::Box(MailBox::Archive),
            _ => label_name_check("label", plain).map_or(Self::Box(MailBox::Archive), Self::Label),
        }
    }

    /// How a message is filed that lay here, of which nothing else is known.
    pub fn filed(&self, is_unread: bool, is_starred: bool) -> FiledAs {
        match self {
            Self::Box(place) => FiledAs { place: *place, labels: Vec::new(), is_unread, is_starred },
            Self::Label(name) => FiledAs { place: MailBox::Archive, labels: vec![name.clone()], is_unread, is_starred },
        }
    }
}

/// What an mbox says of a message in fields beside its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MboxMarks {
    /// When it came.
    pub received: Option<Timestamp>,
    status: Option<String>,
    flags: String,
    keywords: Vec<String>,
    gmail: Option<Vec<String>>,
}

impl MboxMarks {
    /// Takes the fields out of a message that stand beside its own.
    pub fn take(message: Vec<u8>) -> (Vec<u8>, Self) {
        let (mut marks, mut places) = (Self::default(), Vec::new());
        for field in fields(&message) {
            let Some(name) = BESIDE.iter().find(|name| field.is(name)) else { continue };
            let text = String::from_utf8_lossy(field.value);
            let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            match *name {
                "Status" => marks.status = Some(text),
                "X-Status" => marks.flags = text,
                "X-Keywords" => marks.keywords = keywords(&text),
                "X-Gmail-Labels" => marks.gmail = Some(listed(&decoded(field.value))),
                RECEIVED => marks.received = text.parse().ok().map(Timestamp),
                _ => {}
            }
            places.push(field.place);
        }
        if places.is_empty() {
            return (message, marks);
        }
        let (mut rest, mut at) = (Vec::with_capacity(message.len()), 0);
        for place in places {
            rest.extend_from_slice(&message[at..place.start]);
            at = place.end;
        }
        rest.extend_from_slice(&message[at..]);
        (rest, marks)
    }

    /// How the message is filed that lay in this folder. Gmail's labels say where it lay, whatever the file is called.
    pub fn filed(&self, folder: &Folder) -> FiledAs {
        let is_unread = self.status.as_ref().is_none_or(|status| !status.contains('R'));
        let mut filed = folder.filed(is_unread, self.flags.contains('F'));
        if self.flags.contains('D') {
            filed.place = MailBox::Trash;
        }
        if let Some(gmail) = &self.gmail {
            filed = of_gmail(gmail);
        }
        for keyword in &self.keywords {
            add(&mut filed.labels, keyword);
        }
        filed
    }
}

/// The fields beside a message's own that an export writes.
pub fn mbox_fields(at: Timestamp, place: MailBox, labels: &[&str], is_unread: bool, is_starred: bool) -> String {
    let box_name = match place {
        MailBox::Inbox => "Inbox",
        MailBox::Sent => "Sent",
        MailBox::Spam => "Spam",
        MailBox::Trash => "Trash",
        MailBox::Drafts => "Drafts",
        MailBox::Archive | MailBox::Scheduled => "Archived",
    };
    let status = if is_unread { "O" } else { "RO" };
    let mut names = vec![box_name.to_owned()];
    names.extend(labels.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))));
    names.extend(is_unread.then(|| "Unread".to_owned()));
    names.extend(is_starred.then(|| "Starred".to_owned()));
    let flags = if is_starred { "X-Status: F\r\n" } else { "" };
    format!("{RECEIVED}: {}\r\nStatus: {status}\r\n{flags}X-Gmail-Labels: {}\r\n", at.as_millis(), names.join(","))
}

/// When a message came to the server that its first `Received` names, by that server's word.
pub fn received_at(message: &[u8]) -> Option<Timestamp> {
    let field = fields(message).find(|field| field.is("Received"))?;
    let text = String::from_utf8_lossy(field.value);
    let (_, date) = text.rsplit_once(';')?;
    let date = date.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    DateTime::parse_rfc822(&format!("{date}\n")).as_ref().and_then(moment)
}

fn of_gmail(labels: &[String]) -> FiledAs {
    let has = |name: &str| labels.iter().any(|label| label.eq_ignore_ascii_case(name));
    let place = if has("Trash") || has("Bin") {
        MailBox::Trash
    } else if has("Spam") {
        MailBox::Spam
    } else if has("Inbox") {
        MailBox::Inbox
    } else if has("Sent") {
        MailBox::Sent
    } else {
        MailBox::Archive
    };
    let mut names = Vec::new();
    for label in labels {
        let folded = label.to_lowercase();
        let is_flag = matches!(folded.as_str(), "starred" | "unread" | "opened" | "important");
        if !is_flag && !folded.starts_with("category ") {
            add(&mut names, label);
        }
    }
    FiledAs { place, labels: names, is_unread: has("Unread"), is_starred: has("Starred") }
}

/// Adds a label, unless it is a folder's name or can't be one.
fn add(labels: &mut Vec<String>, name: &str) {
    if let Folder::Label(name) = Folder::named(name)
        && labels.len() < LABELS_MAX
        && !labels.contains(&name)
    {
        labels.push(name);
    }
}

/// Keywords that people chose; what programs note for themselves is no label.
fn keywords(text: &str) -> Vec<String> {
    let is_own = |word: &&str| !word.starts_with(['$', '\\']) && !matches!(*word, "NonJunk" | "Junk" | "Forwarded");
    text.split(' ').filter(|word| !word.is_empty()).filter(is_own).map(str::to_owned).collect()
}

/// The text of a field whose words may be encoded (RFC 2047).
fn decoded(value: &[u8]) -> String {
    let message = [b"Subject:", value, b"\r\n"].concat();
    let read = MessageParser::default().parse_headers(&message);
    read.and_then(|read| read.subject().map(str::to_owned)).unwrap_or_default()
}

/// The names of a list with commas between them, where quotes keep a comma in a name.
fn listed(text: &str) -> Vec<String> {
    let (mut names, mut name, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                name.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => names.push(std::mem::take(&mut name)),
            letter => name.push(letter),
        }
    }
    names.push(name);
    names.into_iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// What the path of a file in a maildir says: where its message lay, how it was marked, and when it came. None for a file that is no
/// message of a maildir.
pub fn maildir_place(path: &str) -> Option<(FiledAs, Option<Timestamp>)> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let [folders @ .., state @ ("cur" | "new"), file] = parts.as_slice() else { return None };
    if file.starts_with('.') {
        return None;
    }
    let folder = match folders {
        [.., last] if last.len() > 1 && last.starts_with('.') => Folder::named(&last[1..].replace('.', "/")),
        [] | [_] => Folder::Box(MailBox::Inbox),
        [.., last] if matches!(last.to_lowercase().as_str(), "maildir" | "inbox") => Folder::Box(MailBox::Inbox),
        [_, rest @ ..] => Folder::named(&rest.join("/")),
    };
    // What Windows and archives make of the colon.
    let flags = [":2,", ";2,", "!2,", "_2,"].iter().find_map(|mark| file.rsplit_once(mark)).map_or("", |it| it.1);
    let mut filed = folder.filed(*state == "new" || !flags.contains('S'), flags.contains('F'));
    if flags.contains('T') {
        filed.place = MailBox::Trash;
    }
    let seconds: Option<i64> = file.split('.').next().and_then(|seconds| seconds.parse().ok());
    let seconds = seconds.filter(|seconds| (0..=253_402_300_799).contains(seconds));
    Some((filed, seconds.map(|seconds| Timestamp(seconds * 1_000))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filed(head: &str, folder: &str) -> FiledAs {
        let (rest, marks) = MboxMarks::take(format!("Subject: 1\r\n{head}To: a\r\n\r\nStatus: R\r\n").into_bytes());
        assert_eq!(rest, b"Subject: 1\r\nTo: a\r\n\r\nStatus: R\r\n");
        marks.filed(&Folder::named(folder))
    }

    fn as_filed(place: MailBox, labels: &[&str], is_unread: bool, is_starred: bool) -> FiledAs {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        FiledAs { place, labels, is_unread, is_starred }
    }

    #[test]
    fn marks_are_taken_out_of_a_message_and_understood() {
        for (head, folder, expected) in [
            ("", "", as_filed(MailBox::Inbox, &[], true, false)),
            ("Status: RO\r\nX-Status: AF\r\n", "", as_filed(MailBox::Inbox, &[], false, true)),
            ("Status: O\r\nX-Status: D\r\n", "", as_filed(MailBox::Trash, &[], true, false)),
            ("X-Keywords: work $Forwarded  NonJunk\r\n", "Sent Items", as_filed(MailBox::Sent, &["work"], true, false)),
            ("Status: R\r\n", "Work/Bills", as_filed(MailBox::Archive, &["Work/Bills"], false, false)),
            (
                "X-GM-THRID: 1\r\nX-Gmail-Labels: Inbox,Unread,Starred,\"a, b\",\r\n Category Updates,Important\r\n",
                "Work",
                as_filed(MailBox::Inbox, &["a, b"], true, true),
            ),
            (
                "X-Gmail-Labels: =?UTF-8?Q?Entw=C3=BCrfe,Archived?=\r\nStatus: O\r\n",
                "",
                as_filed(MailBox::Archive, &["Entwürfe"], false, false),
            ),
            ("X-Gmail-Labels: Sent,Trash\r\n", "", as_filed(MailBox::Trash, &[], false, false)),
        ] {
            assert_eq!(filed(head, folder), expected, "{head}");
        }
    }

    #[test]
    fn what_an_export_writes_is_understood_again() {
        let at = Timestamp(1_800_014_400_123);
        for place in [MailBox::Inbox, MailBox::Sent, MailBox::Spam, MailBox::Trash, MailBox::Archive] {
            for (is_unread, is_starred) in [(true, false), (false, true)] {
                let head = mbox_fields(at, place, &["Work, more/\"b\"", "Rechnungen für Ä"], is_unread, is_starred);
                let (rest, marks) = MboxMarks::take(format!("{head}Subject: 1\r\n\r\n").into_bytes());
                assert_eq!((rest.as_slice(), marks.received), (&b"Subject: 1\r\n\r\n"[..], Some(at)));
                let expected = as_filed(place, &["Work, more/\"b\"", "Rechnungen für Ä"], is_unread, is_starred);
                assert_eq!(marks.filed(&Folder::named("any")), expected, "{head}");
            }
        }
    }

    #[test]
    fn maildirs_say_where_messages_lay_how_they_were_marked_and_when_they_came() {
        let at = Some(Timestamp(1_700_000_000_000));
        for (path, expected) in [
            ("Maildir/cur/1700000000.M1P2.host:2,FS", Some((as_filed(MailBox::Inbox, &[], false, true), at))),
            ("./Maildir/new/1700000000.M1P2.host", Some((as_filed(MailBox::Inbox, &[], true, false), at))),
            ("cur/a:2,", Some((as_filed(MailBox::Inbox, &[], true, false), None))),
            (
                "Maildir/.Work.Bills/cur/1700000000.x;2,S",
                Some((as_filed(MailBox::Archive, &["Work/Bills"], false, false), at)),
            ),
            ("home/ada/Maildir/cur/1700000000.x:2,ST", Some((as_filed(MailBox::Trash, &[], false, false), at))),
            ("Mail/Sent/cur/1700000000.x:2,S", Some((as_filed(MailBox::Sent, &[], false, false), at))),
            ("Maildir/dovecot.index", None),
            ("Maildir/tmp/1700000000.x", None),
            ("Maildir/cur/.hidden", None),
        ] {
            assert_eq!(maildir_place(path), expected, "{path}");
        }
    }

    #[test]
    fn the_last_server_says_when_a_message_came() {
        let message =
            "Received: from a by b;\r\n\tFri, 15 Jan 2027 13:00:00 +0100 (CET)\r\nReceived: from c; x\r\n\r\n";
        assert_eq!(received_at(message.as_bytes()), Some(Timestamp(1_800_014_400_000)));
        for none in ["Subject: 1\r\n\r\n", "Received: from a by b\r\n\r\n", "Received: a; nonsense\r\n\r\n"] {
            assert_eq!(received_at(none.as_bytes()), None, "{none}");
        }
    }
}
