//! Frames that no honest client sends.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::harness::{Server, Ticket};

const PATIENCE: Duration = Duration::from_secs(60);
/// What a client may send at once, in bytes.
const MESSAGE_LEN_MAX: usize = 1024 * 1024;
const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const PING: u8 = 9;
const PONG: u8 = 10;
const FINAL: u8 = 0x80;

/// A socket of which a test writes every byte.
struct RawSocket(TcpStream);

impl RawSocket {
    async fn open(server: &Server) -> Self {
        let ticket = Ticket::issue(&server.owner()).await;
        let (address, path) = ticket.url.trim_start_matches("ws://").split_once('/').expect("an address and a path");
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let handshake = format!(
            "GET /{path}?ticket={} HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: x3JJHMbDL1EzLkh9GBhXDw==\r\n\r\n",
            ticket.ticket
        );
        stream.write_all(handshake.as_bytes()).await.expect("a handshake");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(timeout(PATIENCE, stream.read_u8()).await.expect("an answer in time").expect("a byte"));
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self(stream)
    }

    /// Sends a frame, with zeros for a mask.
    async fn send(&mut self, first: u8, payload: &[u8]) {
        self.announce(first, payload.len() as u64).await;
        // The server may have closed at the head already.
        drop(self.0.write_all(payload).await);
    }

    /// Sends a frame's head alone.
    async fn announce(&mut self, first: u8, length: u64) {
        let mut head = vec![first];
        match length {
            0..126 => head.push(0x80 | length.to_le_bytes()[0]),
            126..0x1_0000 => {
                head.push(0xfe);
                head.extend_from_slice(&length.to_be_bytes()[6..]);
            }
            _ => {
                head.push(0xff);
                head.extend_from_slice(&length.to_be_bytes());
            }
        }
        head.extend_from_slice(&[0; 4]);
        self.0.write_all(&head).await.expect("a head");
    }

    /// The next frame: its opcode and what it carries.
    async fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let frame = async {
            let first = self.0.read_u8().await.ok()?;
            let length = match self.0.read_u8().await.ok()? {
                126 => u64::from(self.0.read_u16().await.ok()?),
                127 => self.0.read_u64().await.ok()?,
                length => u64::from(length),
            };
            let mut payload = vec![0; usize::try_from(length).expect("a length")];
            self.0.read_exact(&mut payload).await.ok()?;
            Some((first & 0x0f, payload))
        };
        timeout(PATIENCE, frame).await.expect("a frame or an end in time")
    }

    /// Waits for the end; the code that the server gives.
    async fn closed(mut self) -> Option<u16> {
        while let Some((opcode, payload)) = self.next().await {
            if opcode == 8 {
                return payload.first_chunk().map(|code| u16::from_be_bytes(*code));
            }
        }
        None
    }

    /// Waits for the answer to a ping.
    async fn pong(&mut self) -> Vec<u8> {
        while let Some((opcode, payload)) = self.next().await {
            if opcode == PONG {
                return payload;
            }
        }
        panic!("the socket ended");
    }
}

#[tokio::test]
async fn a_frame_that_announces_too_much_is_refused_before_any_of_it_came() {
    let server = Server::start().await;
    for length in [MESSAGE_LEN_MAX as u64 + 1, 1 << 40, u64::MAX] {
        let mut socket = RawSocket::open(&server).await;
        socket.announce(FINAL | BINARY, length).await;
        assert_eq!(socket.closed().await, Some(1009), "{length}");
    }
}

#[tokio::test]
async fn a_message_of_1_mb_is_taken_and_fragments_of_one_byte_more_are_not() {
    let server = Server::start().await;
    let mut socket = RawSocket::open(&server).await;
    socket.send(FINAL | BINARY, &vec![7; MESSAGE_LEN_MAX]).await;
    socket.send(FINAL | PING, b"still here?").await;
    assert_eq!(socket.pong().await, b"still here?");
    socket.send(BINARY, &vec![7; MESSAGE_LEN_MAX / 2]).await;
    socket.send(CONTINUATION, &vec![7; MESSAGE_LEN_MAX / 2]).await;
    socket.send(FINAL | CONTINUATION, &[7]).await;
    assert_eq!(socket.closed().await, Some(1009));
}

#[tokio::test]
async fn a_ping_between_the_fragments_of_a_message_is_answered() {
    let server = Server::start().await;
    let mut socket = RawSocket::open(&server).await;
    socket.send(TEXT, b"{\"a\":").await;
    socket.send(FINAL | PING, b"now").await;
    assert_eq!(socket.pong().await, b"now");
    socket.send(FINAL | CONTINUATION, b" 1}").await;
    socket.send(FINAL | PING, b"then").await;
    assert_eq!(socket.pong().await, b"then");
}

#[tokio::test]
async fn what_is_no_frame_of_a_client_ends_the_socket_with_1002() {
    let server = Server::start().await;
    for (what, first, payload) in [
        ("reserved bits", FINAL | 0x40 | TEXT, &b"x"[..]),
        ("an unknown kind", FINAL | 3, b"x"),
        ("an unknown kind of control", FINAL | 0xb, b"x"),
        ("a ping in pieces", PING, b"x"),
        ("a long ping", FINAL | PING, &[0; 126]),
        ("an end without a beginning", FINAL | CONTINUATION, b"x"),
        ("half a code for closing", FINAL | 8, b"x"),
    ] {
        let mut socket = RawSocket::open(&server).await;
        socket.send(first, payload).await;
        assert_eq!(socket.closed().await, Some(1002), "{what}");
    }
    let mut unmasked = RawSocket::open(&server).await;
    unmasked.0.write_all(&[FINAL | TEXT, 1, b'x']).await.expect("a frame");
    assert_eq!(unmasked.closed().await, Some(1002));
}

#[tokio::test]
async fn a_message_within_another_ends_the_socket_with_1002() {
    let server = Server::start().await;
    let mut socket = RawSocket::open(&server).await;
    socket.send(TEXT, b"x").await;
    socket.send(FINAL | TEXT, b"y").await;
    assert_eq!(socket.closed().await, Some(1002));
}

#[tokio::test]
async fn text_that_is_none_ends_the_socket_with_1007() {
    let server = Server::start().await;
    let mut whole = RawSocket::open(&server).await;
    whole.send(FINAL | TEXT, b"\xff").await;
    assert_eq!(whole.closed().await, Some(1007));
    let mut in_pieces = RawSocket::open(&server).await;
    in_pieces.send(TEXT, b"x").await;
    in_pieces.send(FINAL | CONTINUATION, b"\xff").await;
    assert_eq!(in_pieces.closed().await, Some(1007));
}

#[tokio::test]
async fn a_client_that_says_that_nothing_more_comes_is_gone() {
    let server = Server::start().await;
    let mut socket = RawSocket::open(&server).await;
    socket.0.shutdown().await.expect("a half-closed connection");
    while socket.next().await.is_some() {}
}
