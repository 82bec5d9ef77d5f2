//! Requests as git sends them, over a connection each.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::Instant,
};

use super::side::Side;
use crate::{
    load::{Bytes, Request},
    report::Result,
};

/// Bytes that are read at once.
const PIECE_LEN: usize = 256 * 1024;

/// Has a request answered; how many bytes came.
pub fn answered(address: SocketAddr, request: &[u8]) -> Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(request)?;
    let (mut piece, mut beginning, mut len) = (vec![0; PIECE_LEN], Vec::new(), 0);
    loop {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            break;
        }
        if beginning.len() < 512 {
            beginning.extend_from_slice(&piece[..read.min(512)]);
        }
        len += read;
    }
    let status = beginning.get(9..12).unwrap_or_default();
    if status == b"200" { Ok(len) } else { Err(String::from_utf8_lossy(&beginning).into()) }
}

/// How many seconds each of these takes, where so many are asked at once.
pub fn seconds_each(address: SocketAddr, request: &Bytes, threads: usize, count: usize) -> Result<f64> {
    let request: &[u8] = request;
    let started = Instant::now();
    thread::scope(|scope| {
        let asking = || (0..count).try_for_each(|_| answered(address, request).map(drop));
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(asking)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer requests than 2^52")]
    Ok(started.elapsed().as_secs_f64() / (threads * count) as f64)
}

/// What a client asks first.
pub fn info_refs(side: &Side, repository: &str, protocol: Option<&str>) -> Bytes {
    let request = side.request("GET", repository, "info/refs?service=git-upload-pack");
    speaking(request, protocol).bytes()
}

/// What a clone of a commit asks, in the second version of the protocol. No two numbers have the same answer.
pub fn whole_pack(side: &Side, repository: &str, oid: &str, number: usize) -> Bytes {
    let mut body = Vec::new();
    let mut line = |text: &str| body.extend_from_slice(format!("{:04x}{text}\n", text.len() + 5).as_bytes());
    line("command=fetch");
    line("object-format=sha1");
    line(&format!("server-option=number-{number}"));
    body.extend_from_slice(b"0001");
    let mut line = |text: &str| body.extend_from_slice(format!("{:04x}{text}\n", text.len() + 5).as_bytes());
    for text in ["thin-pack", "no-progress", "include-tag", "ofs-delta", &format!("want {oid}"), "done"] {
        line(text);
    }
    body.extend_from_slice(b"0000");
    let request = side.request("POST", repository, "git-upload-pack");
    speaking(request, Some("version=2")).body("application/x-git-upload-pack-request", body).bytes()
}

fn speaking(request: Request, protocol: Option<&str>) -> Request {
    match protocol {
        Some(protocol) => request.header("Git-Protocol", protocol),
        None => request,
    }
}
