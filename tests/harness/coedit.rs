//! Somebody who edits a page together with others: a document that outlives its connections, as an editor has one.
//!
//! `confirm` is how a test knows that what was said before is kept.

use std::{collections::BTreeMap, time::Duration};

use futures::{FutureExt, SinkExt, StreamExt};
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{Error, Message, protocol::CloseFrame},
};
use yrs::{
    Any, Doc, GetString, OffsetKind, Options, Out, ReadTxn, Text, TextRef, Transact, TransactionMut, Update,
    encoding::read::Cursor,
    sync::{AwarenessUpdate, Message as Said, SyncMessage},
    types::text::YChange,
    updates::{
        decoder::{Decode, DecoderV1},
        encoder::Encode,
    },
};

use super::{
    Client, Ticket,
    socket::{AGAIN_AFTER, BUSY},
};

/// The shared text that the server knows.
pub const TEXT: &str = "markdown";
/// How long a co-editor waits for something that must come.
const PATIENCE: Duration = Duration::from_secs(60);

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A co-editor with a document, online or not.
#[derive(Debug)]
pub struct Coeditor {
    pub doc: Doc,
    client: Client,
    collab_path: String,
    socket: Option<Stream>,
    /// The code with which the last connection was closed, if the server gave one.
    pub closed: Option<u16>,
    /// Why the server refused something.
    pub denied: Option<String>,
    /// Who is there, by the id of their document: what they say of themselves, as JSON.
    pub present: BTreeMap<u64, String>,
    /// How many bytes of messages this connection brought.
    pub heard_len: usize,
    /// How often this connection asked what is missing, and how often it was answered.
    asked: u64,
    answers: u64,
    /// Whether the server asked what it is missing, and was told.
    was_asked: bool,
}

impl Coeditor {
    /// Somebody with an empty document, offline. Positions in it count UTF-16 units, as in a browser.
    pub fn new(client: &Client, org: &str, page: &str) -> Self {
        let options = Options { offset_kind: OffsetKind::Utf16, ..Options::default() };
        Self {
            doc: Doc::with_options(options),
            client: client.clone(),
            collab_path: format!("/v1/orgs/{org}/pages/{page}/collab?ticket=1"),
            socket: None,
            closed: None,
            denied: None,
            present: BTreeMap::new(),
            heard_len: 0,
            asked: 0,
            answers: 0,
            was_asked: false,
        }
    }

    /// Goes online through a node; false when that can't be reached or refuses.
    pub async fn try_connect(&mut self, node: &Client) -> bool {
        let node = self.client.at(node.base());
        let Some(answer) = node.get(&self.collab_path).try_send().await else { return false };
        if answer.status != 200 {
            return false;
        }
        let ticket = Ticket { url: answer.str("/socket/url").into(), ticket: answer.str("/socket/ticket").into() };
        self.open(&ticket.at(&node), "").await.is_ok()
    }

    /// Goes online, and waits until the server has shown what it has.
    pub async fn connect(&mut self) {
        let opening = async {
            loop {
                let ticket = Ticket::issue_at(&self.client, &self.collab_path).await;
                match self.open(&ticket, "").await {
                    // That ticket may be spent.
                    Err(BUSY) => sleep(AGAIN_AFTER).await,
                    opened => return opened.expect("an open socket"),
                }
            }
        };
        timeout(PATIENCE, opening).await.expect("an open socket in time");
        assert!(self.confirm().await, "closed with {:?}", self.closed);
    }

    /// Spends a ticket, with more of a query behind it; `Err` is the status that the handshake was refused with, or 0.
    pub async fn open(&mut self, ticket: &Ticket, query: &str) -> Result<(), u16> {
        let url = format!("{}?ticket={}{query}", ticket.url, ticket.ticket);
        let opened = timeout(PATIENCE, connect_async_with_config(url, None, true)).await.expect("a handshake in time");
        match opened {
            Ok((stream, _)) => self.socket = Some(stream),
            Err(Error::Http(response)) => return Err(response.status().as_u16()),
            Err(_) => return Err(0),
        }
        (self.closed, self.heard_len, self.asked, self.answers, self.was_asked) = (None, 0, 0, 0, false);
        self.ask().await;
        Ok(())
    }

    /// Drops the connection without a word.
    pub fn disconnect(&mut self) {
        self.socket = None;
        self.present.clear();
    }

    pub const fn is_online(&self) -> bool {
        self.socket.is_some()
    }

    /// The text that the server knows.
    pub fn text(&self) -> TextRef {
        self.doc.get_or_insert_text(TEXT)
    }

    /// What the text says.
    pub fn written(&self) -> String {
        self.text().get_string(&self.doc.transact())
    }

    /// Types at a place, counted in UTF-16 units.
    pub async fn insert(&mut self, at: u32, typed: &str) {
        let text = self.text();
        self.edit(|tx| text.insert(tx, at, typed)).await;
    }

