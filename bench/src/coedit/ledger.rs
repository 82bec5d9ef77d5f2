//! Who has typed what when, and who has heard of it.

use std::{collections::VecDeque, time::Instant};

use crate::report::Result;

/// The client id of the first client; what browsers draw is as long.
const FIRST_ID: u64 = 3_000_000_000;

/// The id under which a client types.
pub const fn id_of(client: usize) -> u64 {
    FIRST_ID + client as u64
}

/// Every character, by its client and its place in what that client typed.
#[derive(Debug)]
pub struct Ledger {
    started: Instant,
    /// Clients 0 to this have the first document open, and so on.
    per_document: usize,
    /// By client: microseconds at which each character went out.
    sent: Vec<Vec<u32>>,
    /// By client, and by the neighbour who typed: what was heard.
    heard: Vec<Vec<Heard>>,
    /// Microseconds from the sending of a character to its arrival at one neighbour.
    latencies: Vec<u32>,
}

/// What a client has heard of one neighbour.
#[derive(Clone, Debug, Default)]
struct Heard {
    /// The place behind the last character that was heard.
    next: u32,
    /// Places before it that were left out.
    gaps: VecDeque<(u32, u32)>,
}

impl Heard {
    /// How many characters were heard without one left out before them.
    fn whole(&self) -> u32 {
        self.gaps.front().map_or(self.next, |gap| gap.0)
    }

    fn missing(&self) -> u32 {
        self.gaps.iter().map(|(from, to)| to - from).sum()
    }

    /// Takes a range, and calls `new` with the parts of it that weren't heard before.
    fn take(&mut self, from: u32, to: u32, mut new: impl FnMut(u32, u32)) {
        for (start, end) in std::mem::take(&mut self.gaps) {
            let (filled_from, filled_to) = (from.max(start), to.min(end));
            if filled_from >= filled_to {
                self.gaps.push_back((start, end));
                continue;
            }
            new(filled_from, filled_to);
            self.gaps.extend([(start, filled_from), (filled_to, end)].into_iter().filter(|gap| gap.0 < gap.1));
        }
        if from > self.next {
            self.gaps.push_back((self.next, from));
        }
        if to > self.next {
            new(from.max(self.next), to);
            self.next = to;
        }
    }
}

impl Ledger {
    /// For clients that have the same document open `per_document` at a time.
    pub fn new(clients: usize, per_document: usize) -> Self {
        Self {
            started: Instant::now(),
            per_document,
            sent: vec![Vec::new(); clients],
            heard: vec![vec![Heard::default(); per_document]; clients],
            latencies: Vec::new(),
        }
    }

    /// Microseconds since the start.
    pub fn now(&self) -> u32 {
        u32::try_from(self.started.elapsed().as_micros()).unwrap_or(u32::MAX)
    }

    /// How many characters a client has typed.
    pub fn typed(&self, client: usize) -> u32 {
        u32::try_from(self.sent[client].len()).unwrap_or(u32::MAX)
    }

    /// How many all have typed.
    pub fn typed_by_all(&self) -> u64 {
        self.sent.iter().map(|sent| sent.len() as u64).sum()
    }

    /// Notes that a client types so many characters now.
    pub fn send(&mut self, client: usize, characters: usize) {
        let now = self.now();
        self.sent[client].extend(std::iter::repeat_n(now, characters));
    }

    /// Notes that `client` heard a range of what the client with this id typed, at `now`.
    pub fn hear(&mut self, client: usize, id: u64, from: u32, to: u32, now: u32) -> Result<()> {
        let typist = self.neighbour(client, id)?;
        if typist == client {
            return Ok(());
        }
        let sent = self.sent[typist].get(..to as usize).ok_or("a client heard what nobody had typed yet")?;
        let latencies = &mut self.latencies;
        self.heard[client][typist % self.per_document].take(from, to, |from, to| {
            latencies.extend(sent[from as usize..to as usize].iter().map(|sent_at| now.saturating_sub(*sent_at)));
        });
        Ok(())
    }

    fn neighbour(&self, client: usize, id: u64) -> Result<usize> {
        let typist = id.checked_sub(FIRST_ID).and_then(|client| usize::try_from(client).ok());
        let same = |typist: &usize| typist / self.per_document == client / self.per_document;
        typist.filter(same).ok_or_else(|| "a client heard of a document that it hasn't open".into())
    }

    /// How many of a client's characters all of its neighbours have heard.
    pub fn delivered(&self, client: usize) -> u32 {
        let first = client - client % self.per_document;
        let neighbours = (first..first + self.per_document).filter(|neighbour| *neighbour != client);
        let place = client % self.per_document;
        neighbours.map(|neighbour| self.heard[neighbour][place].whole()).min().unwrap_or_else(|| self.typed(client))
    }

    /// The sum of that over all clients.
    pub fn delivered_of_all(&self) -> u64 {
        (0..self.sent.len()).map(|client| u64::from(self.delivered(client))).sum()
    }

    /// Deliveries that haven't come: characters times neighbours.
    pub fn missing(&self) -> u64 {
        let of = |client: usize, typist: usize| {
            let heard = &self.heard[client][typist % self.per_document];
            u64::from(self.typed(typist) - heard.next + heard.missing())
        };
        let pairs = (0..self.sent.len()).flat_map(|client| {
            let first = client - client % self.per_document;
            (first..first + self.per_document)
                .filter(move |typist| *typist != client)
                .map(move |typist| (client, typist))
        });
        pairs.map(|(client, typist)| of(client, typist)).sum()
    }

    /// The latencies since the last call.
    pub fn take_latencies(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_delivered_once_all_neighbours_have_heard_it() {
        let mut ledger = Ledger::new(3, 3);
        ledger.send(0, 2);
        ledger.hear(1, id_of(0), 0, 2, 5).expect("heard");
        assert_eq!((ledger.delivered(0), ledger.missing()), (0, 2));
        ledger.hear(2, id_of(0), 0, 1, 5).expect("heard");
        ledger.hear(2, id_of(0), 0, 1, 5).expect("heard again");
        assert_eq!((ledger.delivered(0), ledger.missing()), (1, 1));
        assert_eq!(ledger.take_latencies().len(), 3);
    }

    #[test]
    fn what_is_left_out_is_missing_until_it_comes() {
        let mut ledger = Ledger::new(2, 2);
        ledger.send(0, 9);
        ledger.hear(1, id_of(0), 0, 2, 5).expect("heard");
        ledger.hear(1, id_of(0), 5, 9, 5).expect("heard");
        assert_eq!((ledger.delivered(0), ledger.missing()), (2, 3));
        ledger.hear(1, id_of(0), 3, 6, 5).expect("heard");
        assert_eq!((ledger.delivered(0), ledger.missing()), (2, 1));
        ledger.hear(1, id_of(0), 2, 3, 5).expect("heard");
        assert_eq!((ledger.delivered(0), ledger.missing()), (9, 0));
        assert_eq!(ledger.take_latencies().len(), 9);
    }

    #[test]
    fn documents_are_apart() {
        let mut ledger = Ledger::new(4, 2);
        ledger.send(0, 1);
        assert_eq!(ledger.missing(), 1);
        assert!(ledger.hear(2, id_of(0), 0, 1, 5).is_err());
        assert!(ledger.hear(1, id_of(0), 0, 2, 5).is_err());
    }
}
