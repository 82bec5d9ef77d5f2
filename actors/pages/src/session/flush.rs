//! A turn of a live document: takes in all that waits at its door, and tells everybody.
//!
//! All updates that wait are one transaction, and go out as one update. While many come, turns are a little apart, so that
//! more come together: each turn costs a message per client, however much it carries. What one turn may take of the
//! processor's time on the actors' threads doesn't grow with the document ([`PageSession::work`]).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use domain::{Error, Result};
use kernel::{Command, CpuKind, Handle, Turn};
use parking_lot::Mutex;
use yrs::{StateVector, Update};

use super::{
    PageSession,
    awareness::Entered,
    connection::ConnectionId,
    door::{Event, Knock},
    ending::Ending,
    live::Live,
    wire,
};

/// How far updates may be apart, on the average, for turns to be kept apart: any closer, and more of them would go out one
/// by one than anybody reads.
const QUICK_SUCCESSION: Duration = Duration::from_micros(700);
/// Over how many turns that average is taken.
const SMOOTHING: u32 = 8;
/// What counts as far apart, however far it is.
pub(super) const QUIET: Duration = Duration::from_millis(10);
/// How far turns are apart while updates come in quick succession.
const TURNS_APART: Duration = Duration::from_millis(2);
/// How often a client that asks who is there is told. It is told of all who come and go anyway.
const WHO_EVERY: Duration = Duration::from_secs(1);

/// Take in what waits at the door.
#[derive(Debug)]
pub struct Flush {
    /// Knocks again, should it be dropped before the turn.
    _knock: Knock,
}

impl Flush {
    pub(super) const fn new(knock: Knock) -> Self {
        Self { _knock: knock }
    }
}

impl Command for Flush {
    type Reply = ();

    const NAME: &'static str = "flush";
}

impl Handle<Flush> for PageSession {
    async fn handle(&mut self, _: &Flush, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let had_clients = live.has_clients();
        let gathered = live.gather();
        let is_much = live.is_much(&gathered);
        let taken = self.work(turn, is_much, move |live| live.take_in_safely(gathered)).await;
        if let Err(ending) = taken.unwrap_or(Err(Ending::Failed)) {
            self.drop_live(ending);
            return Ok(());
        }
        self.show_newcomers(turn).await;
        if self.live.as_ref().is_some_and(|live| live.has_missed) {
            self.read_what_was_missed(turn).await;
        }
        if had_clients && self.live.as_ref().is_some_and(|live| !live.has_clients()) {
            self.settle(turn).await;
        }
        Ok(())
    }
}

impl PageSession {
    /// Has `work` done on the live document; where it is much, away from the actors' threads, so that it holds up no other
    /// document. An error when it panicked, or wasn't begun because too much waits there.
    pub(super) async fn work<T: Send + 'static>(
        &mut self,
        turn: &Turn<'_, Self>,
        is_much: bool,
        work: impl FnOnce(&mut Live) -> T + Send + 'static,
    ) -> Result<T> {
        if let Some(live) = self.live.as_mut().filter(|_| !is_much) {
            return Ok(work(live));
        }
        let tenant = self.live.as_ref().map(|live| live.org_id).ok_or(Error::Stale)?.into();
        // Whatever becomes of the work, the document is still there, unless the turn is given up with it.
        let lent = Arc::new(Mutex::new(self.live.take()));
        let borrowed = Arc::clone(&lent);
        let working = move || borrowed.lock().as_mut().map(work);
        let done = turn.processor().run(tenant, CpuKind::Document, working).await;
        self.live = lent.lock().take();
        done?.ok_or(Error::Stale)
    }
}

/// What a turn found at the door.
#[derive(Default)]
struct Gathered {
    updates: Vec<(ConnectionId, Update, usize, usize)>,
    asked: Vec<(ConnectionId, StateVector)>,
    states: Vec<(ConnectionId, Vec<Entered>)>,
    who: Vec<ConnectionId>,
    gone: Vec<ConnectionId>,
    nodes: Vec<gateways::Signal>,
}

/// Updates that there is room for, and whose they are.
#[derive(Default)]
struct Fitting {
    updates: Vec<Update>,
    from: Vec<ConnectionId>,
}

