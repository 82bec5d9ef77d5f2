//! A topic of the outbox, as a lane of the dispatcher.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use domain::{Tenant, Timestamp};
use futures::future::BoxFuture;
use store::{Claimed, OutboxClaim, Permits, StoreError, Turns, work::Order};
use tokio::sync::Notify;

use crate::{
    Services,
    work::{AtStop, Lane, Run},
};

/// Delivers entries that were claimed, and settles each. An error says that the store is away; what is left then comes
/// again when its lease ends.
pub type Deliver = for<'a> fn(&'a Services, &'a [OutboxClaim]) -> BoxFuture<'a, Result<(), StoreError>>;
/// Done once when the node starts.
pub type Begin = for<'a> fn(&'a Services) -> BoxFuture<'a, Result<(), StoreError>>;

/// A topic of the outbox.
pub struct OutboxTopic {
    services: Services,
    topic: &'static str,
    permits: Permits,
    turns: Turns,
    lease: Duration,
    deliver: Deliver,
    /// What the node does at its start, if anything.
    begin: Option<Begin>,
}

impl OutboxTopic {
    /// The entries of `topic`, each of which is settled by `deliver` within `lease`: those of a claim together where they
    /// are batches, or those of each tenant in it, and each on its own otherwise.
    pub fn new(services: Services, topic: &'static str, permits: Permits, lease: Duration, deliver: Deliver) -> Self {
        Self { services, topic, permits, turns: Turns::new(permits), lease, deliver, begin: None }
    }

    /// The same, with something to be done once when the node starts.
    #[must_use]
    pub fn beginning_with(self, begin: Begin) -> Self {
        Self { begin: Some(begin), ..self }
    }

    fn runs(&self, claims: Vec<OutboxClaim>) -> Vec<Run> {
        if claims.is_empty() {
            return Vec::new();
        }
        match self.permits.order {
            Order::OfLane => vec![self.run(claims)],
            Order::OfTenant => by_tenant(claims).into_values().map(|claims| self.run(claims)).collect(),
            Order::Free => claims.into_iter().map(|claim| self.run(vec![claim])).collect(),
        }
    }

    fn run(&self, claims: Vec<OutboxClaim>) -> Run {
        let permits = claims.iter().map(|claim| self.turns.take(claim.work.tenant)).collect();
        let (services, topic, deliver) = (self.services.clone(), self.topic, self.deliver);
        Run::new(permits, async move {
            if let Err(error) = deliver(&services, &claims).await {
                tracing::warn!(topic, %error, "entries of the outbox could not be settled; they come again");
            }
            for claim in &claims {
                let waited = services.store.now().since(claim.work.created_at);
                metrics::counter!("troupe_outbox_dispatched_total", "topic" => topic).increment(1);
                metrics::histogram!("troupe_outbox_delay_seconds", "topic" => topic).record(waited);
            }
        })
    }
}

/// Each tenant's claims, in their order.
fn by_tenant(claims: Vec<OutboxClaim>) -> BTreeMap<Tenant, Vec<OutboxClaim>> {
    let mut by_tenant = BTreeMap::<_, Vec<_>>::new();
    for claim in claims {
        by_tenant.entry(claim.work.tenant).or_default().push(claim);
    }
    by_tenant
}

impl Lane for OutboxTopic {
    fn name(&self) -> &'static str {
        self.topic
    }

    fn turns(&self) -> &Turns {
        &self.turns
    }

    fn changed(&self) -> Arc<Notify> {
        self.services.store.work_changed(self.topic)
    }

    fn take(&self) -> BoxFuture<'_, Result<Claimed<Run>, StoreError>> {
        Box::pin(async {
            let claimed = self.services.store.outbox_claim(self.topic, &self.turns, self.lease).await?;
            Ok(match claimed {
                Claimed::Taken(claims) => Claimed::Taken(self.runs(claims)),
                Claimed::NothingDue => Claimed::NothingDue,
                Claimed::NoRoom => Claimed::NoRoom,
            })
        })
    }

    fn next(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.services.store.work_next(self.topic))
    }

    fn at_stop(&self) -> AtStop {
        AtStop::Drain
    }

    fn begin(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        match self.begin {
            Some(begin) => begin(&self.services),
            None => Box::pin(async { Ok(()) }),
        }
    }
}
