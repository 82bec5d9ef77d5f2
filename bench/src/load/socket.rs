//! A client's WebSocket: opened, and then driven without waiting.

use std::{
    io::{ErrorKind, Read, Write},
    net::SocketAddr,
};

use mio::net::TcpStream;

use crate::report::Result;

/// The head of an answer to a handshake, at most.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Clients mask what they send with a number of their choice.
const MASK: [u8; 4] = [0x5a, 0x17, 0xc3, 0x2e];
/// In the place of a length: it follows in two bytes, or in eight.
const LEN_IN_TWO: u8 = 0x7e;
const LEN_IN_EIGHT: u8 = 0x7f;
const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    /// What came of a frame that is not whole yet.
    incoming: Vec<u8>,
    /// What the kernel had no room for yet.
    outgoing: Vec<u8>,
}

impl Socket {
    /// Opens the socket at this path with its query.
    pub fn open(address: SocketAddr, target: &str) -> Result<Self> {
        let mut stream = std::net::TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let incoming = behind_handshake(&mut stream)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream: TcpStream::from_std(stream), incoming, outgoing: Vec::new() })
    }

    pub const fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Puts a binary message behind what waits to be sent.
    pub fn put(&mut self, message: &[u8]) {
        put_frame(&mut self.outgoing, BINARY, message);
    }

    /// Puts a message of text behind what waits to be sent.
    pub fn put_text(&mut self, message: &str) {
        put_frame(&mut self.outgoing, TEXT, message.as_bytes());
    }

    /// Sends what waits, as far as the kernel takes it.
    pub fn flush(&mut self) -> Result<()> {
        let mut sent = 0;
        while sent < self.outgoing.len() {
            match self.stream.write(&self.outgoing[sent..]) {
                Ok(written) => sent += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.outgoing.drain(..sent);
        Ok(())
    }

    /// Hands every message that has come to `take`, until the kernel has no more. Pings are answered.
    pub fn read(&mut self, buffer: &mut [u8], mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        loop {
            let kept = std::mem::take(&mut self.incoming);
            // What came with the handshake is taken even when nothing follows.
            let read = match self.stream.read(buffer) {
                Ok(0) => return Err("the server closed a socket without a word".into()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    self.incoming = kept;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if kept.is_empty() {
                self.take_frames(&buffer[..read], &mut take)?;
            } else {
                let whole = [&kept, &buffer[..read]].concat();
                self.take_frames(&whole, &mut take)?;
            }
            if read < buffer.len() {
                return Ok(());
            }
        }
    }

    fn take_frames(&mut self, mut bytes: &[u8], take: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        while let Some((opcode, payload, rest)) = frame(bytes)? {
            match opcode {
                TEXT | BINARY => take(payload)?,
                PING => put_frame(&mut self.outgoing, PONG, payload),
                PONG => {}
                CLOSE => return Err(closed(payload).into()),
                opcode => return Err(format!("a frame of kind {opcode}").into()),
            }
            bytes = rest;
        }
        self.incoming.extend_from_slice(bytes);
        Ok(())
    }
}

/// Reads the answer to the handshake; what came behind it.
fn behind_handshake(stream: &mut impl Read) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer)?;
        head.extend_from_slice(&buffer[..read]);
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&head);
            return if text.starts_with("HTTP/1.1 101") { Ok(head[end + 4..].to_vec()) } else { Err(text.into()) };
        }
        if read == 0 || head.len() > HEAD_BYTES_MAX {
            return Err("no answer to a handshake".into());
        }
    }
}

fn put_frame(out: &mut Vec<u8>, opcode: u8, payload: &[u8]) {
    out.push(FINAL | opcode);
    match payload.len() {
        len @ 0..126 => out.push(MASKED | len.to_le_bytes()[0]),
        len @ 126..0x1_0000 => {
            out.push(MASKED | LEN_IN_TWO);
            out.extend_from_slice(&len.to_be_bytes()[size_of::<usize>() - 2..]);
        }
        len => {
            out.push(MASKED | LEN_IN_EIGHT);
            out.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    out.extend(MASK);
    out.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
}

/// A frame's opcode, its payload, and what follows it.
type Frame<'a> = (u8, &'a [u8], &'a [u8]);

/// The first frame, if it is whole.
fn frame(bytes: &[u8]) -> Result<Option<Frame<'_>>> {
    let [first, second, rest @ ..] = bytes else { return Ok(None) };
    if first & FINAL == 0 || second & MASKED != 0 {
        return Err("a frame in pieces, or masked".into());
    }
    let len_bytes = match *second {
        LEN_IN_TWO => 2,
        LEN_IN_EIGHT => 8,
        _ => 0,
    };
    let Some((long, rest)) = rest.split_at_checked(len_bytes) else { return Ok(None) };
    let long = long.iter().fold(0, |len, &byte| len << 8 | u64::from(byte));
    let len = usize::try_from(if len_bytes == 0 { (*second).into() } else { long })?;
    Ok(rest.split_at_checked(len).map(|(payload, rest)| (first & !FINAL, payload, rest)))
}

fn closed(payload: &[u8]) -> String {
    let (code, reason) = payload.split_at(payload.len().min(2));
    let code = code.iter().fold(0, |code, &byte| code << 8 | u32::from(byte));
    format!("the server closed a socket: {code} {}", String::from_utf8_lossy(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_whole_once_its_payload_is_there() {
        let long = [&[0x82, 126, 1, 0][..], &[7; 256], &[0x89]].concat();
        assert_eq!(frame(&[0x82]).expect("a frame"), None);
        assert_eq!(frame(&[0x82, 2, 1]).expect("a frame"), None);
        assert_eq!(frame(&[0x82, 2, 1, 9, 0x89]).expect("a frame"), Some((2, &[1, 9][..], &[0x89][..])));
        assert_eq!(frame(&long[..259]).expect("a frame"), None);
        assert_eq!(frame(&long).expect("a frame"), Some((2, &[7; 256][..], &[0x89][..])));
        assert!(frame(&[0x02, 0]).is_err());
    }

    #[test]
    fn frames_of_clients_are_masked() {
        let mut frame = Vec::new();
        put_frame(&mut frame, BINARY, &[0; 300]);
        assert_eq!(frame[..4], [0x82, MASKED | LEN_IN_TWO, 1, 44]);
        assert_eq!(frame[4..8], frame[8..12]);
        assert_eq!(frame.len(), 308);
    }
}
