//! Deleting tables, alone and with their organization.

use std::time::Duration;

use serde_json::json;
use store::databases::TableRows;

use super::{Table, Tables, index_rows, user, with};

const ITEMS: i64 = 300;
const ITEMS_KEPT: usize = 300;

/// A table of some hundred users, with rows in its index; and its number.
async fn filled(tables: &Tables) -> (Table, i64) {
    let table = tables.users().await;
    for from in (0..ITEMS).step_by(100) {
        let items: Vec<_> = (from..from + 100)
            .map(|at| with(user(&format!("u{at}"), at), "email", json!({"S": format!("{at}@x")})))
            .collect();
        table.post("items/import", json!({ "items": items })).await.expect(200);
    }
    let database = tables.server.store().await.database(tables.org_id(), table.resource_id()).await.unwrap().unwrap();
    (table, database.kept.unwrap().no)
}

#[tokio::test]
async fn a_deleted_table_is_out_of_use_at_once_and_its_items_go_after_it() {
    let tables = Tables::new().await;
    let (table, no) = filled(&tables).await;
    let store = tables.server.store().await;
    tables.server.faults.set("commit:databases.removal=fail").unwrap();
    let deleted = tables.ada.client.delete(&table.path).send().await.expect(202);
    assert_eq!(deleted.str("/database/status"), "deleting");
    let shown = table.describe().await.expect(200);
    assert_eq!((shown.str("/database/status"), shown.str("/table/status")), ("deleting", "DELETING"));
    let busy = "This table is being deleted.";
    table.get(user("u1", 1)).await.expect_error(409, "resource_busy", busy);
    table.put(json!({ "item": user("new", 1) })).await.expect_error(409, "resource_busy", busy);
    table.post("scan", json!({})).await.expect_error(409, "resource_busy", busy);
    tables.ada.client.delete(&table.path).send().await.expect_error(409, "resource_busy", busy);
    tables.try_make(super::users("Users")).await.expect_error(409, "table_exists", "A table with this name exists.");
    assert_eq!(tables.rows(&store, no, None).await.len(), ITEMS_KEPT);
    assert_eq!(index_rows(&store, no, TableRows::Indexes).await, ITEMS_KEPT);
    tables.server.faults.clear();
    tables
        .server
        .eventually("the table is gone", async || {
            tables.server.clock.advance(Duration::from_secs(60));
            (table.describe().await.status == 404).then_some(())
        })
        .await;
    assert_eq!(tables.rows(&store, no, None).await.len(), 0);
    assert_eq!(index_rows(&store, no, TableRows::Indexes).await, 0);
    assert_eq!(store.kept_tables(tables.org_id()).await.unwrap(), []);
    let again = tables.users().await;
    assert_eq!(again.counts().await, (0, 0));
}

#[tokio::test]
async fn the_tables_of_an_organization_go_with_it() {
    let tables = Tables::new().await;
    let (table, no) = filled(&tables).await;
    let other = tables.make(super::users("Others")).await;
    let store = tables.server.store().await;
    tables.ada.client.delete(tables.org()).send().await.expect(200);
    table.describe().await.expect(404);
    other.describe().await.expect(404);
    let kind = domain::resource::ResourceType::Database;
    tables
        .server
        .eventually("nothing is left", async || {
            let is_left = !store.kept_tables(tables.org_id()).await.unwrap().is_empty()
                || store.resources_count(tables.org_id(), kind).await.unwrap() > 0
                || !tables.rows(&store, no, None).await.is_empty()
                || index_rows(&store, no, TableRows::Indexes).await > 0;
            (!is_left).then_some(())
        })
        .await;
    assert_eq!(store.resource_book(tables.org_id()).await.unwrap().revision, 0);
}
