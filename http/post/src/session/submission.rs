//! What mail clients of people do beside what other servers do: they sign in (RFC 4954), and what they send leaves (RFC 6409).

use std::{
    io,
    time::{Duration, Instant},
};

use actors::{
    mail::{MailGate, Submission},
    sign_in::{OpenMailbox, OpenedMailbox},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use domain::{
    Caller, Context, Email, Error, Origin, RequestId, Token,
    app_password::{AppPasswordCaller, AppPasswordUse},
    id::MailboxId,
    mail::{HOPS_MAX, Mailbox, RECIPIENTS_MAX, hops},
};
use smtp_proto::{AUTH_LOGIN, AUTH_PLAIN, RcptTo};
use store::mail::Recipient;
use tokio::time;

use super::{COMMAND_WITHIN, Next, Session, away};
use crate::{
    Submissions,
    envelope::Envelope,
    reply::{self, Reply},
    wire::Line,
};

/// How long it may take to sign somebody in, and to have a message sent.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Who sends over a connection.
pub(super) struct SignedIn {
    /// The app password, which may be revoked meanwhile.
    token: Token,
    caller: AppPasswordCaller,
    mailbox_id: MailboxId,
}

/// What a client said of who it is.
enum Shown {
    Credentials {
        name: String,
        password: String,
    },
    /// Nothing of use.
    Nothing(Reply),
    /// It is gone.
    End,
}

impl Session {
    /// Whether clients may say passwords here: over TLS, and where there is no certificate, on this machine.
    pub(super) fn offers_sign_in(&self) -> bool {
        let is_here = self.client.address.is_loopback() && self.door.certificate.is_none();
        self.door.submissions.is_some() && (self.is_secure || is_here)
    }

    pub(super) async fn sign_in(&mut self, mechanism: u64, initial: &str) -> io::Result<Next> {
        let refused = match mechanism {
            _ if self.hello.is_none() => Some(reply::HELLO_FIRST),
            _ if self.signed_in.is_some() => Some(reply::SIGNED_IN_ALREADY),
            _ if self.envelope.is_some() => Some(reply::NESTED),
            _ if !self.offers_sign_in() => Some(reply::SECURE_FIRST),
            AUTH_PLAIN | AUTH_LOGIN => None,
            _ => Some(reply::UNKNOWN_MECHANISM),
        };
        let shown = match refused {
            Some(reply) => Shown::Nothing(reply),
            None if mechanism == AUTH_PLAIN => self.plain(initial).await?,
            None => self.login(initial).await?,
        };
        let reply = match shown {
            Shown::Credentials { name, password } => self.let_in(&name, password).await,
            Shown::Nothing(reply) => reply,
            Shown::End => return Ok(Next::End),
        };
        self.say(&reply);
        Ok(Next::Command)
    }

    /// PLAIN (RFC 4616): for whom, who, and the password, in one answer.
    async fn plain(&mut self, initial: &str) -> io::Result<Shown> {
        let answer = match initial {
            "" => match self.answer(&reply::SAY_PASSWORD_PLAIN).await? {
                Ok(answer) => answer,
                Err(shown) => return Ok(shown),
            },
            given => given.to_owned(),
        };
        let Some(said) = decoded(&answer) else { return Ok(Shown::Nothing(reply::NO_BASE64)) };
        let mut parts = said.split('\0');
        Ok(match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(acts_for), Some(name), Some(password), None)
                if acts_for.is_empty() || acts_for.eq_ignore_ascii_case(name) =>
            {
                Shown::Credentials { name: name.to_owned(), password: password.to_owned() }
            }
            _ => Shown::Nothing(reply::WRONG_PASSWORD),
        })
    }

    /// LOGIN: the name, then the password.
    async fn login(&mut self, initial: &str) -> io::Result<Shown> {
        let name = match initial {
            "" => match self.answer(&reply::SAY_NAME).await? {
                Ok(name) => name,
                Err(shown) => return Ok(shown),
            },
            given => given.to_owned(),
        };
        let password = match self.answer(&reply::SAY_PASSWORD).await? {
            Ok(password) => password,
            Err(shown) => return Ok(shown),
        };
        Ok(match (decoded(&name), decoded(&password)) {
            (Some(name), Some(password)) => Shown::Credentials { name, password },
            _ => Shown::Nothing(reply::NO_BASE64),
        })
    }

    /// What the client answers to a question.
    async fn answer(&mut self, question: &Reply) -> io::Result<Result<String, Shown>> {
        self.say(question);
        let Ok(line) = time::timeout(COMMAND_WITHIN, self.wire.line()).await else {
            self.say(&reply::TOO_SLOW);
            return Ok(Err(Shown::End));
        };
        Ok(match line? {
            Line::Whole(line) => match String::from_utf8_lossy(&line).trim_end() {
                "*" => Err(Shown::Nothing(reply::SIGN_IN_LEFT)),
                answer => Ok(answer.to_owned()),
            },
            Line::TooLong => {
                self.say(&reply::LINE_TOO_LONG);
                Err(Shown::End)
            }
            Line::End => Err(Shown::End),
        })
    }

    async fn let_in(&mut self, name: &str, password: String) -> Reply {
        let Some(submissions) = &self.door.submissions else { return reply::NOT_OFFERED };
        // What is no address is nobody's, and nobody's guess.
        let (Ok(address), token) = (name.parse::<Email>(), password.parse::<Token>().ok()) else {
            return reply::WRONG_PASSWORD;
        };
        let command = OpenMailbox { password, opens: AppPasswordUse::Smtp };
        let asking = submissions.actors.sign_in.ask(&address, command, self.context(Caller::Nobody));
        match (asking.await, token) {
            (Ok(OpenedMailbox { mailbox, caller }), Some(token)) => {
                self.signed_in = Some(SignedIn { token, caller, mailbox_id: mailbox.id });
                reply::SIGNED_IN
            }
            (Ok(_), None) | (Err(Error::SignInFailed { .. }), _) => reply::WRONG_PASSWORD,
            (Err(Error::MissingScope(_) | Error::NotFound { .. }), _) => reply::MAY_NOT_SEND,
            (Err(Error::RateLimited { .. }), _) => reply::LOCKED,
            (Err(error), _) => {
                tracing::warn!(?error, "a mail client can't be signed in now");
                reply::SIGN_IN_AWAY
            }
        }
    }

    fn context(&self, caller: Caller) -> Context {
        Context {
            caller,
            origin: Origin::Socket,
            deadline: Instant::now() + ANSWER_WITHIN,
            request_id: RequestId::OWN,
            ip: Some(self.client.address),
            user_agent: None,
            idempotency: None,
        }
    }

    /// Whether who signed in may send as `sender` now.
    pub(super) async fn sender_check(&mut self, sender: &str) -> Result<(), Reply> {
        let mailbox = self.mailbox().await?;
        let is_own = sender.parse::<Email>().is_ok_and(|sender| mailbox.addresses().any(|own| *own == sender));
        if is_own { Ok(()) } else { Err(reply::SENDER_NOT_OWN) }
    }

    /// The mailbox of who signed in, as it is now: the app password may be revoked, and its person no member any more.
    async fn mailbox(&mut self) -> Result<Mailbox, Reply> {
        let (Some(submissions), Some(signed_in)) = (&self.door.submissions, &self.signed_in) else {
            return Err(reply::SIGN_IN_FIRST);
        };
        let opened = opened(submissions, signed_in).await.map_err(|error| away(&error))?;
        if opened.is_none() {
            (self.signed_in, self.envelope) = (None, None);
        }
        opened.ok_or(reply::SIGN_IN_ENDED)
    }

    /// Sends a message that is whole.
    pub(super) async fn submit(&mut self, envelope: Envelope, bytes: Bytes) -> Reply {
        if hops(&bytes) > HOPS_MAX {
            return reply::LOOP;
        }
        let mailbox = match self.mailbox().await {
            Ok(mailbox) => mailbox,
            Err(reply) => return reply,
        };
        let (Some(submissions), Some(signed_in)) = (&self.door.submissions, &self.signed_in) else {
            return reply::SIGN_IN_FIRST;
        };
        let Ok(sender) = envelope.from.parse() else { return reply::SENDER_NOT_OWN };
        let submission = Submission { sender, recipients: envelope.sent_to, bytes };
        let context = self.context(Caller::AppPassword(signed_in.caller));
        let sent = Box::pin(submissions.actors.mail_writing.submit(&mailbox, submission, context)).await;
        sent.map_or_else(|error| refused(&error), |_| reply::TAKEN)
    }
}

