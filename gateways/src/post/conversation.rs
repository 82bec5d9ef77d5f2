//! What is said to one server.

use std::{net::SocketAddr, time::Duration};

use domain::mail::{Heard, MailPolicy, Said};
use lettre::{
    Address,
    transport::smtp::{
        Error,
        client::{AsyncSmtpConnection, Certificate, TlsParameters, TlsParametersBuilder},
        commands::{Data, Mail, Rcpt},
        extension::{ClientId, Extension, MailBodyParameter, MailParameter},
        response::Response,
    },
};
use tokio::{net::TcpStream, time};

use super::{Letter, PostOptions};

/// How long it may take to be connected.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to say goodbye.
const QUIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A conversation that got to its greeting.
struct Conversation<'c> {
    connection: AsyncSmtpConnection,
    host: &'c str,
    timeout: Duration,
    /// What ended the conversation, where it is over.
    broken: Option<Said>,
}

/// Brings a message to a server; what it said of each recipient. `Err` where it was told of none of them: another server may take
/// the message.
pub(super) async fn bring(
    options: &PostOptions,
    host: &str,
    address: SocketAddr,
    letter: &Letter,
) -> Result<Vec<Said>, Said> {
    let must_prove = letter.policy.as_ref().is_some_and(MailPolicy::is_enforced);
    let mut conversation = if must_prove {
        Conversation::begin_proven(options, host, address).await?
    } else {
        Conversation::begin(options, host, address).await?
    };
    let said = conversation.transaction(letter).await;
    // What was said counts, whatever the server makes of the goodbye.
    if conversation.broken.is_none() {
        drop(time::timeout(QUIT_TIMEOUT, conversation.connection.quit()).await);
    }
    said
}

impl<'c> Conversation<'c> {
    /// Connects and says hello, encrypted where the server offers that; where it offers and then fails, in the clear (RFC 7435).
    async fn begin(options: &PostOptions, host: &'c str, address: SocketAddr) -> Result<Self, Said> {
        let mut plain = Self::hello(options, host, address).await?;
        if !plain.connection.can_starttls() {
            return Ok(plain);
        }
        let name = ClientId::Domain(options.name.clone());
        let encrypted = match any_certificate(host) {
            Ok(parameters) => {
                let encrypting = plain.connection.starttls(parameters, &name);
                matches!(time::timeout(plain.timeout, encrypting).await, Ok(Ok(())))
            }
            Err(_) => false,
        };
        if encrypted { Ok(plain) } else { Self::hello(options, host, address).await }
    }

    /// Connects and says hello, encrypted, to a server that proves that it is `host`: the domain's owner wants nothing else.
    async fn begin_proven(options: &PostOptions, host: &'c str, address: SocketAddr) -> Result<Self, Said> {
        let mut conversation = Self::hello(options, host, address).await?;
        let refused = |what: &str| {
            let words = format!("{host} {what}, and the domain's policy wants it to prove who it is (MTA-STS)");
            Said { host: host.to_owned(), ..Said::later(words) }
        };
        if !conversation.connection.can_starttls() {
            return Err(refused("offers no TLS"));
        }
        let add = |parameters: TlsParametersBuilder, root: &Certificate| parameters.add_root_certificate(root.clone());
        let parameters = options.roots.iter().fold(TlsParameters::builder(host.to_owned()), add).build();
        let parameters = parameters.map_err(|error| refused(&format!("can't be asked for a certificate ({error})")))?;
        let name = ClientId::Domain(options.name.clone());
        let encrypting = conversation.connection.starttls(parameters, &name);
        match time::timeout(conversation.timeout, encrypting).await {
            Ok(Ok(())) => Ok(conversation),
            Ok(Err(error)) => {
                tracing::debug!(%error, host, "a server doesn't prove who it is");
                Err(refused("has no valid certificate"))
            }
            Err(_late) => Err(refused("doesn't answer over TLS")),
        }
    }

