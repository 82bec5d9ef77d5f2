//! The listeners, and what the connections of each share.

use std::{io, path::PathBuf, sync::Arc};

use actors::mail::MailGate;
use http_listener::{Certificate, Connection, Listener, PeerLimits, Peers};

use crate::{
    Options, Submissions,
    intake::Room,
    meters::Served,
    reply,
    session::{Client, Session},
    wire::Wire,
};

/// Connections at once; who comes beyond them waits until one ends.
const CONNECTIONS_MAX: usize = 1_024;
/// What one address may bring: connections at once, and messages in a minute.
const OF_ONE_ADDRESS: PeerLimits = PeerLimits { connections: 20, messages: 600 };

/// What sessions share.
pub(crate) struct Door {
    pub gate: MailGate,
    pub certificate: Option<Arc<Certificate>>,
    pub room: Room,
    pub spool: PathBuf,
    /// Who takes what mail clients send; none where other servers bring mail.
    pub submissions: Option<Submissions>,
}

impl Door {
    /// Whether clients speak TLS from the first byte on.
    pub fn is_secure_first(&self) -> bool {
        self.submissions.as_ref().is_some_and(|it| it.is_secure_first)
    }
}

/// Takes mail in through `gate` until [`Listener::stop`]; what is broken off by that was not acknowledged, and comes again. Must
/// be called on the tokio runtime that it shall live on.
///
/// # Errors
/// When the socket can't be used.
pub fn serve(socket: std::net::TcpListener, options: Options, gate: MailGate) -> io::Result<Listener> {
    start(socket, options, gate, None)
}

/// Takes what mail clients send, until [`Listener::stop`]; the same holds for what is broken off. Must be called on the tokio runtime
/// that it shall live on.
///
/// # Errors
/// When the socket can't be used.
pub fn serve_submissions(
    socket: std::net::TcpListener,
    options: Options,
    gate: MailGate,
    submissions: Submissions,
) -> io::Result<Listener> {
    start(socket, options, gate, Some(submissions))
}

fn start(
    socket: std::net::TcpListener,
    options: Options,
    gate: MailGate,
    submissions: Option<Submissions>,
) -> io::Result<Listener> {
    let Options { certificate, trusted_networks, room, spool, shutdown_grace } = options;
    let door = Arc::new(Door { gate, certificate, room, spool, submissions });
    let peers = Peers::new(OF_ONE_ADDRESS, trusted_networks);
    let options = http_listener::Options { protocol: "SMTP", connections_max: CONNECTIONS_MAX, shutdown_grace };
    Listener::start(socket, options, move |connection| serve_one(connection, Arc::clone(&door), Arc::clone(&peers)))
}

async fn serve_one(connection: Connection, door: Arc<Door>, peers: Arc<Peers>) {
    let served = Served::begin();
    let Connection { stream, peer, stopping } = connection;
    let (address, mut wire) = (peer.ip().to_canonical(), Wire::new(stream));
    let ended = if let Some(entered) = peers.enter(address) {
        Session::new(door, wire, Client { address, place: entered }).serve(stopping).await
    } else {
        if !door.is_secure_first() {
            wire.say(&reply::TOO_MANY_CONNECTIONS);
        }
        wire.close().await
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %address, "a connection over SMTP broke off");
    }
    drop(served);
}
