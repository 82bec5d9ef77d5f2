//! A node says every few seconds that it is there, and how it is.

use std::time::Duration;

use domain::Error;
use store::{Change, Node};

use super::{Platform, VERSION};

/// How often a node says that it is there.
pub const SEEN_EVERY: Duration = Duration::from_secs(10);
/// How long after that it counts as there.
pub const AWAY_AFTER: Duration = Duration::from_secs(35);
/// How long a node that left without a word is remembered.
const REMEMBERED_FOR: Duration = Duration::from_hours(24);

/// Says so for as long as the node lives.
pub(super) async fn keep_saying(platform: Platform) {
    let mut ticks = tokio::time::interval(SEEN_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = say(&platform).await {
            tracing::warn!(%error, "this node could not say that it is there");
        }
    }
}

async fn say(platform: &Platform) -> Result<(), Error> {
    let store = &platform.shared.services.store;
    store.clock_check().await?;
    let health = platform.health_with(platform.database_us().await?);
    let now = store.now();
    let node = Node {
        name: platform.node().to_owned(),
        version: VERSION.to_owned(),
        started_at: platform.shared.started_at,
        seen_at: now,
        health,
    };
    let mut change = Change::new();
    change.node_seen(&node);
    change.nodes_purge(now.before(REMEMBERED_FOR));
    Ok(store.commit(change).await?)
}

/// Says that the node leaves.
pub(super) async fn leave(platform: &Platform) {
    let mut change = Change::new();
    change.node_left(platform.node());
    if let Err(error) = platform.shared.services.store.commit(change).await {
        tracing::warn!(%error, "this node could not say that it leaves");
    }
}
