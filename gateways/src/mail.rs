//! E-mail, over SMTP or to a console that keeps it.
//!
//! A mailer sends once and says what became of it. Trying again, and keeping what a console mailer did not send, is the
//! caller's: it has the store.

mod smtp;

use std::time::Duration;

use lettre::{Address, message::Mailbox};

use self::smtp::Smtp;

/// An invitation to an event, beside the text of an e-mail (RFC 6047).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarPart {
    /// What it asks for (RFC 5546).
    pub method: String,
    /// The file (RFC 5545).
    pub file: String,
    /// Who is answered.
    pub reply_to: String,
}

/// One e-mail to one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    /// The address that it goes to.
    pub to: String,
    /// The subject line.
    pub subject: String,
    /// The body, plain text.
    pub text: String,
    /// What a calendar reads, beside the text.
    pub calendar: Option<CalendarPart>,
    /// The same for every try of the same e-mail. It makes the `Message-ID`, by which mailboxes recognize a double.
    pub idempotency_key: String,
}

/// What became of an e-mail that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// The mail server took it on; what it answered.
    Sent {
        /// The server's own words, which often name the message.
        response: String,
    },
    /// There is no mail server: the caller keeps it, for the console to show.
    Keep,
}

/// Why an e-mail was not taken. The text is for the log and for operators.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Trying again may help: the server is away, busy, or refuses our sign-in.
    #[error("{0}")]
    Temporary(String),
    /// Trying again can't help: the address or the message is refused.
    #[error("{0}")]
    Permanent(String),
}

impl SendError {
    /// Whether trying again may help.
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary(_))
    }
}

/// How e-mail leaves.
#[derive(Clone, Debug)]
pub enum MailOptions {
    /// It does not: it is kept and shown.
    Console,
    /// Over a mail server.
    Smtp(SmtpOptions),
}

/// A mail server.
#[derive(Clone)]
pub struct SmtpOptions {
    /// Its name or address; with TLS, the name in its certificate.
    pub host: String,
    /// Its port: 587 is usual with STARTTLS, 465 with TLS, 25 without.
    pub port: u16,
    /// How the connection is protected.
    pub security: SmtpSecurity,
    /// With whose account mail is handed in, if the server wants one.
    pub credentials: Option<SmtpCredentials>,
    /// The sender, as `Troupe <troupe@example.org>`.
    pub from: String,
    /// The longest that handing in one e-mail takes, connecting included; waiting for a free connection is not.
    pub timeout: Duration,
    /// E-mails handed in at once, each over a connection of its own.
    pub connections_max: u32,
}

/// An account at a mail server.
#[derive(Clone)]
pub struct SmtpCredentials {
    /// Its name.
    pub user: String,
    /// Its password.
    pub password: String,
}

/// How a connection to a mail server is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpSecurity {
    /// TLS from the first byte.
    Tls,
    /// TLS after `STARTTLS`, which the server must offer.
    StartTls,
    /// Not at all; for a server on this machine or a trusted network.
    None,
}

impl std::fmt::Debug for SmtpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SmtpOptions")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("security", &self.security)
            .field("user", &self.credentials.as_ref().map(|credentials| &credentials.user))
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// The options can't be used.
#[derive(Debug, thiserror::Error)]
pub enum MailOptionsError {
    /// The sender is no address.
    #[error("the sender `{0}` is not an e-mail address")]
    From(String),
    /// TLS can't be set up for this host.
    #[error("TLS with `{host}` can't be set up: {reason}")]
    Tls {
        /// The host.
        host: String,
        /// Why not.
        reason: String,
    },
}

/// A handle to the way out for e-mail; cheap to clone.
#[derive(Clone)]
pub struct Mailer {
    way: Way,
}

#[derive(Clone)]
enum Way {
    Console,
    Smtp(Smtp),
}

impl Mailer {
    /// A mailer as the options say. Connects when there is something to send. Must be called on a tokio runtime that
    /// outlives the mailer.
    pub fn new(options: &MailOptions) -> Result<Self, MailOptionsError> {
        let way = match options {
            MailOptions::Console => Way::Console,
            MailOptions::Smtp(options) => Way::Smtp(Smtp::new(options)?),
        };
        Ok(Self { way })
    }

    /// A mailer that sends nothing: its caller keeps what it would have sent.
    pub fn console() -> Self {
        Self { way: Way::Console }
    }

    /// Whether e-mail is kept instead of sent.
    pub const fn is_console(&self) -> bool {
        matches!(self.way, Way::Console)
    }

    /// Sends one e-mail, once. After an error with an unknown outcome (a server that went silent) it may have gone out
    /// all the same; trying again uses the same `Message-ID`.
    pub async fn send(&self, email: &Email) -> Result<Delivered, SendError> {
        match &self.way {
            Way::Console => recipient(email).map(|_| Delivered::Keep),
            Way::Smtp(smtp) => smtp.send(email).await,
        }
    }

    /// Sends a message that is written already to one address, once, as [`send`](Self::send) does.
    pub async fn send_written(&self, to: &str, message: &[u8]) -> Result<Delivered, SendError> {
        match &self.way {
            Way::Console => address(to).map(|_| Delivered::Keep),
            Way::Smtp(smtp) => smtp.send_written(to, message).await,
        }
    }

    /// The address that e-mail is sent from; none without a mail server.
    pub fn sender(&self) -> Option<String> {
        match &self.way {
            Way::Console => None,
            Way::Smtp(smtp) => Some(smtp.sender()),
        }
    }

    /// Whether the mail server answers and takes our sign-in; always so without one. For `troupe doctor`.
    pub async fn check(&self) -> Result<(), SendError> {
        match &self.way {
            Way::Console => Ok(()),
            Way::Smtp(smtp) => smtp.check().await,
        }
    }
}

impl std::fmt::Debug for Mailer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_console() { "Mailer(console)" } else { "Mailer(smtp)" })
    }
}

/// Whom an e-mail goes to: a bare address, so that nothing in it can become a header or a second recipient.
fn recipient(email: &Email) -> Result<Mailbox, SendError> {
    address(&email.to)
}

fn address(text: &str) -> Result<Mailbox, SendError> {
    let address: Address =
        text.trim().parse().map_err(|error| SendError::Permanent(format!("not an e-mail address: {error}")))?;
    Ok(Mailbox::new(None, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(to: &str) -> Email {
        Email {
            to: to.into(),
            subject: "Hello".into(),
            text: "Hello.".into(),
            calendar: None,
            idempotency_key: "one".into(),
        }
    }

    #[tokio::test]
    async fn a_console_keeps_what_it_would_have_sent() {
        assert_eq!(Mailer::console().send(&email("ada@example.org")).await, Ok(Delivered::Keep));
    }

    #[test]
    fn only_one_bare_address_is_a_recipient() {
        for to in ["", "ada", "a@b@c", "ada@example.org, eve@example.org", "ada@example.org\r\nBcc: eve@example.org"] {
            assert!(matches!(recipient(&email(to)), Err(SendError::Permanent(_))), "{to}");
        }
        assert!(recipient(&email(" ada@example.org ")).is_ok());
    }

    #[test]
    fn a_password_is_not_printed() {
        let options = SmtpOptions {
            host: "mail.example.org".into(),
            port: 587,
            security: SmtpSecurity::StartTls,
            credentials: Some(SmtpCredentials { user: "troupe".into(), password: "hunter2".into() }),
            from: "troupe@example.org".into(),
            timeout: Duration::from_secs(10),
            connections_max: 2,
        };
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
