//! A turn of a live document: takes in all that waits at its door, and tells everybody.
//!
//! All updates that wait are one transaction, and go out as one update. While many come, turns are a little apart, so that
//! more come together: each turn costs a message per client, however much it carries.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use bytes::Bytes;
use domain::Result;
use yrs::{StateVector, Update};

use super::{
    PageSession,
    awareness::Entered,
    connection::{ConnectionId, Event},
    ending::Ending,
    live::Live,
    wire,
};
use crate::kernel::{Command, Handle, Turn};

/// How far updates may be apart, on the average, for turns to be kept apart: any closer, and more of them would go out one
/// by one than anybody reads.
const QUICK_SUCCESSION: Duration = Duration::from_micros(700);
/// Over how many turns that average is taken.
const SMOOTHING: u32 = 8;
/// What counts as far apart, however far it is.
pub(super) const QUIET: Duration = Duration::from_millis(10);
/// How far turns are apart while updates come in quick succession.
const TURNS_APART: Duration = Duration::from_millis(2);

/// Take in what waits at the door.
#[derive(Clone, Copy, Debug)]
pub struct Flush;

impl Command for Flush {
    type Reply = ();

    const NAME: &'static str = "flush";
}

impl Handle<Flush> for PageSession {
    async fn handle(&mut self, _: &Flush, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let had_clients = live.has_clients();
        match live.turn_safely() {
            Ok(Ok(())) => {}
            Ok(Err(ending)) => {
                self.drop_live(ending);
                return Ok(());
            }
            // The document in memory is of no use any more; the one in the store has never seen what broke it.
            Err(_panic) => {
                tracing::error!(page = %turn.key(), "an update broke a live document; its clients connect again");
                self.drop_live(Ending::Failed);
                return Ok(());
            }
        }
        if live.has_missed {
            live.read_what_was_missed(&turn.services().services.store).await;
        }
        if had_clients && !live.has_clients() {
            self.settle(turn).await;
        }
        Ok(())
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
    /// Takes in what waits at the door; an error when an update broke the document. Whose it was is told first.
    fn turn_safely(&mut self) -> std::thread::Result<Result<(), Ending>> {
        self.applying = Applying::default();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.turn()));
        if !matches!(outcome, Ok(Ok(())))
            && let Some(culprit) = self.applying.culprit()
            && let Some(client) = self.clients.get(&culprit)
        {
            client.outbox.end(Ending::Malformed);
        }
        outcome
    }

    /// Takes in what waits at the door.
    fn turn(&mut self) -> Result<(), Ending> {
        let now = Instant::now();
        let not_before = self.pace(now);
        let mut gathered = Gathered::default();
        for event in self.door.take(not_before) {
            match event {
                Event::Update { from, update, len, text_len } => gathered.updates.push((from, update, len, text_len)),
                Event::Has { from, state_vector } => gathered.asked.push((from, state_vector)),
                Event::Awareness { from, states } => gathered.states.push((from, states)),
                Event::WhoIsThere { from } => gathered.who.push(from),
                Event::Gone { from } => gathered.gone.push(from),
                Event::Node(signal) => gathered.nodes.push(signal),
            }
        }
        self.last_turn = Some((now, gathered.updates.len()));
        self.take_updates(gathered.updates)?;
        for signal in gathered.nodes {
            self.hear(signal)?;
        }
        for (from, state_vector) in gathered.asked {
            self.answer(from, &state_vector);
        }
        for (from, states) in gathered.states {
            self.take_states(from, states);
        }
        for from in gathered.who {
            self.tell_who_is_there(from);
        }
        for from in gathered.gone {
            self.clients.remove(&from);
            let left = self.awareness.leave(from);
            self.tell_states(&left, None);
        }
        Ok(())
    }

    /// When the next turn may begin, as far as updates have come lately.
    fn pace(&mut self, now: Instant) -> Option<Instant> {
        let (last, updates) = self.last_turn?;
        let each = now.saturating_duration_since(last) / u32::try_from(updates).unwrap_or(u32::MAX).max(1);
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
        // Who wrote all of it need not hear it again.
        let only = from.iter().all(|other| other == last).then_some(*last);
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
        self.scribe.note(update).map_err(|_busy| {
            tracing::error!(page = %self.page_id, "too many co-edited updates wait for the store");
            Ending::Failed
        })
    }

    /// Tells a client what it is missing, once that is written down.
    fn answer(&self, to: ConnectionId, state_vector: &StateVector) {
        if let Some(client) = self.clients.get(&to) {
            self.scribe.tell_when_written(&client.outbox, wire::missing(&self.document.missing(state_vector)));
        }
    }

    fn take_states(&mut self, from: ConnectionId, states: Vec<Entered>) {
        let Some(client) = self.clients.get(&from) else { return };
        match self.awareness.enter(Some(from), states) {
            Ok(news) => self.tell_states(&news, Some(from)),
            Err(refused) => client.outbox.end(refused.into()),
        }
    }

    fn tell_who_is_there(&self, to: ConnectionId) {
        if let (Some(client), Some(states)) = (self.clients.get(&to), self.awareness.encode_all()) {
            client.outbox.push(wire::awareness(&states));
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
