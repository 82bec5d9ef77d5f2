//! The listener: connections, how many there are, and their end.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use actors::mail::MailGate;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
    time,
};

use crate::{
    Certificate, Options,
    intake::Room,
    meters::Served,
    peers::Peers,
    reply,
    session::{Client, Session},
    wire::Wire,
};

/// Connections at once; who comes beyond them waits until one ends.
const CONNECTIONS_MAX: usize = 1_024;
/// How long a peer may leave what was sent to it unacknowledged.
const UNREAD_WITHIN: Duration = Duration::from_secs(60);
/// How long nobody is taken in after the system gave no connection.
const PAUSE: Duration = Duration::from_millis(50);

/// What sessions share.
pub(crate) struct Door {
    pub gate: MailGate,
    pub certificate: Option<Certificate>,
    pub room: Room,
    pub spool: PathBuf,
}

/// A running listener. Dropping it does not stop it.
pub struct Listener {
    address: SocketAddr,
    stopping: watch::Sender<bool>,
    accepting: JoinHandle<()>,
    grace: Duration,
}

/// Takes mail in through `gate` until [`Listener::stop`]. Must be called on the tokio runtime that it shall live on.
///
/// # Errors
/// When the socket can't be used.
pub fn serve(socket: std::net::TcpListener, options: Options, gate: MailGate) -> io::Result<Listener> {
    socket.set_nonblocking(true)?;
    let socket = TcpListener::from_std(socket)?;
    let address = socket.local_addr()?;
    let (stopping, stopped) = watch::channel(false);
    let Options { certificate, trusted_networks, spool, shutdown_grace: grace } = options;
    let door = Arc::new(Door { gate, certificate, room: Room::new(), spool });
    let accepting = tokio::spawn(accept(socket, door, Peers::new(trusted_networks), stopped));
    Ok(Listener { address, stopping, accepting, grace })
}

impl Listener {
    /// Where servers connect.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes nobody in any more, lets messages that are under way end within the grace of the options, and breaks off the rest:
    /// they were not acknowledged, and come again.
    pub async fn stop(self) {
        self.stopping.send_replace(true);
        // What takes longer than the grace ends with the program.
        let _ = time::timeout(self.grace, self.stopping.closed()).await;
        self.accepting.abort();
    }
}

/// Ends when the listener is told to stop.
pub(crate) async fn told(stopped: &mut watch::Receiver<bool>) {
    // A sender that is gone tells nobody any more, and means the same.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

async fn accept(socket: TcpListener, door: Arc<Door>, peers: Arc<Peers>, mut stopped: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = told(&mut stopped) => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                tokio::spawn(connection(stream, peer, Arc::clone(&door), Arc::clone(&peers), stopped.clone(), place));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection over SMTP was not taken in");
                time::sleep(PAUSE).await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    door: Arc<Door>,
    peers: Arc<Peers>,
    stopped: watch::Receiver<bool>,
    place: OwnedSemaphorePermit,
) {
    let served = Served::begin();
    // A system that can't is left to its own time-outs.
    let _ = stream.set_nodelay(true);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(UNREAD_WITHIN));
    let (address, mut wire) = (peer.ip().to_canonical(), Wire::new(stream));
    let ended = if let Some(entered) = peers.enter(address) {
        Session::new(door, wire, Client { address, place: entered }).serve(stopped).await
    } else {
        wire.say(&reply::TOO_MANY_CONNECTIONS);
        wire.close().await
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %address, "a connection over SMTP broke off");
    }
    drop((served, place));
}
