//! One keep-alive connection, and where its answer ends.

use std::{
    io::{ErrorKind, Read, Write},
    net::SocketAddr,
    time::{Duration, Instant},
};

use mio::net::TcpStream;

use super::Bytes;
use crate::report::Result;

/// Headers of an answer, at most.
const HEADERS_MAX: usize = 48;
/// How much of an answer that is no success is shown.
const SHOWN_BYTES: usize = 600;

pub struct Connection {
    stream: TcpStream,
    request: Option<Bytes>,
    /// Bytes of the request that the socket has taken.
    sent: usize,
    started: Instant,
    answer: Answer,
}

/// How far the answer has come.
enum Answer {
    /// The start of it, in which the headers don't end yet.
    Head(Vec<u8>),
    /// Bytes of the body that are still to come.
    Body(usize),
}

impl Connection {
    pub fn open(address: SocketAddr) -> Result<Self> {
        let stream = std::net::TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            request: None,
            sent: 0,
            started: Instant::now(),
            answer: Answer::Head(Vec::new()),
        })
    }

    pub const fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    pub const fn is_waiting(&self) -> bool {
        self.request.is_some()
    }

    /// Starts a request. The connection must not be waiting for the answer to another.
    pub fn send(&mut self, request: Bytes) -> Result<()> {
        self.request = Some(request);
        self.sent = 0;
        self.started = Instant::now();
        self.write()
    }

    /// Writes and reads what the socket allows; the latency, once the whole answer is there.
    pub fn proceed(&mut self, buffer: &mut [u8]) -> Result<Option<Duration>> {
        if self.request.is_none() {
            return Ok(None);
        }
        self.write()?;
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Err("the server closed a connection".into()),
                Ok(read) if self.take(&buffer[..read])? => {
                    self.request = None;
                    return Ok(Some(self.started.elapsed()));
                }
                // Less than there is room for: the socket is empty, and its next event comes by itself.
                Ok(read) if read < buffer.len() => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn write(&mut self) -> Result<()> {
        let Some(request) = &self.request else { return Ok(()) };
        while self.sent < request.len() {
            match self.stream.write(&request[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes what was read; whether the answer is whole.
    fn take(&mut self, read: &[u8]) -> Result<bool> {
        let missing = match &mut self.answer {
            Answer::Head(start) if start.is_empty() => {
                let Some(missing) = body_missing(read)? else {
                    start.extend_from_slice(read);
                    return Ok(false);
                };
                missing
            }
            Answer::Head(start) => {
                start.extend_from_slice(read);
                match body_missing(start)? {
                    Some(missing) => missing,
                    None => return Ok(false),
                }
            }
            Answer::Body(missing) => missing.saturating_sub(read.len()),
        };
        self.answer = if missing == 0 { Answer::Head(Vec::new()) } else { Answer::Body(missing) };
        Ok(missing == 0)
    }
}

/// Bytes of the body that are not in `start` yet; `None` while the headers are not whole.
fn body_missing(start: &[u8]) -> Result<Option<usize>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head_len) = response.parse(start)? else { return Ok(None) };
    let status = response.code.unwrap_or_default();
    if !(200..300).contains(&status) {
        return Err(String::from_utf8_lossy(&start[..start.len().min(SHOWN_BYTES)]).into());
    }
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let body_len = match length {
        Some(length) => std::str::from_utf8(length.value)?.parse()?,
        None if status == 204 => 0,
        None => return Err("an answer without content-length".into()),
    };
    Ok(Some((head_len + body_len).saturating_sub(start.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_after_its_content_length() {
        let missing = |text: &str| body_missing(text.as_bytes()).expect("an answer");
        assert_eq!(missing("HTTP/1.1 200 OK\r\nContent-Le"), None);
        assert_eq!(missing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), Some(5));
        assert_eq!(missing("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"), Some(0));
        assert_eq!(missing("HTTP/1.1 204 No Content\r\n\r\n"), Some(0));
    }

    #[test]
    fn what_is_no_success_ends_the_run() {
        assert!(body_missing(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n").is_err());
    }
}
