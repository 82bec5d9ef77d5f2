//! What the server says, all of it: the code, the enhanced code (RFC 3463) and words for people.

use std::borrow::Cow;

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub code: u16,
    text: Cow<'static, str>,
}

const fn fixed(code: u16, text: &'static str) -> Reply {
    Reply { code, text: Cow::Borrowed(text) }
}

pub(crate) const OK: Reply = fixed(250, "2.0.0 OK");
pub(crate) const SENDER_OK: Reply = fixed(250, "2.1.0 OK");
pub(crate) const RECIPIENT_OK: Reply = fixed(250, "2.1.5 OK");
pub(crate) const TAKEN: Reply = fixed(250, "2.6.0 The message is taken");
pub(crate) const CHUNK_OK: Reply = fixed(250, "2.0.0 The chunk is taken");
pub(crate) const CANNOT_VERIFY: Reply = fixed(252, "2.1.5 Send some mail, and see");
pub(crate) const HELP: Reply = fixed(214, "2.0.0 This server speaks RFC 5321");
pub(crate) const BYE: Reply = fixed(221, "2.0.0 Bye");
pub(crate) const GO_SECURE: Reply = fixed(220, "2.0.0 Ready for TLS");
pub(crate) const GO_ON: Reply = fixed(354, "End with <CR><LF>.<CR><LF>");

pub(crate) const STOPPING: Reply = fixed(421, "4.3.2 The server stops; come again");
pub(crate) const TOO_SLOW: Reply = fixed(421, "4.4.2 Nothing came for too long");
pub(crate) const TOO_MANY_ERRORS: Reply = fixed(421, "4.7.0 Too many errors");
pub(crate) const TOO_MANY_CONNECTIONS: Reply = fixed(421, "4.7.0 Too many connections from your address");
pub(crate) const AWAY: Reply = fixed(451, "4.3.0 The message can't be kept now; try again later");
pub(crate) const TOO_MANY_MESSAGES: Reply = fixed(451, "4.7.1 Too many messages from your address; try again later");
pub(crate) const NO_ROOM: Reply = fixed(452, "4.3.1 There is no room now; try again later");
pub(crate) const TOO_MANY_RECIPIENTS: Reply =
    fixed(452, "4.5.3 Too many recipients; send to the rest in another transaction");

pub(crate) const UNKNOWN_COMMAND: Reply = fixed(500, "5.5.1 Unknown command");
pub(crate) const LINE_TOO_LONG: Reply = fixed(500, "5.5.2 The line is too long");
pub(crate) const UNREADABLE: Reply = fixed(500, "5.5.2 The line can't be read");
pub(crate) const BAD_PARAMETER: Reply = fixed(501, "5.5.4 A parameter can't be read");
pub(crate) const BAD_SENDER: Reply = fixed(501, "5.1.7 The sender's address can't be read");
pub(crate) const BAD_RECIPIENT: Reply = fixed(501, "5.1.3 The recipient's address can't be read");
pub(crate) const NOT_OFFERED: Reply = fixed(502, "5.5.1 This is not offered here");
pub(crate) const HELLO_FIRST: Reply = fixed(503, "5.5.1 Say EHLO first");
pub(crate) const MAIL_FIRST: Reply = fixed(503, "5.5.1 Say MAIL first");
pub(crate) const NESTED: Reply = fixed(503, "5.5.1 There is a transaction already");
pub(crate) const CHUNKS_BEGAN: Reply = fixed(503, "5.5.1 The message comes in chunks");
pub(crate) const SECURE_ALREADY: Reply = fixed(503, "5.5.1 TLS is there already");
pub(crate) const UNKNOWN_RECIPIENT: Reply = fixed(550, "5.1.1 Nobody has this address here");
pub(crate) const FOREIGN: Reply = fixed(550, "5.7.1 This server takes no mail for that domain");
pub(crate) const BARE_LINE_ENDS: Reply = fixed(550, "5.6.0 A line ends with CR or LF alone");
pub(crate) const REFUSED_BY_OWNER: Reply = fixed(550, "5.7.1 The domain in From asks to refuse this (DMARC)");
pub(crate) const TOO_LARGE: Reply = fixed(552, "5.3.4 The message is too large");
pub(crate) const NEEDS_UTF8: Reply = fixed(553, "5.6.7 The address needs SMTPUTF8");
pub(crate) const NO_RECIPIENTS: Reply = fixed(554, "5.5.1 There is no recipient");
pub(crate) const LOOP: Reply = fixed(554, "5.4.6 The message goes round in circles");
pub(crate) const UNSUPPORTED_PARAMETER: Reply = fixed(555, "5.5.4 A parameter is not offered here");

impl Reply {
    /// What the server says first.
    pub fn greeting(host: &str) -> Self {
        Self { code: 220, text: format!("{host} ESMTP").into() }
    }

    /// The answer to HELO.
    pub fn hello(host: &str) -> Self {
        Self { code: 250, text: host.to_owned().into() }
    }

    /// The answer to EHLO: a line for each extension.
    pub fn extensions(host: &str, size: u64, offers_tls: bool) -> Self {
        let tls = if offers_tls { "\nSTARTTLS" } else { "" };
        let text =
            format!("{host}\nPIPELINING\nSIZE {size}\n8BITMIME\nSMTPUTF8\nCHUNKING\nENHANCEDSTATUSCODES{tls}\nHELP");
        Self { code: 250, text: text.into() }
    }

    /// How a command is written.
    pub fn syntax(syntax: &str) -> Self {
        Self { code: 501, text: format!("5.5.4 Syntax: {syntax}").into() }
    }

    /// Whether the client did something wrong.
    pub const fn is_error(&self) -> bool {
        self.code >= 500
    }

    /// As it is sent.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut lines = self.text.split('\n').peekable();
        while let Some(line) = lines.next() {
            let between = if lines.peek().is_some() { '-' } else { ' ' };
            out.extend_from_slice(format!("{}{between}{line}\r\n", self.code).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_but_the_last_say_that_more_follow() {
        let mut out = Vec::new();
        Reply { code: 250, text: "a\nb\nc".into() }.write(&mut out);
        assert_eq!(out, b"250-a\r\n250-b\r\n250 c\r\n");
    }
}
