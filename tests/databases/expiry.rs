//! Items that expire.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Table, Tables, user, with};

const TOPIC: &str = "databases.expiry";
const DAY: Duration = Duration::from_hours(24);

/// Has the items of a table expire by this attribute, or by none.
async fn expire_by(tables: &Tables, table: &Table, attribute: Option<&str>) {
    let body = json!({ "ttlAttribute": attribute });
    tables.ada.client.patch(&table.path).json(&body).send().await.expect(200);
}

#[tokio::test]
async fn what_has_expired_is_deleted_and_what_was_written_anew_stays() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    tables.ada.client.patch(&table.path).json(&json!({"ttlAttribute": "until"})).send().await.expect(200);
    let now = tables.server.clock.now().0 / 1_000;
    let until = |id: &str, value: Value| with(with(user(id, 1), "until", value), "email", json!({"S": "a@x"}));
    let seconds = |from_now: i64| json!({"N": (now + from_now).to_string()});
    for (id, value) in [
        ("soon", seconds(60)),
        ("kept", seconds(60)),
        ("later", seconds(86_400)),
        ("text", json!({"S": "1"})),
        ("long-ago", json!({"N": "1"})),
        ("past", seconds(-1)),
    ] {
        table.add(until(id, value)).await;
    }
    let kept = until("kept", seconds(60));
    table.put(json!({"item": until("kept", json!({"NULL": true})), "original": kept})).await.expect(200);
    // It can be read until then.
    table.get(user("soon", 1)).await.expect(200);
    let is_gone = async |id: &str| (table.get(user(id, 1)).await.status == 404).then_some(());
    tables.server.clock.advance(Duration::from_mins(3));
    tables
        .server
        .eventually("two have expired", async || {
            is_gone("soon").await?;
            is_gone("past").await
        })
        .await;
    for id in ["kept", "later", "text", "long-ago"] {
        table.get(user(id, 1)).await.expect(200);
    }
    tables.server.clock.advance(Duration::from_hours(24));
    tables.server.in_time("the other has, too", async || is_gone("later").await).await;
    super::model::check_rows(&tables, &table).await;
    assert_eq!(table.counts().await.0, 3);
}

#[tokio::test]
async fn what_expires_by_an_attribute_that_says_so_no_more_stays() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let store = tables.server.store().await;
    let seconds = |from_now: i64| json!({"N": (tables.server.clock.now().0 / 1_000 + from_now).to_string()});
    let until = |id: &str| with(with(user(id, 1), "until", seconds(60)), "email", json!({"S": "a@x"}));
    expire_by(&tables, &table, Some("until")).await;
    table.add(until("off")).await;
    expire_by(&tables, &table, None).await;
    tables.server.clock.advance(Duration::from_mins(5));
    tables
        .server
        .eventually("the table was looked at", async || store.work_next(TOPIC).await.unwrap().is_none().then_some(()))
        .await;
    table.get(user("off", 1)).await.expect(200);
    // Another attribute says something else.
    expire_by(&tables, &table, Some("until")).await;
    table.add(with(until("other"), "then", seconds(3_600))).await;
    expire_by(&tables, &table, Some("then")).await;
    tables.server.clock.advance(Duration::from_mins(5));
    tables
        .server
        .eventually("the table was looked at, and will be again", async || {
            // What has to be tried again is due later.
            tables.server.clock.advance(Duration::from_mins(1));
            store.work_next(TOPIC).await.unwrap().filter(|next| *next > tables.server.clock.now()).map(drop)
        })
        .await;
    table.get(user("other", 1)).await.expect(200);
    tables.server.clock.advance(Duration::from_hours(1));
    tables
        .server
        .eventually("it has expired by the other one", async || {
            (table.get(user("other", 1)).await.status == 404).then_some(())
        })
        .await;
    table.get(user("off", 1)).await.expect(200);
    super::model::check_rows(&tables, &table).await;
}

#[tokio::test]
async fn what_expires_in_ages_is_looked_at_each_month_as_long_as_its_table_is_there() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let store = tables.server.store().await;
    expire_by(&tables, &table, Some("until")).await;
    for (at, until) in (0..).zip(["9223372036854775", "99999999999"]) {
        table.add(with(user("ada", at), "until", json!({ "N": until }))).await;
    }
    let looked_at_again = async || {
        let now = tables.server.clock.now();
        store.work_next(TOPIC).await.unwrap().filter(|next| *next > now && *next <= now.after(31 * DAY))
    };
    assert!(looked_at_again().await.is_some());
    tables.server.clock.advance(32 * DAY);
    tables.server.eventually("it was looked at, and will be again", looked_at_again).await;
    let kept = store.database(tables.org_id(), table.resource_id()).await.unwrap().unwrap().kept.unwrap();
    assert_eq!(tables.rows(&store, kept.no, None).await.len(), 2);
    let mut close = store::Change::new();
    close.tables_close(tables.org_id());
    store.commit(close).await.unwrap();
    tables.server.clock.advance(32 * DAY);
    tables
        .server
        .in_time("nobody looks any more", async || store.work_next(TOPIC).await.unwrap().is_none().then_some(()))
        .await;
}
