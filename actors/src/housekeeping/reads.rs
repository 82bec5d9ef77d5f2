//! Holding what is read for long, once a minute, so that no node deletes it meanwhile.

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
use store::{Claimed, Permits, Store, StoreError, Turns};
use tokio::sync::Notify;

/// How often holds are renewed: several times while one stands.
const EVERY: Duration = Duration::from_mins(1);

/// The lane on which a node holds what it reads.
pub(crate) fn reads_lane(services: &Services) -> Arc<dyn Lane> {
    Arc::new(Reads {
        store: services.store.clone(),
        turns: Turns::new(Permits::shared(1)),
        changed: Arc::default(),
        rests_until: Mutex::new(Instant::now()),
    })
}

struct Reads {
    store: Store,
    turns: Turns,
    /// Never told: a read is held long after it began.
    changed: Arc<Notify>,
    rests_until: Mutex<Instant>,
}

impl Reads {
    /// Whether it is time, from now on not before a minute has passed.
    fn is_due(&self) -> bool {
        let (mut rests_until, now) = (self.rests_until.lock(), Instant::now());
        let is_due = now >= *rests_until;
        if is_due {
            *rests_until = now + EVERY;
        }
        is_due
    }

    fn run(&self) -> Run {
        let store = self.store.clone();
        Run::new(vec![self.turns.take(Tenant::System)], async move {
            if let Err(error) = store.contents_hold_read().await {
                tracing::warn!(%error, "what is being read could not be held; it is tried again");
            }
        })
    }
}

impl Lane for Reads {
    fn name(&self) -> &'static str {
        "reads"
    }

    fn turns(&self) -> &Turns {
        &self.turns
    }

    fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    fn take(&self) -> BoxFuture<'_, Result<Claimed<Run>, StoreError>> {
        Box::pin(async {
            if self.turns.under_way() > 0 {
                return Ok(Claimed::NoRoom);
            }
            Ok(if self.is_due() { Claimed::Taken(vec![self.run()]) } else { Claimed::NothingDue })
        })
    }

    fn next(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        // The dispatcher asks often enough.
        Box::pin(async { Ok(None) })
    }
}
