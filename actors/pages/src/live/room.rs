//! An organization's pages as one node shows them live: one listener to the hub for all of its sockets.
//!
//! A room is there while somebody visits it. Its task turns what the hub carries into what sockets send, once for all of
//! them, and keeps the table of who is where. What may have been missed (the hub says so, or the store's revision has
//! moved on without a message) becomes a `reset`.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use actors_base::Services;
use bytes::Bytes;
use dashmap::DashMap;
use domain::id::OrgId;
use gateways::{Signal, Subscription};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use store::StoreError;
use tokio::{
    sync::{broadcast, oneshot, watch},
    time::{MissedTickBehavior, interval},
};

use super::{
    channel,
    presence::{BELIEVED_FOR, Present, SessionId, Table, Viewer},
    wire::Wire,
};

/// How often a node says who is there, and looks whether it missed a change of the tree.
const TICK: Duration = Duration::from_secs(BELIEVED_FOR.as_secs() / 3);
/// Messages that a socket may be behind before it is told to read anew.
const BEHIND_MAX: usize = 256;

/// The open rooms of a node.
pub(super) type Open = DashMap<OrgId, Weak<Room>>;

/// One organization's room.
pub(super) struct Room {
    pub(super) org_id: OrgId,
    services: Services,
    state: Mutex<State>,
    listening: watch::Sender<bool>,
    /// Where it stands while it is open.
    open: Arc<Open>,
    /// Ends the task with the room.
    _task: oneshot::Sender<()>,
}

struct State {
    /// The newest revision of the tree that sockets were told of; none before anyone asked.
    revision: Option<i64>,
    /// The store's revision at the last tick, when it was ahead of the messages.
    ahead: Option<i64>,
    table: Table,
    /// The sockets of this node.
    here: HashMap<SessionId, Present>,
    sockets: broadcast::Sender<Bytes>,
}

impl Room {
    pub(super) fn open(services: &Services, org_id: OrgId, open: Arc<Open>) -> Arc<Self> {
        let (task, closed) = oneshot::channel();
        let sockets = broadcast::Sender::new(BEHIND_MAX);
        let state = State { revision: None, ahead: None, table: Table::default(), here: HashMap::new(), sockets };
        let room = Arc::new(Self {
            org_id,
            services: services.clone(),
            state: Mutex::new(state),
            listening: watch::Sender::new(false),
            open,
            _task: task,
        });
        tokio::spawn(listen(Arc::downgrade(&room), services.clone(), org_id, closed));
        room
    }

    /// Waits until nothing is missed any more, and somebody can come in.
    pub(super) async fn ready(&self) -> Result<(), StoreError> {
        // The sender is this room's own, and so not gone.
        let _ = self.listening.subscribe().wait_for(|listening| *listening).await;
        if self.state.lock().revision.is_none() {
            let revision = self.services.store.page_tree(self.org_id).await?.revision;
            self.state.lock().revision.get_or_insert(revision);
        }
        Ok(())
    }

    /// Somebody is there, on a socket of this node.
    pub(super) fn here(&self, present: Present) {
        self.state.lock().here.insert(present.session, present.clone());
        self.publish(&Wire::Here(vec![present]));
    }

    /// A socket of this node is gone.
    pub(super) fn gone(&self, session: SessionId) {
        let gone = self.state.lock().here.remove(&session);
        if let Some(present) = gone {
            self.publish(&Wire::Gone(Box::new(present)));
        }
    }

    /// The messages from now on, and what stands before them.
    pub(super) fn enter(&self, word: &'static str) -> (broadcast::Receiver<Bytes>, Bytes) {
        let state = self.state.lock();
        (state.sockets.subscribe(), state.snapshot(word))
    }

    fn publish(&self, message: &Wire) {
        self.services.hub.publish(&channel(self.org_id), message.to_bytes());
    }

    fn heard(&self, message: Wire) {
        let now = Instant::now();
        let mut state = self.state.lock();
        match message {
            Wire::Tree { revision, text } => state.turned(revision, text),
            Wire::Here(present) => {
                for one in present {
                    state.came(one, now);
                }
            }
            Wire::Gone(present) => {
                if let Some(viewer) = state.table.gone(&present) {
                    state.left(&viewer);
                }
            }
            Wire::Who => {
                drop(state);
                self.say_who_is_here();
            }
        }
    }

