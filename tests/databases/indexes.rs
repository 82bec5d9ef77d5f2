//! `POST …/indexes`, `DELETE …/indexes/:name`

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::{databases::TableRows, testing::DATABASE_URL_VARIABLE};

use super::{Table, Tables, index_rows, user, with};

fn by_city() -> Value {
    json!({"name": "by-city", "partitionKey": {"name": "city", "type": "S"}, "sortKey": {"name": "at", "type": "N"}, "kind": "global"})
}

async fn import(table: &Table, from: i64) {
    let item = |at: i64| with(user(&format!("u{at}"), at), "city", json!({"S": format!("city{}", at % 3)}));
    table.post("items/import", json!({ "items": (from..from + 100).map(item).collect::<Vec<_>>() })).await.expect(200);
}

async fn ready(tables: &Tables, table: &Table) {
    tables
        .server
        .eventually("the index is there", async || {
            tables.server.clock.advance(Duration::from_secs(60));
            let table = table.describe().await.expect(200).json["table"].clone();
            let index = table["indexes"].as_array().unwrap().iter().find(|index| index["name"] == "by-city")?.clone();
            (index["status"] == "ACTIVE" && index.get("backfilling").is_none()).then_some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_comes_later_has_what_is_there_and_what_is_written_meanwhile() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    for from in (0..300).step_by(100) {
        import(&table, from).await;
    }
    // An item from before that has something else there is left out.
    table.add(with(user("odd", 1), "city", json!({"N": "1"}))).await;
    let write = async |at: i64| {
        let key = user(&format!("u{at}"), at);
        if at % 2 == 0 {
            table.delete(key).await.expect(204);
        } else {
            let original = table.get(key.clone()).await.expect(200).json["item"].clone();
            let moved = with(key, "city", json!({"S": "elsewhere"}));
            table.put(json!({ "item": moved, "original": original })).await.expect(200);
        }
    };
    let made = async {
        let made = table.post("indexes", by_city()).await.expect(202);
        assert_eq!(made.json["table"]["indexes"][2]["name"], "by-city");
    };
    tokio::join!(made, join_all((0..60).map(|at| write(at * 5))));
    ready(&tables, &table).await;
    super::model::check_rows(&tables, &table).await;
    let body = json!({"index": "by-city", "partition": {"S": "elsewhere"}, "limit": 100});
    assert_eq!(table.post("query", body).await.expect(200).int("/count"), 30);
    let wrong = table.put(json!({ "item": with(user("new", 1), "city", json!({"N": "1"})) })).await;
    wrong.expect_error(400, "invalid_key", "city must be a string.");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_while_a_backfill_is_held_up_is_in_the_index_as_it_is_by_then() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    import(&table, 0).await;
    // A batch has been read, and isn't committed before all of these writes.
    tables.server.faults.set("commit:databases.index_backfill=stall(2s);times=2").unwrap();
    table.post("indexes", by_city()).await.expect(202);
    let held = async || (tables.server.faults.happened() > 0).then_some(());
    tables.server.eventually("a batch", held).await;
    for at in 0..100 {
        let key = user(&format!("u{at}"), at);
        match at % 3 {
            0 => drop(table.delete(key).await.expect(204)),
            1 => {
                let original = table.get(key.clone()).await.expect(200).json["item"].clone();
                let moved = with(key, "city", json!({"S": "elsewhere"}));
                table.put(json!({ "item": moved, "original": original })).await.expect(200);
            }
            _ => table.add(with(user(&format!("new{at}"), at), "city", json!({"S": "city0"}))).await,
        }
    }
    ready(&tables, &table).await;
    super::model::check_rows(&tables, &table).await;
    let body = json!({"index": "by-city", "partition": {"S": "elsewhere"}, "limit": 100});
    assert_eq!(table.post("query", body).await.expect(200).int("/count"), 33);
}

#[tokio::test]
async fn an_item_whose_keys_are_too_long_for_the_database_is_left_out_of_a_new_index() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    import(&table, 0).await;
    // Text that can't be compressed.
    let long = |seed: u8| {
        let digests = (0..64_u8).flat_map(|at| Sha256::digest([seed, at]));
        json!({ "S": STANDARD.encode(digests.take(1_500).collect::<Vec<_>>()) })
    };
    table.add(json!({ "id": long(0), "at": {"N": "1"}, "city": long(1) })).await;
    table.post("indexes", by_city()).await.expect(202);
    ready(&tables, &table).await;
    let is_postgres = std::env::var(DATABASE_URL_VARIABLE).is_ok_and(|url| !url.is_empty());
    let count = async |city: Value| {
        let body = json!({"index": "by-city", "partition": city, "limit": 100});
        table.post("query", body).await.expect(200).int("/count")
    };
    assert_eq!(count(long(1)).await, i64::from(!is_postgres));
    assert_eq!(count(json!({"S": "city1"})).await, 33);
    // It is there, and can go.
    table.delete(json!({ "id": long(0), "at": {"N": "1"} })).await.expect(204);
    super::model::check_rows(&tables, &table).await;
}

#[tokio::test]
async fn a_backfill_goes_on_where_it_failed() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    import(&table, 0).await;
    import(&table, 100).await;
    tables.server.faults.set("commit:databases.index_backfill=fail;times=2").unwrap();
    let made = table.post("indexes", by_city()).await.expect(202);
    assert_eq!(
        (made.str("/table/indexes/2/status"), &made.json["table"]["indexes"][2]["backfilling"]),
        ("CREATING", &json!(true))
    );
    let early = table.post("scan", json!({"index": "by-city"})).await;
    early.expect_error(409, "resource_busy", "This index is being created.");
    ready(&tables, &table).await;
    super::model::check_rows(&tables, &table).await;
}

