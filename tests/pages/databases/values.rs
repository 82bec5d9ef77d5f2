//! Values of rows.

use serde_json::{Value, json};

use super::{Notes, schema};

fn all() -> Value {
    json!({
        "number": 1.25, "text": "words", "url": "https://example.com", "date": "2026-11-21T09:30", "select": "high",
        "checkbox": true, "multi_select": ["high", "low"],
    })
}

#[tokio::test]
async fn a_row_has_a_value_of_each_type_and_its_database_beside_it() {
    let notes = Notes::new().await;
    let database = notes.database_of("Tasks", schema()).await;
    let row = notes.row(&database, "One", all()).await;
    let read = notes.get(&row).await.expect(200);
    assert_eq!(read.json["page"]["properties"], all());
    assert_eq!(read.str("/database/pageId"), database);
    assert_eq!(read.json["database"]["schema"], schema());
    let read = notes.get(&database).await.expect(200);
    assert_eq!(read.json["rows"][0]["properties"], all());
    let listed = notes.list().await;
    assert_eq!(listed.iter().find(|page| page["pageId"] == *row).unwrap()["properties"], all());
}

#[tokio::test]
async fn a_change_sets_and_clears_and_leaves_the_rest() {
    let notes = Notes::new().await;
    let database = notes.database_of("Tasks", schema()).await;
    let row = notes.row(&database, "One", all()).await;
    let change = json!({ "number": 2, "text": null, "multi_select": [], "url": "", "title": "ignored" });
    notes.patch(&row, json!({ "properties": change })).await.expect_error(400, "unknown_property", "Unknown property.");
    let change = json!({ "number": 2, "text": null, "multi_select": [], "url": "" });
    let changed = notes.patch(&row, json!({ "properties": change })).await.expect(200);
    let expected = json!({ "number": 2, "date": "2026-11-21T09:30", "select": "high", "checkbox": true });
    assert_eq!(changed.json["page"]["properties"], expected);
    assert_eq!(notes.properties(&row).await, expected);
}

#[tokio::test]
async fn values_that_do_not_fit_are_named() {
    let notes = Notes::new().await;
    let database = notes.database_of("Tasks", schema()).await;
    let wrong = json!({ "number": "1", "date": "soon", "select": "none", "checkbox": 1, "text": { "a": 1 } });
    let made = notes.try_make(json!({ "parentId": database, "properties": wrong })).await;
    made.expect_problems(&["properties.text"]);
    let wrong = json!({ "number": "1", "date": "soon", "select": "none", "checkbox": 1, "url": "javascript:x" });
    let paths = ["number", "date", "select", "checkbox", "url"].map(|id| format!("properties.{id}"));
    let paths: Vec<_> = paths.iter().map(String::as_str).collect();
    notes.try_make(json!({ "parentId": database, "properties": wrong })).await.expect_problems(&paths);
    for (length, fits) in [(3_999, true), (4_000, true), (4_001, false)] {
        let properties = json!({ "text": "é".repeat(length) });
        let made = notes.try_make(json!({ "parentId": database, "properties": properties })).await;
        if fits {
            made.expect(201)
        } else {
            made.expect_problems(&["properties.text"])
        };
    }
    let made = notes.try_make(json!({ "parentId": "root", "properties": { "a": 1 } })).await;
    made.expect_error(400, "not_a_row", "Only database rows have property values.");
}

#[tokio::test]
async fn values_of_a_property_that_goes_come_back_with_it() {
    let notes = Notes::new().await;
    let database = notes.database_of("Tasks", schema()).await;
    let row = notes.row(&database, "One", json!({ "number": 5, "select": "low" })).await;
    notes.patch(&database, json!({ "schema": [] })).await.expect(200);
    assert_eq!(notes.properties(&row).await, json!({}));
    let number_now_text = json!([{ "id": "number", "name": "N", "type": "text" }]);
    notes.patch(&database, json!({ "schema": number_now_text })).await.expect(200);
    assert_eq!(notes.properties(&row).await, json!({}));
    notes.patch(&database, json!({ "schema": schema() })).await.expect(200);
    assert_eq!(notes.properties(&row).await, json!({ "number": 5, "select": "low" }));
}

#[tokio::test]
async fn values_follow_the_database_that_a_row_moves_to() {
    let notes = Notes::new().await;
    let from = notes.database_of("From", schema()).await;
    let to = notes.database_of("To", json!([{ "id": "text", "name": "T", "type": "text" }])).await;
    let row = notes.row(&from, "One", json!({ "number": 5, "text": "a" })).await;
    let moved = notes.patch(&row, json!({ "parentId": to, "properties": { "text": "b" } })).await.expect(200);
    assert_eq!(moved.json["page"]["properties"], json!({ "text": "b" }));
    let moved = notes.patch(&row, json!({ "parentId": "root" })).await.expect(200);
    assert_eq!(moved.json["page"].get("properties"), None);
}
