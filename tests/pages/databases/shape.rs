//! `PATCH /v1/orgs/:orgId/pages/:pageId` with schema and views.

use serde_json::json;

use super::{Notes, schema};

#[tokio::test]
async fn a_schema_and_views_come_back_as_they_were_sent() {
    let notes = Notes::new().await;
    let database = notes.database("root", "Tasks").await;
    let views = json!([{
        "id": "open", "name": "Open", "layout": "board", "groupBy": "select", "dateProperty": "date",
        "filters": [{ "property": "checkbox", "op": "is", "value": false }, { "property": "title", "op": "is_not_empty" }],
        "sort": { "by": "date", "desc": true }, "hidden": ["url"], "widths": { "text": 120.0 },
    }]);
    let changed = notes.patch(&database, json!({ "schema": schema(), "views": views })).await.expect(200);
    assert_eq!(changed.json["page"]["schema"], schema());
    assert_eq!(changed.json["page"]["views"], views);
    let read = notes.get(&database).await.expect(200);
    assert_eq!((&read.json["page"]["schema"], &read.json["page"]["views"]), (&schema(), &views));
    assert_eq!(read.json["rows"], json!([]));
}

#[tokio::test]
async fn only_databases_have_properties_and_views() {
    let notes = Notes::new().await;
    let page = notes.page("root", "Text").await;
    let message = "Only databases have properties.";
    notes.patch(&page, json!({ "schema": [] })).await.expect_error(400, "not_a_database", message);
    notes.patch(&page, json!({ "views": [] })).await.expect_error(400, "not_a_database", "Only databases have views.");
    let message = "Only database rows have property values.";
    notes.patch(&page, json!({ "properties": {} })).await.expect_error(400, "not_a_row", message);
    notes.look(&page, &[]).await.expect_error(400, "not_a_database", "Only databases have rows.");
}

#[tokio::test]
async fn a_database_has_up_to_fifty_properties_and_twenty_views_of_twenty_filters() {
    let notes = Notes::new().await;
    let database = notes.database("root", "Tasks").await;
    for (count, fits) in [(49, true), (50, true), (51, false)] {
        let schema: Vec<_> =
            (0..count).map(|id| json!({ "id": format!("p{id}"), "name": "P", "type": "text" })).collect();
        let changed = notes.patch(&database, json!({ "schema": schema })).await;
        if fits {
            changed.expect(200)
        } else {
            changed.expect_problems(&["schema"])
        };
    }
    for (count, fits) in [(19, true), (20, true), (21, false)] {
        let view = |id: usize, filters: &[serde_json::Value]| json!({ "id": format!("v{id}"), "name": "V", "layout": "table", "filters": filters });
        let views: Vec<_> = (0..count).map(|id| view(id, &[])).collect();
        let changed = notes.patch(&database, json!({ "views": views })).await;
        if fits {
            changed.expect(200)
        } else {
            changed.expect_problems(&["views"])
        };
        let filters = vec![json!({ "property": "p0", "op": "is_empty" }); count];
        let changed = notes.patch(&database, json!({ "views": [view(0, &filters)] })).await;
        if fits {
            changed.expect(200)
        } else {
            changed.expect_problems(&["views[0].filters"])
        };
    }
}

#[tokio::test]
async fn what_a_schema_or_a_view_gets_wrong_is_named() {
    let notes = Notes::new().await;
    let database = notes.database_of("Tasks", schema()).await;
    let wrong = json!([
        { "id": "a", "name": "", "type": "text" },
        { "id": "b", "name": "B", "type": "select", "options": [{ "id": "o", "name": "O", "color": "mauve" }] },
        { "id": "c", "name": "C", "type": "formula" },
        { "id": "d", "name": "D", "type": "relation", "databaseId": "doc_x" },
    ]);
    let paths = ["schema[1].options[0].color", "schema[2].type", "schema[3].databaseId"];
    notes.patch(&database, json!({ "schema": wrong })).await.expect_problems(&paths);
    let page = notes.page("root", "Text").await;
    let relation = |id: &str| json!([{ "id": "r", "name": "R", "type": "relation", "databaseId": id }]);
    for id in [page.as_str(), "doc_01jd7rt4m5e9fv2w8x3c6k0hqz"] {
        notes.patch(&database, json!({ "schema": relation(id) })).await.expect_problems(&["schema[0].databaseId"]);
    }
    let view = |filter| json!({ "views": [{ "id": "v", "name": "V", "layout": "list", "filters": [filter] }] });
    let changed = notes.patch(&database, view(json!({ "property": "text", "op": "like", "value": {} }))).await;
    changed.expect_problems(&["views[0].layout", "views[0].filters[0].op", "views[0].filters[0].value"]);
    let unknown = json!({ "views": [{ "id": "v", "name": "V", "layout": "table", "filters": [], "groupBy": "gone" }] });
    notes.patch(&database, unknown).await.expect_error(400, "unknown_property", "Unknown property.");
    assert_eq!(notes.get(&database).await.json["page"]["schema"], schema(), "nothing of it was done");
}

#[tokio::test]
async fn views_lose_what_names_a_property_that_goes() {
    let notes = Notes::new().await;
    let database = notes.database_of("Tasks", schema()).await;
    let views = json!([{
        "id": "v", "name": "V", "layout": "table", "groupBy": "select",
        "filters": [{ "property": "number", "op": "gt", "value": 1 }, { "property": "title", "op": "is_empty" }],
    }]);
    notes.patch(&database, json!({ "views": views })).await.expect(200);
    let changed = notes.patch(&database, json!({ "schema": [] })).await.expect(200);
    let left = json!([{
        "id": "v", "name": "V", "layout": "table", "filters": [{ "property": "title", "op": "is_empty" }],
    }]);
    assert_eq!(changed.json["page"]["views"], left);
}