async fn opened(submissions: &Submissions, signed_in: &SignedIn) -> Result<Option<Mailbox>, store::StoreError> {
    let (store, caller) = (&submissions.store, &signed_in.caller);
    let password = store.app_password_by_token(&signed_in.token).await?;
    if password.is_none_or(|it| it.id != caller.id) {
        return Ok(None);
    }
    store.mailbox_of(caller.org_id, signed_in.mailbox_id, caller.user_id).await
}

/// Adds a recipient of what a client sends: anybody, but for who isn't here though their domain is.
pub(super) async fn recipient<T: AsRef<str>>(gate: &MailGate, envelope: &mut Envelope, to: &RcptTo<T>) -> Reply {
    let most = usize::try_from(RECIPIENTS_MAX).unwrap_or(usize::MAX);
    if let Err(reply) = envelope.takes(to, most) {
        return reply;
    }
    let Ok(address) = to.address.as_ref().parse::<Email>() else { return reply::BAD_RECIPIENT };
    match gate.recipient(&address, &envelope.from).await {
        Ok(Recipient::Unknown) => reply::UNKNOWN_RECIPIENT,
        Ok(Recipient::Mailbox { .. } | Recipient::Foreign) => {
            envelope.send_to(address);
            reply::RECIPIENT_OK
        }
        Err(error) => away(&error),
    }
}

