//! What other servers report of our messages (RFC 3464): to an address of its own for each message and domain, so that nobody has to
//! guess what a report is about.

use mail_parser::{MessageParser, MimeHeaders};

use super::{DeliveryState, Outgoing, PARTS_MAX, domain_of};
use crate::{Email, id::MailMessageId};

/// What stands before the domain that a message is from.
const BELOW: &str = "bounces.";
/// Recipients of a report that are read.
const REPORTED_MAX: usize = 500;
/// Characters of what a report says of a recipient.
const WORDS_CHARS_MAX: usize = 500;

/// The address to which reports on a message come, and so the sender of its envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BounceAddress {
    /// The message.
    pub message_id: MailMessageId,
    /// What nobody else makes up, in small hexadecimal digits.
    pub mark: String,
    /// The domain that the message is from.
    pub domain: String,
}

impl BounceAddress {
    /// Reads an address; none where it is another one.
    pub fn read(address: &Email) -> Option<Self> {
        let (local, domain) = address.as_str().rsplit_once('@')?;
        let (message_id, mark) = local.strip_prefix("b-")?.split_once('-')?;
        let message_id = message_id.parse().ok()?;
        Some(Self { message_id, mark: mark.to_owned(), domain: domain.strip_prefix(BELOW)?.to_owned() })
    }

    /// The address; none where the domain is too long for one.
    pub fn address(&self) -> Option<Email> {
        format!("b-{}-{}@{BELOW}{}", self.message_id, self.mark, self.domain).parse().ok()
    }
}

/// What became of a message for a recipient, as a server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Whom the message was for: as it was sent, where the server says that, and as it was passed on.
    pub recipients: Vec<String>,
    /// What came of it: it won't be delivered, or not yet.
    pub state: DeliveryState,
    /// The words.
    pub reply: String,
    /// Who said them, or else who reports them.
    pub host: Option<String>,
}

/// What a report says of recipients that a message didn't get to; nothing of what is no report.
pub fn reported(raw: &[u8]) -> Vec<Reported> {
    let Some(message) = MessageParser::default().parse(raw) else { return Vec::new() };
    let is_status = |part: &&mail_parser::MessagePart<'_>| {
        part.content_type().is_some_and(|kind| {
            kind.ctype().eq_ignore_ascii_case("message")
                && kind.subtype().is_some_and(|it| it.eq_ignore_ascii_case("delivery-status"))
        })
    };
    let Some(status) = message.parts.iter().take(PARTS_MAX).find(is_status) else { return Vec::new() };
    let text = String::from_utf8_lossy(status.contents()).replace("\r\n", "\n");
    let mut groups = text.split("\n\n").map(group).filter(|group| !group.is_empty());
    let about = groups.next().unwrap_or_default();
    let reporter = value(&about, "Reporting-MTA").map(typed);
    groups.take(REPORTED_MAX).filter_map(|group| of_recipient(&group, reporter.as_deref())).collect()
}

fn of_recipient(group: &[(String, String)], reporter: Option<&str>) -> Option<Reported> {
    let state = match value(group, "Action")?.to_ascii_lowercase().as_str() {
        "failed" => DeliveryState::Failed,
        "delayed" => DeliveryState::Delayed,
        _ => return None,
    };
    let named = ["Original-Recipient", "Final-Recipient"].into_iter().filter_map(|name| value(group, name));
    let status = value(group, "Status").unwrap_or_default();
    let words = value(group, "Diagnostic-Code").map_or_else(String::new, typed);
    let reply = if words.contains(status) { words } else { format!("{status} {words}").trim().to_owned() };
    let host = value(group, "Remote-MTA").map(typed).or_else(|| reporter.map(str::to_owned));
    Some(Reported {
        recipients: named.map(|it| typed(it).to_ascii_lowercase()).collect(),
        state,
        reply: reply.chars().take(WORDS_CHARS_MAX).collect(),
        host: host.map(|host| host.chars().take(WORDS_CHARS_MAX).collect()),
    })
}

/// The fields of a group of lines; a line that begins with white space goes on with the one before it.
fn group(lines: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in lines.lines() {
        match (line.strip_prefix([' ', '\t']), line.split_once(':')) {
            (Some(more), _) => {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(' ');
                    value.push_str(more.trim());
                }
            }
            (None, Some((name, value))) => fields.push((name.trim().to_owned(), value.trim().to_owned())),
            (None, None) => {}
        }
    }
    fields
}

fn value<'g>(group: &'g [(String, String)], name: &str) -> Option<&'g str> {
    group.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// What stands behind the type of a value, such as `rfc822;`, on one line.
