//! One client's way to a live document and back.
//!
//! What clients say goes into one [`Door`] per document, in the order in which it comes, and the page's actor is told once
//! however much waits there: while it is at a turn, more gathers. What clients are told goes into an [`Outbox`] each.
//!
//! Whatever one client can have wait is bounded: what it says to a turn, the questions that it has open, and what it was
//! told and doesn't read.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use domain::{Error, id::UserId};
use yrs::{StateVector, Update, updates::decoder::Decode};

use super::{
    awareness::{self, Refused},
    door::{Door, Event, Share},
    ending::Ending,
    outbox::Outbox,
    prescan::{prescan_state_vector, prescan_update},
    wire::{self, Said},
};

/// One client of a live document, on this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ConnectionId(pub(super) u64);

impl ConnectionId {
    pub(super) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// A client's connection to a live document; the client is gone when it is dropped.
pub struct Connection {
    pub(super) id: ConnectionId,
    pub(super) door: Option<Arc<Door>>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) may_write: bool,
    pub(super) user_id: UserId,
    pub(super) share: Share,
}

impl Connection {
    /// A client's, of the live document behind `door`.
    pub(super) fn new(door: Arc<Door>, outbox: Arc<Outbox>, user_id: UserId, may_write: bool) -> Self {
        Self { id: ConnectionId::next(), door: Some(door), outbox, may_write, user_id, share: Share::default() }
    }

    /// One that has ended before it began.
    pub(super) fn ended(ending: Ending, user_id: UserId) -> Self {
        let outbox = Outbox::default();
        outbox.end(ending);
        Self {
            id: ConnectionId::next(),
            door: None,
            outbox: Arc::new(outbox),
            may_write: false,
            user_id,
            share: Share::default(),
        }
    }

    /// The next message for the client, or how the connection ends. Safe to cancel.
    pub async fn next(&mut self) -> Result<Bytes, Ending> {
        poll_fn(|context| self.outbox.poll_take(context)).await
    }

    /// The next message for the client, if one waits.
    pub fn try_next(&mut self) -> Option<Result<Bytes, Ending>> {
        self.outbox.take()
    }

    /// Takes a message from the client. Waits while the actor is behind.
    pub async fn received(&mut self, message: &Bytes) -> Result<(), Ending> {
        let Some(door) = &self.door else { return Ok(()) };
        match wire::read(message)? {
            Said::Update(update) => {
                let prescan = prescan_update(&update)?;
                if prescan.is_empty {
                    return Ok(());
                }
                if !self.may_write {
                    self.outbox.push(wire::permission_denied());
                    return Ok(());
                }
                let len = update.len();
                let update = Update::decode_v1(&update).map_err(|_| Ending::Malformed)?;
                door.has_room(&mut self.share).await;
                door.put(Event::Update { from: self.id, update, len, text_len: prescan.text_len }, len)
            }
            Said::Has(state_vector) => {
                prescan_state_vector(&state_vector)?;
                let len = state_vector.len();
                let state_vector = StateVector::decode_v1(&state_vector).map_err(|_| Ending::Malformed)?;
                door.has_room(&mut self.share).await;
                if !self.outbox.ask() {
                    return Ok(());
                }
                door.put(Event::Has { from: self.id, state_vector }, len)
            }
            Said::Awareness(body) => {
                let states = awareness::read(&body)?;
                door.has_room(&mut self.share).await;
                door.put(Event::Awareness { from: self.id, states }, body.len())
            }
            Said::WhoIsThere => {
                door.has_room(&mut self.share).await;
                door.put(Event::WhoIsThere { from: self.id }, 0)
            }
            Said::Other => Ok(()),
        }
    }

    /// Whose it is.
    pub const fn user_id(&self) -> UserId {
        self.user_id
    }
}

impl From<Refused> for Ending {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Malformed => Self::Malformed,
            Refused::TooMuch => Self::TooManyStates,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(door) = &self.door {
            // A document that is live no longer has forgotten its clients.
            let _ = door.put(Event::Gone { from: self.id }, 0);
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connection").field(&self.id).finish()
    }
}

impl From<Ending> for Error {
    fn from(ending: Ending) -> Self {
        Self::internal(format_args!("a page's connection ended: {ending:?}"))
    }
}