fn decoded(text: &str) -> Option<String> {
    // An answer that is empty is written so where it stands behind the command.
    let text = if text == "=" { "" } else { text };
    STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// What is said of a message that may not be sent.
fn refused(error: &Error) -> Reply {
    let words = error.to_string();
    match error {
        Error::BadRequest { code: "sender_not_own", .. } => reply::SENDER_NOT_OWN,
        Error::BadRequest { .. } | Error::Invalid { .. } => Reply::refused(554, "5.6.0", &words),
        Error::Conflict { .. } | Error::Forbidden { .. } | Error::MissingScope(_) | Error::NotFound { .. } => {
            Reply::refused(550, "5.7.1", &words)
        }
        Error::RateLimited { .. } => Reply::refused(452, "4.7.1", &words),
        Error::TooLarge { .. } => reply::TOO_LARGE,
        _ => {
            tracing::warn!(?error, "a message of a mail client was not sent; the client has it still");
            reply::AWAY
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::mail::{day_is_over, sender_not_own};

    use super::*;

    #[test]
    fn a_refusal_has_the_words_that_people_read_elsewhere() {
        let mut said = Vec::new();
        refused(&day_is_over(Duration::from_secs(1))).write(&mut said);
        assert_eq!(said, b"452 4.7.1 This mailbox has sent to 2,000 recipients in the last day.\r\n");
        assert_eq!(refused(&Error::conflict("domain_not_verified", "It isn't verified.")).code, 550);
        assert_eq!(refused(&sender_not_own()), reply::SENDER_NOT_OWN);
        assert_eq!(refused(&Error::internal("a defect")).code, 451);
    }

    #[test]
    fn answers_are_base64() {
        assert_eq!(decoded("YWRh").as_deref(), Some("ada"));
        assert_eq!(decoded("=").as_deref(), Some(""));
        for text in ["a", "YWRh!", "/w=="] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
