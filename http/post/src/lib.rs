//! Mail that other servers bring over SMTP (RFC 5321), on a listener of its own.
//!
//! A connection is a [`session`]: it reads commands from a [`wire`], keeps what was said of a message in an
//! [`envelope`](envelope::Envelope), and collects the bytes in an [`intake`]. Where an address leads, who vouches for a message and
//! what is written is the gate's ([`actors::mail::MailGate`]); a message is answered 250 once it is committed. Everything that is
//! said is on one page, [`reply`].

mod envelope;
mod intake;
mod listener;
mod meters;
mod network;
mod peers;
mod reply;
mod session;
mod tls;
mod wire;

use std::{path::PathBuf, time::Duration};

pub use self::{
    listener::{Listener, serve},
    network::{Network, NotANetwork},
    tls::{Certificate, CertificateError},
};

/// How the listener serves.
#[derive(Debug)]
pub struct Options {
    /// The certificate for `STARTTLS`, which is offered where there is one.
    pub certificate: Option<Certificate>,
    /// Who may open as many connections and send as many messages as they like.
    pub trusted_networks: Vec<Network>,
    /// Where what is too large to hold is while it comes.
    pub spool: PathBuf,
    /// How long what is under way may take once the program stops.
    pub shutdown_grace: Duration,
}