    fn say_who_is_here(&self) {
        let here: Vec<_> = self.state.lock().here.values().cloned().collect();
        if !here.is_empty() {
            self.publish(&Wire::Here(here));
        }
    }

    /// Messages may have been missed.
    async fn gap(&self) {
        self.publish(&Wire::Who);
        match self.services.store.page_tree(self.org_id).await {
            Ok(tree) => self.state.lock().reset_to(tree.revision),
            // The next tick looks again.
            Err(error) => tracing::warn!(%error, "a tree's revision can't be read"),
        }
    }

    async fn tick(&self) {
        self.say_who_is_here();
        {
            let mut state = self.state.lock();
            let State { table, here, .. } = &mut *state;
            let gone = table.expire(Instant::now(), |session| here.contains_key(&session));
            for viewer in &gone {
                state.left(viewer);
            }
        }
        match self.services.store.page_tree(self.org_id).await {
            Ok(tree) => self.state.lock().compare(tree.revision),
            Err(error) => tracing::warn!(%error, "a tree's revision can't be read"),
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Another may have been opened since, and then stands there.
        self.open.remove_if(&self.org_id, |_, place| place.strong_count() == 0);
    }
}

impl State {
    fn send(&self, message: &impl Serialize) {
        match serde_json::to_vec(message) {
            // Nobody may listen just now.
            Ok(text) => drop(self.sockets.send(text.into())),
            Err(error) => tracing::error!(%error, "a live message can't be written"),
        }
    }

    fn snapshot(&self, word: &'static str) -> Bytes {
        let present: Vec<_> = self.table.viewers().collect();
        json!({"type": word, "revision": self.revision.unwrap_or(0), "present": present}).to_string().into()
    }

    fn turned(&mut self, revision: i64, text: Bytes) {
        match self.revision {
            // What was read already, or two nodes' messages that overtook each other.
            Some(last) if revision <= last => {}
            Some(last) if revision > last + 1 => self.reset_to(revision),
            _ => {
                self.revision = Some(revision);
                drop(self.sockets.send(text));
            }
        }
    }

    fn reset_to(&mut self, revision: i64) {
        if self.revision.is_some_and(|last| revision > last) {
            self.revision = Some(revision);
            let snapshot = self.snapshot("reset");
            drop(self.sockets.send(snapshot));
        }
    }

    /// Compares with what the store says. A message may be on its way, so it counts as missed a tick later only.
    fn compare(&mut self, revision: i64) {
        let is_ahead = self.revision.is_some_and(|last| revision > last);
        match self.ahead {
            Some(missed) if self.revision.is_some_and(|last| missed > last) => {
                self.ahead = None;
                self.reset_to(revision);
            }
            _ => self.ahead = is_ahead.then_some(revision),
        }
    }

    fn came(&mut self, present: Present, now: Instant) {
        let viewer = present.viewer.clone();
        if self.table.here(present, now) {
            self.send(&word_of("here", &viewer));
        }
    }

    fn left(&self, viewer: &Viewer) {
        self.send(&json!({"type": "gone", "userId": viewer.user_id, "tab": viewer.tab}));
    }
}

fn word_of(word: &'static str, viewer: &Viewer) -> Value {
    let mut message = json!(viewer);
    message["type"] = word.into();
    message
}

async fn listen(room: Weak<Room>, services: Services, org_id: OrgId, mut closed: oneshot::Receiver<()>) {
    let mut subscription: Subscription = services.hub.subscribe(&channel(org_id)).await;
    services.hub.publish(&channel(org_id), Wire::Who.to_bytes());
    if let Some(room) = room.upgrade() {
        room.listening.send_replace(true);
    }
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = &mut closed => return,
            signal = subscription.next() => {
                let Some(room) = room.upgrade() else { return };
                match signal {
                    Signal::Gap => room.gap().await,
                    Signal::Message(bytes) => {
                        if let Some(message) = Wire::from_bytes(&bytes) {
                            room.heard(message);
                        }
                    }
                }
            }
            _ = ticks.tick() => {
                let Some(room) = room.upgrade() else { return };
                room.tick().await;
            }
        }
    }
}
