//! Clients that don't speak as they should.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::harness::Server;

const PATIENCE: Duration = Duration::from_secs(20);

async fn connect(server: &Server) -> TcpStream {
    let address = server.client().base().trim_start_matches("http://").to_owned();
    TcpStream::connect(address).await.expect("a connection")
}

/// Sends raw bytes; what comes back until the server closes or has answered.
async fn say(server: &Server, bytes: &[u8]) -> String {
    let mut stream = connect(server).await;
    // The server may close before it has read everything.
    drop(stream.write_all(bytes).await);
    let mut heard = vec![0; 4096];
    let length = timeout(PATIENCE, stream.read(&mut heard)).await.expect("an answer or an end in time").unwrap_or(0);
    String::from_utf8_lossy(&heard[..length]).into_owned()
}

async fn assert_alive(server: &Server) {
    server.client().get("/v1/openapi.json").send().await.expect(200);
}

#[tokio::test]
async fn nonsense_instead_of_http_is_refused_and_hurts_nobody() {
    let server = Server::start().await;
    for bytes in
        [&b"nonsense\r\n\r\n"[..], b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"GET /v1/me HTTP/9.9\r\n\r\n", &[0; 1024]]
    {
        let heard = say(&server, bytes).await;
        assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 400"), "{heard}");
    }
    assert_alive(&server).await;
}

#[tokio::test]
async fn an_oversized_header_is_refused_and_hurts_nobody() {
    let server = Server::start().await;
    let huge = format!("GET /v1/me HTTP/1.1\r\nhost: x\r\nx-huge: {}\r\n\r\n", "h".repeat(2_000_000));
    let heard = say(&server, huge.as_bytes()).await;
    assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 4"), "{heard}");
    assert_alive(&server).await;
}

#[tokio::test]
async fn ambiguous_lengths_are_refused() {
    let server = Server::start().await;
    for headers in [
        "content-length: 1\r\ncontent-length: 2",
        "content-length: -1",
        "content-length: 1\r\ntransfer-encoding: chunked",
    ] {
        let request = format!(
            "POST /v1/auth/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{headers}\r\n\r\n0\r\n\r\n"
        );
        let heard = say(&server, request.as_bytes()).await;
        assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 400"), "{headers}: {heard}");
    }
    assert_alive(&server).await;
}

#[tokio::test]
async fn clients_that_stop_in_the_middle_of_a_header_keep_nobody_waiting() {
    let server = Server::start().await;
    let mut waiting = Vec::new();
    for _ in 0..200 {
        let mut stream = connect(&server).await;
        stream.write_all(b"GET /v1/me HTTP/1.1\r\nhost: x\r\nx-slow: ").await.expect("half a request");
        waiting.push(stream);
    }
    timeout(PATIENCE, assert_alive(&server)).await.expect("others are served");
}

#[tokio::test]
async fn clients_that_stop_in_the_middle_of_a_body_keep_nobody_waiting() {
    let server = Server::start().await;
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let mut stream = connect(&server).await;
        let start = b"POST /v1/auth/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
        stream.write_all(start).await.expect("half a request");
        waiting.push(stream);
    }
    timeout(PATIENCE, assert_alive(&server)).await.expect("others are served");
}
