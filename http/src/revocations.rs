//! Follows the store's feed of revocations, for the credentials that this node remembers and the sockets that it holds.

use std::{
    collections::HashMap,
    sync::Weak,
    time::{Duration, Instant},
};

use domain::Timestamp;
use store::{Store, StoreError};
use tokio::time::{MissedTickBehavior, interval};

use crate::{credentials::Credentials, state::AppState};

/// How often the feed is read when nobody says anything.
const EVERY: Duration = Duration::from_millis(500);
/// How far back each look goes: commits become visible out of order, and nodes' clocks differ.
const OVERLAP: Duration = Duration::from_secs(10);

/// Follows the feed until the server is gone.
pub async fn follow(state: Weak<AppState>) {
    let Some(mut wake_ups) = subscription(&state).await else { return };
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut feed = Feed::default();
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = wake_ups.next() => {}
        }
        let Some(state) = state.upgrade() else { return };
        if let Err(error) = feed.read(&state.store, &state.credentials).await {
            tracing::warn!(%error, "the feed of revocations can't be read; every token is looked up");
        }
    }
}

async fn subscription(state: &Weak<AppState>) -> Option<gateways::hub::Subscription> {
    let state = state.upgrade()?;
    Some(state.hub.subscribe(actors::outbox::REVOKED_CHANNEL).await)
}

/// What of the feed has been heeded.
#[derive(Default)]
struct Feed {
    since: Option<Timestamp>,
    heeded: HashMap<i64, Timestamp>,
}

impl Feed {
    async fn read(&mut self, store: &Store, credentials: &Credentials) -> Result<(), StoreError> {
        let began = Instant::now();
        let from = store.now().before(OVERLAP);
        let since = self.since.map_or(from, |since| since.min(from));
        let revocations = store.revocations_since(since).await?;
        self.since = Some(from);
        self.heeded.retain(|_, at| *at >= since);
        for revocation in revocations {
            if self.heeded.insert(revocation.seq, revocation.at).is_none() {
                credentials.forget(revocation);
            }
        }
        credentials.feed_was_read(began);
        Ok(())
    }
}
