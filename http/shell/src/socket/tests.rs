//! Sockets at work, over TCP.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use actix_web::{App, HttpRequest, HttpServer, web};
use actors::{Actors, Services};
use domain::{Error, Timestamp, id::UserId};
use futures::future::LocalBoxFuture;
use gateways::Ticket;
use kernel::KernelOptions;
use store::{Clock, testing::Scratch};
use tokio::sync::mpsc;

use super::{Farewell, Outgoing, Source, runner, watch::Watch};
use crate::{
    options::Options,
    router::Router,
    state::{AppState, State},
};

const MESSAGE_LEN: usize = 64 * 1024;

/// Always has more to say, or never; tells when it is not wanted any more.
struct Speaker {
    is_endless: bool,
    right: Arc<Right>,
    over: mpsc::UnboundedSender<()>,
}

/// What the store says of a right: nothing can be found out the first `failures` times, and then it is gone, unless there
/// are none.
#[derive(Default)]
struct Right {
    failures: usize,
    looks: AtomicUsize,
}

impl Right {
    fn look(&self) -> domain::Result<bool> {
        match self.failures {
            0 => Ok(true),
            failures if self.looks.fetch_add(1, Ordering::SeqCst) < failures => Err(Error::internal("away")),
            _ => Ok(false),
        }
    }
}

impl Source for Speaker {
    async fn next(&mut self) -> Result<Outgoing, Farewell> {
        if !self.is_endless {
            std::future::pending::<()>().await;
        }
        Ok(Outgoing::Binary(vec![0; MESSAGE_LEN].into()))
    }

    fn is_still_allowed(&self) -> LocalBoxFuture<'static, domain::Result<bool>> {
        let right = Arc::clone(&self.right);
        Box::pin(async move { right.look() })
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        let _ = self.over.send(());
    }
}

async fn state(scratch: &Scratch) -> State {
    let store = scratch.store(Clock::system()).await.unwrap();
    let services = Services::in_process(store);
    let actors = Actors::start(&services, KernelOptions::new("test")).unwrap();
    AppState::new(Router::new(Vec::new()).unwrap(), Options::default(), services, actors, None)
}

/// A server whose every address is such a socket.
fn serve(state: State, is_endless: bool, over: mpsc::UnboundedSender<()>) -> std::net::SocketAddr {
    serve_with_right(state, is_endless, Arc::default(), over)
}

fn serve_with_right(
    state: State,
    is_endless: bool,
    right: Arc<Right>,
    over: mpsc::UnboundedSender<()>,
) -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let open = move |request: HttpRequest, payload: web::Payload| {
        let (state, right, over) = (Arc::clone(&state), Arc::clone(&right), over.clone());
        async move {
            let (response, session, messages) = actix_ws::handle(&request, payload)?;
            let user_id = UserId::new(Timestamp(0));
            let ticket = Ticket { user_id, sign_in_id: None, resource: "test".into(), rights: ().into() };
            let watch = Watch::new(state, ticket);
            let speaker = Speaker { is_endless, right, over };
            actix_web::rt::spawn(runner::run(session, messages.aggregate_continuations(), speaker, watch));
            Ok::<_, actix_web::Error>(response)
        }
    };
    let server = HttpServer::new(move || App::new().default_service(web::to(open.clone()))).workers(1);
    tokio::spawn(server.disable_signals().listen(listener).unwrap().run());
    address
}

fn connect(address: std::net::SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let handshake = "GET / HTTP/1.1\r\nhost: test\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                     sec-websocket-version: 13\r\nsec-websocket-key: x3JJHMbDL1EzLkh9GBhXDw==\r\n\r\n";
    stream.write_all(handshake.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    stream
}

/// Reads frames until the one that closes; its code.
fn read_until_closed(stream: &mut TcpStream) -> u16 {
    loop {
        let mut head = [0; 2];
        stream.read_exact(&mut head).unwrap();
        let len = match head[1] {
            126 => {
                let mut len = [0; 2];
                stream.read_exact(&mut len).unwrap();
                u64::from(u16::from_be_bytes(len))
            }
            127 => {
                let mut len = [0; 8];
                stream.read_exact(&mut len).unwrap();
                u64::from_be_bytes(len)
            }
            len => u64::from(len),
        };
        let mut payload = vec![0; usize::try_from(len).unwrap()];
        stream.read_exact(&mut payload).unwrap();
        if head[0] == 0x88 {
            return u16::from_be_bytes([payload[0], payload[1]]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_nothing_is_dropped_and_told_so_when_it_reads_on() {
    let scratch = Scratch::sqlite().unwrap();
    let (over, mut is_over) = mpsc::unbounded_channel();
    let address = serve(state(&scratch).await, true, over);
    let mut stream = tokio::task::spawn_blocking(move || connect(address)).await.unwrap();
    is_over.recv().await.unwrap();
    let code = tokio::task::spawn_blocking(move || read_until_closed(&mut stream)).await.unwrap();
    assert_eq!(code, 1013);
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_end_with_the_server() {
    let scratch = Scratch::sqlite().unwrap();
    let (over, mut is_over) = mpsc::unbounded_channel();
    let state = state(&scratch).await;
    let address = serve(Arc::clone(&state), false, over);
    let reader = tokio::task::spawn_blocking(move || read_until_closed(&mut connect(address)));
    while state.shutdown.receiver_count() == 0 {
        tokio::task::yield_now().await;
    }
    state.shutdown.send_replace(true);
    is_over.recv().await.unwrap();
    assert_eq!(reader.await.unwrap(), 1012);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_went_without_a_word_closes_its_socket_at_a_ping_and_a_look_that_fails_does_not() {
    let scratch = Scratch::sqlite().unwrap();
    let (over, _is_over) = mpsc::unbounded_channel();
    let right = Arc::new(Right { failures: 3, ..Right::default() });
    let address = serve_with_right(state(&scratch).await, false, Arc::clone(&right), over);
    let code = tokio::task::spawn_blocking(move || read_until_closed(&mut connect(address))).await.unwrap();
    assert_eq!(code, 4403);
    assert_eq!(right.looks.load(Ordering::SeqCst), 4);
}
