//! Single requests, for what comes before and after the load.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
};

use serde_json::Value;

use crate::{load::Request, report::Result};

/// Headers of an answer, at most.
const HEADERS_MAX: usize = 48;

/// What came back.
#[derive(Debug)]
pub struct Answer {
    status: u16,
    text: String,
}

impl Answer {
    /// The JSON body of a success.
    pub fn success(self) -> Result<Value> {
        if (200..300).contains(&self.status) {
            Ok(serde_json::from_str(&self.text)?)
        } else {
            Err(format!("{}: {}", self.status, self.text).into())
        }
    }
}

/// Sends a request over a connection of its own.
pub fn call(address: SocketAddr, request: Request) -> Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(&request.header("Connection", "close").bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head_len) = response.parse(&bytes)? else {
        return Err("an answer without an end of its headers".into());
    };
    let status = response.code.unwrap_or_default();
    Ok(Answer { status, text: String::from_utf8_lossy(&bytes[head_len..]).into_owned() })
}
