//! What is thrown away when its time is over.
//!
//! One durable timer, once an hour, adds the job that does it ([`HOUSEKEEPING`]). What it throws away nobody reads any more, so
//! nothing waits for it and a failure only means that it is thrown away later.

mod job;
mod reads;
mod scrub;

use std::{fmt, str::FromStr, time::Duration};

use actors_base::Services;
use domain::{Result, Tenant};
use kernel::{Command, Handle, Resource, TimerFired, Turn};
use store::{Change, NewWork};

pub use self::job::{HOUSEKEEPING, HousekeepingJob};
pub(crate) use self::{reads::reads_lane, scrub::scrub_lane};

/// How often it is done.
const EVERY: Duration = Duration::from_hours(1);
/// The name of the timer.
const TIMER: &str = "purge";
/// The key of the job's entry, so that there is only one.
const ENTRY: &str = "house";

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
        let (now, store) = (turn.now(), &turn.services().store);
        let mut change = Change::new();
        match store.work_of_key(HOUSEKEEPING.name, ENTRY).await? {
            // One that was given up would keep the next one out for ever.
            Some(work) if work.wake_at.is_none() => change.work_repeat(work.seq),
            _ => change.work_add(now, NewWork::new(HOUSEKEEPING.name, Tenant::System, &()).with_key(ENTRY)),
        }
        change.timer_set(Self::KIND, &turn.key().to_string(), TIMER, now.after(EVERY));
        turn.commit(change).await
    }
}
