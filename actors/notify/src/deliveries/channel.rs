//! A channel, as a lane of the dispatcher.

use std::sync::Arc;

use actors_base::{
    Services,
    work::{Lane, Run},
};
use domain::Timestamp;
use futures::future::BoxFuture;
use store::{Claimed, DeliveryLane, Permits, StoreError, Turns};
use tokio::sync::Notify;

use super::{LEASE, attempt};

/// Tries that one node has under way at once: of a tenant (decisions, "Notifications", "Deliveries"), and beside those of
/// others.
const fn permits(lane: DeliveryLane) -> Permits {
    match lane {
        DeliveryLane::Email => Permits::with_spare(8, 2),
        DeliveryLane::Sms | DeliveryLane::Voice => Permits::with_spare(4, 1),
        DeliveryLane::Push => Permits::with_spare(32, 8),
        DeliveryLane::Held => Permits::batches(1),
    }
}

/// What goes out over one channel.
pub(super) struct Channel {
    services: Services,
    lane: DeliveryLane,
    turns: Turns,
}

impl Channel {
    pub fn new(services: Services, lane: DeliveryLane) -> Self {
        Self { services, lane, turns: Turns::new(permits(lane)) }
    }

    async fn claim(&self) -> Result<Claimed<Run>, StoreError> {
        let claims = match self.services.store.deliveries_claim(self.lane, &self.turns, LEASE).await? {
            Claimed::Taken(claims) => claims,
            Claimed::NothingDue => return Ok(Claimed::NothingDue),
            Claimed::NoRoom => return Ok(Claimed::NoRoom),
        };
        let run = |prepared: attempt::Prepared| {
            let permit = self.turns.take(prepared.tenant());
            let services = self.services.clone();
            Run::new(vec![permit], async move { attempt::run(&services, &prepared).await })
        };
        Ok(Claimed::Taken(attempt::prepare(&self.services, claims).await?.into_iter().map(run).collect()))
    }
}

impl Lane for Channel {
    fn name(&self) -> &'static str {
        self.lane.topic()
    }

    fn turns(&self) -> &Turns {
        &self.turns
    }

    fn changed(&self) -> Arc<Notify> {
        self.services.store.deliveries_changed(self.lane)
    }

    fn take(&self) -> BoxFuture<'_, Result<Claimed<Run>, StoreError>> {
        Box::pin(self.claim())
    }

    fn next(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.services.store.deliveries_next(self.lane))
    }
}