/// Updates that are being taken in: whose they are, and how many were begun with.
#[derive(Default)]
pub(super) struct Applying {
    from: Vec<ConnectionId>,
    begun: usize,
}

impl Applying {
    /// Whose update was begun last.
    fn culprit(&self) -> Option<ConnectionId> {
        self.begun.checked_sub(1).and_then(|at| self.from.get(at)).copied()
    }
}

impl Live {
    /// All that waits at the door.
    fn gather(&mut self) -> Gathered {
        let now = Instant::now();
        let not_before = self.pace(now);
        let mut gathered = Gathered::default();
        let events = self.door.take(not_before);
        self.last_turn = Some((now, events.len()));
        for event in events {
            match event {
                Event::Update { from, update, len, text_len } => gathered.updates.push((from, update, len, text_len)),
                Event::Has { from, state_vector } => gathered.asked.push((from, state_vector)),
                Event::Awareness { from, states } => gathered.states.push((from, states)),
                Event::WhoIsThere { from } => gathered.who.push(from),
                Event::Gone { from } => gathered.gone.push(from),
                Event::Node(signal) => gathered.nodes.push(signal),
            }
        }
        gathered
    }

    /// Whether taking this in means to look at all of a large document.
    fn is_much(&self, gathered: &Gathered) -> bool {
        if !self.document.is_large() || gathered.updates.is_empty() && gathered.nodes.is_empty() {
            return false;
        }
        let lens =
            gathered.updates.iter().fold((0, 0), |(len, text_len), update| (len + update.2, text_len + update.3));
        self.document.is_waiting() || !self.document.fits(lens.0, lens.1) || !gathered.nodes.is_empty()
    }