    /// Changes the document, and tells the server when online.
    pub async fn edit(&mut self, change: impl FnOnce(&mut TransactionMut<'_>)) {
        let update = {
            let mut tx = self.doc.transact_mut();
            change(&mut tx);
            tx.encode_update_v1()
        };
        self.say(&Said::Sync(SyncMessage::Update(update))).await;
    }

    /// Says who one is, as editors do with a cursor.
    pub async fn appear(&mut self, clock: u32, state: &str) {
        let id = self.doc.client_id();
        let entry = yrs::sync::awareness::AwarenessUpdateEntry { clock, json: state.into() };
        let update = AwarenessUpdate { clients: [(id, entry)].into_iter().collect() };
        self.say(&Said::Awareness(update)).await;
    }

    /// Sends a message.
    pub async fn say(&mut self, message: &Said) {
        self.say_bytes(message.encode_v1()).await;
    }

    /// Sends bytes as they are.
    pub async fn say_bytes(&mut self, bytes: Vec<u8>) {
        let Some(socket) = &mut self.socket else { return };
        // Where the connection is gone, whoever listens next learns it, and why the server closed it.
        drop(timeout(PATIENCE, socket.send(Message::Binary(bytes.into()))).await.expect("a server that reads"));
    }

    /// Takes what has come, without waiting.
    pub async fn drain(&mut self) {
        while let Some(message) = self.socket.as_mut().and_then(|socket| socket.next().now_or_never()) {
            self.take(message).await;
        }
    }

    /// Takes what comes until `done` says so; false when the connection ends before.
    pub async fn listen(&mut self, done: impl Fn(&Self) -> bool) -> bool {
        while !done(self) {
            let Some(socket) = &mut self.socket else { return false };
            let message = timeout(PATIENCE, socket.next()).await.expect("a message in time");
            self.take(message).await;
        }
        true
    }

    /// Waits until the server ends the connection; the code that it gives.
    pub async fn closed(&mut self) -> Option<u16> {
        self.listen(|_| false).await;
        self.closed
    }

    /// Asks for what is missing, and waits for the answer: all that the document holds is kept by then. False when the
    /// connection ends before.
    pub async fn confirm(&mut self) -> bool {
        // What was made before this connection goes out when the server asks for it.
        if !self.listen(|this| this.was_asked).await {
            return false;
        }
        self.ask().await;
        let last = self.asked;
        self.listen(|this| this.answers >= last).await
    }

    /// How the text looks, with its formats, and the keys of a shared map beside it: equal documents look equal.
    pub fn look(&self, map: &str) -> String {
        let (text, map) = (self.text(), self.doc.get_or_insert_map(map));
        let tx = self.doc.transact();
        let chunks = text.diff(&tx, YChange::identity).into_iter().map(|chunk| {
            let Out::Any(Any::String(typed)) = chunk.insert else { panic!("only text was inserted") };
            let formats: BTreeMap<_, _> = chunk.attributes.into_iter().flat_map(|all| *all).collect();
            format!("{typed:?} {formats:?}\n")
        });
        let chunks: String = chunks.collect();
        let keys: std::collections::BTreeSet<_> = yrs::Map::keys(&map, &tx).map(ToString::to_string).collect();
        format!("{chunks}{keys:?}")
    }

    /// Applies an update from elsewhere.
    pub fn apply(&mut self, update: &[u8]) {
        let update = Update::decode_v1(update).expect("an update");
        self.doc.transact_mut().apply_update(update).expect("an update that applies");
    }

    /// Asks for what is missing.
    pub async fn ask(&mut self) {
        self.asked += 1;
        let has = self.doc.transact().state_vector();
        self.say(&Said::Sync(SyncMessage::SyncStep1(has))).await;
    }

    async fn take(&mut self, message: Option<Result<Message, Error>>) {
        match message {
            Some(Ok(Message::Binary(bytes))) => self.hear(&bytes).await,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(frame))) => {
                self.closed = frame.map(|CloseFrame { code, .. }| code.into());
                self.disconnect();
            }
            Some(Ok(other)) => panic!("unexpected on the socket: {other}"),
            Some(Err(_)) | None => self.disconnect(),
        }
    }

    async fn hear(&mut self, bytes: &[u8]) {
        self.heard_len += bytes.len();
        let mut decoder = DecoderV1::new(Cursor::new(bytes));
        match Said::decode(&mut decoder).expect("a message of the protocol") {
            Said::Sync(SyncMessage::SyncStep1(has)) => {
                let missing = self.doc.transact().encode_diff_v1(&has);
                self.say(&Said::Sync(SyncMessage::SyncStep2(missing))).await;
                self.was_asked = true;
            }
            Said::Sync(SyncMessage::SyncStep2(update)) => {
                self.apply(&update);
                self.answers += 1;
            }
            Said::Sync(SyncMessage::Update(update)) => self.apply(&update),
            Said::Auth(reason) => self.denied = reason,
            Said::Awareness(update) => {
                for (id, entry) in update.clients {
                    match entry.json.as_ref() {
                        "null" => self.present.remove(&id.get()),
                        state => self.present.insert(id.get(), state.into()),
                    };
                }
            }
            Said::AwarenessQuery | Said::Custom(..) => {}
        }
    }
}
