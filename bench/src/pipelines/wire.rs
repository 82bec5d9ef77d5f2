//! A connection that is used again and again, for whoever waits for each answer.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use serde_json::Value;

use crate::{load::Request, report::Result};

/// How much of an answer that is no success is shown.
const SHOWN_BYTES: usize = 600;

/// A keep-alive connection.
pub struct Wire(BufReader<TcpStream>);

impl Wire {
    pub fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request without waiting for its answer.
    pub fn send(&mut self, request: &Request) -> Result<()> {
        Ok(self.0.get_mut().write_all(&request.bytes())?)
    }

    /// Sends a request, and reads the JSON of its success; none where there is nothing to say.
    pub fn ask(&mut self, request: &Request) -> Result<Option<Value>> {
        self.send(request)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Option<Value>> {
        let (mut line, mut status, mut len) = (String::new(), 0_u16, 0);
        loop {
            line.clear();
            if self.0.read_line(&mut line)? == 0 {
                return Err("the server closed a connection".into());
            }
            let text = line.trim_end();
            if text.is_empty() {
                break;
            }
            match text.split_once(": ") {
                None => status = text.split(' ').nth(1).unwrap_or_default().parse()?,
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => len = value.parse()?,
                Some(_) => {}
            }
        }
        let mut body = vec![0; len];
        self.0.read_exact(&mut body)?;
        if !(200..300).contains(&status) {
            let shown = String::from_utf8_lossy(&body[..len.min(SHOWN_BYTES)]).into_owned();
            return Err(format!("{status}: {shown}").into());
        }
        Ok(if len == 0 { None } else { Some(serde_json::from_slice(&body)?) })
    }
}
