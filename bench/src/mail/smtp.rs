//! A client of SMTP that measures how long the acknowledgement of a message takes.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use crate::report::Result;

/// Bytes of a message, as those of smtp-source.
const MESSAGE_LEN: usize = 4_096;

/// A connection.
pub struct Client {
    stream: TcpStream,
    replies: BufReader<TcpStream>,
}

impl Client {
    /// Connects, and says EHLO.
    pub fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let replies = BufReader::new(stream.try_clone()?);
        let mut client = Self { stream, replies };
        client.expect("220")?;
        client.say("EHLO client.bench.example\r\n", "250")?;
        Ok(client)
    }

    /// Sends a message; how long it took from its end to its acknowledgement.
    pub fn send(&mut self, to: &str, number: usize) -> Result<Duration> {
        self.say("MAIL FROM:<sender@bench.example>\r\n", "250")?;
        self.say(&format!("RCPT TO:<{to}>\r\n"), "250")?;
        self.say("DATA\r\n", "354")?;
        self.stream.write_all(message(number).as_bytes())?;
        let begun = Instant::now();
        self.expect("250")?;
        Ok(begun.elapsed())
    }

    fn say(&mut self, line: &str, code: &str) -> Result<()> {
        self.stream.write_all(line.as_bytes())?;
        self.expect(code)
    }

    fn expect(&mut self, code: &str) -> Result<()> {
        loop {
            let mut line = String::new();
            if self.replies.read_line(&mut line)? == 0 {
                return Err("the connection ended".into());
            }
            if !line.starts_with(code) {
                return Err(format!("expected {code}: {line}").into());
            }
            if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(());
            }
        }
    }
}

/// A message of a conversation of its own, with the dot behind it.
fn message(number: usize) -> String {
    let head = format!(
        "From: Sender <sender@bench.example>\r\nTo: reader\r\nSubject: Message {number}\r\n\
         Date: Fri, 15 Jan 2027 12:00:00 +0000\r\nMessage-ID: <{number}@bench.example>\r\n\r\n"
    );
    let line = format!("{}\r\n", "x".repeat(78));
    let lines = line.repeat((MESSAGE_LEN - head.len()) / line.len());
    format!("{head}{lines}.\r\n")
}
