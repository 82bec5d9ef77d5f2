//! Who is there: small states that clients say of themselves, kept while their connection lasts.
//!
//! A state has a clock; only a newer one replaces it. Stock clients pass on what they hear, so that most of what comes is
//! known already and goes no further. A state belongs to the connection that first said it, and goes with it.
//!
//! Whoever comes is told of all, so that what a page holds is bounded: by connection, where too much ends it, and
//! altogether, where what is too much is passed over, because whoever says it may have said little.

use std::collections::HashMap;

use bytes::{BufMut, Bytes, BytesMut};
use serde::de::IgnoredAny;

use super::{
    connection::ConnectionId,
    prescan::{Malformed, Reader},
    wire,
};

/// The longest state, in bytes of its JSON.
pub const STATE_LEN_MAX: usize = 64 * 1024;
/// How many states one connection may have: one for each client behind it.
pub const STATES_PER_CONNECTION_MAX: usize = 16;
/// How long the states of one connection may be together, in bytes of their JSON.
pub const STATES_LEN_PER_CONNECTION_MAX: usize = 128 * 1024;
/// How many states a page has at most, on this node.
const STATES_PER_PAGE_MAX: usize = 4_096;
/// How long the states of a page may be together, in bytes of their JSON.
pub const STATES_LEN_PER_PAGE_MAX: usize = 1024 * 1024;
/// How many states that are gone are remembered, so that an echo doesn't bring them back.
const GONE_MAX: usize = 4_096;
/// What stands for a state that is gone.
const GONE: &str = "null";

/// A client, as Yjs numbers them.
type ClientId = u64;

/// A state as a client says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    client: ClientId,
    clock: u32,
    json: Bytes,
}

/// What is wrong with what a client said of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It doesn't read.
    Malformed,
    /// A state is too long, or there are too many.
    TooMuch,
}

impl From<Malformed> for Refused {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

/// Reads the states of a message.
pub(super) fn read(body: &Bytes) -> Result<Vec<Entered>, Refused> {
    let mut reader = Reader { bytes: body };
    let count = reader.count(3)?;
    // Whoever passes on what they heard has heard of no more.
    if count > STATES_PER_PAGE_MAX {
        return Err(Refused::TooMuch);
    }
    let mut states = Vec::with_capacity(count);
    for _ in 0..count {
        let (client, clock, json) = (reader.long()?, reader.number()?, reader.text()?);
        if json.len() > STATE_LEN_MAX {
            return Err(Refused::TooMuch);
        }
        // What isn't JSON would bring other clients down.
        serde_json::from_str::<IgnoredAny>(json).map_err(|_| Refused::Malformed)?;
        states.push(Entered { client, clock, json: body.slice_ref(json.as_bytes()) });
    }
    if reader.bytes.is_empty() { Ok(states) } else { Err(Refused::Malformed) }
}

/// The states of one document.
#[derive(Default)]
pub(super) struct Awareness {
    states: HashMap<ClientId, State>,
    /// Of those who are there.
    all: Share,
    by_connection: HashMap<ConnectionId, Share>,
    gone: usize,
}

struct State {
    clock: u32,
    json: Bytes,
    /// Whose it is; nobody's here when it came from another node.
    owner: Option<ConnectionId>,
}

/// How much somebody has of the states that are there.
#[derive(Clone, Copy, Default)]
struct Share {
    states: usize,
    len: usize,
}

impl State {
    fn is_gone(&self) -> bool {
        self.json == GONE
    }
}

impl Share {
    /// What it is with `new` in the place of `old`; lengths of states that are there.
    fn with(self, old: Option<usize>, new: Option<usize>) -> Self {
        Self {
            states: self.states + usize::from(new.is_some()) - usize::from(old.is_some()),
            len: self.len + new.unwrap_or(0) - old.unwrap_or(0),
        }
    }

    const fn fits_connection(self) -> bool {
        self.states <= STATES_PER_CONNECTION_MAX && self.len <= STATES_LEN_PER_CONNECTION_MAX
    }

    const fn fits_page(self) -> bool {
        self.states <= STATES_PER_PAGE_MAX && self.len <= STATES_LEN_PER_PAGE_MAX
    }
}

impl Awareness {
    /// Takes what `from` says (`None`: another node); the clients about whom that is news.
    pub(super) fn enter(
        &mut self,
        from: Option<ConnectionId>,
        entered: Vec<Entered>,
    ) -> Result<Vec<ClientId>, Refused> {
        let mut news = Vec::new();
        for one in entered {
            let client = one.client;
            if self.enter_one(from, one)? {
                news.push(client);
            }
        }
        self.forget_some();
        Ok(news)
    }

