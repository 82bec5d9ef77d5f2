//! Connections, how many there are, and their end.

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinHandle,
    time,
};

/// How long a peer may leave what was sent to it unacknowledged, or unread.
const UNREAD_WITHIN: Duration = Duration::from_secs(60);
/// How long nobody is taken in after the system gave no connection.
const PAUSE: Duration = Duration::from_millis(50);

/// How a listener takes connections in.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What is spoken on it, for the log.
    pub protocol: &'static str,
    /// Connections at once; who comes beyond them waits until one ends.
    pub connections_max: usize,
    /// How long what is under way may take once the program stops.
    pub shutdown_grace: Duration,
}

/// A connection that was taken in.
#[derive(Debug)]
pub struct Connection {
    /// Its bytes.
    pub stream: TcpStream,
    /// Who is at the other end.
    pub peer: SocketAddr,
    /// When it has to end.
    pub stopping: Stopping,
}

/// Whether a listener stops.
#[derive(Clone, Debug)]
pub struct Stopping(watch::Receiver<bool>);

impl Stopping {
    /// Ends when the listener is told to stop.
    pub async fn told(&mut self) {
        // A sender that is gone tells nobody any more, and means the same.
        drop(self.0.wait_for(|stopped| *stopped).await);
    }
}

/// A running listener. Dropping it does not stop it.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    stopping: watch::Sender<bool>,
    accepting: JoinHandle<()>,
    grace: Duration,
}

impl Listener {
    /// Takes connections in until [`Listener::stop`], and has `serve` serve each until it ends. Must be called on the tokio
    /// runtime that it shall live on.
    ///
    /// # Errors
    /// When the socket can't be used.
    pub fn start<S, F>(socket: std::net::TcpListener, options: Options, serve: S) -> io::Result<Self>
    where
        S: Fn(Connection) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        socket.set_nonblocking(true)?;
        let socket = TcpListener::from_std(socket)?;
        let address = socket.local_addr()?;
        let (stopping, stopped) = watch::channel(false);
        let grace = options.shutdown_grace;
        let accepting = tokio::spawn(accept(socket, options, serve, Stopping(stopped)));
        Ok(Self { address, stopping, accepting, grace })
    }

    /// Where clients connect.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes nobody in any more, lets what is under way end within the grace of the options, and breaks off the rest.
    pub async fn stop(self) {
        self.stopping.send_replace(true);
        // What takes longer than the grace ends with the program.
        let _ = time::timeout(self.grace, self.stopping.closed()).await;
        self.accepting.abort();
    }
}

async fn accept<S, F>(socket: TcpListener, options: Options, serve: S, mut stopping: Stopping)
where
    S: Fn(Connection) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(options.connections_max));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = stopping.told() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                prepare(&stream);
                // Until it is served, the connection is under way, whatever became of its own copy.
                let held = (place, stopping.clone());
                let served = serve(Connection { stream, peer, stopping: stopping.clone() });
                tokio::spawn(async move {
                    served.await;
                    drop(held);
                });
            }
            Err(error) => {
                tracing::warn!(%error, protocol = options.protocol, "a connection was not taken in");
                time::sleep(PAUSE).await;
            }
        }
    }
}

/// What a system can't do of this is left to its own time-outs.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(UNREAD_WITHIN));
}
