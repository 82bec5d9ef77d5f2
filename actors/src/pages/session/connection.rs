//! One client's way to a live document and back.
//!
//! What clients say goes into one [`Door`] per document, in the order in which it comes, and the page's actor is told once
//! however much waits there: while it is at a turn, more gathers. What clients are told goes into an [`Outbox`] each.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{self, Poll, Waker},
    time::{Duration, Instant},
};

use bytes::Bytes;
use domain::{Context, Error, Origin, id::UserId};
use parking_lot::{Mutex, MutexGuard};
use tokio::{runtime::Handle, sync::Notify};
use yrs::{StateVector, Update, updates::decoder::Decode};

use super::{
    PageSession,
    awareness::{self, Entered, Refused},
    ending::Ending,
    flush::Flush,
    skim::{skim_state_vector, skim_update},
    wire::{self, Said},
};
use crate::kernel::Me;

/// How many bytes of updates may wait for the actor; whoever brings more waits until it has taken them.
const WAITING_LEN_MAX: usize = 4 * 1024 * 1024;
/// How many messages may wait for the actor.
const WAITING_MAX: usize = 16 * 1024;
/// How many bytes may wait for one client.
const UNSENT_LEN_MAX: usize = 16 * 1024 * 1024;
/// How many places of an outbox are kept when it is empty.
const KEPT_CAPACITY: usize = 64;
/// How long the actor may take for a turn.
const TURN_WITHIN: Duration = Duration::from_secs(30);

/// One client of a live document, on this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ConnectionId(pub(super) u64);

impl ConnectionId {
    pub(super) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Something for the actor.
pub(super) enum Event {
    /// A client changed the document.
    Update { from: ConnectionId, update: Update, len: usize, text_len: usize },
    /// A client wants what it is missing.
    Has { from: ConnectionId, state_vector: StateVector },
    /// A client says who is there.
    Awareness { from: ConnectionId, states: Vec<Entered> },
    /// A client asks who is there.
    WhoIsThere { from: ConnectionId },
    /// A client is gone.
    Gone { from: ConnectionId },
    /// Another node says something, or may have said something that was lost.
    Node(gateways::Signal),
}

/// Where all that happens to one live document comes in.
pub(super) struct Door {
    me: Me<PageSession>,
    waiting: Mutex<Waiting>,
    /// Told when the actor has taken what waited.
    taken: Notify,
}

#[derive(Default)]
struct Waiting {
    events: Vec<Event>,
    len: usize,
    /// Whether the actor knows already, or will be told.
    told: bool,
    /// When the next turn may begin, so that what comes in quick succession goes out together.
    not_before: Option<Instant>,
    closed: bool,
}

impl Door {
    pub(super) fn new(me: Me<PageSession>) -> Arc<Self> {
        Arc::new(Self { me, waiting: Mutex::default(), taken: Notify::new() })
    }

    /// Adds an event. Fails when the document is no longer live, or its actor can't be told.
    pub(super) fn put(self: &Arc<Self>, event: Event, len: usize) -> Result<(), Ending> {
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Err(Ending::Failed);
        }
        waiting.events.push(event);
        waiting.len += len;
        if std::mem::replace(&mut waiting.told, true) {
            return Ok(());
        }
        let pause = waiting.not_before.and_then(|at| at.checked_duration_since(Instant::now()));
        drop(waiting);
        match pause {
            None => self.tell(),
            Some(pause) => {
                let door = Arc::clone(self);
                let Ok(runtime) = Handle::try_current() else { return self.tell() };
                runtime.spawn(async move {
                    tokio::time::sleep(pause).await;
                    // Who can't be told finds the door closed, or is told by the next event.
                    let _ = door.tell();
                });
                Ok(())
            }
        }
    }

    fn tell(&self) -> Result<(), Ending> {
        let context = Context::system(Origin::Actor, Instant::now() + TURN_WITHIN);
        self.me.tell(Flush, context).map_err(|error| {
            tracing::debug!(%error, key = %self.me.key(), "a page's session can't be told");
            self.waiting.lock().told = false;
            Ending::Failed
        })
    }

    /// All that waits. The next event begins another turn, not before `not_before`. No room is kept for the next ones: most
    /// documents are quiet most of the time.
    pub(super) fn take(&self, not_before: Option<Instant>) -> Vec<Event> {
        let mut waiting = self.waiting.lock();
        let events = std::mem::take(&mut waiting.events);
        waiting.len = 0;
        waiting.told = false;
        waiting.not_before = not_before;
        drop(waiting);
        self.taken.notify_waiters();
        events
    }