    async fn hello(options: &PostOptions, host: &'c str, address: SocketAddr) -> Result<Self, Said> {
        let failed = |error: String| Said { host: host.to_owned(), ..Said::later(error) };
        let connecting = time::timeout(CONNECT_TIMEOUT.min(options.timeout), TcpStream::connect(address)).await;
        let stream = match connecting {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(failed(format!("{host} ({address}): {error}"))),
            Err(_late) => return Err(failed(format!("{host} ({address}) doesn't answer"))),
        };
        stream.set_nodelay(true).map_err(|error| failed(error.to_string()))?;
        let name = ClientId::Domain(options.name.clone());
        let greeted = AsyncSmtpConnection::connect_with_transport(Box::new(stream), &name);
        match time::timeout(options.timeout, greeted).await {
            Ok(Ok(connection)) => Ok(Self { connection, host, timeout: options.timeout, broken: None }),
            Ok(Err(error)) => Err(said(&Err(error), host, false)),
            Err(_late) => Err(failed(format!("{host} doesn't greet"))),
        }
    }

    async fn transaction(&mut self, letter: &Letter) -> Result<Vec<Said>, Said> {
        let sender = match letter.sender.as_str() {
            "" => None,
            sender => Some(sender.parse::<Address>().map_err(|error| Said::refused(error.to_string()))?),
        };
        let is_eight_bit = !letter.bytes.is_ascii() && self.offers(Extension::EightBitMime);
        let parameters =
            if is_eight_bit { vec![MailParameter::Body(MailBodyParameter::EightBitMime)] } else { Vec::new() };
        let begun = self.say(Mail::new(sender, parameters)).await;
        if begun.heard != Heard::Taken {
            return Err(begun);
        }
        let mut answers = Vec::with_capacity(letter.recipients.len());
        for recipient in &letter.recipients {
            answers.push(match recipient.parse::<Address>() {
                Ok(address) => self.say(Rcpt::new(address, Vec::new())).await,
                Err(error) => Said::refused(error.to_string()),
            });
        }
        if answers.iter().any(|said| said.heard == Heard::Taken) {
            let end = self.message(letter).await;
            answers.iter_mut().filter(|said| said.heard == Heard::Taken).for_each(|said| said.clone_from(&end));
        }
        Ok(answers)
    }

    /// Sends the message itself.
    async fn message(&mut self, letter: &Letter) -> Said {
        let ready = self.say(Data).await;
        if ready.heard != Heard::Taken {
            return ready;
        }
        // The connection writes the last line's end itself.
        let bytes = letter.bytes.strip_suffix(b"\r\n").unwrap_or(&letter.bytes);
        let sending = time::timeout(self.timeout, self.connection.message(bytes)).await;
        self.heard(sending)
    }

    async fn say(&mut self, command: impl std::fmt::Display) -> Said {
        if let Some(broken) = &self.broken {
            return broken.clone();
        }
        let saying = time::timeout(self.timeout, self.connection.command(command)).await;
        self.heard(saying)
    }

    fn heard(&mut self, answer: Result<Result<Response, Error>, time::error::Elapsed>) -> Said {
        let tls = self.connection.is_encrypted();
        let (said, is_reply) = match answer {
            Ok(answer) => {
                let is_reply = answer.as_ref().err().is_none_or(|error| error.status().is_some());
                (said(&answer, self.host, tls), is_reply)
            }
            Err(_late) => {
                let late = format!("{} doesn't answer", self.host);
                (Said { host: self.host.to_owned(), tls, ..Said::later(late) }, false)
            }
        };
        if !is_reply {
            self.broken = Some(said.clone());
        }
        said
    }

    fn offers(&self, extension: Extension) -> bool {
        self.connection.server_info().supports_feature(extension)
    }
}

/// What an answer comes to: a reply that begins with 5 is for good, one that begins with 4 and a broken connection are not.
fn said(answer: &Result<Response, Error>, host: &str, tls: bool) -> Said {
    let (heard, reply) = match answer {
        Ok(response) => {
            let lines: Vec<&str> = response.message().collect();
            (Heard::Taken, format!("{} {}", response.code(), lines.join(" ")))
        }
        Err(error) => {
            let words = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
            let reply = error.status().map_or_else(|| words.clone(), |code| format!("{code} {words}"));
            (if error.is_permanent() { Heard::Refused } else { Heard::Later }, reply)
        }
    };
    Said { heard, reply, host: host.to_owned(), tls }
}

/// Whatever certificate the server shows: who looks on without one would see everything.
fn any_certificate(host: &str) -> Result<TlsParameters, Error> {
    TlsParameters::builder(host.to_owned())
        .dangerous_accept_invalid_certs(true)
        .dangerous_accept_invalid_hostnames(true)
        .build()
}
