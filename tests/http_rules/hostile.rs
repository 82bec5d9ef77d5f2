//! Clients that don't speak as they should.

use std::{fmt::Write as _, time::Duration};

use futures::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::harness::Server;

const PATIENCE: Duration = Duration::from_secs(60);
/// The start of a request with a body of JSON.
const SIGN_IN: &str = "POST /v1/auth/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";

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

/// All that comes until the server closes.
async fn hear_out(stream: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    // A connection that was reset has ended too.
    drop(timeout(PATIENCE, stream.read_to_end(&mut heard)).await.expect("an end in time"));
    String::from_utf8_lossy(&heard).into_owned()
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

#[tokio::test]
async fn a_header_that_is_never_whole_ends_the_connection() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    stream.write_all(b"GET /v1/me HTTP/1.1\r\nhost: x\r\nx-slow: ").await.expect("half a request");
    let heard = hear_out(&mut stream).await;
    assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 408"), "{heard}");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_answered_when_the_request_has_had_its_time() {
    let server = Server::with(&["server.request_timeout=1s"]).await;
    let heard = say(&server, format!("{SIGN_IN}content-length: 100\r\n\r\n{{").as_bytes()).await;
    assert!(heard.starts_with("HTTP/1.1 503"), "{heard}");
}

/// Sends chunks of a body until the server has had enough; what it said.
async fn send_on(server: &Server, start: &str) -> String {
    let mut stream = connect(server).await;
    let chunk = format!("400\r\n{}\r\n", "a".repeat(0x400));
    stream.write_all(format!("{start}transfer-encoding: chunked\r\n\r\n").as_bytes()).await.expect("a request");
    let mut heard = Vec::new();
    let sending = async {
        let mut buffer = [0; 4096];
        loop {
            tokio::select! {
                read = stream.read(&mut buffer) => match read {
                    Ok(length @ 1..) => heard.extend_from_slice(&buffer[..length]),
                    _ => return,
                },
                () = tokio::time::sleep(Duration::from_millis(5)) => {
                    if stream.write_all(chunk.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        }
    };
    timeout(PATIENCE, sending).await.expect("the server has enough in time");
    String::from_utf8_lossy(&heard).into_owned()
}

#[tokio::test]
async fn a_body_without_end_that_nobody_reads_ends_the_connection() {
    let server = Server::with(&["server.cors_origins=https://app.example.com"]).await;
    let unread = [
        ("POST /v1/nowhere HTTP/1.1\r\nhost: x\r\n", "404"),
        ("POST /v1/orgs HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n", "401"),
        ("POST /v1/auth/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\n", "415"),
        ("DELETE /v1/openapi.json HTTP/1.1\r\nhost: x\r\n", "405"),
        (
            "OPTIONS /v1/orgs HTTP/1.1\r\nhost: x\r\norigin: https://app.example.com\r\n\
             access-control-request-method: POST\r\n",
            "204",
        ),
    ];
    for (heard, status) in join_all(unread.map(async |(start, status)| (send_on(&server, start).await, status))).await {
        // Whoever sends on into a closed connection may lose what was said before.
        assert!(heard.is_empty() || heard.starts_with(&format!("HTTP/1.1 {status}")), "{status}: {heard}");
    }
    assert_alive(&server).await;
}

#[tokio::test]
async fn a_body_without_end_is_refused_once_it_is_too_large() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x1_0000));
    stream.write_all(format!("{SIGN_IN}transfer-encoding: chunked\r\n\r\n").as_bytes()).await.expect("a request");
    // What the limit lets in, and one chunk more.
    for _ in 0..=1024 * 1024 / 0x1_0000 {
        stream.write_all(chunk.as_bytes()).await.expect("a chunk");
    }
    let heard = hear_out(&mut stream).await;
    assert!(heard.starts_with("HTTP/1.1 413"), "{heard}");
}

#[tokio::test]
async fn a_length_beyond_reason_is_refused_without_waiting_for_it() {
    let server = Server::start().await;
    for (length, status) in [
        ("9223372036854775807", "413"),
        ("18446744073709551615", "413"),
        ("99999999999999999999999", "400"),
        ("1e3", "400"),
    ] {
        let heard = say(&server, format!("{SIGN_IN}content-length: {length}\r\n\r\n{{}}").as_bytes()).await;
        assert!(heard.starts_with(&format!("HTTP/1.1 {status}")), "{length}: {heard}");
    }
}

#[tokio::test]
async fn more_headers_than_anybody_needs_are_refused() {
    let server = Server::start().await;
    let with = |count: usize| {
        let headers = (0..count).fold(String::new(), |headers, number| headers + &format!("x-{number}: y\r\n"));
        format!("GET /v1/me HTTP/1.1\r\nhost: x\r\n{headers}\r\n")
    };
    let heard = say(&server, with(60).as_bytes()).await;
    assert!(heard.starts_with("HTTP/1.1 401"), "{heard}");
    let heard = say(&server, with(500).as_bytes()).await;
    assert!(heard.starts_with("HTTP/1.1 431"), "{heard}");
}

#[tokio::test]
async fn requests_that_come_at_once_are_answered_in_turn_and_what_is_none_ends_the_connection() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    let mut requests = String::new();
    for number in 0..40 {
        write!(requests, "GET /v1/me HTTP/1.1\r\nhost: x\r\nx-request-id: number-{number}\r\n\r\n").expect("text");
    }
    stream.write_all(format!("{requests}nonsense\0\r\n\r\n").as_bytes()).await.expect("requests");
    let heard = hear_out(&mut stream).await;
    let ids: Vec<_> = heard.lines().filter_map(|line| line.strip_prefix("x-request-id: ")).collect();
    assert_eq!(ids, (0..40).map(|number| format!("number-{number}")).collect::<Vec<_>>());
    assert_eq!(heard.matches("HTTP/1.1 400").count(), 1, "{heard}");
}

#[tokio::test]
async fn a_client_of_old_is_answered_and_the_connection_closed() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    stream.write_all(b"GET /v1/me HTTP/1.0\r\n\r\n").await.expect("a request");
    let heard = hear_out(&mut stream).await;
    assert!(heard.starts_with("HTTP/1.0 401") && heard.ends_with('}'), "{heard}");
}

#[tokio::test]
async fn who_says_that_nothing_more_comes_is_answered_all_the_same() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    stream.write_all(b"GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("a request");
    stream.shutdown().await.expect("a half-closed connection");
    let heard = hear_out(&mut stream).await;
    assert!(heard.starts_with("HTTP/1.1 200") && heard.trim_end().ends_with('}'), "{}", heard.len());
}
