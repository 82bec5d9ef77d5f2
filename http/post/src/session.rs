//! A connection: the commands of RFC 5321, one after the other.

mod submission;

use std::{
    io,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use actors::mail::{Accepted, Incoming, NotTaken};
use domain::{
    Email,
    mail::{MESSAGE_BYTES_MAX, RECIPIENTS_AT_ONCE_MAX},
};
use http_listener::{Place, Stopping};
use smtp_proto::{
    Error, MailFrom, RcptTo, Request,
    request::receiver::{BdatReceiver, DataReceiver, DummyDataReceiver},
};
use store::mail::Recipient;
use tokio::time;

use self::submission::SignedIn;
use crate::{
    envelope::Envelope,
    intake::{Intake, Spoilt},
    listener::Door,
    meters,
    reply::{self, Reply},
    wire::{Line, Wire},
};

/// How long a client may take for a command, and for a handshake (RFC 5321 4.5.3.2.7).
const COMMAND_WITHIN: Duration = Duration::from_secs(5 * 60);
/// How long a message may take.
const MESSAGE_WITHIN: Duration = Duration::from_secs(10 * 60);
/// Errors of a client after which it is sent away.
const ERRORS_MAX: u32 = 10;
/// Digits of a size.
const SIZE_DIGITS_MAX: usize = 18;
/// How long a client has to read what it is sent away with.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(2);

/// Who is at the other end.
pub(crate) struct Client {
    pub address: IpAddr,
    pub place: Place,
}

/// How a client introduced itself.
struct Hello {
    name: String,
    is_extended: bool,
}

/// What follows a command.
enum Next {
    Command,
    /// The connection ends.
    End,
}

pub(crate) struct Session {
    door: Arc<Door>,
    wire: Wire,
    client: Client,
    hello: Option<Hello>,
    is_secure: bool,
    /// Who sends, where mail clients do.
    signed_in: Option<SignedIn>,
    envelope: Option<Envelope>,
    errors: u32,
}

impl Session {
    pub fn new(door: Arc<Door>, wire: Wire, client: Client) -> Self {
        Self { door, wire, client, hello: None, is_secure: false, signed_in: None, envelope: None, errors: 0 }
    }

    /// Serves the client until one of both has enough.
    pub async fn serve(mut self, mut stopping: Stopping) -> io::Result<()> {
        if self.door.is_secure_first() {
            self.handshake().await?;
        }
        self.say(&Reply::greeting(self.door.gate.host()));
        loop {
            let line = tokio::select! {
                line = time::timeout(COMMAND_WITHIN, self.wire.line()) => line,
                () = stopping.told() => {
                    self.say(&reply::STOPPING);
                    break;
                }
            };
            let line = match line {
                Err(_late) => {
                    self.say(&reply::TOO_SLOW);
                    break;
                }
                Ok(line) => line?,
            };
            let line = match line {
                Line::Whole(line) => line,
                Line::End => return Ok(()),
                Line::TooLong => {
                    self.say(&reply::LINE_TOO_LONG);
                    break;
                }
            };
            if matches!(self.command(&line).await?, Next::End) {
                break;
            }
            if self.errors >= ERRORS_MAX {
                self.say(&reply::TOO_MANY_ERRORS);
                break;
            }
        }
        self.end().await
    }

    /// Sends the last words, and reads on until they are read: a connection that is closed on bytes that nobody read takes them
    /// with it.
    async fn end(mut self) -> io::Result<()> {
        let last = async {
            self.wire.close().await?;
            while self.wire.more().await? > 0 {
                self.wire.coming.clear();
            }
            Ok(())
        };
        time::timeout(LAST_WORDS_WITHIN, last).await.unwrap_or(Ok(()))
    }

    fn say(&mut self, reply: &Reply) {
        self.errors += u32::from(reply.is_error());
        self.wire.say(reply);
    }

    async fn command(&mut self, line: &[u8]) -> io::Result<Next> {
        if is_chunk(line) && has_endless_number(line) {
            self.say(&reply::TOO_LARGE);
            return Ok(Next::End);
        }
        let request = match Request::parse(&mut line.iter()) {
            Ok(request) => request,
            Err(error) => return Ok(self.not_understood(line, &error)),
        };
        let reply = match request {
            Request::Ehlo { host } => self.hello(&host, true),
            Request::Helo { host } => self.hello(&host, false),
            Request::Mail { from } => self.mail(&from).await,
            Request::Rcpt { to } => self.recipient(&to).await,
            Request::Data => return self.data().await,
            Request::Bdat { chunk_size, is_last } => return self.chunk(chunk_size, is_last).await,
            Request::Rset => {
                self.envelope = None;
                reply::OK
            }
            Request::Noop { .. } => reply::OK,
            Request::Vrfy { .. } => reply::CANNOT_VERIFY,
            Request::Help { .. } => reply::HELP,
            Request::StartTls => return self.secure().await,
            Request::Quit => {
                self.say(&reply::BYE);
                return Ok(Next::End);
            }
            Request::Auth { mechanism, initial_response } if self.door.submissions.is_some() => {
                return self.sign_in(mechanism, &initial_response).await;
            }
            Request::Lhlo { .. } => reply::UNKNOWN_COMMAND,
            Request::Auth { .. }
            | Request::Expn { .. }
            | Request::Etrn { .. }
            | Request::Atrn { .. }
            | Request::Burl { .. } => reply::NOT_OFFERED,
        };
        self.say(&reply);
        Ok(Next::Command)
    }

    fn not_understood(&mut self, line: &[u8], error: &Error) -> Next {
        self.say(&match error {
            Error::UnknownCommand => reply::UNKNOWN_COMMAND,
            Error::InvalidSenderAddress => reply::BAD_SENDER,
            Error::InvalidRecipientAddress => reply::BAD_RECIPIENT,
            Error::SyntaxError { syntax } => Reply::syntax(syntax),
            Error::InvalidParameter { .. } => reply::BAD_PARAMETER,
            Error::UnsupportedParameter { .. } => reply::UNSUPPORTED_PARAMETER,
            Error::NeedsMoreData { .. } | Error::ResponseTooLong | Error::InvalidResponse { .. } => reply::UNREADABLE,
        });
        // Nobody knows where a chunk ends of which the size can't be read: what follows would be taken for commands.
        if is_chunk(line) { Next::End } else { Next::Command }
    }

    fn hello(&mut self, name: &str, is_extended: bool) -> Reply {
        self.hello = Some(Hello { name: name.to_owned(), is_extended });
        self.envelope = None;
        let host = self.door.gate.host();
        if !is_extended {
            return Reply::hello(host);
        }
        let offers_tls = self.door.certificate.is_some() && !self.is_secure;
        Reply::extensions(host, MESSAGE_BYTES_MAX, offers_tls, self.offers_sign_in())
    }

    async fn mail<T: AsRef<str>>(&mut self, from: &MailFrom<T>) -> Reply {
        if self.hello.is_none() {
            return reply::HELLO_FIRST;
        }
        if self.envelope.is_some() {
            return reply::NESTED;
        }
        let is_submission = self.door.submissions.is_some();
        if is_submission && let Err(reply) = self.sender_check(from.address.as_ref()).await {
            return reply;
        }
        let envelope = match Envelope::of(from, is_submission) {
            Ok(envelope) => envelope,
            Err(reply) => return reply,
        };
        if !self.client.place.message() {
            return reply::TOO_MANY_MESSAGES;
        }
        match self.door.gate.has_room().await {
            Ok(true) => {}
            Ok(false) => return reply::NO_ROOM,
            Err(error) => return away(&error),
        }
        self.envelope = Some(envelope);
        reply::SENDER_OK
    }

    async fn recipient<T: AsRef<str>>(&mut self, to: &RcptTo<T>) -> Reply {
        let Some(envelope) = &mut self.envelope else { return reply::MAIL_FIRST };
        if envelope.chunks.is_some() {
            return reply::CHUNKS_BEGAN;
        }
        if self.door.submissions.is_some() {
            return submission::recipient(&self.door.gate, envelope, to).await;
        }
        if let Err(reply) = envelope.takes(to, RECIPIENTS_AT_ONCE_MAX) {
            return reply;
        }
        let address = to.address.as_ref();
        // Mailboxes have none of the addresses that can't be read as one.
        let Ok(email) = address.parse::<Email>() else { return reply::UNKNOWN_RECIPIENT };
        match self.door.gate.recipient(&email, &envelope.from).await {
            Ok(Recipient::Mailbox { org_id, mailbox_id }) => {
                envelope.add(Accepted { address: address.to_owned(), org_id, mailbox_id });
                reply::RECIPIENT_OK
            }
            Ok(Recipient::Unknown) => reply::UNKNOWN_RECIPIENT,
            Ok(Recipient::Foreign) => reply::FOREIGN,
            Err(error) => away(&error),
        }
    }

    /// What is wrong with a message that would come now, if anything is.
    fn not_now(&self) -> Option<Reply> {
        match &self.envelope {
            None if self.hello.is_none() => Some(reply::HELLO_FIRST),
            None => Some(reply::MAIL_FIRST),
            Some(envelope) if envelope.accepted == 0 => Some(reply::NO_RECIPIENTS),
            Some(_) => None,
        }
    }

    async fn data(&mut self) -> io::Result<Next> {
        let not_now = self.not_now().or_else(|| {
            let began = self.envelope.as_ref().is_some_and(|envelope| envelope.chunks.is_some());
            began.then_some(reply::CHUNKS_BEGAN)
        });
        if let Some(reply) = not_now {
            self.say(&reply);
            return Ok(Next::Command);
        }
        self.say(&reply::GO_ON);
        let mut intake = Intake::new(self.door.spool.clone());
        let mut receiver = DataReceiver::new();
        let ends = intake.began() + MESSAGE_WITHIN;
        loop {
            let (taken, is_whole) = intake.data(&mut receiver, &self.wire.coming).await;
            self.wire.took(taken);
            if is_whole {
                return self.whole(intake).await;
            }
            if !self.more(ends).await? {
                return Ok(Next::End);
            }
        }
    }

    async fn chunk(&mut self, size: usize, is_last: bool) -> io::Result<Next> {
        if size as u64 > MESSAGE_BYTES_MAX {
            // Nobody waits for what nobody will send.
            self.say(&reply::TOO_LARGE);
            return Ok(Next::End);
        }
        if let Some(reply) = self.not_now() {
            return self.pass_over(size, &reply).await;
        }
        let spool = self.door.spool.clone();
        let began = self.envelope.as_mut().and_then(|envelope| envelope.chunks.take());
        let mut intake = began.unwrap_or_else(|| Intake::new(spool));
        let mut receiver = BdatReceiver::new(size, is_last);
        let ends = intake.began() + MESSAGE_WITHIN;
        loop {
            let (taken, is_whole) = intake.chunk(&mut receiver, &self.wire.coming).await;
            self.wire.took(taken);
            if is_whole {
                break;
            }
            if !self.more(ends).await? {
                return Ok(Next::End);
            }
        }
        if is_last {
            return self.whole(intake).await;
        }
        if intake.is_too_large() {
            self.envelope = None;
            self.say(&reply::TOO_LARGE);
        } else if let Some(envelope) = &mut self.envelope {
            envelope.chunks = Some(intake);
            self.say(&reply::CHUNK_OK);
        }
        Ok(Next::Command)
    }

    /// Reads a chunk that nobody wants, and says why.
    async fn pass_over(&mut self, size: usize, reply: &Reply) -> io::Result<Next> {
        let (mut receiver, ends) = (DummyDataReceiver::new_bdat(size), Instant::now() + MESSAGE_WITHIN);
        loop {
            let mut rest = self.wire.coming.iter();
            let is_whole = receiver.ingest(&mut rest);
            let taken = self.wire.coming.len() - rest.len();
            self.wire.took(taken);
            if is_whole {
                self.say(reply);
                return Ok(Next::Command);
            }
            if !self.more(ends).await? {
                return Ok(Next::End);
            }
        }
    }

    /// Waits for more of a message; `false` when none comes.
    async fn more(&mut self, ends: Instant) -> io::Result<bool> {
        let left = ends.saturating_duration_since(Instant::now()).min(COMMAND_WITHIN);
        match time::timeout(left, self.wire.more()).await {
            Ok(came) => Ok(came? > 0),
            Err(_late) => {
                self.say(&reply::TOO_SLOW);
                Ok(false)
            }
        }
    }

    /// Has a message taken that is whole.
    async fn whole(&mut self, intake: Intake) -> io::Result<Next> {
        let (Some(envelope), Some(hello)) = (self.envelope.take(), &self.hello) else { return Ok(Next::End) };
        let whole = match intake.whole(&self.door.room).await {
            Ok(whole) => whole,
            Err(spoilt) => return Ok(self.spoilt(spoilt)),
        };
        if self.door.submissions.is_some() {
            let reply = self.submit(envelope, whole.bytes.clone()).await;
            meters::message(reply.code, whole.bytes.len());
            self.say(&reply);
            return Ok(Next::Command);
        }
        let incoming = Incoming {
            client: self.client.address,
            helo: hello.name.clone(),
            protocol: match (hello.is_extended, self.is_secure) {
                (true, true) => "ESMTPS",
                (true, false) => "ESMTP",
                (false, _) => "SMTP",
            },
            tls: self.is_secure,
            envelope_from: envelope.from,
            recipients: envelope.recipients,
            bytes: whole.bytes.clone(),
        };
        let reply = match self.door.gate.take(incoming).await {
            Ok(()) => reply::TAKEN,
            Err(NotTaken::Loop) => reply::LOOP,
            Err(NotTaken::Dmarc) => reply::REFUSED_BY_OWNER,
            Err(NotTaken::Away(error)) => {
                tracing::warn!(error, "a message was not taken; its sender has it still");
                reply::AWAY
            }
        };
        meters::message(reply.code, whole.bytes.len());
        self.say(&reply);
        Ok(Next::Command)
    }

    fn spoilt(&mut self, spoilt: Spoilt) -> Next {
        let (reply, next) = match spoilt {
            Spoilt::TooLarge => (reply::TOO_LARGE, Next::Command),
            Spoilt::NoDisk => (reply::NO_ROOM, Next::Command),
            // Who sent it may think that it ended elsewhere: what follows would be taken for commands.
            Spoilt::BareLineEnds => (reply::BARE_LINE_ENDS, Next::End),
        };
        meters::message(reply.code, 0);
        self.say(&reply);
        next
    }

    async fn secure(&mut self) -> io::Result<Next> {
        let refused = match &self.door.certificate {
            None => Some(reply::NOT_OFFERED),
            Some(_) if self.is_secure => Some(reply::SECURE_ALREADY),
            Some(_) => None,
        };
        if let Some(reply) = refused {
            self.say(&reply);
            return Ok(Next::Command);
        }
        self.say(&reply::GO_SECURE);
        self.handshake().await?;
        Ok(Next::Command)
    }

    async fn handshake(&mut self) -> io::Result<()> {
        let acceptor = self.door.certificate.as_ref().map(|certificate| certificate.acceptor());
        let acceptor = acceptor.ok_or(io::ErrorKind::Unsupported)?;
        let secured = time::timeout(COMMAND_WITHIN, self.wire.secure(&acceptor)).await;
        secured.map_err(|_late| io::Error::from(io::ErrorKind::TimedOut))??;
        // What was said in the clear may have been said by anybody (RFC 3207 4.2).
        (self.is_secure, self.hello, self.signed_in, self.envelope) = (true, None, None, None);
        Ok(())
    }
}

/// Whether a chunk follows the line.
fn is_chunk(line: &[u8]) -> bool {
    line.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"BDAT"))
}

/// Whether a number has more digits than any size: `smtp-proto` begins anew behind those that it can hold.
fn has_endless_number(line: &[u8]) -> bool {
    line.split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() > SIZE_DIGITS_MAX)
}

fn away(error: &store::StoreError) -> Reply {
    tracing::warn!(%error, "the store is away; a client was asked to come again");
    reply::AWAY
}