    /// Takes in what came; an error when an update broke the document. Whose it was is told first.
    fn take_in_safely(&mut self, gathered: Gathered) -> Result<(), Ending> {
        self.applying = Applying::default();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.take_in(gathered))).unwrap_or_else(|_panic| {
            // The document in memory is of no use any more; the one in the store has never seen what broke it.
            tracing::error!(page = %self.page_id, "an update broke a live document; its clients connect again");
            Err(Ending::Failed)
        });
        if outcome.is_err()
            && let Some(culprit) = self.applying.culprit()
            && let Some(client) = self.clients.get(&culprit)
        {
            client.outbox.end(Ending::Malformed);
        }
        outcome
    }

    fn take_in(&mut self, gathered: Gathered) -> Result<(), Ending> {
        self.take_updates(gathered.updates)?;
        for signal in gathered.nodes {
            self.hear(signal)?;
        }
        for (from, state_vector) in gathered.asked {
            self.ask(from, state_vector);
        }
        self.take_states(gathered.states, gathered.gone);
        self.tell_who_is_there(gathered.who);
        Ok(())
    }

    /// When the next turn may begin, as far as much has come lately.
    fn pace(&mut self, now: Instant) -> Option<Instant> {
        let (last, events) = self.last_turn?;
        let each = now.saturating_duration_since(last) / u32::try_from(events).unwrap_or(u32::MAX).max(1);
        self.apart = (self.apart * (SMOOTHING - 1) + each.min(QUIET)) / SMOOTHING;
        (self.apart < QUICK_SUCCESSION).then(|| now + TURNS_APART)
    }

    /// Takes clients' updates in, tells the others, and has it written down.
    fn take_updates(&mut self, updates: Vec<(ConnectionId, Update, usize, usize)>) -> Result<(), Ending> {
        let mut fitting = Fitting::default();
        for (from, update, len, text_len) in updates {
            if !self.clients.contains_key(&from) {
                continue;
            }
            if !self.document.has_room(len, text_len) {
                self.apply(std::mem::take(&mut fitting))?;
                if self.document.makes_room(&update, len, text_len).is_err() {
                    self.clients.get(&from).inspect(|client| client.outbox.end(Ending::TooLarge));
                    continue;
                }
            }
            fitting.updates.push(update);
            fitting.from.push(from);
        }
        self.apply(fitting)
    }

    fn apply(&mut self, fitting: Fitting) -> Result<(), Ending> {
        let Fitting { updates, from } = fitting;
        let Some(last) = from.last() else { return Ok(()) };
        self.writer = self.clients.get(last).map(|client| client.user_id).or(self.writer);
        // Who wrote all of it need not hear it again. What waited for it is somebody else's, though, and comes with it.
        let is_theirs = !self.document.is_waiting() && from.iter().all(|other| other == last);
        let only = is_theirs.then_some(*last);
        self.applying = Applying { from, begun: 0 };
        let taken = self.document.apply(updates, &mut self.applying.begun).map_err(|error| {
            tracing::warn!(%error, page = %self.page_id, "an update could not be applied");
            Ending::Failed
        })?;
        self.applying = Applying::default();
        match taken {
            None => Ok(()),
            Some(update) => self.spread(update.into(), only),
        }
    }

    /// Has what is new written down, and tells everybody but `except`.
    fn spread(&mut self, update: Bytes, except: Option<ConnectionId>) -> Result<(), Ending> {
        self.is_dirty = true;
        self.broadcast(&wire::update(&update), except);
        self.others.tell_update(&self.epoch, &update);
        self.update_writer.note(update).map_err(|_busy| {
            tracing::error!(page = %self.page_id, "too many co-edited updates wait for the store");
            Ending::Failed
        })
    }

    /// Takes what clients say of themselves, and that others have left; all that is news goes out as one message.
    fn take_states(&mut self, said: Vec<(ConnectionId, Vec<Entered>)>, gone: Vec<ConnectionId>) {
        let (mut news, mut speakers) = (Vec::new(), Vec::new());
        for (from, states) in said {
            let Some(client) = self.clients.get(&from) else { continue };
            match self.awareness.enter(Some(from), states) {
                Ok(new) if new.is_empty() => {}
                Ok(new) => {
                    news.extend(new);
                    speakers.push(from);
                }
                Err(refused) => client.outbox.end(refused.into()),
            }
        }
        for from in gone {
            self.clients.remove(&from);
            let left = self.awareness.leave(from);
            if !left.is_empty() {
                news.extend(left);
                speakers.push(from);
            }
        }
        news.sort_unstable();
        news.dedup();
        // Who said all of it need not hear it again.
        let only = speakers.first().copied().filter(|first| speakers.iter().all(|other| other == first));
        self.tell_states(&news, only);
    }

    fn tell_who_is_there(&mut self, asked: Vec<ConnectionId>) {
        if asked.is_empty() {
            return;
        }
        let now = Instant::now();
        let Some(states) = self.awareness.encode_all() else { return };
        let message = wire::awareness(&states);
        for from in asked {
            let Some(client) = self.clients.get_mut(&from) else { continue };
            if client.told_who_at.is_none_or(|at| now.saturating_duration_since(at) >= WHO_EVERY) {
                client.told_who_at = Some(now);
                client.outbox.push(message.clone());
            }
        }
    }

    /// Tells everybody but `except` about these clients.
    fn tell_states(&self, clients: &[u64], except: Option<ConnectionId>) {
        if !clients.is_empty() {
            let states = self.awareness.encode(clients);
            self.broadcast(&wire::awareness(&states), except);
            self.others.tell_awareness(&self.epoch, &states);
        }
    }

    /// Takes what came from elsewhere in, and tells the clients here.
    pub(super) fn take_foreign(&mut self, updates: Vec<Update>) -> Result<(), Ending> {
        let taken = self.document.apply(updates, &mut 0).map_err(|error| {
            tracing::error!(%error, page = %self.page_id, "an update of another node could not be applied");
            Ending::Failed
        })?;
        if let Some(update) = taken {
            self.is_dirty = true;
            self.broadcast(&wire::update(&update), None);
        }
        Ok(())
    }

    /// Takes another node's states of awareness in, and tells the clients here.
    pub(super) fn take_foreign_states(&mut self, states: Vec<Entered>) {
        if let Ok(news) = self.awareness.enter(None, states)
            && !news.is_empty()
        {
            self.broadcast(&wire::awareness(&self.awareness.encode(&news)), None);
        }
    }
}