fn typed(value: &str) -> String {
    let text = value.split_once(';').map_or(value, |(_, text)| text).trim();
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

/// The rows that a report changes, as they are then. It is about recipients of `domain`, and says nothing of what didn't leave yet, or
/// failed already. Where a recipient was passed on under another name, it is the only one there is.
pub fn settled(rows: &[Outgoing], domain: &str, report: &[Reported]) -> Vec<Outgoing> {
    let rows: Vec<&Outgoing> = rows.iter().filter(|row| domain_of(&row.recipient) == domain).collect();
    let mut changed: Vec<Outgoing> = Vec::new();
    for told in report {
        let named = told.recipients.iter().find_map(|name| rows.iter().find(|row| row.recipient.as_str() == name));
        let only = (rows.len() == 1).then(|| &rows[0]);
        let Some(row) = named.or(only) else { continue };
        let may_follow = match told.state {
            DeliveryState::Failed => matches!(row.state, DeliveryState::Sent | DeliveryState::Delayed),
            _ => row.state == DeliveryState::Sent,
        };
        if may_follow && !changed.iter().any(|it| it.recipient == row.recipient) {
            let (reply, host) = (Some(told.reply.clone()), told.host.clone().or_else(|| row.host.clone()));
            changed.push(Outgoing { state: told.state, reply, host, ..(*row).clone() });
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Timestamp,
        id::{MailboxId, OrgId},
        mail::RawId,
    };

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn report(status: &str) -> Vec<u8> {
        format!(
            "From: MAILER-DAEMON@mx.example.com\r\nMIME-Version: 1.0\r\nContent-Type: multipart/report; \
             report-type=delivery-status; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n--b\r\n\
             Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.com\r\n\r\n{status}\r\n--b--\r\n"
        )
        .into_bytes()
    }

    fn row(recipient: &str, state: DeliveryState) -> Outgoing {
        Outgoing {
            org_id: OrgId::new(NOW),
            mailbox_id: MailboxId::new(NOW),
            message_id: MailMessageId::new(NOW),
            raw_id: RawId::of(b""),
            sender: "ada@example.org".parse().expect("an address"),
            recipient: recipient.parse().expect("an address"),
            state,
            due: NOW,
            tries: 1,
            reply: None,
            host: Some("mx.example.com".to_owned()),
            tls: true,
            leaves_at: NOW,
            is_delay_told: false,
            created_at: NOW,
        }
    }

    #[test]
    fn an_address_reads_back_as_itself_and_others_are_none() {
        let (message_id, mark) = (MailMessageId::new(NOW), "0123456789abcdef0123".to_owned());
        let bounce = BounceAddress { message_id, mark, domain: "example.org".to_owned() };
        let address = bounce.address().expect("an address");
        assert_eq!(BounceAddress::read(&address), Some(bounce));
        for other in ["b-team@bounces.example.org", "ada@example.org", "b-msg_x-1@bounces.example.org"] {
            assert_eq!(BounceAddress::read(&other.parse().expect("an address")), None, "{other}");
        }
        let elsewhere = address.as_str().replace("bounces.", "");
        assert_eq!(BounceAddress::read(&elsewhere.parse().expect("an address")), None);
    }

    #[test]
    fn a_report_says_whom_a_message_did_not_get_to_and_why() {
        let told = reported(&report(
            "Final-Recipient: rfc822; Bob@Example.com\r\nAction: failed\r\nStatus: 5.1.1\r\nRemote-MTA: dns; in.example.com\r\n\
             Diagnostic-Code: smtp; 550 5.1.1\r\n  no such user\r\n\r\nFinal-Recipient: rfc822; dan@example.com\r\n\
             Action: delayed\r\nStatus: 4.4.1\r\n\r\nFinal-Recipient: rfc822; eve@example.com\r\nAction: delivered\r\n\
             Status: 2.0.0\r\n",
        ));
        let words = |it: &Reported| (it.recipients.join(" "), it.state, it.reply.clone(), it.host.clone());
        let (ours, theirs) = (Some("in.example.com".to_owned()), Some("mx.example.com".to_owned()));
        let expected = [
            ("bob@example.com".to_owned(), DeliveryState::Failed, "550 5.1.1 no such user".to_owned(), ours),
            ("dan@example.com".to_owned(), DeliveryState::Delayed, "4.4.1".to_owned(), theirs),
        ];
        assert_eq!(told.iter().map(words).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_no_report_says_nothing() {
        for raw in [
            &b""[..],
            b"Subject: Away\r\n\r\nI am away.\r\n",
            &report(""),
            &report("Action: failed"),
            &report(":\r\n\r\n:"),
        ] {
            let told = reported(raw);
            assert!(told.iter().all(|it| it.recipients.is_empty()), "{told:?}");
        }
    }

    #[test]
    fn a_report_settles_what_was_sent_to_its_domain_and_nothing_else() {
        let rows = [
            row("bob@example.com", DeliveryState::Sent),
            row("dan@example.com", DeliveryState::Failed),
            row("eve@example.net", DeliveryState::Sent),
        ];
        let told = |recipient: &str, state| Reported {
            recipients: vec![recipient.to_owned()],
            state,
            reply: "no".to_owned(),
            host: None,
        };
        let all = [
            told("bob@example.com", DeliveryState::Delayed),
            told("bob@example.com", DeliveryState::Failed),
            told("dan@example.com", DeliveryState::Failed),
            told("eve@example.net", DeliveryState::Failed),
        ];
        let changed = settled(&rows, "example.com", &all);
        let states: Vec<_> = changed.iter().map(|row| (row.recipient.as_str(), row.state)).collect();
        assert_eq!(states, [("bob@example.com", DeliveryState::Delayed)]);
        // Passed on under another name: it can only be about the one that there is.
        let changed = settled(&rows, "example.net", &[told("eve@elsewhere.example", DeliveryState::Failed)]);
        assert_eq!(changed.len(), 1);
        assert_eq!(changed[0].host.as_deref(), Some("mx.example.com"));
        assert!(settled(&rows, "example.com", &[told("x@example.com", DeliveryState::Failed)]).is_empty());
    }
}