    /// Whether what is said is news.
    fn enter_one(&mut self, from: Option<ConnectionId>, said: Entered) -> Result<bool, Refused> {
        let Entered { client, clock, json } = said;
        let is_gone = json == GONE;
        let known = self.states.get(&client);
        let is_news =
            known.map_or(!is_gone, |known| clock > known.clock || clock == known.clock && is_gone && !known.is_gone());
        if !is_news {
            return Ok(false);
        }
        let old = known.filter(|known| !known.is_gone()).map(|known| known.json.len());
        let new = (!is_gone).then_some(json.len());
        // Whoever brings a state back, or says it first, has it from then on.
        let owner = known.filter(|_| old.is_some()).map_or(from, |known| known.owner);
        let all = self.all.with(old, new);
        if new > old && !all.fits_page() {
            return Ok(false);
        }
        if let Some(owner) = owner {
            let share = self.by_connection.entry(owner).or_default();
            let changed = share.with(old, new);
            if new > old && !changed.fits_connection() {
                return if from == Some(owner) { Err(Refused::TooMuch) } else { Ok(false) };
            }
            *share = changed;
        }
        self.all = all;
        self.gone = self.gone + usize::from(is_gone) - usize::from(known.is_some_and(State::is_gone));
        // A copy, so that a small state doesn't keep a large message.
        self.states.insert(client, State { clock, json: Bytes::copy_from_slice(&json), owner });
        Ok(true)
    }

    /// Takes the states of a connection that ended away; whose they were.
    pub(super) fn leave(&mut self, connection: ConnectionId) -> Vec<ClientId> {
        if self.by_connection.remove(&connection).is_none() {
            return Vec::new();
        }
        let mut clients = Vec::new();
        for (client, state) in &mut self.states {
            if state.owner != Some(connection) {
                continue;
            }
            state.owner = None;
            if !state.is_gone() {
                self.all = self.all.with(Some(state.json.len()), None);
                state.clock = state.clock.saturating_add(1);
                state.json = Bytes::from_static(GONE.as_bytes());
                self.gone += 1;
                clients.push(*client);
            }
        }
        self.forget_some();
        clients
    }

    /// The states of `clients`, as a message has them.
    pub(super) fn encode(&self, clients: &[ClientId]) -> Bytes {
        let known = clients.iter().filter_map(|client| Some((*client, self.states.get(client)?)));
        encode(&known.collect::<Vec<_>>())
    }

    /// The states of all who are there, as a message has them; `None` when nobody is.
    pub(super) fn encode_all(&self) -> Option<Bytes> {
        let there: Vec<_> =
            self.states.iter().filter(|(_, state)| !state.is_gone()).map(|(client, state)| (*client, state)).collect();
        (!there.is_empty()).then(|| encode(&there))
    }

