//! The items, and the requests that are made of them.

use domain::databases::Item;
use serde_json::{Value, json};

use super::CONNECTIONS;
use crate::{
    load::{Bytes, Request, Traffic},
    report::Result,
};

pub const PARTITIONS: usize = 100;
/// Items of a partition, which a query answers.
pub const QUERIED: usize = 20;
/// Characters that make an item about 250 bytes large.
const TEXT: usize = 200;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An item is read.
    Get,
    /// An item is put in the place of the one that is there.
    Put,
    /// The same, of items of one partition.
    Hot,
    /// The items of a partition are read.
    Query,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Get, Self::Put, Self::Hot, Self::Query];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Hot => "hot",
            Self::Query => "query",
        }
    }
}

/// Where an item lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub partition: usize,
    pub sort: usize,
}

impl Place {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..QUERIED).flat_map(|sort| (0..PARTITIONS).map(move |partition| Self { partition, sort }))
    }

    /// The item's key.
    pub fn key(self) -> Value {
        json!({ "pk": partition(self.partition), "sk": { "S": format!("item-{:02}", self.sort) } })
    }

    /// What the item is at first (0), and what it is put as in turns (1, 0, 1, …).
    pub fn item(self, turn: usize) -> Value {
        let mut item = self.key();
        item["turn"] = json!({ "N": turn.to_string() });
        item["text"] = json!({ "S": "x".repeat(TEXT) });
        item
    }

    /// The item in its normal form.
    pub fn kept(self, turn: usize) -> Result<Item> {
        Item::read("item", self.item(turn)).map_err(|error| error.to_string().into())
    }
}

/// The value of a partition key.
pub fn partition(number: usize) -> Value {
    json!({ "S": format!("partition-{number:03}") })
}

/// The partition of the items that [`Kind::Hot`] puts, and nothing else does.
const HOT: usize = 0;

/// What a server is asked.
pub struct Requests {
    get: Walk,
    put: Puts,
    hot: Puts,
    query: Walk,
}

/// What a server is asked of one item, and of one partition.
pub trait Dialect {
    /// Reads an item.
    fn get(&self, place: Place) -> Result<Request>;
    /// Puts the item in its turn `to`, where it is there as in its turn `from`.
    fn put(&self, place: Place, from: usize, to: usize) -> Result<Request>;
    /// Reads the items of a partition.
    fn query(&self, partition: usize) -> Result<Request>;
}

impl Requests {
    pub fn new(dialect: &impl Dialect) -> Result<Self> {
        let all = |wanted: fn(&Place) -> bool| Place::all().filter(wanted);
        let get = Place::all().map(|place| Ok(dialect.get(place)?.bytes())).collect::<Result<_>>()?;
        let query = (0..PARTITIONS).map(|number| Ok(dialect.query(number)?.bytes())).collect::<Result<_>>()?;
        Ok(Self {
            get: Walk::new(get),
            put: Puts::new(dialect, all(|place| place.partition != HOT))?,
            hot: Puts::new(dialect, all(|place| place.partition == HOT).take(CONNECTIONS))?,
            query: Walk::new(query),
        })
    }

    pub const fn of(&mut self, kind: Kind) -> &mut dyn Traffic {
        match kind {
            Kind::Get => &mut self.get,
            Kind::Put => &mut self.put,
            Kind::Hot => &mut self.hot,
            Kind::Query => &mut self.query,
        }
    }

    /// The items that were put, each with the turn that it is there as.
    pub fn put(&self) -> impl Iterator<Item = (Place, usize)> {
        self.put.0.iter().chain(&self.hot.0).flat_map(|lane| &lane.items).map(|item| (item.place, item.turn))
    }
}

/// Requests of which each connection sends a part, again and again.
struct Walk {
    requests: Vec<Bytes>,
    next: [usize; CONNECTIONS],
}

impl Walk {
    fn new(requests: Vec<Bytes>) -> Self {
        Self { requests, next: std::array::from_fn(|connection| connection) }
    }
}

impl Traffic for Walk {
    fn next(&mut self, connection: usize) -> Option<Bytes> {
        let next = self.next.get_mut(connection)?;
        let request = self.requests.get(*next)?.clone();
        *next += CONNECTIONS;
        if *next >= self.requests.len() {
            *next = connection;
        }
        Some(request)
    }
}

/// Puts of items, each of which is one connection's, so that each finds its item as it was put before.
struct Puts(Vec<Lane>);

/// The items of one connection.
#[derive(Default)]
struct Lane {
    items: Vec<PutItem>,
    next: usize,
}

struct PutItem {
    place: Place,
    /// As which it is there, or will be when its request is answered.
    turn: usize,
    /// From turn 0 to 1, and from 1 to 0.
    requests: [Bytes; 2],
}

impl Puts {
    fn new(dialect: &impl Dialect, places: impl Iterator<Item = Place>) -> Result<Self> {
        let mut lanes: Vec<Lane> = (0..CONNECTIONS).map(|_| Lane::default()).collect();
        for (number, place) in places.enumerate() {
            let requests = [dialect.put(place, 0, 1)?.bytes(), dialect.put(place, 1, 0)?.bytes()];
            lanes[number % CONNECTIONS].items.push(PutItem { place, turn: 0, requests });
        }
        Ok(Self(lanes))
    }
}

impl Traffic for Puts {
    fn next(&mut self, connection: usize) -> Option<Bytes> {
        let Lane { items, next } = self.0.get_mut(connection)?;
        let count = items.len();
        let item = items.get_mut(*next)?;
        *next = (*next + 1) % count;
        let request = item.requests[item.turn].clone();
        item.turn = 1 - item.turn;
        Some(request)
    }
}
