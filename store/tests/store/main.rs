//! What every area relies on, against SQLite and, when `TROUPE_TEST_DATABASE_URL` is set, PostgreSQL.

extern crate troupe_store as store;

mod audit;
mod blobs;
mod contents;
mod contents_plan;
mod contents_reads;
mod deliveries;
mod escalations;
mod idempotency;
mod live;
mod notices;
mod outbox;
mod pages_search;
mod purge;
mod timers;
mod wanted;
mod work;

use std::time::Duration;

use domain::time::Timestamp;
use store::{
    Change, Clock, PURGE_ROWS_MAX, Purge, Store,
    testing::{self, Scratch},
};

/// When the tests' clocks start.
const START: Timestamp = Timestamp(1_700_000_000_000);
/// How long claims are held.
const LEASE: Duration = Duration::from_secs(30);

/// A migrated store of `scratch`, on `clock`.
async fn open(scratch: &Scratch, clock: &Clock) -> Store {
    scratch.store(clock.clone()).await.expect("opens")
}

/// Commits what `fill` puts into a change.
async fn commit(store: &Store, fill: impl FnOnce(&mut Change)) {
    let mut change = Change::new();
    fill(&mut change);
    store.commit(change).await.expect("commits");
}

/// Throws away what is over, which must be less than one step takes.
async fn purge(store: &Store, purge: Purge) {
    assert!(purge_up_to(store, &[purge], PURGE_ROWS_MAX).await < PURGE_ROWS_MAX);
}

/// Throws at most so many rows away, in a commit of their own; how many there were.
async fn purge_up_to(store: &Store, purges: &[Purge], limit: u32) -> u32 {
    let batch = store.purge_next(purges, limit).await.expect("reads");
    store.commit(batch.change).await.expect("commits");
    batch.rows.iter().map(|(_, count)| count).sum()
}

#[tokio::test]
async fn migrating_twice_and_from_two_nodes_at_once_changes_nothing_more() {
    for scratch in testing::unmigrated_backends().await {
        let clock = Clock::system();
        let (one, two) = tokio::join!(open(&scratch, &clock), open(&scratch, &clock));
        one.migrate().await.expect("migrates again");
        assert!(two.pending_migrations().await.expect("reads").is_empty());
        one.ping().await.expect("answers");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_programs_open_one_new_database_at_the_same_time() {
    for scratch in testing::unmigrated_backends().await {
        let openings = (0..8).map(|_| {
            let options = scratch.options();
            tokio::spawn(async move { Store::connect(&options, Clock::system()).await?.migrate().await })
        });
        for opening in openings.collect::<Vec<_>>() {
            opening.await.expect("runs").expect("opens and migrates");
        }
    }
}
