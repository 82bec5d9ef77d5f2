//! Mail that other servers bring over SMTP (RFC 5321), and that people's mail clients send (RFC 6409), each on listeners of their own.
//!
//! A connection is a [`session`]: it reads commands from a [`wire`], keeps what was said of a message in an
//! [`envelope`](envelope::Envelope), and collects the bytes in an [`intake`]. Where an address leads, who vouches for a message and
//! what is written is the gate's ([`actors::mail::MailGate`]); what a client sends leaves as what people write in the app does
//! ([`actors::mail::MailWriting`]). A message is answered 250 once it is committed. Everything that is said is on one page, [`reply`].

mod envelope;
mod intake;
mod listener;
mod meters;
mod reply;
mod session;
mod wire;

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use actors::Actors;
pub use http_listener::{Certificate, CertificateError, Listener, Network, NotANetwork};
use store::Store;

pub use self::{
    intake::Room,
    listener::{serve, serve_submissions},
};

/// How a listener serves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The certificate for `STARTTLS`, which is offered where there is one.
    pub certificate: Option<Arc<Certificate>>,
    /// Who may open as many connections and send as many messages as they like.
    pub trusted_networks: Vec<Network>,
    /// The room for whole messages; that of all listeners together where they share it.
    pub room: Room,
    /// Where what is too large to hold is while it comes.
    pub spool: PathBuf,
    /// How long what is under way may take once the program stops.
    pub shutdown_grace: Duration,
}

/// Who takes what mail clients send.
#[derive(Clone)]
pub struct Submissions {
    /// Who lets clients in, and sends.
    pub actors: Actors,
    /// Where it is looked up who may send from a mailbox still.
    pub store: Store,
    /// Whether clients speak TLS from the first byte on.
    pub is_secure_first: bool,
}

impl fmt::Debug for Submissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submissions").field("is_secure_first", &self.is_secure_first).finish_non_exhaustive()
    }
}
