//! The same document on other nodes.
//!
//! Every node that has clients of a page listens to the hub's channel of it. What a client writes is told there, and is
//! taken in by the others without being written down again: the node that took it from the client does that. A message
//! may be lost; so whoever begins to listen, and whoever may have missed something, says what it has, and the others answer
//! with what it lacks. On a node alone nothing is said, but that a page went to the trash is heard there too.

use std::sync::{Arc, LazyLock};

use bytes::{BufMut, Bytes, BytesMut};
use domain::id::PageId;
use gateways::{Hub, HubMode, Signal};
use tokio::task::JoinHandle;
use yrs::{StateVector, Update, updates::decoder::Decode};

use super::{
    awareness,
    document::SharedDocument,
    door::{Door, Event, Share},
    ending::Ending,
    live::Live,
    prescan::{Malformed, Reader, prescan_state_vector, prescan_update},
    wire::put_number,
};

/// An update.
const UPDATE: u8 = 1;
/// States of awareness.
const AWARENESS: u8 = 2;
/// "I have this much, and what do you?": a state vector.
const GREETING: u8 = 3;
/// The live document is over.
const ENDING: u8 = 4;

/// The hub's channel of a page's live document.
fn channel(page_id: PageId) -> String {
    format!("page:{page_id}")
}

/// What every message of this process begins with, so that it can tell its own.
static NODE: LazyLock<u64> = LazyLock::new(|| {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
});

/// Ends the live documents of `page_id` on every node, and tells their clients why: the page went to the trash, is
/// deleted, or was written from outside. Say it after the commit.
pub fn publish_ending(hub: &Hub, page_id: PageId, ending: Ending) {
    let code = match ending {
        Ending::InTrash => 1,
        Ending::Deleted => 2,
        _ => 0,
    };
    hub.publish(&channel(page_id), message(ENDING, "", &[code]));
}

/// The way to the others.
pub(super) struct Others {
    hub: Hub,
    channel: String,
    /// Whether there can be any.
    is_shared: bool,
    listener: JoinHandle<()>,
}

impl Others {
    /// Begins to listen, for `door`.
    pub(super) async fn listen(hub: &Hub, page_id: PageId, door: &Arc<Door>) -> Self {
        let channel = channel(page_id);
        let mut subscription = hub.subscribe(&channel).await;
        let is_shared = hub.health().mode == HubMode::Redis;
        let door = Arc::clone(door);
        let listener = tokio::spawn(async move {
            let mut share = Share::default();
            loop {
                let signal = subscription.next().await;
                let len = match &signal {
                    Signal::Message(message) if is_own(message) => continue,
                    Signal::Message(message) => message.len(),
                    Signal::Gap => 0,
                };
                // What is too much for the door waits at the hub, which says so when it had to leave something out.
                door.has_room(&mut share).await;
                // A door that is closed has nobody behind it, and this task ends.
                let _ = door.put(Event::Node(signal), len);
            }
        });
        Self { hub: hub.clone(), channel, is_shared, listener }
    }

    /// Says what is here.
    pub(super) fn greet(&self, epoch: &str, document: &SharedDocument) {
        self.say(GREETING, epoch, &document.state_vector());
    }

    pub(super) fn tell_update(&self, epoch: &str, update: &[u8]) {
        self.say(UPDATE, epoch, update);
    }

    pub(super) fn tell_awareness(&self, epoch: &str, states: &[u8]) {
        self.say(AWARENESS, epoch, states);
    }

    fn say(&self, kind: u8, epoch: &str, body: &[u8]) {
        if self.is_shared {
            self.hub.publish(&self.channel, message(kind, epoch, body));
        }
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

fn message(kind: u8, epoch: &str, body: &[u8]) -> Bytes {
    let mut message = BytesMut::with_capacity(16 + epoch.len() + body.len());
    message.put_u64(*NODE);
    message.put_u8(kind);
    put_number(&mut message, epoch.len() as u64);
    message.put_slice(epoch.as_bytes());
    message.put_slice(body);
    message.freeze()
}

/// Whether this process said it. An ending is for everybody, whoever says it.
fn is_own(message: &[u8]) -> bool {
    message.starts_with(&NODE.to_be_bytes()) && message.get(8) != Some(&ENDING)
}

impl Live {
    /// Takes in what the hub carried here.
    pub(super) fn hear(&mut self, signal: Signal) -> Result<(), Ending> {
        match signal {
            Signal::Gap => {
                self.has_missed = true;
                self.others.greet(&self.epoch, &self.document);
                if let Some(states) = self.awareness.encode_all() {
                    self.others.tell_awareness(&self.epoch, &states);
                }
                Ok(())
            }
            Signal::Message(message) => self.hear_message(&message).unwrap_or_else(|Malformed| {
                tracing::warn!(page = %self.page_id, "a message of another node doesn't read");
                Ok(())
            }),
        }
    }

    fn hear_message(&mut self, message: &Bytes) -> Result<Result<(), Ending>, Malformed> {
        let mut reader = Reader { bytes: message };
        reader.take(8)?;
        let kind = reader.byte()?;
        let epoch = reader.text()?;
        let body = message.slice_ref(reader.bytes);
        if kind == ENDING {
            return Ok(Err(match body.first() {
                Some(1) => Ending::InTrash,
                Some(2) => Ending::Deleted,
                _ => Ending::ChangedElsewhere,
            }));
        }
        if epoch != self.epoch {
            return Ok(Ok(()));
        }
        match kind {
            UPDATE => {
                prescan_update(&body)?;
                let update = Update::decode_v1(&body).map_err(|_| Malformed)?;
                return Ok(self.take_foreign(vec![update]));
            }
            AWARENESS => self.take_foreign_states(awareness::read(&body).map_err(|_| Malformed)?),
            GREETING => {
                prescan_state_vector(&body)?;
                let theirs = StateVector::decode_v1(&body).map_err(|_| Malformed)?;
                self.greet_back(&theirs);
            }
            _ => {}
        }
        Ok(Ok(()))
    }

    /// Says what the greeter lacks; and, where the greeter has more, asks for that.
    fn greet_back(&self, theirs: &StateVector) {
        let missing = self.document.missing(theirs);
        if prescan_update(&missing).is_ok_and(|prescan| !prescan.is_empty) {
            self.others.tell_update(&self.epoch, &missing);
        }
        if let Some(states) = self.awareness.encode_all() {
            self.others.tell_awareness(&self.epoch, &states);
        }
        if self.document.lacks(theirs) {
            self.others.greet(&self.epoch, &self.document);
        }
    }
}