/// The status of the index by cities.
async fn status(table: &Table) -> String {
    let table = table.describe().await.expect(200).json["table"].clone();
    let index = table["indexes"].as_array().unwrap().iter().find(|index| index["name"] == "by-city").cloned();
    index.map_or_else(String::new, |index| index["status"].as_str().unwrap().to_owned())
}

/// A table whose index by cities has failed, because its job was given up.
async fn failed(tables: &Tables) -> Table {
    let table = tables.users().await;
    import(&table, 0).await;
    tables.server.faults.set("commit:databases.index_backfill=fail").unwrap();
    table.post("indexes", by_city()).await.expect(202);
    let given_up = async || {
        tables.server.clock.advance(Duration::from_mins(10));
        (status(&table).await == "FAILED").then_some(())
    };
    tables.server.in_time("the job is given up", given_up).await;
    tables.server.faults.set("").unwrap();
    table
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_whose_job_was_given_up_has_failed_and_can_be_made_again() {
    let tables = Tables::new().await;
    let table = failed(&tables).await;
    let shown = table.describe().await.expect(200);
    assert_eq!(shown.json["table"]["indexes"][2].get("backfilling"), None);
    let body = json!({"index": "by-city", "partition": {"S": "city1"}, "limit": 100});
    let message = "This index could not be made. Make it again, or delete it.";
    table.post("query", body.clone()).await.expect_error(409, "index_failed", message);
    // Writes go on meanwhile.
    table.add(with(user("new", 1), "city", json!({"S": "city1"}))).await;
    let again = table.post("indexes", by_city()).await.expect(202);
    assert_eq!(again.json["table"]["indexes"].as_array().unwrap().len(), 3);
    ready(&tables, &table).await;
    assert_eq!(table.post("query", body).await.expect(200).int("/count"), 34);
    rows_of_others_go(&tables, &table).await;
    table.post("indexes", by_city()).await.expect_error(409, "index_exists", "An index with this name exists.");
}

/// Waits until the rows of the index that failed are gone, and checks all others.
async fn rows_of_others_go(tables: &Tables, table: &Table) {
    let store = tables.server.store().await;
    let no = store.database(tables.org_id(), table.resource_id()).await.unwrap().unwrap().kept.unwrap().no;
    let gone = async || (index_rows(&store, no, TableRows::Index(3)).await == 0).then_some(());
    tables.server.eventually("its rows are gone", gone).await;
    super::model::check_rows(tables, table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_has_failed_can_be_deleted() {
    let tables = Tables::new().await;
    let table = failed(&tables).await;
    let deleted = tables.ada.client.delete(&format!("{}/indexes/by-city", table.path)).send().await.expect(202);
    assert_eq!(deleted.json["table"]["indexes"].as_array().unwrap().len(), 2);
    // What it asked of items is asked no more.
    table.add(with(user("odd", 1), "city", json!({"N": "1"}))).await;
    rows_of_others_go(&tables, &table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_has_failed_is_made_when_operators_repeat_its_job() {
    let tables = Tables::new().await;
    let table = failed(&tables).await;
    let operator = tables.server.owner();
    let letters = operator.get("/v1/platform/dead-letters").send().await.expect(200);
    let seq = letters.json.pointer("/deadLetters/0/seq").expect("a dead letter").clone();
    operator.post(&format!("/v1/platform/dead-letters/{seq}/repeat")).send().await.expect(200);
    ready(&tables, &table).await;
    super::model::check_rows(&tables, &table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_whose_job_operators_cancel_has_failed() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    import(&table, 0).await;
    tables.server.faults.set("commit:databases.index_backfill=stall(3s);times=1").unwrap();
    table.post("indexes", by_city()).await.expect(202);
    let held = async || (tables.server.faults.happened() > 0).then_some(());
    tables.server.eventually("a batch", held).await;
    let operator = tables.server.owner();
    let jobs = operator.get("/v1/platform/jobs").send().await.expect(200);
    let job = jobs.list("/jobs").iter().find(|job| job["topic"] == "databases.index_backfill").expect("a job");
    operator.post(&format!("/v1/platform/jobs/{}/cancel", job["seq"])).send().await.expect(200);
    let has_failed = async || (status(&table).await == "FAILED").then_some(());
    tables.server.eventually("the index has failed", has_failed).await;
    tables.server.faults.set("").unwrap();
    table.post("indexes", by_city()).await.expect(202);
    ready(&tables, &table).await;
    rows_of_others_go(&tables, &table).await;
}

#[tokio::test]
async fn an_index_that_is_asked_for_twice_with_one_key_is_made_once() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let ask = async || {
        let request = tables.ada.client.post(&format!("{}/indexes", table.path)).header("idempotency-key", "one");
        request.json(&by_city()).send().await.expect(202)
    };
    let (first, again) = (ask().await, ask().await);
    assert_eq!((&first.json, again.header("idempotency-replayed")), (&again.json, Some("true")));
    assert_eq!(table.describe().await.json["table"]["indexes"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_global_index_is_deleted_and_a_local_one_stays() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    table.add(with(user("ada", 1), "email", json!({"S": "a@x"}))).await;
    let delete = async |name: &str| tables.ada.client.delete(&format!("{}/indexes/{name}", table.path)).send().await;
    let deleted = delete("by-email").await.expect(202);
    assert_eq!(deleted.json["table"]["indexes"].as_array().unwrap().len(), 1);
    table.post("scan", json!({"index": "by-email"})).await.expect(400);
    delete("by-email").await.expect_error(404, "not_found", "Index not found.");
    delete("b").await.expect_error(404, "not_found", "Index not found.");
    delete("by-age").await.expect_error(409, "index_is_local", "A local index stays as long as its table.");
    table.add(with(user("ben", 1), "email", json!({"S": "a@x"}))).await;
    // What the index wanted is asked for no more, by the slot that knew it neither.
    let unlike = |at: i64| with(user("ada", at), "email", json!({"N": "1"}));
    table.add(unlike(2)).await;
    table.post("items/import", json!({ "items": [unlike(3)] })).await.expect(200);
    let store = tables.server.store().await;
    let no = store.database(tables.org_id(), table.resource_id()).await.unwrap().unwrap().kept.unwrap().no;
    tables
        .server
        .eventually("its rows are gone", async || {
            (index_rows(&store, no, TableRows::Index(1)).await == 0).then_some(())
        })
        .await;
    // Another one of the name has rows of its own.
    let again = json!({"name": "by-email", "partitionKey": {"name": "email", "type": "S"}, "kind": "global"});
    table.post("indexes", again.clone()).await.expect(202);
    table.post("indexes", again).await.expect_error(409, "index_exists", "An index with this name exists.");
}

#[tokio::test]
async fn an_index_is_one_that_the_table_can_have() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let local = json!({"name": "local", "partitionKey": {"name": "id", "type": "S"}, "sortKey": {"name": "x", "type": "S"}, "kind": "local"});
    table.post("indexes", local).await.expect_problems(&["kind"]);
    table.post("indexes", json!({"name": "x"})).await.expect_problems(&["partitionKey", "kind"]);
    let other_type = json!({"name": "other", "partitionKey": {"name": "email", "type": "N"}, "kind": "global"});
    table.post("indexes", other_type).await.expect_problems(&["partitionKey.type"]);
    for at in 0..19 {
        let index = json!({"name": format!("by-{at}"), "partitionKey": {"name": "x", "type": "S"}, "kind": "global"});
        table.post("indexes", index).await.expect(202);
    }
    let index = json!({"name": "by-20", "partitionKey": {"name": "x", "type": "S"}, "kind": "global"});
    table.post("indexes", index).await.expect_error(409, "too_many_indexes", "A table has up to 20 global indexes.");
}
