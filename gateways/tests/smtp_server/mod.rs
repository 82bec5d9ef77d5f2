//! A mail server for tests: it speaks SMTP on loopback, as its script says, and remembers what it took.
//!
//! Tests of several packages use it, each a part of it.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part; a test that fails stops")]

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// The password that the server takes, after `\0troupe\0`.
const SIGN_IN: &[u8] = b"\0troupe\0hunter2";

/// How the server behaves.
#[derive(Clone, Debug)]
pub struct Script {
    /// Whether it offers and wants a sign-in.
    pub wants_sign_in: bool,
    /// What it answers to a recipient.
    pub recipient: &'static str,
    /// What it answers once it has a message's text.
    pub message: &'static str,
    /// The command at which it stops answering.
    pub silent_at: Option<&'static str>,
    /// Whether it closes the connection after a message.
    pub closes_after_each: bool,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            wants_sign_in: false,
            recipient: "250 2.1.5 Ok",
            message: "250 2.0.0 Ok: queued as 1",
            silent_at: None,
            closes_after_each: false,
        }
    }
}

/// A message that the server took.
#[derive(Clone, Default)]
pub struct Received {
    /// The MAIL command.
    pub from: String,
    /// The RCPT commands.
    pub to: Vec<String>,
    /// The text, its lines ended by CR LF, without the doubled dots.
    pub text: String,
}

impl Received {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let head = self.text.split("\r\n\r\n").next()?;
        head.split("\r\n").find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// What follows the headers.
    pub fn body(&self) -> &str {
        self.text.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }
}

#[derive(Default)]
struct Memory {
    received: Vec<Received>,
    connections: usize,
    under_way: usize,
    at_once_max: usize,
}

impl Memory {
    fn message_begins(&mut self) {
        self.under_way += 1;
        self.at_once_max = self.at_once_max.max(self.under_way);
    }

    fn message_ends(&mut self, message: Received) {
        self.under_way -= 1;
        self.received.push(message);
    }
}

/// The running server; it ends when dropped.
pub struct SmtpServer {
    port: u16,
    memory: Arc<Mutex<Memory>>,
    script: Arc<Mutex<Script>>,
    task: JoinHandle<()>,
}

impl SmtpServer {
    pub async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let memory = Arc::<Mutex<Memory>>::default();
        let script = Arc::new(Mutex::new(script));
        let (remembers, follows) = (Arc::clone(&memory), Arc::clone(&script));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                remembers.lock().connections += 1;
                tokio::spawn(serve(stream, Arc::clone(&follows), Arc::clone(&remembers)));
            }
        });
        Self { port, memory, script, task }
    }

    /// From now on the server behaves so.
    pub fn follow(&self, script: Script) {
        *self.script.lock() = script;
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn received(&self) -> Vec<Received> {
        self.memory.lock().received.clone()
    }

    pub fn connections(&self) -> usize {
        self.memory.lock().connections
    }

    /// The most messages that were under way together.
    pub fn at_once_max(&self) -> usize {
        self.memory.lock().at_once_max
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A client that goes away ends the conversation; that is not the server's failure.
async fn serve(stream: TcpStream, follows: Arc<Mutex<Script>>, memory: Arc<Mutex<Memory>>) -> std::io::Result<()> {
    let mut stream = BufStream::new(stream);
    answer(&mut stream, "220 mail.example.org ESMTP").await?;
    let mut message = Received::default();
    while let Some(line) = line(&mut stream).await? {
        let verb = line.split([' ', ':']).next().unwrap_or("").to_uppercase();
        let script = follows.lock().clone();
        if script.silent_at == Some(&verb) {
            return std::future::pending().await;
        }
        match verb.as_str() {
            "EHLO" if script.wants_sign_in => answer(&mut stream, "250-mail.example.org\r\n250 AUTH PLAIN").await?,
            "EHLO" => answer(&mut stream, "250-mail.example.org\r\n250 8BITMIME").await?,
            "AUTH" => answer(&mut stream, sign_in(&line)).await?,
            "MAIL" => {
                memory.lock().message_begins();
                message = Received { from: line.split(" BODY").next().unwrap_or("").into(), ..Received::default() };
                answer(&mut stream, "250 2.1.0 Ok").await?;
            }
            "RCPT" => {
                message.to.push(line);
                answer(&mut stream, script.recipient).await?;
            }
            "DATA" => {
                answer(&mut stream, "354 End data with <CR><LF>.<CR><LF>").await?;
                message.text = text(&mut stream).await?;
                memory.lock().message_ends(std::mem::take(&mut message));
                answer(&mut stream, script.message).await?;
                if script.closes_after_each {
                    return Ok(());
                }
            }
            "QUIT" => return answer(&mut stream, "221 2.0.0 Bye").await,
            _ => answer(&mut stream, "250 2.0.0 Ok").await?,
        }
    }
    Ok(())
}

fn sign_in(line: &str) -> &'static str {
    let shown = line.strip_prefix("AUTH PLAIN ").and_then(|encoded| STANDARD.decode(encoded).ok());
    if shown.as_deref() == Some(SIGN_IN) { "235 2.7.0 Signed in" } else { "535 5.7.8 Wrong name or password" }
}

async fn text(stream: &mut BufStream<TcpStream>) -> std::io::Result<String> {
    let mut text = String::new();
    while let Some(line) = line(stream).await? {
        if line == "." {
            break;
        }
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
        text.push_str("\r\n");
    }
    Ok(text)
}

async fn line(stream: &mut BufStream<TcpStream>) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await?;
    Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

async fn answer(stream: &mut BufStream<TcpStream>, line: &str) -> std::io::Result<()> {
    stream.write_all(format!("{line}\r\n").as_bytes()).await?;
    stream.flush().await
}
