use sea_orm::QueryTrait;

use super::*;
use crate::{Clock, reader, sql::Sql, testing::Scratch};

reader::row! {
    struct PlanRow {
        detail: String,
    }
}

/// How SQLite goes about the query.
async fn plan(store: &Store, query: &AuditQuery) -> String {
    let select = query.select(DbBackend::Sqlite).build(DbBackend::Sqlite);
    let values = select.values.map(|values| values.0).unwrap_or_default();
    let explain = Sql::new(format!("EXPLAIN QUERY PLAN {}", select.sql), values);
    let rows: Vec<PlanRow> = store.reader().rows(&explain).await.unwrap();
    rows.into_iter().map(|row| row.detail).collect::<Vec<_>>().join("; ")
}

#[tokio::test]
async fn every_filter_of_the_trail_has_an_index_that_gives_its_order_too() {
    let scratch = Scratch::sqlite().unwrap();
    let store = scratch.store(Clock::system()).await.unwrap();
    let now = Timestamp(0);
    let all =
        || AuditQuery { org_id: OrgId::new(now), action: None, actor: None, target: None, before: None, limit: 50 };
    for (query, index) in [
        (all(), "audit_org_id_id"),
        (AuditQuery { action: Some("vault.created".into()), ..all() }, "audit_action"),
        (AuditQuery { action: Some("vault".into()), ..all() }, "audit_area"),
        (AuditQuery { actor: Some("usr_1".into()), ..all() }, "audit_actor"),
        (AuditQuery { target: Some("vlt_1".into()), ..all() }, "audit_target"),
    ] {
        let query = AuditQuery { before: Some(AuditId::new(now)), ..query };
        let plan = plan(&store, &query).await;
        assert!(plan.contains(&format!("INDEX {index} ")), "{index}: {plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{index}: {plan}");
    }
}
