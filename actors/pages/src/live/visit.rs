//! One socket's part in a room.

use std::{sync::Arc, time::Duration};

use actors_base::Services;
use bytes::Bytes;
use domain::id::{OrgId, PageId};
use store::StoreError;
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, sleep_until},
};

use super::{
    presence::{Present, SessionId, Viewer},
    room::{Open, Room},
};

/// How often others are told where a tab is, at most; what it says in between is told then.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// The rooms of a node. A cheap handle.
#[derive(Clone)]
pub struct Rooms {
    services: Services,
    open: Arc<Open>,
}

impl Rooms {
    /// None is open yet.
    pub fn new(services: Services) -> Self {
        Self { services, open: Arc::default() }
    }

    /// Comes in as `viewer`. When it returns, nothing that happens is missed.
    pub async fn visit(&self, org_id: OrgId, viewer: Viewer) -> Result<Visit, StoreError> {
        let room = self.room(org_id);
        room.ready().await?;
        let session = SessionId::new(self.services.store.now());
        let (messages, first) = room.enter("ready");
        let present = Present { session, viewer };
        room.here(present.clone());
        Ok(Visit { room, messages, first: Some(first), present, told_at: Instant::now(), told: true })
    }

    fn room(&self, org_id: OrgId) -> Arc<Room> {
        let mut place = self.open.entry(org_id).or_default();
        if let Some(room) = place.upgrade() {
            return room;
        }
        let room = Room::open(&self.services, org_id, Arc::clone(&self.open));
        *place = Arc::downgrade(&room);
        room
    }

    /// How many rooms are open on this node.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

/// What one socket sees, and where it is. Dropping it says that it is gone.
pub struct Visit {
    room: Arc<Room>,
    messages: Receiver<Bytes>,
    first: Option<Bytes>,
    present: Present,
    told_at: Instant,
    told: bool,
}

impl Visit {
    /// The next message, JSON in UTF-8. The first says who is there and the tree's revision. Safe to cancel.
    pub async fn next(&mut self) -> Bytes {
        if let Some(first) = self.first.take() {
            return first;
        }
        loop {
            tokio::select! {
                message = self.messages.recv() => match message {
                    Ok(text) => return text,
                    Err(RecvError::Lagged(_)) => {
                        let (messages, snapshot) = self.room.enter("reset");
                        self.messages = messages;
                        return snapshot;
                    }
                    // The room is held by this visit, and its sender with it.
                    Err(RecvError::Closed) => std::future::pending().await,
                },
                () = sleep_until(self.told_at + TOLD_EVERY), if !self.told => self.tell(),
            }
        }
    }

    /// The tab shows this page now.
    pub fn look_at(&mut self, page_id: Option<PageId>) {
        self.present.viewer.page_id = page_id;
        self.told = false;
        if self.told_at.elapsed() >= TOLD_EVERY {
            self.tell();
        }
    }

    fn tell(&mut self) {
        self.told = true;
        self.told_at = Instant::now();
        self.room.here(self.present.clone());
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.room.gone(self.present.session);
    }
}
