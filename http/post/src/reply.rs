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
pub(crate) const SIGNED_IN: Reply = fixed(235, "2.7.0 Signed in");
pub(crate) const TAKEN: Reply = fixed(250, "2.6.0 The message is taken");
pub(crate) const CHUNK_OK: Reply = fixed(250, "2.0.0 The chunk is taken");
pub(crate) const CANNOT_VERIFY: Reply = fixed(252, "2.1.5 Send some mail, and see");
pub(crate) const HELP: Reply = fixed(214, "2.0.0 This server speaks RFC 5321");
pub(crate) const BYE: Reply = fixed(221, "2.0.0 Bye");
pub(crate) const GO_SECURE: Reply = fixed(220, "2.0.0 Ready for TLS");
pub(crate) const SAY_PASSWORD_PLAIN: Reply = fixed(334, "");
/// `Username:` in base64.
pub(crate) const SAY_NAME: Reply = fixed(334, "VXNlcm5hbWU6");
/// `Password:` in base64.
pub(crate) const SAY_PASSWORD: Reply = fixed(334, "UGFzc3dvcmQ6");
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

pub(crate) const LOCKED: Reply = fixed(454, "4.7.0 Too many failed attempts; try again later");
pub(crate) const SIGN_IN_AWAY: Reply = fixed(454, "4.7.0 Nobody can be signed in now; try again later");

pub(crate) const UNKNOWN_COMMAND: Reply = fixed(500, "5.5.1 Unknown command");
pub(crate) const LINE_TOO_LONG: Reply = fixed(500, "5.5.2 The line is too long");
pub(crate) const UNREADABLE: Reply = fixed(500, "5.5.2 The line can't be read");
pub(crate) const BAD_PARAMETER: Reply = fixed(501, "5.5.4 A parameter can't be read");
pub(crate) const BAD_SENDER: Reply = fixed(501, "5.1.7 The sender's address can't be read");
pub(crate) const BAD_RECIPIENT: Reply = fixed(501, "5.1.3 The recipient's address can't be read");
pub(crate) const NO_BASE64: Reply = fixed(501, "5.5.2 The answer is no base64");
pub(crate) const SIGN_IN_LEFT: Reply = fixed(501, "5.7.0 Nobody was signed in");
pub(crate) const NOT_OFFERED: Reply = fixed(502, "5.5.1 This is not offered here");
pub(crate) const HELLO_FIRST: Reply = fixed(503, "5.5.1 Say EHLO first");
pub(crate) const MAIL_FIRST: Reply = fixed(503, "5.5.1 Say MAIL first");
pub(crate) const NESTED: Reply = fixed(503, "5.5.1 There is a transaction already");
pub(crate) const CHUNKS_BEGAN: Reply = fixed(503, "5.5.1 The message comes in chunks");
pub(crate) const SIGNED_IN_ALREADY: Reply = fixed(503, "5.5.1 Somebody is signed in already");
pub(crate) const SECURE_ALREADY: Reply = fixed(503, "5.5.1 TLS is there already");
pub(crate) const UNKNOWN_MECHANISM: Reply = fixed(504, "5.5.4 PLAIN and LOGIN are offered");
pub(crate) const SIGN_IN_FIRST: Reply = fixed(530, "5.7.0 Sign in first");
pub(crate) const SIGN_IN_ENDED: Reply = fixed(530, "5.7.0 The app password opens this mailbox no more; sign in again");
pub(crate) const WRONG_PASSWORD: Reply = fixed(535, "5.7.8 That address or app password is wrong");
pub(crate) const MAY_NOT_SEND: Reply = fixed(535, "5.7.8 You may read this mailbox, and not send from it");
pub(crate) const SECURE_FIRST: Reply = fixed(538, "5.7.11 Say STARTTLS first");
pub(crate) const UNKNOWN_RECIPIENT: Reply = fixed(550, "5.1.1 Nobody has this address here");
pub(crate) const FOREIGN: Reply = fixed(550, "5.7.1 This server takes no mail for that domain");
pub(crate) const BARE_LINE_ENDS: Reply = fixed(550, "5.6.0 A line ends with CR or LF alone");
pub(crate) const REFUSED_BY_OWNER: Reply = fixed(550, "5.7.1 The domain in From asks to refuse this (DMARC)");
pub(crate) const TOO_LARGE: Reply = fixed(552, "5.3.4 The message is too large");
pub(crate) const NEEDS_UTF8: Reply = fixed(553, "5.6.7 The address needs SMTPUTF8");
pub(crate) const SENDER_NOT_OWN: Reply = fixed(553, "5.7.1 This isn't an address of the mailbox");
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
    pub fn extensions(host: &str, size: u64, offers_tls: bool, offers_auth: bool) -> Self {
        let tls = if offers_tls { "\nSTARTTLS" } else { "" };
        let auth = if offers_auth { "\nAUTH PLAIN LOGIN" } else { "" };
        let text = format!(
            "{host}\nPIPELINING\nSIZE {size}\n8BITMIME\nSMTPUTF8\nCHUNKING\nENHANCEDSTATUSCODES{tls}{auth}\nHELP"
        );
        Self { code: 250, text: text.into() }
    }

    /// A refusal in words that people read elsewhere too.
    pub fn refused(code: u16, enhanced: &str, words: &str) -> Self {
        Self { code, text: format!("{enhanced} {words}").into() }
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
