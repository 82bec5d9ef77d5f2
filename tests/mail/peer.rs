//! A server of SMTP that says what a test tells it to, on loopback.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// A moment of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Greeting,
    Hello,
    Sender,
    Recipient,
    Data,
    End,
}

impl Moment {
    pub const ALL: [Self; 6] = [Self::Greeting, Self::Hello, Self::Sender, Self::Recipient, Self::Data, Self::End];
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It says nothing any more.
    Stalls,
    /// It goes away.
    Cuts,
    /// It refuses for now.
    Later,
    /// It refuses for good.
    Refuses,
}

/// A message that the server took.
#[derive(Clone, Debug)]
pub struct Taken {
    pub from: String,
    pub to: Vec<String>,
    pub message: String,
}

#[derive(Debug, Default)]
struct Says {
    fault: Option<(Moment, Fault)>,
    recipients: BTreeMap<String, String>,
    taken: Vec<Taken>,
    connections: usize,
}

/// The server; it ends with the test.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    says: Arc<Mutex<Says>>,
}

impl Peer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let address = listener.local_addr().expect("an address");
        let peer = Self { address, says: Arc::default() };
        let serving = peer.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.says().connections += 1;
                tokio::spawn(serve(serving.clone(), stream));
            }
        });
        peer
    }

    fn says(&self) -> MutexGuard<'_, Says> {
        self.says.lock().expect("a peer that lives")
    }

    /// Has this go wrong from now on.
    pub fn fails(&self, at: Moment, fault: Fault) {
        self.says().fault = Some((at, fault));
    }

    pub fn recovers(&self) {
        self.says().fault = None;
    }

    /// Answers a recipient so.
    pub fn answers(&self, recipient: &str, reply: &str) {
        self.says().recipients.insert(recipient.to_owned(), reply.to_owned());
    }

    pub fn taken(&self) -> Vec<Taken> {
        self.says().taken.clone()
    }

    pub fn connections(&self) -> usize {
        self.says().connections
    }

    fn fault(&self, at: Moment) -> Option<Fault> {
        self.says().fault.filter(|(moment, _)| *moment == at).map(|(_, fault)| fault)
    }
}

/// The lines of a connection, as a server reads and writes them.
struct Lines(BufReader<TcpStream>);

impl Lines {
    async fn say(&mut self, line: &str) -> Option<()> {
        self.0.write_all(format!("{line}\r\n").as_bytes()).await.ok()
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await.ok()?;
        (read > 0).then(|| line.trim_end_matches("\r\n").to_owned())
    }

    /// Says what a moment comes to; none where the conversation ends with it.
    async fn at(&mut self, peer: &Peer, moment: Moment, usual: &str) -> Option<bool> {
        match peer.fault(moment) {
            None => {
                self.say(usual).await?;
                Some(true)
            }
            Some(Fault::Cuts) => None,
            Some(Fault::Stalls) => {
                std::future::pending::<()>().await;
                None
            }
            Some(Fault::Later) => {
                self.say("451 4.3.0 Come again").await?;
                Some(false)
            }
            Some(Fault::Refuses) => {
                self.say("550 5.7.1 We don't want this").await?;
                Some(false)
            }
        }
    }
}

async fn serve(peer: Peer, stream: TcpStream) -> Option<()> {
    let mut lines = Lines(BufReader::new(stream));
    lines.at(&peer, Moment::Greeting, "220 peer.example.com ESMTP").await?;
    let (mut from, mut to) = (String::new(), Vec::new());
    loop {
        let line = lines.line().await?;
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        let address = || line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
        match verb.as_str() {
            "EHLO" => {
                lines.at(&peer, Moment::Hello, "250-peer.example.com\r\n250 8BITMIME").await?;
            }
            "MAIL" => {
                from = address();
                lines.at(&peer, Moment::Sender, "250 2.1.0 Ok").await?;
            }
            "RCPT" => {
                let stated = peer.says().recipients.get(&address()).cloned();
                let reply = stated.unwrap_or_else(|| "250 2.1.5 Ok".to_owned());
                if lines.at(&peer, Moment::Recipient, &reply).await? && reply.starts_with('2') {
                    to.push(address());
                }
            }
            "DATA" => {
                if lines.at(&peer, Moment::Data, "354 Go on").await? {
                    let message = message(&mut lines).await?;
                    if lines.at(&peer, Moment::End, "250 2.6.0 Taken").await? {
                        peer.says().taken.push(Taken { from: from.clone(), to: to.clone(), message });
                    }
                }
            }
            "QUIT" => {
                lines.say("221 2.0.0 Bye").await?;
                return None;
            }
            _ => lines.say("500 5.5.1 What?").await?,
        }
    }
}

async fn message(lines: &mut Lines) -> Option<String> {
    let mut message = String::new();
    loop {
        let line = lines.line().await?;
        if line == "." {
            return Some(message);
        }
        message.push_str(line.strip_prefix('.').unwrap_or(&line));
        message.push_str("\r\n");
    }
}
