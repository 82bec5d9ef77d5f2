use domain::time::Timestamp;
use sea_orm::{DbBackend, StatementBuilder};

use super::*;
use crate::{Clock, testing::Scratch};

row! {
    struct PlanRow {
        detail: String,
    }
}

/// How SQLite goes about the purge.
async fn plan(store: &Store, purge: &Purge) -> String {
    let delete = purge.delete(PURGE_ROWS_MAX).build(&DbBackend::Sqlite);
    let explain = Sql::new(format!("EXPLAIN QUERY PLAN {}", delete.sql), purge.values(PURGE_ROWS_MAX));
    let rows: Vec<PlanRow> = store.reader().rows(&explain).await.unwrap();
    rows.into_iter().map(|row| row.detail).collect::<Vec<_>>().join("; ")
}

#[tokio::test]
async fn what_is_over_by_its_time_is_found_by_an_index() {
    let scratch = Scratch::sqlite().unwrap();
    let store = scratch.store(Clock::system()).await.unwrap();
    let now = Timestamp(0);
    for purge in [
        Purge::live_messages(now),
        Purge::idempotency_keys(now),
        Purge::sign_ins(now),
        Purge::phone_codes(now),
        Purge::attempts(now),
        Purge::vault_signatures(now),
        Purge::revocations(now),
        Purge::deliveries(now),
        Purge::kept_messages(now),
        Purge::audit(now),
    ] {
        let plan = plan(&store, &purge).await;
        assert!(!plan.contains("SCAN"), "{}: {plan}", purge.what);
    }
}
