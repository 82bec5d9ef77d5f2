//! What a dispatcher needs to know of each thing that it works off.

use std::sync::Arc;

use domain::{Tenant, Timestamp};
use futures::future::BoxFuture;
use store::{Claimed, StoreError, Turns, work::Permit};
use tokio::sync::Notify;

/// What a lane does when the node stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtStop {
    /// It works off what waits: nobody shall wait for the next start.
    Drain,
    /// It finishes what is under way, and leaves the rest.
    Leave,
}

/// Entries that wait for each other's permits, and for no others'.
pub trait Lane: Send + Sync {
    /// Its name, for operators.
    fn name(&self) -> &'static str;

    /// Its permits.
    fn turns(&self) -> &Turns;

    /// Told when this process added something.
    fn changed(&self) -> Arc<Notify>;

    /// Claims what is due, as much as there are permits for, and makes runs of it.
    fn take(&self) -> BoxFuture<'_, Result<Claimed<Run>, StoreError>>;

    /// When something is due next, or a lease ends.
    fn next(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>>;

    /// What it does when the node stops.
    fn at_stop(&self) -> AtStop {
        AtStop::Leave
    }

    /// Done once at the start, until it succeeds.
    fn begin(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    /// Told that the node stops, before anything else is: what takes long ends where it can go on later.
    fn interrupt(&self) {}
}

/// Claimed entries, on their way to being settled.
pub struct Run {
    permits: Vec<Permit>,
    work: BoxFuture<'static, ()>,
}

impl Run {
    /// The run of `work`, which holds `permits` until it ends.
    pub fn new(permits: Vec<Permit>, work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { permits, work: Box::pin(work) }
    }

    /// Works, and frees the permits. Nobody waits for its commits; those of a batch for several tenants are in Troupe's turns.
    pub(super) async fn finish(self) {
        let Self { permits, work } = self;
        let tenant =
            permits.iter().map(Permit::tenant).reduce(|one, other| if one == other { one } else { Tenant::System });
        store::behalf::behind(tenant.unwrap_or_default(), work).await;
        drop(permits);
    }
}

/// Returns once nothing of the lane is under way.
pub(super) async fn idle(lane: &dyn Lane) {
    while lane.turns().under_way() > 0 {
        lane.turns().freed().notified().await;
    }
}
