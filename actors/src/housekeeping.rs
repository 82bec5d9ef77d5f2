//! What is thrown away when its time is over.
//!
//! One durable timer, once an hour, on one node. What it throws away nobody reads any more, so nothing waits for it and
//! a failure only means that it is thrown away an hour later.

use std::{fmt, str::FromStr, time::Duration};

use domain::{
    Result, Timestamp,
    notify::{ALERT_FORGOTTEN_AFTER, budget_day, phone},
};
use store::{Change, PURGE_ROWS_MAX, Purge, Store};

use crate::{
    Services,
    kernel::{Command, Handle, Resource, TimerFired, Turn},
};

/// How often it is done.
const EVERY: Duration = Duration::from_hours(1);
/// How soon it goes on where more is over than one turn throws away.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How many steps of [`PURGE_ROWS_MAX`] rows one turn takes.
const STEPS_MAX: u32 = 20;
/// How long a live message is kept for sockets that reconnect (decisions, "Sockets").
const LIVE_KEPT: Duration = Duration::from_hours(1);
/// How long a revocation is kept; caches forget within a second.
const REVOCATIONS_KEPT: Duration = Duration::from_hours(24);
/// How long a used signature is kept; one of that age is refused for its age (decisions, "Passwords vault").
const SIGNATURES_KEPT: Duration = Duration::from_mins(10);
/// How long failed attempts at accounts are kept; they count for a quarter of an hour and lock for another.
const ATTEMPTS_KEPT: Duration = Duration::from_hours(1);
/// How long dead letters are kept, counted from when the work was added.
const GIVEN_UP_KEPT: Duration = Duration::from_hours(30 * 24);
/// How long messages that were kept instead of sent are kept.
const KEPT_MESSAGES_KEPT: Duration = Duration::from_hours(30 * 24);
/// How long settled deliveries are kept, counted from when they were made.
const DELIVERIES_KEPT: Duration = Duration::from_hours(90 * 24);

/// How long it is known why a sign-in was ended: whoever doesn't come back for so long may read that they must sign in.
const ENDED_SIGN_INS_KEPT: Duration = Duration::from_hours(400 * 24);
/// How many days what was spent on texts and calls is kept.
const BUDGET_DAYS_KEPT: i64 = 35;

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
        let services = turn.services();
        let mut steps = STEPS_MAX;
        for purge in purges(turn.now(), services.settings.audit_kept) {
            steps = throw_away(&services.store, &purge, steps).await;
        }
        let pause = if steps > 0 { EVERY } else { AGAIN_AFTER };
        let mut change = Change::new();
        change.timer_set(Self::KIND, &turn.key().to_string(), TIMER, turn.now().after(pause));
        turn.commit(change).await
    }
}

/// Throws rows away in so many steps at most, a commit each, so that the writer is never held up; answers how many are left.
/// The last step, which finds fewer rows than it may take, counts for nothing.
async fn throw_away(store: &Store, purge: &Purge, mut steps: u32) -> u32 {
    while steps > 0 {
        match store.purge(purge, PURGE_ROWS_MAX).await {
            Ok(count) if count < PURGE_ROWS_MAX => break,
            Ok(_) => steps -= 1,
            Err(error) => {
                tracing::warn!(what = purge.what, %error, "what is over could not be thrown away; next time");
                break;
            }
        }
    }
    steps
}

/// What is over at `now`. The audit trail is kept for as long as operators say, or for ever.
fn purges(now: Timestamp, audit_kept: Option<Duration>) -> Vec<Purge> {
    let mut purges = vec![
        Purge::live_messages(now.before(LIVE_KEPT)),
        Purge::idempotency_keys(now.before(store::idempotency::KEPT_FOR)),
        Purge::sign_ins(now),
        Purge::ended_sign_ins(now.before(ENDED_SIGN_INS_KEPT)),
        Purge::push_devices(now),
        Purge::live_activities(now),
        Purge::phone_codes(now.before(phone::CODES_COUNTED_FOR)),
        Purge::attempts(now.before(ATTEMPTS_KEPT)),
        Purge::vault_signatures(now.before(SIGNATURES_KEPT)),
        Purge::revocations(now.before(REVOCATIONS_KEPT)),
        Purge::dead_letters(now.before(GIVEN_UP_KEPT)),
        Purge::deliveries(now.before(DELIVERIES_KEPT)),
        Purge::alerts(now.before(ALERT_FORGOTTEN_AFTER)),
        Purge::text_budgets(budget_day(now) - BUDGET_DAYS_KEPT),
        Purge::kept_messages(now.before(KEPT_MESSAGES_KEPT)),
    ];
    purges.extend(audit_kept.map(|kept| Purge::audit(now.before(kept))));
    purges
}
