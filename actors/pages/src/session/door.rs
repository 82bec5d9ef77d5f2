//! The door of a live document: what its clients say gathers here, and its actor is told that something waits.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use domain::{Context, Origin};
use kernel::SelfRef;
use parking_lot::{Mutex, MutexGuard};
use tokio::{runtime::Handle, sync::Notify};
use yrs::{StateVector, Update};

use super::{PageSession, awareness::Entered, connection::ConnectionId, ending::Ending, flush::Flush};

/// How many bytes of updates may wait for the actor; whoever brings more waits until it has taken them.
const WAITING_LEN_MAX: usize = 4 * 1024 * 1024;
/// How many messages may wait for the actor.
const WAITING_MAX: usize = 16 * 1024;
/// How many of them may be one client's, so that nobody else waits for who says much.
const WAITING_PER_CLIENT_MAX: u32 = 1024;
/// How long the actor may take for a turn.
const TURN_WITHIN: Duration = Duration::from_secs(30);
/// After how long the actor is told again that something waits, when that was lost.
const KNOCK_AGAIN_AFTER: Duration = Duration::from_millis(50);

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
    session: SelfRef<PageSession>,
    runtime: Handle,
    waiting: Mutex<Waiting>,
    /// Told when the actor has taken what waited.
    taken: Notify,
}

#[derive(Default)]
struct Waiting {
    events: Vec<Event>,
    len: usize,
    /// The knock that the actor will hear; none where nothing waits.
    knock: Option<u64>,
    /// How often was knocked.
    knocks: u64,
    /// How often the actor took what waited.
    turns: u64,
    /// When the next turn may begin, so that what comes in quick succession goes out together.
    not_before: Option<Instant>,
    closed: bool,
}

/// Word for the actor that something waits at a door. Word that gets lost on its way, because its time passed or the actor
/// takes nothing right now, is sent again: otherwise whatever waits would do so until the last client has left.
#[derive(Debug)]
pub(super) struct Knock {
    door: Weak<Door>,
    number: u64,
}

impl Drop for Knock {
    fn drop(&mut self) {
        if let Some(door) = self.door.upgrade() {
            door.heard_or_again(self.number);
        }
    }
}

/// How much one client has said to the turn that comes.
#[derive(Debug, Default)]
pub(super) struct Share {
    turn: u64,
    messages: u32,
}

impl Door {
    /// A door whose actor is `session`. Must be called on a runtime.
    pub(super) fn new(session: SelfRef<PageSession>) -> Arc<Self> {
        Arc::new(Self { session, runtime: Handle::current(), waiting: Mutex::default(), taken: Notify::new() })
    }

