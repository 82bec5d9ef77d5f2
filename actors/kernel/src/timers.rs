//! Timers that survive a restart: rows of the store, delivered as commands.
//!
//! A handler sets and cancels them in the commit of the state that they belong to ([`store::Change::timer_set`]). One
//! clock task per node sleeps until the next one is due, or until a commit sets an earlier one; it claims what is due of
//! each kind in turns by tenant, as far as it has permits for it, so that one node delivers it, and asks the owner's registry with [`TimerFired`]. In the owner's own turn the row is
//! looked at once more: one that was cancelled or moved meanwhile is not handed over. The handler's first commit deletes
//! the row; if it commits nothing, the kernel deletes it after the handler.
//!
//! A timer whose handler failed for a reason that may pass (`busy`, `Stale`, `Internal`, a crash) comes again when its
//! lease ends; one that the handler refused for good is settled and logged.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use domain::{Context, Error, Origin, Result, Timestamp};
use store::{Change, Claimed, StoreError, Timer, Turns};
use tokio::sync::Notify;

use super::{
    dead_letters::DeadLetter,
    directory::Directory,
    node::{Kernel, Node},
    registry::{Registry, Slots},
    resource::{Command, Handle},
};

/// How many timers of one kind and tenant are being delivered at once.
const PERMITS_OF_TENANT: u32 = 192;
/// How many of the same kind and other tenants beside them.
const PERMITS_SPARE: u32 = 64;
/// How often timers that other nodes set or left behind are looked for, and how soon after the store failed.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The `code` of a timer that was cancelled before it was handed over.
const CANCELLED: &str = "timer_cancelled";

/// A timer of this resource came due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerFired {
    /// The name that it was set under.
    pub name: String,
    /// When it was due; now is that or later.
    pub due: Timestamp,
}

impl Command for TimerFired {
    type Reply = ();

    const NAME: &'static str = "timer_fired";
}

type Delivery<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A kind of resource that timers are delivered to.
pub(super) trait TimerTarget: Send + Sync {
    /// Hands `timer` over; `None` when its key isn't one of the kind.
    fn deliver(&self, timer: Timer) -> Option<Delivery<'_>>;
}

impl<R: Handle<TimerFired>> TimerTarget for Slots<R> {
    fn deliver(&self, timer: Timer) -> Option<Delivery<'_>> {
        let key: R::Key = timer.key.parse().ok()?;
        let context = Context::system(Origin::Timer, Instant::now() + self.kind.policy.turn_max);
        let fired = TimerFired { name: timer.name.clone(), due: timer.due };
        Some(Box::pin(async move { self.ask(&key, fired, context, Some(Box::new(timer))).await }))
    }
}

impl Kernel {
    /// Has timers of this kind delivered to `registry`.
    pub fn deliver_timers_to<R: Handle<TimerFired>>(&self, registry: &Registry<R>) {
        self.directory.add_timer_target(R::KIND, registry.slots.clone());
    }

    /// Starts the clock task. Call it once, when all kinds that have timers are known.
    pub fn start_timers(&self) {
        let directory = Arc::downgrade(&self.directory);
        self.node.runtime().spawn(keep_delivering(directory));
    }
}

/// The clock task's permits, by kind of resource: slow timers of one kind hold up no other, and those of one tenant leave
/// some to others.
#[derive(Default)]
struct Permits {
    of_kind: HashMap<String, Turns>,
    freed: Arc<Notify>,
}

impl Permits {
    fn of(&mut self, kind: &str) -> Turns {
        let permits = store::Permits::with_spare(PERMITS_OF_TENANT, PERMITS_SPARE);
        self.of_kind.entry(kind.to_owned()).or_insert_with(|| Turns::new(permits)).clone()
    }
}

/// Until when the clock task has nothing to do.
struct Wait {
    /// When the next timer is due that there is room for, if that is known.
    next: Option<Timestamp>,
    /// Whether timers that are due wait for room.
    for_room: bool,
}

async fn keep_delivering(directory: Weak<Directory>) {
    let mut permits = Permits::default();
    loop {
        let Some(strong) = directory.upgrade() else { return };
        let node = Arc::clone(&strong.node);
        let changed = node.store().timers_changed().notified();
        tokio::pin!(changed);
        // From here on a commit's notification is kept, so that none falls between the look and the sleep.
        changed.as_mut().enable();
        let wait = deliver_due(&strong, &mut permits).await.unwrap_or_else(|error| unread(&node, &error));
        drop(strong);
        tokio::select! {
            () = sleep_until(&node, wait.next) => {}
            () = permits.freed.notified(), if wait.for_room => {}
            () = changed => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = node.stopping() => return,
        }
    }
}

