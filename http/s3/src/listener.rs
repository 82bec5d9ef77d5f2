//! The listener: what is spoken on its connections, and how long they may be silent.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use actors::Actors;
use futures::future::BoxFuture;
use http_listener::{Connection, Listener};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use store::Store;

use crate::{AccessKeys, Options, Traces, service::Service};

/// Connections at once; who comes beyond them waits until one ends.
const CONNECTIONS_MAX: usize = 8_192;
/// How long a client may take to send a request's headers, and to ask for something again.
const HEADERS_WITHIN: Duration = Duration::from_secs(60);
/// Bytes of a request's headers.
const HEADERS_BYTES_MAX: usize = 64 * 1_024;

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

/// Serves S3's protocol until [`Listener::stop`]. Must be called on the tokio runtime that it shall live on.
///
/// # Errors
/// When the socket can't be used.
pub fn serve(socket: std::net::TcpListener, options: Options, parts: Parts) -> io::Result<Listener> {
    let shutdown_grace = options.shutdown_grace;
    let listening = http_listener::Options { protocol: "S3", connections_max: CONNECTIONS_MAX, shutdown_grace };
    let service = Service::new(options, parts);
    Listener::start(socket, listening, move |connection| serve_one(connection, service.clone()))
}

/// An answer under way, as one thing: what is in it is looked at once, not by each that holds it.
fn answer_of(
    service: Service,
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
) -> BoxFuture<'static, hyper::Response<s3s::Body>> {
    Box::pin(async move { service.answer(request, peer.ip()).await })
}

async fn serve_one(connection: Connection, service: Service) {
    let Connection { stream, peer, mut stopping } = connection;
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
        () = stopping.told() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection over S3 broke off");
    }
}
