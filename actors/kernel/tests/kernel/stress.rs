//! Random commands, panics, passivations and kernel restarts on a real store; then the books must balance.
//!
//! A failing run prints its seed; `TROUPE_STRESS_SEED` makes it choose the same again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use domain::Error;
use futures::future::join_all;
use kernel::{Kernel, Policy, Registry};
use store::Clock;

use crate::{
    counter::{self, Counter, CrashingIncrement, Increment},
    stage::{CALM, START, context, options, stats, until},
};

const SEED_VARIABLE: &str = "TROUPE_STRESS_SEED";
const KEYS: u64 = 6;
const CLIENTS: u64 = 8;
const ROUNDS: u64 = 4;
const COMMANDS: u64 = 60;
const GRACE: Duration = Duration::from_secs(60);

/// Evicted at the first chance, crashed without end.
const POLICY: Policy = Policy { idle_after: Duration::ZERO, crash_window: Duration::ZERO, queue_len_max: 6, ..CALM };

/// A small generator (splitmix64) whose whole state is its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// What clients were told.
#[derive(Default)]
struct Books {
    /// Increments that were acknowledged: id to (key, value after it).
    acknowledged: BTreeMap<u64, (String, i64)>,
    /// Increments that may or may not have happened.
    unknown: BTreeSet<u64>,
    /// Increments that can't have happened.
    refused: BTreeSet<u64>,
}

fn seed() -> u64 {
    let given = std::env::var(SEED_VARIABLE).ok().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| Clock::system().now().as_millis().cast_unsigned())
}

fn key(number: u64) -> String {
    format!("key-{number}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_acknowledged_increment_is_in_the_store_exactly_once_whatever_happens() {
    let seed = seed();
    println!("{SEED_VARIABLE}={seed}");
    let scratch = store::testing::Scratch::new().await.expect("a scratch store");
    let store = scratch.store(Clock::manual(START)).await.expect("a migrated store");
    counter::create(&store, &(0..KEYS).map(key).collect::<Vec<_>>()).await;
    let books = Arc::new(Mutex::new(Books::default()));
    let mut dice = Dice(seed);
    for round in 0..ROUNDS {
        let kernel = Kernel::start(store.clone(), options()).expect("a kernel");
        let counters = kernel.registry_with::<Counter>(store.clone(), POLICY);
        let clients = (0..CLIENTS).map(|client| {
            let dice = Dice(seed ^ (round << 32) ^ (client << 16) ^ 1);
            let first_id = (round * CLIENTS + client) * COMMANDS;
            tokio::spawn(work(kernel.clone(), counters.clone(), dice, first_id, Arc::clone(&books)))
        });
        let clients: Vec<_> = clients.collect();
        // Every other kernel is stopped in the middle of things, with or without a grace.
        if dice.roll(2) == 0 {
            until("some work is done", || stats(&kernel, "counter").loads > dice.roll(60)).await;
            kernel.shutdown(if dice.roll(2) == 0 { GRACE } else { Duration::ZERO }).await;
        }
        for client in join_all(clients).await {
            client.expect("a client");
        }
        leaves_nothing(&kernel).await;
    }
    let books = Arc::into_inner(books).expect("no client left").into_inner().expect("books");
    balance(&store, &books).await;
}

/// One client's commands, in order.
async fn work(kernel: Kernel, counters: Registry<Counter>, mut dice: Dice, first_id: u64, books: Arc<Mutex<Books>>) {
    for id in first_id..first_id + COMMANDS {
        let key = key(dice.roll(KEYS));
        let answer = match dice.roll(20) {
            0 => counters.ask(&key, CrashingIncrement { id, after_commit: false }, context()).await,
            1 => counters.ask(&key, CrashingIncrement { id, after_commit: true }, context()).await,
            2 => {
                kernel.sweep();
                kernel.restart("counter", &key);
                continue;
            }
            3 => {
                kernel.passivate("counter", &key);
                continue;
            }
            _ => counters.ask(&key, Increment { id }, context()).await,
        };
        let mut books = books.lock().expect("books");
        match answer {
            Ok(value) => {
                books.acknowledged.insert(id, (key, value));
            }
            Err(Error::Internal { .. } | Error::Busy { .. } | Error::Stale) => {
                books.unknown.insert(id);
            }
            Err(_) => {
                books.refused.insert(id);
            }
        }
    }
}

/// No place in a queue is still taken, and nothing stays in memory.
async fn leaves_nothing(kernel: &Kernel) {
    until("nothing waits", || stats(kernel, "counter").waiting == 0).await;
    kernel.sweep();
    assert_eq!(stats(kernel, "counter").resident, 0);
    assert_eq!(kernel.residents("counter", 10).expect("a known kind"), []);
    assert!(kernel.shutdown(GRACE).await.is_empty());
}

async fn balance(store: &store::Store, books: &Books) {
    let committed = counter::committed(store).await;
    for number in 0..KEYS {
        let of_key: Vec<_> =
            committed.iter().filter(|(of, ..)| *of == key(number)).map(|(_, value, _)| *value).collect();
        let stored = counter::stored(store, &key(number)).await;
        assert_eq!(of_key, (1..=stored).collect::<Vec<_>>(), "{} has gaps", key(number));
    }
    let by_id: BTreeMap<_, _> = committed.iter().map(|(key, value, id)| (*id, (key.clone(), *value))).collect();
    assert_eq!(by_id.len(), committed.len(), "an increment happened twice");
    for (id, told) in &books.acknowledged {
        assert_eq!(by_id.get(id), Some(told), "increment {id} was acknowledged");
    }
    for id in by_id.keys() {
        assert!(books.acknowledged.contains_key(id) || books.unknown.contains(id), "increment {id} from nowhere");
        assert!(!books.refused.contains(id), "increment {id} was refused");
    }
    assert!(!books.acknowledged.is_empty() && !books.unknown.is_empty(), "the dice did nothing");
}
