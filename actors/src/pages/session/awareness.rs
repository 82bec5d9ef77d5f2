//! Who is there: small states that clients say of themselves, kept while their connection lasts.
//!
//! A state has a clock; only a newer one replaces it. Stock clients pass on what they hear, so that most of what comes is
//! known already and goes no further. A state belongs to the connection that first said it, and goes with it.

use std::collections::{HashMap, hash_map::Entry};

use bytes::{BufMut, Bytes, BytesMut};
use serde::de::IgnoredAny;

use super::{
    connection::ConnectionId,
    skim::{Malformed, Reader},
    wire,
};

/// The longest state, in bytes of its JSON.
pub const STATE_LEN_MAX: usize = 64 * 1024;
/// How many states one connection may have: one for each client behind it.
pub const STATES_PER_CONNECTION_MAX: usize = 16;
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
    gone: usize,
}

struct State {
    clock: u32,
    json: Bytes,
    /// Whose it is; nobody's here when it came from another node.
    owner: Option<ConnectionId>,
}

impl State {
    fn is_gone(&self) -> bool {
        self.json == GONE
    }
}

impl Awareness {
    /// Takes what `from` says (`None`: another node); the clients about whom that is news.
    pub(super) fn enter(
        &mut self,
        from: Option<ConnectionId>,
        entered: Vec<Entered>,
    ) -> Result<Vec<ClientId>, Refused> {
        let mut own = from.map_or(0, |from| self.of(from).count());
        let mut news = Vec::new();
        for Entered { client, clock, json } in entered {
            // A copy, so that a small state doesn't keep a large message.
            let json = Bytes::copy_from_slice(&json);
            let is_gone = json == GONE;
            match self.states.entry(client) {
                Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    let is_news = clock > known.clock || clock == known.clock && is_gone && !known.is_gone();
                    if !is_news {
                        continue;
                    }
                    if known.is_gone() && !is_gone {
                        own += usize::from(from.is_some());
                        known.owner = from;
                    }
                    self.gone = self.gone + usize::from(is_gone) - usize::from(known.is_gone());
                    (known.clock, known.json) = (clock, json);
                }
                Entry::Vacant(place) => {
                    if is_gone {
                        continue;
                    }
                    own += usize::from(from.is_some());
                    place.insert(State { clock, json, owner: from });
                }
            }
            news.push(client);
        }
        self.forget_some();
        if own > STATES_PER_CONNECTION_MAX { Err(Refused::TooMuch) } else { Ok(news) }
    }

    /// Takes the states of a connection that ended away; whose they were.
    pub(super) fn leave(&mut self, connection: ConnectionId) -> Vec<ClientId> {
        let clients: Vec<_> = self.of(connection).collect();
        for client in &clients {
            if let Some(state) = self.states.get_mut(client) {
                state.clock = state.clock.saturating_add(1);
                state.json = Bytes::from_static(GONE.as_bytes());
                state.owner = None;
                self.gone += 1;
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

    fn of(&self, connection: ConnectionId) -> impl Iterator<Item = ClientId> {
        let own = self.states.iter().filter(move |(_, state)| state.owner == Some(connection) && !state.is_gone());
        own.map(|(client, _)| *client)
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
}
