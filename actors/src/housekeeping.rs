//! What is thrown away when its time is over.
//!
//! One durable timer, once an hour, on one node. What it throws away nobody reads any more, so nothing waits for it and
//! a failure only means that it is thrown away an hour later.

use std::{fmt, str::FromStr, time::Duration};

use domain::{Result, Timestamp, notify::phone};
use store::Change;

use crate::{
    Services,
    kernel::{Command, Handle, Resource, TimerFired, Turn},
};

/// How often it is done.
const EVERY: Duration = Duration::from_hours(1);
/// How long a live message is kept for sockets that reconnect (decisions, "Sockets").
const LIVE_KEPT: Duration = Duration::from_hours(1);
/// How long a revocation is kept; caches forget within a second.
const REVOCATIONS_KEPT: Duration = Duration::from_hours(24);
/// How long a used signature is kept; one of that age is refused for its age (decisions, "Passwords vault").
const SIGNATURES_KEPT: Duration = Duration::from_mins(10);
/// How long failed attempts at accounts are kept; they count for a quarter of an hour and lock for another.
const ATTEMPTS_KEPT: Duration = Duration::from_hours(1);
/// How long entries of the outbox that were given up are kept.
const GIVEN_UP_KEPT: Duration = Duration::from_hours(30 * 24);
/// How long messages that were kept instead of sent are kept.
const KEPT_MESSAGES_KEPT: Duration = Duration::from_hours(30 * 24);
/// How long settled deliveries are kept, counted from when they were made.
const DELIVERIES_KEPT: Duration = Duration::from_hours(90 * 24);

const TIMER: &str = "purge";

/// The one keeper of the house.
#[derive(Debug)]
pub struct Housekeeping;

/// The key of the one there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct House;

impl fmt::Display for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("house")
    }
}

impl FromStr for House {
    type Err = NotTheHouse;

    fn from_str(text: &str) -> Result<Self, NotTheHouse> {
        if text == "house" { Ok(Self) } else { Err(NotTheHouse) }
    }
}

/// The text is not the key of the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the house")]
pub struct NotTheHouse;

/// Sets the timer, unless it is set. Asked at every start of a node.
#[derive(Debug)]
pub struct Arm;

impl Command for Arm {
    type Reply = ();

    const NAME: &'static str = "arm";
}

impl Resource for Housekeeping {
    type Key = House;
    type Services = Services;

    const KIND: &'static str = "housekeeping";

    async fn load(_: &House, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

impl Handle<Arm> for Housekeeping {
    async fn handle(&mut self, _: &Arm, turn: &mut Turn<'_, Self>) -> Result<()> {
        let key = turn.key().to_string();
        if turn.services().store.timer_get(Self::KIND, &key, TIMER).await?.is_some() {
            return Ok(());
        }
        let mut change = Change::new();
        change.timer_set(Self::KIND, &key, TIMER, turn.now());
        turn.commit(change).await
    }
}

impl Handle<TimerFired> for Housekeeping {
    async fn handle(&mut self, _: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        for (what, change) in purges(turn.now()) {
            // One commit each, so that the writer is never held up by all of them together.
            if let Err(error) = turn.services().store.commit(change).await {
                tracing::warn!(what, %error, "what is over could not be thrown away; next time");
            }
        }
        let mut change = Change::new();
        change.timer_set(Self::KIND, &turn.key().to_string(), TIMER, turn.now().after(EVERY));
        turn.commit(change).await
    }
}

fn purges(now: Timestamp) -> [(&'static str, Change); 12] {
    let purge = |what, add: &dyn Fn(&mut Change)| {
        let mut change = Change::new();
        add(&mut change);
        (what, change)
    };
    [
        purge("live messages", &|change| change.live_purge(now.before(LIVE_KEPT))),
        purge("idempotency keys", &|change| change.idempotency_purge(now.before(store::idempotency::KEPT_FOR))),
        purge("sign-ins", &|change| change.sign_ins_purge(now)),
        purge("push devices", &|change| change.push_devices_purge(now)),
        purge("live activities", &|change| change.live_activities_purge(now)),
        purge("phone codes", &|change| change.phone_codes_purge(now.before(phone::CODES_COUNTED_FOR))),
        purge("attempts", &|change| change.attempts_purge(now.before(ATTEMPTS_KEPT))),
        purge("vault signatures", &|change| change.vault_signatures_purge(now.before(SIGNATURES_KEPT))),
        purge("revocations", &|change| change.revocations_purge(now.before(REVOCATIONS_KEPT))),
        purge("outbox", &|change| change.outbox_purge(now.before(GIVEN_UP_KEPT))),
        purge("deliveries", &|change| change.deliveries_purge(now.before(DELIVERIES_KEPT))),
        purge("kept messages", &|change| change.kept_purge(now.before(KEPT_MESSAGES_KEPT))),
    ]
}
