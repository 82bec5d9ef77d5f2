//! How far this node's clock is from the database's, which is the clock that nodes have in common.
//!
//! What one node sets, another may claim: leases and timers mean the same moment on every node because each adds to its
//! own clock what it was last measured to be behind the database's. A node that is off by more than [`DRIFT_MAX`] trusts
//! neither clock: it claims nothing, says so, and leaves what is due to others.
//!
//! SQLite has no clock of its own. A clock that a test moves is moved on purpose, and isn't followed up: what is compared is
//! the system's time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use sea_orm::DbBackend;

use crate::{Store, StoreError, clock, reader, sql::Sql};

/// What a node's clock may be off by.
pub const DRIFT_MAX: Duration = Duration::from_secs(2);
/// The longest answer of the database that says anything about its clock.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// What was measured last. A cheap handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drift {
    measured: Arc<Measured>,
}

#[derive(Debug, Default)]
struct Measured {
    behind_ms: AtomicI64,
    correction_ms: Arc<AtomicI64>,
    is_off: AtomicBool,
}

impl Drift {
    /// What a clock that follows adds to what it shows, in milliseconds.
    pub fn correction_ms(&self) -> Arc<AtomicI64> {
        Arc::clone(&self.measured.correction_ms)
    }

    /// The database's clock shows so much more than this node's; within `uncertainty`, that is nothing.
    fn note(&self, behind_ms: i64, uncertainty: Duration) {
        let measured = &self.measured;
        let off = Duration::from_millis(behind_ms.unsigned_abs());
        let is_off = off > DRIFT_MAX + uncertainty;
        measured.behind_ms.store(behind_ms, Ordering::Relaxed);
        let correction = if is_off || off <= uncertainty { 0 } else { behind_ms };
        measured.correction_ms.store(correction, Ordering::Relaxed);
        metrics::gauge!("troupe_clock_off_seconds").set(off.as_secs_f64());
        match (measured.is_off.swap(is_off, Ordering::Relaxed), is_off) {
            (false, true) => tracing::error!(
                behind_ms,
                "this node's clock is off by more than 2 s from the database's; it claims no work until that is mended"
            ),
            (true, false) => tracing::info!("this node's clock is right again; it claims work"),
            _ => {}
        }
    }
}

reader::row! {
    struct NowRow {
        now_ms: i64,
    }
}

impl Store {
    /// Compares this node's clock with the database's. A database that takes long to answer says nothing.
    pub async fn clock_check(&self) -> Result<(), StoreError> {
        if self.parts.connections.backend() != DbBackend::Postgres {
            return Ok(());
        }
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms";
        let (here, asked) = (clock::of_the_system().0 + self.faults().drift_ms(), Instant::now());
        let there = self.reader().row::<NowRow>(&Sql::new(sql, [])).await?;
        let took = asked.elapsed();
        if let Some(there) = there
            && took <= ANSWER_WITHIN
        {
            let half = i64::try_from(took.as_millis() / 2).unwrap_or_default();
            self.parts.drift.note(there.now_ms - here - half, took);
        }
        Ok(())
    }

    /// How much more the database's clock showed than this node's when they were last compared, in milliseconds.
    pub fn clock_behind_ms(&self) -> i64 {
        self.parts.drift.measured.behind_ms.load(Ordering::Relaxed)
    }

    /// Whether this node's clock is so far off that it claims nothing.
    pub fn clock_is_off(&self) -> bool {
        self.parts.drift.measured.is_off.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
#[cfg(feature = "faults")]
mod tests {
    use domain::Timestamp;

    use super::*;
    use crate::{Change, Claimed, Clock, Permits, Turns, testing};

    const LEASE: Duration = Duration::from_secs(10);

    async fn with_a_due_timer(clock: Clock) -> Option<(testing::Scratch, Store)> {
        let scratch = testing::postgres().await?;
        let store = scratch.store(clock).await.unwrap();
        let mut change = Change::new();
        change.timer_set("kind", "key", "name", store.now().before(LEASE));
        store.commit(change).await.unwrap();
        Some((scratch, store))
    }

    async fn drift(store: &Store, rule: &str) {
        store.faults().set(rule).unwrap();
        while store.clock_check().await.is_err() {}
    }

    #[tokio::test]
    async fn a_node_whose_clock_is_off_by_more_than_two_seconds_claims_nothing_until_it_is_right() {
        let Some((_scratch, store)) = with_a_due_timer(Clock::system()).await else { return };
        for rule in ["drift=+5s", "drift=-5s"] {
            drift(&store, rule).await;
            assert!(store.clock_is_off(), "{rule}");
            assert_eq!(
                store.timers_claim("kind", &Turns::new(Permits::shared(1)), LEASE).await.unwrap(),
                Claimed::NothingDue
            );
        }
        drift(&store, "").await;
        assert!(!store.clock_is_off());
        assert_eq!(store.timers_claim("kind", &Turns::new(Permits::shared(1)), LEASE).await.unwrap().taken().len(), 1);
    }

    #[tokio::test]
    async fn a_node_that_is_off_by_less_means_the_databases_time() {
        let Some((_scratch, store)) = with_a_due_timer(Clock::system()).await else { return };
        drift(&store, "drift=-1500ms").await;
        let ahead = store.now().0 - clock::of_the_system().0;
        assert!((1_000..=2_000).contains(&ahead), "{ahead} ms");
        assert!(!store.clock_is_off());
    }

    #[tokio::test]
    async fn a_clock_that_a_test_moved_is_not_off() {
        let clock = Clock::manual(Timestamp(1_700_000_000_000));
        let Some((_scratch, store)) = with_a_due_timer(clock.clone()).await else { return };
        store.clock_check().await.unwrap();
        clock.advance(Duration::from_hours(1));
        assert!(!store.clock_is_off());
        assert_eq!(store.now(), clock.now());
        assert_eq!(store.timers_claim("kind", &Turns::new(Permits::shared(1)), LEASE).await.unwrap().taken().len(), 1);
    }
}
