//! Follows the store's feed of revocations, for the credentials that this node remembers and the sockets that it holds.

mod subscribers;

use std::{
    collections::HashSet,
    sync::Weak,
    time::{Duration, Instant},
};

use store::{FeedPosition, Revocation, Store, StoreError};
use tokio::time::{MissedTickBehavior, interval};

pub(crate) use self::subscribers::{Subscribers, Subscription};
use crate::{credentials::Credentials, state::AppState};

/// How often the feed is read when nobody says anything.
const EVERY: Duration = Duration::from_millis(500);

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
    /// Where the next look begins; none before the first.
    position: Option<FeedPosition>,
    /// The numbers of what the last look showed, some of which the next one shows again.
    heeded: HashSet<i64>,
}

impl Feed {
    async fn read(&mut self, store: &Store, credentials: &Credentials) -> Result<(), StoreError> {
        let began = Instant::now();
        let look = store.revocations_from(self.position.unwrap_or(FeedPosition::NOW)).await?;
        if self.position.is_none_or(|position| look.position < position) {
            // What was remembered before the first look, or of a database that was another one, follows from nothing.
            self.heeded.clear();
            credentials.forget_all();
        }
        let seen: HashSet<i64> = look.revocations.iter().map(|revocation| revocation.seq).collect();
        let is_new = |revocation: &Revocation| !self.heeded.contains(&revocation.seq);
        let news: Vec<_> = look.revocations.into_iter().filter(is_new).collect();
        credentials.forget(&news);
        self.heeded = seen;
        self.position = Some(look.position);
        credentials.feed_was_read(began);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        id::{SignInId, UserId},
    };
    use store::{Change, Clock, RevocationKind, testing};

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    async fn revoke(store: &Store, kind: RevocationKind, target_id: impl std::fmt::Display, at: Timestamp) {
        let mut change = Change::new();
        change.revocation_add(at, kind, target_id);
        store.commit(change).await.unwrap();
    }

    #[tokio::test]
    async fn a_revocation_of_a_node_whose_clock_is_an_hour_behind_is_heeded() {
        for scratch in testing::backends().await {
            let store = scratch.store(Clock::manual(NOW)).await.unwrap();
            let (credentials, mut feed) = (Credentials::default(), Feed::default());
            feed.read(&store, &credentials).await.unwrap();
            let (user_id, sign_in_id) = (UserId::new(NOW), SignInId::new(NOW));
            let mut heard = credentials.subscribe(user_id, Some(sign_in_id));
            revoke(&store, RevocationKind::SignIn, sign_in_id, NOW.before(Duration::from_hours(1))).await;
            feed.read(&store, &credentials).await.unwrap();
            assert!(heard.news().is_some_and(|heard| heard.is_signed_out), "nobody was told");
        }
    }

    #[tokio::test]
    async fn what_the_feed_shows_again_is_heeded_once() {
        for scratch in testing::backends().await {
            let store = scratch.store(Clock::manual(NOW)).await.unwrap();
            let (credentials, mut feed) = (Credentials::default(), Feed::default());
            feed.read(&store, &credentials).await.unwrap();
            let user_id = UserId::new(NOW);
            let mut heard = credentials.subscribe(user_id, None);
            revoke(&store, RevocationKind::User, user_id, NOW).await;
            feed.read(&store, &credentials).await.unwrap();
            assert!(heard.news().is_some());
            feed.read(&store, &credentials).await.unwrap();
            assert!(heard.news().is_none());
        }
    }

    #[tokio::test]
    async fn a_database_that_counts_from_an_earlier_position_has_everything_forgotten() {
        let scratch = testing::Scratch::sqlite().unwrap();
        let store = scratch.store(Clock::manual(NOW)).await.unwrap();
        let (credentials, mut feed) = (Credentials::default(), Feed::default());
        feed.position = Some(FeedPosition::NOW);
        let mut heard = credentials.subscribe(UserId::new(NOW), None);
        feed.read(&store, &credentials).await.unwrap();
        assert!(heard.news().is_some());
    }
}
