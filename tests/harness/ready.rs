//! Waiting until a server reaches all that it needs.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use serde_json::Value;

/// How often it is asked, and how long between.
const LOOKS: u32 = 6_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Blocks until the operators' listener at `url` says that the server is ready. One on Redis starts without, and gives out
/// no tickets until it reaches it.
pub fn wait_until_ready(url: &str) {
    let address = url.trim_start_matches("http://");
    for _ in 0..LOOKS {
        if readiness(address).is_some_and(|readiness| readiness["status"] == "ok") {
            return;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    panic!("{url} is not ready within a minute");
}

/// What the server says, with a status of 200.
fn readiness(address: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(b"GET /readyz HTTP/1.0\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1) == Some("200") { serde_json::from_str(body).ok() } else { None }
}
