//! The lines that this server writes before a message when it comes: from whom it came, what it was found to be, and on which way.

use std::net::IpAddr;

use crate::{Timestamp, id::MailArrivalId};

/// What the lines say.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// What this server is called.
    pub host: &'a str,
    /// From where the message came.
    pub client: IpAddr,
    /// How the client called itself.
    pub helo: &'a str,
    /// What it spoke: `ESMTP`, `ESMTPS` over TLS, `SMTP` without extensions (RFC 3848).
    pub protocol: &'a str,
    /// Who sent it by the envelope; empty for the null sender.
    pub envelope_from: &'a str,
    /// `Authentication-Results` without its name.
    pub results: &'a str,
    /// When it came.
    pub received_at: Timestamp,
}

impl Stamp<'_> {
    /// The lines of the arrival for this recipient, each with its CR LF.
    pub fn lines(&self, id: MailArrivalId, envelope_to: &str) -> String {
        let Self { host, client, protocol, results, .. } = self;
        let (helo, from, to) = (plain(self.helo), plain(self.envelope_from), plain(envelope_to));
        let date = date(self.received_at);
        format!(
            "Return-Path: <{from}>\r\nAuthentication-Results: {results}\r\nReceived: from {helo} ([{client}])\r\n\
             \tby {host} with {protocol} id {id}\r\n\tfor <{to}>; {date}\r\n"
        )
    }
}

/// What somebody else wrote, without what would end a line, a comment or an address.
fn plain(text: &str) -> String {
    let is_plain =
        |it: char| !it.is_control() && !it.is_whitespace() && !matches!(it, '(' | ')' | '<' | '>' | '\\' | ';');
    text.chars().map(|it| if is_plain(it) { it } else { '?' }).collect()
}

/// A moment as mail writes it (RFC 5322 3.3).
pub fn date(at: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    moment.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp<'static> = Stamp {
        host: "mx.example.org",
        client: IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)),
        helo: "mail.example.com",
        protocol: "ESMTPS",
        envelope_from: "bob@example.com",
        results: "mx.example.org; none",
        received_at: Timestamp(1_800_014_400_000),
    };

    #[test]
    fn the_lines_say_whence_a_message_came_and_to_whom() {
        let id = MailArrivalId::new(STAMP.received_at);
        let expected = format!(
            "Return-Path: <bob@example.com>\r\nAuthentication-Results: mx.example.org; none\r\n\
             Received: from mail.example.com ([192.0.2.1])\r\n\tby mx.example.org with ESMTPS id {id}\r\n\
             \tfor <ada@example.org>; Fri, 15 Jan 2027 12:00:00 +0000\r\n"
        );
        assert_eq!(STAMP.lines(id, "ada@example.org"), expected);
    }

    #[test]
    fn nobody_writes_lines_of_their_own_into_them() {
        let stamp = Stamp { helo: "a\r\nX-Forged: 1", envelope_from: "<b>;\n(c)\\", ..STAMP };
        let lines = stamp.lines(MailArrivalId::new(STAMP.received_at), "d e\r\n");
        assert_eq!(lines.matches("\r\n").count(), 5, "{lines}");
        assert!(lines.starts_with("Return-Path: <?b????c??>\r\n"), "{lines}");
        assert!(lines.contains("from a??X-Forged:?1 (["), "{lines}");
    }
}
