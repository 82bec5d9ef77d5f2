//! The delivery worker: sees to it that what people are to be told reaches them (decisions, "Notifications",
//! "Deliveries").
//!
//! Woken by each commit of this process that makes a delivery, it claims what is due, tries it once, and settles it, each
//! in one commit. What another process left behind is found by looking every [`LOOK_EVERY`]. Any number of nodes may run
//! one.
//!
//! - Each channel is a lane with hands of its own ([`Lane`]): a gateway that hangs holds up what goes over it, and nothing
//!   else.
//! - A try that may go better next time is put off, longer each time ([`settle`]); every try of a delivery carries the
//!   same idempotency key, its id.
//! - What quiet hours held back becomes one summary per person when they end ([`held`]).
//!
//! Delivery is at least once: a node that dies between a try and its commit leaves a claim whose lease ends, and then it
//! is tried again; a node that lives renews the claims of tries that take long. It must never happen that a delivery counts
//! as sent before a gateway took it.

mod attempt;
mod email;
mod held;
mod inbox;
mod lane;
mod phone;
mod push;
mod settle;

use std::{sync::Arc, time::Duration};

use domain::Timestamp;
use store::{DeliveryLane, StoreError};
use tokio::sync::{Notify, watch};

pub use self::inbox::{DeliveryReport, ReportDelivery, SendTest};
use self::lane::Lane;
use crate::{Services, worker::Worker};

/// How long a node has for one try before it counts as dead, unless it says that it is still at it.
const LEASE: Duration = Duration::from_secs(15);
/// How often it says so: most tries are over before.
const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How often deliveries that other processes left are looked for, and how soon after the store failed.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The delivery worker of one node. A cheap handle.
#[derive(Clone, Debug)]
pub struct DeliveryWorker {
    services: Services,
    lanes: Arc<[Lane]>,
    finished: Arc<Notify>,
}

/// A delivery worker at work; it stops where it stands when this is dropped.
#[derive(Debug)]
pub struct RunningDeliveryWorker {
    deliveries: DeliveryWorker,
    worker: Worker,
}

impl DeliveryWorker {
    /// A worker that does nothing until it is started or asked.
    pub fn new(services: Services) -> Self {
        Self { services, lanes: lane::all(), finished: Arc::default() }
    }

    /// Starts working, on the current runtime.
    pub fn start(self) -> RunningDeliveryWorker {
        let worker = Worker::start(|stop| self.clone().run(stop));
        RunningDeliveryWorker { deliveries: self, worker }
    }

    /// Tries all that is due now, and returns when each delivery is settled or put off.
    pub async fn deliver_due(&self) -> Result<(), StoreError> {
        while self.start_due().await? > 0 {
            self.all_finished().await;
        }
        Ok(())
    }

    async fn run(self, mut stop: watch::Receiver<bool>) {
        let store = self.services.store.clone();
        while !*stop.borrow_and_update() {
            let next = self.round().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "deliveries can't be read; trying again");
                None
            });
            tokio::select! {
                () = store.deliveries_changed().notified() => {}
                () = self.finished.notified() => {}
                () = self.sleep_until(next) => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = stop.changed() => {}
            }
        }
    }

    /// Starts what is due; answers when the next delivery is, if that is known.
    async fn round(&self) -> Result<Option<Timestamp>, StoreError> {
        self.start_due().await?;
        let mut next = self.services.store.deliveries_next(DeliveryLane::Held).await?;
        // With no hand free, the next delivery waits for one rather than for its time.
        for lane in self.lanes.iter().filter(|lane| lane.free() > 0) {
            next = [next, self.services.store.deliveries_next(lane.of).await?].into_iter().flatten().min();
        }
        Ok(next)
    }

    /// Starts as much of what is due as there are hands for; answers how much.
    async fn start_due(&self) -> Result<usize, StoreError> {
        let mut started = held::release_due(&self.services).await?;
        for lane in self.lanes.iter() {
            started += self.start_lane(lane).await?;
        }
        Ok(started)
    }

    async fn start_lane(&self, lane: &Lane) -> Result<usize, StoreError> {
        let mut started = 0;
        loop {
            let free = lane.free();
            if free == 0 {
                return Ok(started);
            }
            let claims = self.services.store.deliveries_claim(lane.of, free, LEASE).await?;
            let last = claims.len() < free as usize;
            started += claims.len();
            for prepared in attempt::prepare(&self.services, claims).await? {
                let Some(hand) = lane.take().await else { return Ok(started) };
                let worker = self.clone();
                tokio::spawn(async move {
                    attempt::run(&worker.services, &prepared).await;
                    drop(hand);
                    worker.finished.notify_one();
                });
            }
            if last {
                return Ok(started);
            }
        }
    }

    async fn sleep_until(&self, next: Option<Timestamp>) {
        match next {
            Some(next) => self.services.store.clock().sleep_until(next).await,
            None => std::future::pending().await,
        }
    }

    /// Returns once nothing is being tried.
    async fn all_finished(&self) {
        for lane in self.lanes.iter() {
            lane.all_free().await;
        }
    }
}

impl RunningDeliveryWorker {
    /// Takes no more deliveries, and returns once those under way are settled, at the latest after `grace`. What could not
    /// be finished comes again when its lease ends.
    pub async fn stop(&self, grace: Duration) {
        if !self.worker.stop(self.deliveries.all_finished(), grace).await {
            tracing::warn!("deliveries were left before all under way were settled; they come again");
        }
    }
}

/// The whole address of what may be a path of this server.
fn whole_link(public_url: &str, url: &str) -> String {
    if url.starts_with('/') { format!("{public_url}{url}") } else { url.to_owned() }
}
