//! Relations, from both sides.

use serde_json::{Value, json};

use super::Notes;

/// Tasks that name projects, and projects that show their tasks.
async fn tasks_and_projects(notes: &Notes) -> (String, String) {
    let projects = notes.database("root", "Projects").await;
    let project = json!([{ "id": "project", "name": "Project", "type": "relation", "databaseId": projects }]);
    let tasks = notes.database_of("Tasks", project).await;
    let shown =
        json!([{ "id": "tasks", "name": "Tasks", "type": "relation", "databaseId": tasks, "inverseOf": "project" }]);
    notes.patch(&projects, json!({ "schema": shown })).await.expect(200);
    (tasks, projects)
}

#[tokio::test]
async fn both_sides_show_and_change_the_same_pairs() {
    let notes = Notes::new().await;
    let (tasks, projects) = tasks_and_projects(&notes).await;
    let home = notes.row(&projects, "Home", json!({})).await;
    let moon = notes.row(&projects, "Moon", json!({})).await;
    let paint = notes.row(&tasks, "Paint", json!({ "project": [moon, home] })).await;
    let sweep = notes.row(&tasks, "Sweep", json!({ "project": [home] })).await;
    assert_eq!(notes.properties(&paint).await, json!({ "project": [moon, home] }), "in the order that was sent");
    let mut both = [&paint, &sweep];
    both.sort();
    assert_eq!(notes.properties(&home).await, json!({ "tasks": both }), "by age");
    assert_eq!(notes.properties(&moon).await, json!({ "tasks": [paint] }));

    let changed = notes.patch(&home, json!({ "properties": { "tasks": [sweep] } })).await.expect(200);
    assert_eq!(changed.json["page"]["properties"], json!({ "tasks": [sweep] }));
    assert_eq!(notes.properties(&paint).await, json!({ "project": [moon] }));
    notes.patch(&moon, json!({ "properties": { "tasks": [sweep, paint] } })).await.expect(200);
    assert_eq!(notes.properties(&sweep).await, json!({ "project": [home, moon] }));

    let rows = notes.look(&projects, &[("filters", &filter("tasks", "contains", &paint))]).await.expect(200);
    assert_eq!(rows.list("/rows").len(), 1);
    assert_eq!(rows.str("/rows/0/pageId"), moon);
    let rows = notes.look(&tasks, &[("filters", &filter("project", "contains", &moon))]).await.expect(200);
    assert_eq!(rows.int("/total"), 2);
}

fn filter(property: &str, op: &str, value: &str) -> String {
    json!([{ "property": property, "op": op, "value": value }]).to_string()
}

#[tokio::test]
async fn a_relation_names_rows_of_its_database() {
    let notes = Notes::new().await;
    let (tasks, projects) = tasks_and_projects(&notes).await;
    let page = notes.page("root", "Text").await;
    let own = notes.row(&tasks, "Own", json!({})).await;
    for wrong in [page.as_str(), own.as_str(), projects.as_str(), "doc_01jd7rt4m5e9fv2w8x3c6k0hqz", "home"] {
        let changed = notes.patch(&own, json!({ "properties": { "project": [wrong] } })).await;
        changed.expect_problems(&["properties.project"]);
    }
}

#[tokio::test]
async fn what_is_in_the_trash_is_not_shown_and_comes_back() {
    let notes = Notes::new().await;
    let (tasks, projects) = tasks_and_projects(&notes).await;
    let home = notes.row(&projects, "Home", json!({})).await;
    let paint = notes.row(&tasks, "Paint", json!({ "project": [home] })).await;
    notes.patch(&home, json!({ "archived": true })).await.expect(200);
    assert_eq!(notes.properties(&paint).await, json!({}));
    notes.patch(&home, json!({ "archived": false })).await.expect(200);
    assert_eq!(notes.properties(&paint).await, json!({ "project": [home] }));
    notes.patch(&paint, json!({ "archived": true })).await.expect(200);
    assert_eq!(notes.properties(&home).await, json!({}));
    notes.ada.client.delete(&notes.at(&paint)).send().await.expect(200);
    assert_eq!(notes.properties(&home).await, json!({}));
}

#[tokio::test]
async fn a_database_relates_to_itself() {
    let notes = Notes::new().await;
    let tasks = notes.database("root", "Tasks").await;
    let both = json!([
        { "id": "part_of", "name": "Part of", "type": "relation", "databaseId": tasks },
        { "id": "parts", "name": "Parts", "type": "relation", "databaseId": tasks, "inverseOf": "part_of" },
    ]);
    notes.patch(&tasks, json!({ "schema": both })).await.expect(200);
    let whole = notes.row(&tasks, "Whole", json!({})).await;
    let part = notes.row(&tasks, "Part", json!({ "part_of": [whole] })).await;
    assert_eq!(notes.properties(&whole).await, json!({ "parts": [part] }));
    let other_side =
        |of: &str| json!([{ "id": "x", "name": "X", "type": "relation", "databaseId": tasks, "inverseOf": of }]);
    for wrong in ["x", "gone"] {
        let changed = notes.patch(&tasks, json!({ "schema": other_side(wrong) })).await;
        changed.expect_problems(&["schema[0].inverseOf"]);
    }
}

#[tokio::test]
async fn a_row_names_up_to_fifty_others_from_either_side() {
    let notes = Notes::new().await;
    let (tasks, projects) = tasks_and_projects(&notes).await;
    let mut rows = Vec::new();
    for number in 0..51 {
        rows.push(Value::String(notes.row(&projects, &number.to_string(), json!({})).await));
    }
    let task = notes.row(&tasks, "Task", json!({ "project": rows[..49] })).await;
    let last = rows[50].as_str().unwrap();
    let next = rows[49].as_str().unwrap();
    notes.patch(next, json!({ "properties": { "tasks": [task] } })).await.expect(200);
    let full = notes.patch(last, json!({ "properties": { "tasks": [task] } })).await;
    full.expect_problems(&["properties.tasks"]);
    notes.patch(next, json!({ "properties": { "tasks": [task] } })).await.expect(200);
    let over = notes.patch(&task, json!({ "properties": { "project": rows } })).await;
    over.expect_problems(&["properties.project"]);
}