    fn forget_some(&mut self) {
        if self.gone > GONE_MAX {
            self.states.retain(|_, state| !state.is_gone());
            self.gone = 0;
        }
    }
}

fn encode(states: &[(ClientId, &State)]) -> Bytes {
    let mut body = BytesMut::new();
    wire::put_number(&mut body, states.len() as u64);
    for (client, state) in states {
        wire::put_number(&mut body, *client);
        wire::put_number(&mut body, u64::from(state.clock));
        wire::put_number(&mut body, state.json.len() as u64);
        body.put_slice(&state.json);
    }
    body.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: ConnectionId = ConnectionId(1);
    const SECOND: ConnectionId = ConnectionId(2);

    fn said(client: ClientId, clock: u32, json: &str) -> Vec<Entered> {
        vec![Entered { client, clock, json: Bytes::copy_from_slice(json.as_bytes()) }]
    }

    #[test]
    fn an_echo_is_no_news_and_changes_no_owner() {
        let mut awareness = Awareness::default();
        assert_eq!(awareness.enter(Some(FIRST), said(7, 1, "{}")), Ok(vec![7]));
        assert_eq!(awareness.enter(Some(SECOND), said(7, 1, "{}")), Ok(vec![]));
        assert!(awareness.leave(SECOND).is_empty());
        assert_eq!(awareness.leave(FIRST), [7]);
        assert_eq!(awareness.encode_all(), None);
    }

    #[test]
    fn who_is_gone_does_not_come_back_by_an_echo() {
        let mut awareness = Awareness::default();
        awareness.enter(Some(FIRST), said(7, 4, "{}")).unwrap();
        awareness.leave(FIRST);
        assert_eq!(awareness.enter(Some(SECOND), said(7, 4, "{}")), Ok(vec![]));
        assert_eq!(awareness.enter(Some(SECOND), said(7, 6, "{}")), Ok(vec![7]), "the client itself, again");
        assert_eq!(awareness.leave(SECOND), [7]);
    }

    #[test]
    fn a_client_is_taken_away_at_the_clock_that_it_was_last_seen_at() {
        let mut awareness = Awareness::default();
        awareness.enter(Some(FIRST), said(7, 4, "{}")).unwrap();
        assert_eq!(awareness.enter(Some(SECOND), said(7, 4, "null")), Ok(vec![7]));
        assert_eq!(awareness.enter(Some(SECOND), said(8, 1, "null")), Ok(vec![]), "never heard of");
    }

    #[test]
    fn states_read_as_they_were_written() {
        let mut awareness = Awareness::default();
        awareness.enter(Some(FIRST), said(7, 300, r#"{"user":{"name":"Ann"}}"#)).unwrap();
        let body = awareness.encode(&[7, 9]);
        assert_eq!(read(&body), Ok(said(7, 300, r#"{"user":{"name":"Ann"}}"#)));
        assert_eq!(read(&body.slice(..body.len() - 1)), Err(Refused::Malformed));
    }

    #[test]
    fn a_state_may_be_as_long_as_the_limit() {
        let body = |len: usize| {
            let mut awareness = Awareness::default();
            awareness.enter(None, said(1, 1, &format!("\"{}\"", "x".repeat(len - 2)))).unwrap();
            awareness.encode(&[1])
        };
        assert!(read(&body(STATE_LEN_MAX - 1)).is_ok());
        assert!(read(&body(STATE_LEN_MAX)).is_ok());
        assert_eq!(read(&body(STATE_LEN_MAX + 1)), Err(Refused::TooMuch));
        let mut broken = body(10).to_vec();
        *broken.last_mut().unwrap() = b'x';
        assert_eq!(read(&broken.into()), Err(Refused::Malformed), "not JSON");
    }

    #[test]
    fn a_connection_has_as_many_states_as_the_limit() {
        let mut awareness = Awareness::default();
        for client in 0..STATES_PER_CONNECTION_MAX as u64 {
            assert!(awareness.enter(Some(FIRST), said(client, 1, "{}")).is_ok());
        }
        assert!(awareness.enter(Some(FIRST), said(0, 2, "{}")).is_ok(), "a known one");
        assert_eq!(awareness.enter(Some(FIRST), said(99, 1, "{}")), Err(Refused::TooMuch));
        assert!(awareness.enter(Some(SECOND), said(100, 1, "{}")).is_ok());
    }

    /// A state of so many bytes.
    fn long(client: ClientId, clock: u32, len: usize) -> Vec<Entered> {
        said(client, clock, &format!("\"{}\"", "x".repeat(len - 2)))
    }

    #[test]
    fn the_states_of_a_connection_are_together_as_long_as_the_limit() {
        let mut awareness = Awareness::default();
        for client in 0..2 {
            assert!(awareness.enter(Some(FIRST), long(client, 1, STATES_LEN_PER_CONNECTION_MAX / 2)).is_ok());
        }
        let longer = long(1, 2, STATES_LEN_PER_CONNECTION_MAX / 2 + 1);
        assert_eq!(awareness.enter(Some(SECOND), longer.clone()), Ok(vec![]), "somebody else in the client's name");
        assert_eq!(awareness.enter(Some(FIRST), longer), Err(Refused::TooMuch));
        assert!(awareness.enter(Some(FIRST), long(1, 3, 2)).is_ok(), "a shorter one");
        assert!(awareness.enter(Some(FIRST), long(2, 1, 100)).is_ok(), "in the room that it left");
    }

    #[test]
    fn a_page_that_is_full_passes_over_more_until_there_is_room() {
        let mut awareness = Awareness::default();
        let connections = STATES_LEN_PER_PAGE_MAX / STATE_LEN_MAX;
        for number in 0..connections as u64 {
            let entered = awareness.enter(Some(ConnectionId(number)), long(number, 1, STATE_LEN_MAX));
            assert_eq!(entered, Ok(vec![number]));
        }
        let late = ConnectionId(connections as u64);
        assert_eq!(awareness.enter(Some(late), said(100, 1, "{}")), Ok(vec![]), "passed over, and not refused");
        assert_eq!(awareness.enter(None, said(101, 1, "{}")), Ok(vec![]), "from another node");
        assert!(awareness.encode_all().is_some_and(|all| all.len() < STATES_LEN_PER_PAGE_MAX + 1_024));
        assert_eq!(awareness.leave(ConnectionId(0)), [0]);
        assert_eq!(awareness.enter(Some(late), said(100, 1, "{}")), Ok(vec![100]));
    }

    #[test]
    fn a_message_of_more_states_than_a_page_has_is_refused_before_any_is_taken() {
        let body = |count: usize| {
            let mut body = BytesMut::new();
            wire::put_number(&mut body, count as u64);
            (0..count).for_each(|client| {
                wire::put_number(&mut body, client as u64);
                body.put_slice(&[1, 1, b'0']);
            });
            body.freeze()
        };
        assert!(read(&body(STATES_PER_PAGE_MAX)).is_ok());
        assert_eq!(read(&body(STATES_PER_PAGE_MAX + 1)), Err(Refused::TooMuch));
    }

    #[test]
    fn what_comes_and_goes_leaves_no_share_behind() {
        let mut awareness = Awareness::default();
        for round in 0..3 {
            awareness.enter(Some(FIRST), said(7, 10 * round, "{}")).unwrap();
            awareness.enter(Some(SECOND), said(7, 10 * round, "null")).unwrap();
            awareness.enter(Some(SECOND), said(7, 10 * round + 1, "{}")).unwrap();
            assert!(awareness.leave(FIRST).is_empty());
            assert_eq!(awareness.leave(SECOND), [7]);
        }
        assert!(awareness.by_connection.is_empty());
        assert_eq!((awareness.all.states, awareness.all.len, awareness.gone), (0, 0, 1));
    }
}
