//! A live socket, as a device holds one.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message, client::IntoClientRequest, protocol::CloseFrame},
};

use super::Client;

/// How long a test waits for something that must come.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a server answers that has no time, or whose Redis didn't answer in time, as on a machine that stood still.
pub const BUSY: u16 = 503;
/// How soon it is asked again.
pub const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// What came over a socket.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    Message(Value),
    Ping,
    Pong,
    /// The server closed it, with this code where it gave one.
    Closed(Option<u16>),
}

/// An open socket.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

/// A way to open a socket once: where, and the ticket.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub url: String,
    pub ticket: String,
}

impl Ticket {
    /// Asks for one for the person's live messages.
    pub async fn issue(client: &Client) -> Self {
        Self::issue_at(client, "/v1/me/live").await
    }

    /// Asks for one at this path, until the server has time.
    pub async fn issue_at(client: &Client, path: &str) -> Self {
        let answer = async {
            loop {
                let answer = client.get(path).send().await;
                if answer.status != BUSY {
                    return answer.expect(200);
                }
                sleep(AGAIN_AFTER).await;
            }
        };
        let answer = timeout(PATIENCE, answer).await.expect("a ticket in time");
        Self { url: answer.str("/socket/url").to_owned(), ticket: answer.str("/socket/ticket").to_owned() }
    }

    /// Spends it; `Err` is the status that the handshake was refused with.
    pub async fn open(&self) -> Result<Socket, u16> {
        self.open_with("", None).await
    }

    /// Spends it after the messages up to number `seq`.
    pub async fn open_after(&self, seq: i64) -> Result<Socket, u16> {
        self.open_with(&format!("&seq={seq}"), None).await
    }

    /// Spends it from a page of this origin.
    pub async fn open_from(&self, origin: &str) -> Result<Socket, u16> {
        self.open_with("", Some(origin)).await
    }

    /// The same ticket, taken to another server.
    pub fn at(&self, client: &Client) -> Self {
        let path = self.url.splitn(4, '/').nth(3).expect("a path in the address");
        Self { url: format!("{}/{path}", client.base().replacen("http", "ws", 1)), ..self.clone() }
    }

    async fn open_with(&self, query: &str, origin: Option<&str>) -> Result<Socket, u16> {
        let mut request = format!("{}?ticket={}{query}", self.url, self.ticket).into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        match timeout(PATIENCE, connect_async(request)).await.expect("a handshake in time") {
            Ok((stream, _)) => Ok(Socket { stream }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{}: {error}", self.url),
        }
    }
}

impl Socket {
    /// Opens the person's live socket after the messages up to number `seq`.
    pub async fn live(client: &Client, seq: i64) -> Self {
        let opening = async {
            loop {
                match Ticket::issue(client).await.open_after(seq).await {
                    // That ticket may be spent.
                    Err(BUSY) => sleep(AGAIN_AFTER).await,
                    opened => return opened.expect("a socket"),
                }
            }
        };
        timeout(PATIENCE, opening).await.expect("a socket in time")
    }

    /// What comes next.
    pub async fn next(&mut self) -> Heard {
        self.next_within(PATIENCE).await.expect("something on the socket in time")
    }

    /// What comes next, if it comes in time.
    pub async fn next_within(&mut self, patience: Duration) -> Option<Heard> {
        let heard = match timeout(patience, self.stream.next()).await.ok()? {
            Some(Ok(Message::Text(text))) => Heard::Message(serde_json::from_str(&text).expect("JSON on the socket")),
            Some(Ok(Message::Ping(_))) => Heard::Ping,
            Some(Ok(Message::Pong(_))) => Heard::Pong,
            Some(Ok(Message::Close(Some(CloseFrame { code, .. })))) => Heard::Closed(Some(code.into())),
            Some(Ok(other)) if !matches!(other, Message::Close(_)) => panic!("unexpected on the socket: {other}"),
            _ => Heard::Closed(None),
        };
        Some(heard)
    }

    /// The next message; what only concerns the connection (pings, and that what was missed has been sent) is passed over.
    pub async fn message(&mut self) -> Value {
        loop {
            match self.next().await {
                Heard::Message(message) if message["type"] == "ready" => {}
                Heard::Message(message) => return message,
                Heard::Ping | Heard::Pong => {}
                Heard::Closed(code) => panic!("the socket closed with {code:?}"),
            }
        }
    }

    /// The next message, whatever it is.
    pub async fn raw_message(&mut self) -> Value {
        loop {
            match self.next().await {
                Heard::Message(message) => return message,
                Heard::Ping | Heard::Pong => {}
                Heard::Closed(code) => panic!("the socket closed with {code:?}"),
            }
        }
    }

    /// The next message of this type; others are passed over.
    pub async fn message_of(&mut self, kind: &str) -> Value {
        loop {
            let message = self.message().await;
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Waits until the server closes the socket; the code that it gives.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            if let Heard::Closed(code) = self.next().await {
                return code;
            }
        }
    }

    /// Sends a message.
    pub async fn send(&mut self, message: &Value) {
        self.stream.send(Message::Text(message.to_string().into())).await.expect("a message is sent");
    }

    pub async fn send_ping(&mut self) {
        self.stream.send(Message::Ping("hello".into())).await.expect("a ping is sent");
    }
}
