//! Timers that survive a restart: rows of the store, delivered as commands.
//!
//! A handler sets and cancels them in the commit of the state that they belong to ([`store::Change::timer_set`]). One
//! clock task per node sleeps until the next one is due, or until a commit sets an earlier one; it claims what is due,
//! so that one node delivers it, and asks the owner's registry with [`TimerFired`]. In the owner's own turn the row is
//! looked at once more: one that was cancelled or moved meanwhile is not handed over. The handler's first commit deletes
//! the row; if it commits nothing, the kernel deletes it after the handler.
//!
//! A timer whose handler failed for a reason that may pass (`busy`, `Stale`, `Internal`, a crash) comes again when its
//! lease ends; one that the handler refused for good is settled and logged.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use domain::{Context, Error, Origin, Result, Timestamp};
use store::{Change, StoreError, Timer};
use tokio::sync::Semaphore;

use super::{
    dead_letters::DeadLetter,
    directory::Directory,
    node::{Kernel, Node},
    registry::{Registry, Slots},
    resource::{Command, Handle},
};

/// How many timers are claimed at once.
const CLAIM_MAX: u32 = 64;
/// How many timers are being delivered at once.
const DELIVERIES_MAX: usize = 256;
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

async fn keep_delivering(directory: Weak<Directory>) {
    let deliveries = Arc::new(Semaphore::new(DELIVERIES_MAX));
    loop {
        let Some(strong) = directory.upgrade() else { return };
        let node = Arc::clone(&strong.node);
        let changed = node.store().timers_changed().notified();
        tokio::pin!(changed);
        // From here on a commit's notification is kept, so that none falls between the look and the sleep.
        changed.as_mut().enable();
        let next = deliver_due(&strong, &deliveries).await;
        drop(strong);
        tokio::select! {
            () = sleep_until(&node, next) => {}
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

/// Claims what is due and starts its delivery; when to look again, if that is known.
async fn deliver_due(directory: &Arc<Directory>, deliveries: &Arc<Semaphore>) -> Option<Timestamp> {
    let node = &directory.node;
    loop {
        let claimed = match node.store().timers_claim(CLAIM_MAX, node.timer_lease()).await {
            Ok(claimed) => claimed,
            Err(error) => return unread(node, &error),
        };
        let last = claimed.len() < CLAIM_MAX as usize;
        for timer in claimed {
            let permit = Arc::clone(deliveries).acquire_owned().await.ok()?;
            let directory = Arc::clone(directory);
            tokio::spawn(async move {
                deliver(&directory, timer).await;
                drop(permit);
            });
        }
        if last {
            return node.store().timers_next().await.unwrap_or_else(|error| unread(node, &error));
        }
    }
}

/// Timers that can't be read are looked for again. A kernel that stops has its store closed under it, which is no news.
fn unread(node: &Node, error: &StoreError) -> Option<Timestamp> {
    if !node.is_stopping() {
        tracing::error!(%error, "due timers could not be read");
    }
    None
}

async fn deliver(directory: &Directory, timer: Timer) {
    let node = &directory.node;
    let target = directory.timer_target(&timer.kind);
    let Some(delivery) = target.as_ref().and_then(|target| target.deliver(timer.clone())) else {
        return lost(node, timer);
    };
    let outcome = delivery.await;
    let Timer { kind, key, name, due } = &timer;
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
    change.timer_set(&timer.kind, &timer.key, &timer.name, timer.due);
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
    let Timer { kind, key, name, due } = timer;
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
