//! A resource that lives in the store: a number that is only changed by who saw its last value.
//!
//! The kernel knows no tables, so the number is kept where any resource can keep one: as the due time of a timer that
//! is never delivered. [`store::Change::timer_done`] checks the value that was seen, as a version check does.

use std::{collections::BTreeSet, time::Duration};

use domain::{Error, Result, Tenant, Timestamp};
use kernel::{Command, Handle, Resource, Turn};
use serde_json::json;
use store::{Change, OutboxEntry, Permits, Store, Timer, Turns, outbox};

/// The value zero, far in the future of every test.
const ZERO: i64 = 9_000_000_000_000;
const NAME: &str = "value";

/// The resource.
pub struct Counter {
    value: i64,
}

fn timer(key: &str, value: i64) -> Timer {
    let (kind, key, name) = (Counter::KIND.to_owned(), key.to_owned(), NAME.to_owned());
    Timer { kind, key, name, due: Timestamp(ZERO + value), tenant: Tenant::System }
}

/// Puts counters at zero.
pub async fn create(store: &Store, keys: &[String]) {
    let mut change = Change::new();
    for key in keys {
        change.timer_set(Counter::KIND, key, NAME, Timestamp(ZERO));
    }
    store.commit(change).await.expect("a commit");
}

/// What the store holds of a counter.
pub async fn stored(store: &Store, key: &str) -> i64 {
    let timer = store.timer_get(Counter::KIND, key, NAME).await.expect("a read").expect("a counter");
    timer.due.as_millis() - ZERO
}

/// The increments that left with their commits, as (key, value after it, id).
pub async fn committed(store: &Store) -> BTreeSet<(String, i64, u64)> {
    let mut found = BTreeSet::new();
    let turns = Turns::new(Permits::shared(500));
    loop {
        let claimed =
            store.outbox_claim(outbox::EVENT, &turns, Duration::from_hours(1)).await.expect("the outbox").taken();
        if claimed.is_empty() {
            return found;
        }
        for claim in claimed {
            let OutboxEntry::Event { event } = claim.entry else { continue };
            let Some(key) = event["counter"].as_str() else { continue };
            let (value, id) = (event["value"].as_i64().expect("a value"), event["id"].as_u64().expect("an id"));
            assert!(found.insert((key.to_owned(), value, id)), "twice the same increment: {event}");
        }
    }
}

impl Resource for Counter {
    type Key = String;
    type Services = Store;

    const KIND: &'static str = "counter";

    async fn load(key: &String, store: &Store) -> Result<Self> {
        let timer = store.timer_get(Self::KIND, key, NAME).await?;
        timer.map(|timer| Self { value: timer.due.as_millis() - ZERO }).ok_or(Error::not_found("No such counter."))
    }
}

/// Adds one; answers the value after it.
pub struct Increment {
    pub id: u64,
}

impl Command for Increment {
    type Reply = i64;

    const NAME: &'static str = "increment";
}

impl Handle<Increment> for Counter {
    async fn handle(&mut self, command: &Increment, turn: &mut Turn<'_, Self>) -> Result<i64> {
        let (key, after) = (turn.key().clone(), self.value + 1);
        let mut change = Change::new();
        change.timer_done(&timer(&key, self.value));
        change.timer_set(Self::KIND, &key, NAME, Timestamp(ZERO + after));
        let event = json!({ "counter": key, "value": after, "id": command.id });
        change.outbox_add(turn.now(), &OutboxEntry::Event { event });
        turn.commit(change).await?;
        self.value = after;
        Ok(self.value)
    }
}

/// Panics before or after it added one.
pub struct CrashingIncrement {
    pub id: u64,
    pub after_commit: bool,
}

impl Command for CrashingIncrement {
    type Reply = i64;

    const NAME: &'static str = "crashing_increment";
}

impl Handle<CrashingIncrement> for Counter {
    async fn handle(&mut self, command: &CrashingIncrement, turn: &mut Turn<'_, Self>) -> Result<i64> {
        if command.after_commit {
            self.handle(&Increment { id: command.id }, turn).await?;
        }
        panic!("crashed on purpose")
    }
}

/// Never finds the version that it decided on.
pub struct AlwaysStale;

impl Command for AlwaysStale {
    type Reply = ();

    const NAME: &'static str = "always_stale";
}

impl Handle<AlwaysStale> for Counter {
    async fn handle(&mut self, _: &AlwaysStale, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        change.timer_done(&timer(turn.key(), self.value + 1_000));
        turn.commit(change).await
    }
}