    /// Takes nothing any more.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting.lock();
        waiting.closed = true;
        waiting.events = Vec::new();
        drop(waiting);
        self.taken.notify_waiters();
    }

    /// Waits while too much waits.
    async fn has_room(&self) {
        loop {
            let taken = self.taken.notified();
            tokio::pin!(taken);
            taken.as_mut().enable();
            {
                let waiting = self.waiting.lock();
                if waiting.closed || waiting.len < WAITING_LEN_MAX && waiting.events.len() < WAITING_MAX {
                    return;
                }
            }
            taken.await;
        }
    }
}

/// What waits to be sent to one client.
#[derive(Default)]
pub(super) struct Outbox {
    unsent: Mutex<Unsent>,
}

#[derive(Default)]
struct Unsent {
    frames: VecDeque<Bytes>,
    len: usize,
    /// How it ends, once the frames are sent.
    ending: Option<Ending>,
    /// Who waits for something to send.
    sender: Option<Waker>,
}

impl Outbox {
    /// Adds a message. Too much unsent ends the connection.
    pub(super) fn push(&self, frame: Bytes) {
        let mut unsent = self.unsent.lock();
        if unsent.ending.is_some() {
            return;
        }
        unsent.len += frame.len();
        if unsent.len > UNSENT_LEN_MAX {
            (unsent.frames, unsent.len, unsent.ending) = (VecDeque::new(), 0, Some(Ending::TooSlow));
        } else {
            unsent.frames.push_back(frame);
        }
        wake(unsent);
    }

    /// Ends the connection behind what waits.
    pub(super) fn end(&self, ending: Ending) {
        let mut unsent = self.unsent.lock();
        unsent.ending.get_or_insert(ending);
        wake(unsent);
    }

    fn take(&self) -> Option<Result<Bytes, Ending>> {
        self.unsent.lock().take()
    }

    fn poll_take(&self, context: &mut task::Context<'_>) -> Poll<Result<Bytes, Ending>> {
        let mut unsent = self.unsent.lock();
        if let Some(next) = unsent.take() {
            return Poll::Ready(next);
        }
        match &mut unsent.sender {
            Some(sender) => sender.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Unsent {
    fn take(&mut self) -> Option<Result<Bytes, Ending>> {
        if let Some(frame) = self.frames.pop_front() {
            self.len -= frame.len();
            if self.frames.is_empty() && self.frames.capacity() > KEPT_CAPACITY {
                // What one burst needed is not kept for ever.
                self.frames = VecDeque::new();
            }
            return Some(Ok(frame));
        }
        self.ending.map(Err)
    }
}

/// Wakes whoever waits for something to send, with the lock given back.
fn wake(mut unsent: MutexGuard<'_, Unsent>) {
    let sender = unsent.sender.take();
    drop(unsent);
    if let Some(sender) = sender {
        sender.wake();
    }
}

/// A client's connection to a live document; the client is gone when it is dropped.
pub struct Connection {
    pub(super) id: ConnectionId,
    pub(super) door: Option<Arc<Door>>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) may_write: bool,
    pub(super) user_id: UserId,
}

impl Connection {
    /// One that has ended before it began.
    pub(super) fn ended(ending: Ending, user_id: UserId) -> Self {
        let outbox = Outbox::default();
        outbox.end(ending);
        Self { id: ConnectionId::next(), door: None, outbox: Arc::new(outbox), may_write: false, user_id }
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
                let skim = skim_update(&update)?;
                if skim.is_empty {
                    return Ok(());
                }
                if !self.may_write {
                    self.outbox.push(wire::permission_denied());
                    return Ok(());
                }
                let len = update.len();
                let update = Update::decode_v1(&update).map_err(|_| Ending::Malformed)?;
                door.has_room().await;
                door.put(Event::Update { from: self.id, update, len, text_len: skim.text_len }, len)
            }
            Said::Has(state_vector) => {
                skim_state_vector(&state_vector)?;
                let state_vector = StateVector::decode_v1(&state_vector).map_err(|_| Ending::Malformed)?;
                door.has_room().await;
                door.put(Event::Has { from: self.id, state_vector }, 0)
            }
            Said::Awareness(body) => {
                let states = awareness::read(&body)?;
                door.has_room().await;
                door.put(Event::Awareness { from: self.id, states }, body.len())
            }
            Said::WhoIsThere => {
                door.has_room().await;
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