async fn sleep_until(node: &Node, next: Option<Timestamp>) {
    match next {
        Some(next) => node.clock().sleep_until(next).await,
        None => std::future::pending().await,
    }
}

/// Claims what is due of each kind, as far as there is room for it, and starts its delivery.
async fn deliver_due(directory: &Arc<Directory>, permits: &mut Permits) -> Result<Wait, StoreError> {
    let node = &directory.node;
    loop {
        let mut wait = Wait { next: None, for_room: false };
        let mut has_taken = false;
        for (kind, next) in node.store().timers_next_by_kind().await? {
            if next > node.clock().now() {
                wait.next = Some(wait.next.map_or(next, |earlier| earlier.min(next)));
                continue;
            }
            let turns = permits.of(&kind);
            match node.store().timers_claim(&kind, &turns, node.timer_lease()).await? {
                Claimed::Taken(timers) => {
                    has_taken = true;
                    for timer in timers {
                        start(directory, &turns, &permits.freed, timer);
                    }
                }
                Claimed::NoRoom => wait.for_room = true,
                // Another node has taken it.
                Claimed::NothingDue => {}
            }
        }
        if !has_taken {
            return Ok(wait);
        }
    }
}

fn start(directory: &Arc<Directory>, turns: &Turns, freed: &Arc<Notify>, timer: Timer) {
    let (directory, permit, freed) = (Arc::clone(directory), turns.take(timer.tenant), Arc::clone(freed));
    tokio::spawn(async move {
        deliver(&directory, timer).await;
        drop(permit);
        freed.notify_one();
    });
}

/// Timers that can't be read are looked for again. A kernel that stops has its store closed under it, which is no news.
fn unread(node: &Node, error: &StoreError) -> Wait {
    if !node.is_stopping() {
        tracing::error!(%error, "due timers could not be read");
    }
    Wait { next: None, for_room: false }
}

async fn deliver(directory: &Directory, timer: Timer) {
    let node = &directory.node;
    let target = directory.timer_target(&timer.kind);
    let Some(delivery) = target.as_ref().and_then(|target| target.deliver(timer.clone())) else {
        return lost(node, timer);
    };
    let outcome = delivery.await;
    let Timer { kind, key, name, due, .. } = &timer;
    match outcome {
        Ok(()) => {}
        Err(Error::NotFound { code: CANCELLED, .. }) => {
            tracing::debug!(kind, key, name, %due, "a timer was cancelled at the last moment");
        }
        Err(error) if is_passing(&error) => {
            tracing::warn!(kind, key, name, %due, %error, "a timer could not be handled; it comes again");
            if node.is_stopping() {
                release(node, &timer).await;
            }
        }
        Err(error) => tracing::error!(kind, key, name, %due, %error, "a timer was refused"),
    }
}

/// Gives the claim back, so that another node or the next start need not wait for its lease to end.
async fn release(node: &Node, timer: &Timer) {
    let mut change = Change::new();
    change.timer_done(timer);
    change.timer_set_for(timer.tenant, &timer.kind, &timer.key, &timer.name, timer.due);
    if let Err(error) = node.store().commit(change).await {
        tracing::debug!(%error, "a timer's claim was not given back");
    }
}

fn lost(node: &Node, timer: Timer) {
    let (kind, key) = (timer.kind, timer.key);
    let reason = "no such kind of resource here, or no such key";
    node.dead_letters().add(DeadLetter { kind, key, command: TimerFired::NAME, reason, at: node.clock().now() });
}

/// Whether trying again later makes sense.
pub(super) fn is_passing(error: &Error) -> bool {
    matches!(error, Error::Busy { .. } | Error::Stale | Error::Internal { .. } | Error::RateLimited { .. })
}

/// Fails with an error that only the clock task sees when `timer` was cancelled, moved or settled meanwhile.
pub(super) async fn check_still_set(node: &Node, timer: &Timer) -> Result<()> {
    let Timer { kind, key, name, due, .. } = timer;
    match node.store().timer_get(kind, key, name).await? {
        Some(now) if now.due == *due => Ok(()),
        _ => Err(Error::NotFound { code: CANCELLED, message: "The timer was cancelled.".into() }),
    }
}

/// Deletes the row of a timer whose handler is done with it and committed nothing.
pub(super) async fn settle(node: &Node, timer: &Timer) -> Result<()> {
    let mut change = Change::new();
    change.timer_done(timer);
    match node.store().commit(change).await.map_err(Error::from) {
        // Cancelled or moved meanwhile, by somebody else's commit: that stands.
        Err(Error::Stale) => Ok(()),
        settled => settled,
    }
}
