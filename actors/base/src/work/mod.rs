//! The dispatcher: works off what waits in the store, in turns by tenant.
//!
//! What waits is ordered in lanes ([`Lane`]), each with permits of its own and a task of its own: a gateway that hangs, or a
//! job that takes hours, holds up its lane and nothing else. A lane claims only as much as it has permits for, shares it
//! among the tenants that have something due, and runs each claim on a task. It is woken by commits of this process that
//! add something, and finds what other processes left behind by looking every [`LOOK_EVERY`]. Any number of nodes may run
//! a dispatcher.
//!
//! The topics of the outbox ([`crate::outbox`]) and the channels of deliveries are lanes, and so is each kind of long work
//! ([`job`]). An area adds a job in three steps: a type that implements [`Handler`](job::Handler), a [`Topic`](job::Topic)
//! that says how much of it runs at once, and both in its descriptor ([`Area`](crate::Area)). What only throws rows away is
//! done by [`clearing`].

pub mod clearing;
pub mod job;
mod lane;

use std::{sync::Arc, time::Duration};

use domain::Timestamp;
use store::{Claimed, Clock, Store, StoreError};
use tokio::sync::watch;

pub use self::lane::{AtStop, Lane, Run};
use crate::worker::Worker;

/// How often what other processes left is looked for, and how soon after the store failed.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The dispatcher of one node. A cheap handle.
#[derive(Clone)]
pub struct Dispatcher {
    store: Store,
    lanes: Vec<Arc<dyn Lane>>,
}

/// A dispatcher at work; it stops where it stands when this is dropped.
pub struct RunningDispatcher {
    lanes: Vec<(Arc<dyn Lane>, Worker)>,
}

/// Until when a lane has nothing to do.
enum Wait {
    /// Until something is due, where that is known.
    Due(Option<Timestamp>),
    /// Until a permit is free.
    Room,
}

impl Dispatcher {
    /// A dispatcher that does nothing until it is started or asked. It stops its lanes in the order given: those whose work
    /// adds to other lanes come first.
    pub fn new(store: Store, lanes: Vec<Arc<dyn Lane>>) -> Self {
        Self { store, lanes }
    }

    /// Starts working, on the current runtime.
    pub fn start(self) -> RunningDispatcher {
        let clock = self.store.clock().clone();
        let start = |lane: Arc<dyn Lane>| {
            let worker = Worker::start(|stop| keep_working(Arc::clone(&lane), clock.clone(), stop));
            (lane, worker)
        };
        RunningDispatcher { lanes: self.lanes.into_iter().map(start).collect() }
    }

    /// Works off all that is due now, and returns when each entry is settled or put off.
    pub async fn work_due(&self) -> Result<(), StoreError> {
        loop {
            let mut has_worked = false;
            for lane in &self.lanes {
                while let Claimed::Taken(runs) = lane.take().await? {
                    has_worked |= !runs.is_empty();
                    futures::future::join_all(runs.into_iter().map(Run::finish)).await;
                }
            }
            if !has_worked {
                return Ok(());
            }
        }
    }
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.lanes.iter().map(|lane| lane.name())).finish()
    }
}

async fn keep_working(lane: Arc<dyn Lane>, clock: Clock, mut stop: watch::Receiver<bool>) {
    let changed = lane.changed();
    let mut has_begun = false;
    loop {
        // Looked at before the round: what was committed before the stop is worked off still, where the lane does that.
        let last = *stop.borrow_and_update();
        if last && lane.at_stop() != AtStop::Drain {
            return;
        }
        if !has_begun {
            has_begun = lane.begin().await.is_ok();
        }
        let wait = start_due(&*lane).await.unwrap_or_else(|error| {
            tracing::warn!(lane = lane.name(), %error, "what is due can't be read; trying again");
            Wait::Due(None)
        });
        match wait {
            Wait::Due(_) if last => return,
            Wait::Due(next) => tokio::select! {
                () = changed.notified() => {}
                () = sleep_until(&clock, next) => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = stop.changed() => {}
            },
            // Whose turn it is has no room; somebody else who has some may come.
            Wait::Room => tokio::select! {
                () = lane.turns().freed().notified() => {}
                () = changed.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            },
        }
    }
}

/// Starts as much of what is due as there are permits for.
async fn start_due(lane: &dyn Lane) -> Result<Wait, StoreError> {
    loop {
        match lane.take().await? {
            Claimed::Taken(runs) => {
                for run in runs {
                    tokio::spawn(run.finish());
                }
            }
            Claimed::NothingDue => return Ok(Wait::Due(lane.next().await?)),
            Claimed::NoRoom => return Ok(Wait::Room),
        }
    }
}

async fn sleep_until(clock: &Clock, next: Option<Timestamp>) {
    match next {
        Some(next) => clock.sleep_until(next).await,
        None => std::future::pending().await,
    }
}

impl RunningDispatcher {
    /// Tells what takes long to end where it can go on later.
    pub fn interrupt(&self) {
        for (lane, _) in &self.lanes {
            lane.interrupt();
        }
    }

    /// Claims no more, beside what waits on lanes that are drained, and returns once what is under way is settled, at the
    /// latest after `grace`. What could not be finished comes again at the next start, or when its lease ends.
    pub async fn stop(&self, grace: Duration) {
        let until = tokio::time::Instant::now() + grace;
        self.interrupt();
        for (lane, worker) in &self.lanes {
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            if !worker.stop(lane::idle(&**lane), left).await {
                tracing::warn!(lane = lane.name(), "work was left before all of it was settled; it comes again");
            }
        }
    }
}

impl std::fmt::Debug for RunningDispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.lanes.iter().map(|(lane, _)| lane.name())).finish()
    }
}
