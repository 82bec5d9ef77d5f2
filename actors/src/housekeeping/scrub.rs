//! Reading blobs again, one a second at most, to find what was lost or changed.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::{
    Services,
    work::{Lane, Run},
};
use domain::{Tenant, Timestamp};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use store::{Claimed, Permits, Store, StoreError, Turns, blobs::contents::scrub::ScrubClaim};
use tokio::sync::{Notify, watch};

/// How soon the next blob is read.
const NEXT_AFTER: Duration = Duration::from_secs(1);
/// How soon it is looked whether it is a blob's turn, when it was none's.
const LOOK_AFTER: Duration = Duration::from_secs(60);

/// The lane on which a node reads blobs again.
pub(crate) fn scrub_lane(services: &Services) -> Arc<dyn Lane> {
    Arc::new(Scrub {
        store: services.store.clone(),
        turns: Turns::new(Permits::shared(1)),
        changed: Arc::default(),
        rests_until: Mutex::new(Instant::now()),
        stopping: watch::Sender::new(false),
    })
}

struct Scrub {
    store: Store,
    turns: Turns,
    /// Never told: nobody waits for a scrub.
    changed: Arc<Notify>,
    rests_until: Mutex<Instant>,
    stopping: watch::Sender<bool>,
}

impl Scrub {
    fn rests(&self) -> bool {
        Instant::now() < *self.rests_until.lock()
    }

    fn rest(&self, span: Duration) {
        *self.rests_until.lock() = Instant::now() + span;
    }

    fn run(&self, claim: ScrubClaim) -> Run {
        let (store, mut stopping) = (self.store.clone(), self.stopping.subscribe());
        Run::new(vec![self.turns.take(Tenant::System)], async move {
            tokio::select! {
                // It is its turn again when the claim ends.
                _ = stopping.wait_for(|stops| *stops) => {}
                read = store.scrub(&claim) => if let Err(error) = read {
                    tracing::warn!(%error, "a blob could not be read again; its turn comes later");
                }
            }
        })
    }
}

impl Lane for Scrub {
    fn name(&self) -> &'static str {
        "scrub"
    }

    fn turns(&self) -> &Turns {
        &self.turns
    }

    fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    fn take(&self) -> BoxFuture<'_, Result<Claimed<Run>, StoreError>> {
        Box::pin(async {
            if self.rests() {
                return Ok(Claimed::NothingDue);
            }
            if self.turns.under_way() > 0 {
                return Ok(Claimed::NoRoom);
            }
            self.rest(LOOK_AFTER);
            let Some(claim) = self.store.scrub_claim().await? else { return Ok(Claimed::NothingDue) };
            self.rest(NEXT_AFTER);
            Ok(Claimed::Taken(vec![self.run(claim)]))
        })
    }

    fn next(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        // The dispatcher asks often enough.
        Box::pin(async { Ok(None) })
    }

    fn interrupt(&self) {
        self.stopping.send_replace(true);
    }
}