    /// Adds an event. Fails when the document is no longer live.
    pub(super) fn put(self: &Arc<Self>, event: Event, len: usize) -> Result<(), Ending> {
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Err(Ending::Failed);
        }
        waiting.events.push(event);
        waiting.len += len;
        self.knock_once(waiting);
        Ok(())
    }

    /// Has the actor come once more, although nothing waits here.
    pub(super) fn knock(self: &Arc<Self>) {
        self.knock_once(self.waiting.lock());
    }

    /// Knocks, unless somebody has, when the next turn may begin.
    fn knock_once(self: &Arc<Self>, mut waiting: MutexGuard<'_, Waiting>) {
        if waiting.knock.is_some() {
            return;
        }
        waiting.knocks += 1;
        let number = waiting.knocks;
        waiting.knock = Some(number);
        let pause = waiting.not_before.and_then(|at| at.checked_duration_since(Instant::now()));
        drop(waiting);
        match pause {
            None => self.tell(number),
            Some(pause) => self.tell_after(pause, number),
        }
    }

    fn tell_after(self: &Arc<Self>, pause: Duration, number: u64) {
        let door = Arc::downgrade(self);
        // Where this is called from is as good, and wakes no other thread.
        let runtime = Handle::try_current().unwrap_or_else(|_| self.runtime.clone());
        runtime.spawn(async move {
            tokio::time::sleep(pause).await;
            if let Some(door) = door.upgrade() {
                door.tell(number);
            }
        });
    }

    fn tell(self: &Arc<Self>, number: u64) {
        let context = Context::system(Origin::Actor, Instant::now() + TURN_WITHIN);
        let knock = Knock { door: Arc::downgrade(self), number };
        // A knock that isn't taken is dropped, and repeated.
        if let Err(error) = self.session.tell(Flush::new(knock), context) {
            tracing::debug!(%error, key = %self.session.key(), "a page's session can't be told");
        }
    }

    /// Repeats a knock that no turn has followed.
    fn heard_or_again(self: &Arc<Self>, number: u64) {
        let is_lost = {
            let waiting = self.waiting.lock();
            waiting.knock == Some(number) && !waiting.closed
        };
        if is_lost {
            self.tell_after(KNOCK_AGAIN_AFTER, number);
        }
    }

    /// All that waits. The next event begins another turn, not before `not_before`. No room is kept for the next ones: most
    /// documents are quiet most of the time.
    pub(super) fn take(&self, not_before: Option<Instant>) -> Vec<Event> {
        let mut waiting = self.waiting.lock();
        let events = std::mem::take(&mut waiting.events);
        waiting.len = 0;
        waiting.knock = None;
        waiting.turns += 1;
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

    /// Waits while too much waits, altogether or from whoever has this share.
    pub(super) async fn has_room(&self, share: &mut Share) {
        loop {
            let taken = self.taken.notified();
            tokio::pin!(taken);
            taken.as_mut().enable();
            {
                let waiting = self.waiting.lock();
                if share.turn != waiting.turns {
                    *share = Share { turn: waiting.turns, messages: 0 };
                }
                let has_room = waiting.len < WAITING_LEN_MAX && waiting.events.len() < WAITING_MAX;
                if waiting.closed || has_room && share.messages < WAITING_PER_CLIENT_MAX {
                    share.messages += 1;
                    return;
                }
            }
            taken.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use actors_base::Services;
    use domain::{Timestamp, id::PageId};
    use kernel::{Kernel, KernelOptions};
    use store::{Clock, testing::Scratch};

    use super::*;
    use crate::session::{PageServices, UpdateWriters};

    async fn door(scratch: &Scratch) -> (Kernel, Arc<Door>) {
        let services = Services::in_process(scratch.store(Clock::system()).await.unwrap());
        let kernel = Kernel::start(services.store.clone(), KernelOptions::new("test")).unwrap();
        let sessions =
            kernel.registry::<PageSession>(PageServices { services, update_writers: UpdateWriters::default() });
        (kernel, Door::new(sessions.self_ref(&PageId::new(Timestamp(0)))))
    }

    #[tokio::test]
    async fn who_says_much_waits_for_the_turn_and_nobody_else_does() {
        let scratch = Scratch::sqlite().unwrap();
        let (_kernel, door) = door(&scratch).await;
        let (mut much, mut little) = (Share::default(), Share::default());
        for _ in 0..WAITING_PER_CLIENT_MAX {
            door.has_room(&mut much).await;
        }
        let waits = tokio::spawn({
            let door = Arc::clone(&door);
            async move { door.has_room(&mut much).await }
        });
        tokio::task::yield_now().await;
        door.has_room(&mut little).await;
        assert!(!waits.is_finished());
        while !waits.is_finished() {
            door.take(None);
            tokio::task::yield_now().await;
        }
        waits.await.unwrap();
    }

    #[tokio::test]
    async fn a_knock_that_gets_lost_is_repeated_until_a_turn_follows() {
        let scratch = Scratch::sqlite().unwrap();
        let (kernel, door) = door(&scratch).await;
        // There is no live document behind this key, so that every turn passes without taking what waits here.
        door.put(Event::WhoIsThere { from: ConnectionId(1) }, 0).unwrap();
        let key = door.session.key().to_string();
        let turns = || kernel.resident("page_session", &key).map_or(0, |(_, commands)| commands.len());
        while turns() < 3 {
            tokio::time::sleep(KNOCK_AGAIN_AFTER).await;
        }
        assert_eq!(door.take(None).len(), 1);
        assert_eq!(door.waiting.lock().knock, None);
    }
}
