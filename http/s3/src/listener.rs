//! The listener: connections, how many there are, how long they may be silent, and their end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use actors::Actors;
use futures::future::BoxFuture;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use store::Store;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
};

use crate::{AccessKeys, Options, Traces, service::Service};

/// Connections at once; who comes beyond them waits until one ends.
const CONNECTIONS_MAX: usize = 8_192;
/// How long a client may take to send a request's headers, and to ask for something again.
const HEADERS_WITHIN: Duration = Duration::from_secs(60);
/// Bytes of a request's headers.
const HEADERS_BYTES_MAX: usize = 64 * 1_024;
/// How long a peer may leave what was sent to it unacknowledged, or unread.
const UNREAD_WITHIN: Duration = Duration::from_secs(60);
/// How long nobody is taken in after the system gave no connection.
const PAUSE: Duration = Duration::from_millis(50);

/// What the listener serves with.
pub struct Parts {
    /// For reads.
    pub store: Store,
    /// For writes: ask the owner.
    pub actors: Actors,
    /// Who may sign.
    pub keys: Arc<dyn AccessKeys>,
    /// What is traced.
    pub traces: Arc<dyn Traces>,
}

/// A running listener. Dropping it does not stop it.
pub struct Listener {
    address: SocketAddr,
    stopping: watch::Sender<bool>,
    accepting: JoinHandle<()>,
    grace: Duration,
}

/// Serves S3's protocol until [`Listener::stop`]. Must be called on the tokio runtime that it shall live on.
///
/// # Errors
/// When the socket can't be used.
pub fn serve(socket: std::net::TcpListener, options: Options, parts: Parts) -> io::Result<Listener> {
    socket.set_nonblocking(true)?;
    let socket = TcpListener::from_std(socket)?;
    let address = socket.local_addr()?;
    let (stopping, stopped) = watch::channel(false);
    let grace = options.shutdown_grace;
    let service = Service::new(options, parts);
    let accepting = tokio::spawn(accept(socket, service, stopped));
    Ok(Listener { address, stopping, accepting, grace })
}

impl Listener {
    /// Where clients connect.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes nobody in any more, lets requests that are under way end within the grace of the options, and breaks off the
    /// rest.
    pub async fn stop(self) {
        self.stopping.send_replace(true);
        // What takes longer than the grace ends with the program.
        let _ = tokio::time::timeout(self.grace, self.stopping.closed()).await;
        self.accepting.abort();
    }
}

async fn accept(socket: TcpListener, service: Service, mut stopped: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = told(&mut stopped) => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                tokio::spawn(connection(stream, peer, service.clone(), stopped.clone(), place));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection over S3 was not taken in");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// An answer under way, as one thing: what is in it is looked at once, not by each that holds it.
fn answer_of(
    service: Service,
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
) -> BoxFuture<'static, hyper::Response<s3s::Body>> {
    Box::pin(async move { service.answer(request, peer.ip()).await })
}

/// Ends when the listener is told to stop.
async fn told(stopped: &mut watch::Receiver<bool>) {
    // A sender that is gone tells nobody any more, and means the same.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    service: Service,
    mut stopped: watch::Receiver<bool>,
    place: OwnedSemaphorePermit,
) {
    // A system that can't is left to its own time-outs.
    let _ = stream.set_nodelay(true);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(UNREAD_WITHIN));
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let service = service.clone();
        async move { Ok::<_, std::convert::Infallible>(answer_of(service, request, peer).await) }
    });
    let mut serving = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS_WITHIN)
            .max_buf_size(HEADERS_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), answer)
    );
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = told(&mut stopped) => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection over S3 broke off");
    }
    drop(place);
}
