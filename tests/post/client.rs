//! A client of SMTP that says exactly what a test has it say.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpStream,
    time,
};

/// How long a test waits for a reply.
const PATIENCE: Duration = Duration::from_secs(60);

pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

pub struct Smtp<S: Stream = TcpStream> {
    stream: BufReader<S>,
}

impl Smtp {
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        Self::over(stream)
    }
}

impl<S: Stream> Smtp<S> {
    pub fn over(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    pub fn into_inner(self) -> S {
        self.stream.into_inner()
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.expect("a peer that listens");
        self.stream.flush().await.expect("a peer that listens");
    }

    /// Sends bytes to a peer that may be gone; the reply, if there is one.
    pub async fn tried(&mut self, bytes: &str) -> Option<String> {
        self.stream.write_all(bytes.as_bytes()).await.ok()?;
        self.heard().await
    }

    /// The next reply, all of its lines without their ends; none when the peer is gone.
    pub async fn heard(&mut self) -> Option<String> {
        let mut reply = String::new();
        loop {
            let mut line = String::new();
            let reading = self.stream.read_line(&mut line);
            // A connection that is reset has nothing more to say.
            let read = time::timeout(PATIENCE, reading).await.expect("a reply in time").unwrap_or(0);
            if read == 0 {
                return None;
            }
            let is_last = line.as_bytes().get(3) == Some(&b' ');
            reply.push_str(line.trim_end());
            if is_last {
                return Some(reply);
            }
            reply.push('\n');
        }
    }

    pub async fn reply(&mut self) -> String {
        self.heard().await.expect("a reply")
    }

    pub async fn expect(&mut self, code: u16, text: &str) {
        let reply = self.reply().await;
        assert!(reply.starts_with(&format!("{code} {text}")), "{code} {text}, not {reply}");
    }

    /// Says a line; the reply.
    pub async fn say(&mut self, line: &str) -> String {
        self.send(format!("{line}\r\n")).await;
        self.reply().await
    }

    /// Says a line that is answered so.
    pub async fn told(&mut self, line: &str, reply: &str) {
        let heard = self.say(line).await;
        assert!(heard.starts_with(reply), "{line}: {reply}, not {heard}");
    }

    pub async fn hello(&mut self) -> String {
        let reply = self.say("EHLO client.example.com").await;
        assert!(reply.starts_with("250-"), "{reply}");
        reply
    }

    pub async fn envelope(&mut self, from: &str, recipients: &[&str]) {
        self.told(&format!("MAIL FROM:<{from}>"), "250 2.1.0").await;
        for recipient in recipients {
            self.told(&format!("RCPT TO:<{recipient}>"), "250 2.1.5").await;
        }
    }

    /// Sends a message, dots doubled; the reply.
    pub async fn data(&mut self, message: &str) -> String {
        self.told("DATA", "354 ").await;
        self.send(message.replace("\r\n.", "\r\n..")).await;
        self.send(".\r\n").await;
        self.reply().await
    }

    pub async fn gone(&mut self) {
        assert_eq!(self.heard().await, None);
    }
}
