//! `POST` and `GET /v1/orgs/:orgId/pages`, `GET /v1/orgs/:orgId/pages/:pageId`

use serde_json::{Value, json};

use super::{NEVER, Notes, titles};
use crate::accounts::org;

#[tokio::test]
async fn a_page_is_made_listed_and_read() {
    let notes = Notes::new().await;
    let made = notes.try_make(json!({ "parentId": "root", "title": " Plans ", "icon": "🚀" })).await.expect(201);
    let page = made.json["page"].clone();
    let id = made.str("/page/pageId").to_owned();
    assert!(id.starts_with("doc_"), "{id}");
    let now = notes.server.clock.now().0;
    assert_eq!(
        page,
        json!({
            "pageId": id, "parentId": "root", "kind": "doc", "title": "Plans", "icon": "🚀", "position": 1.0,
            "archived": false, "contentVersion": 0, "createdAt": now, "updatedAt": now, "createdBy": notes.ada.user_id
        })
    );
    let listed = notes.ada.client.get(&notes.path).send().await.expect(200);
    assert_eq!(listed.json, json!({ "pages": [page], "truncated": false }));
    let content = json!({ "version": 0, "blocks": null, "markdown": "" });
    assert_eq!(notes.get(&id).await.expect(200).json, json!({ "page": page, "content": content }));
}

#[tokio::test]
async fn nothing_needs_to_be_said_about_a_new_page() {
    let notes = Notes::new().await;
    let made = notes.try_make(json!({})).await.expect(201);
    assert_eq!((made.str("/page/title"), made.str("/page/kind"), made.str("/page/parentId")), ("", "doc", "root"));
    let made = notes.try_make(json!({ "icon": " ", "unknown": 1 })).await.expect(201);
    assert_eq!(made.json["page"].get("icon"), None);
}

#[tokio::test]
async fn a_new_page_comes_behind_its_siblings() {
    let notes = Notes::new().await;
    let top = notes.page("root", "Top").await;
    for title in ["One", "Two", "Three"] {
        notes.page(&top, title).await;
    }
    notes.page("root", "Other").await;
    let listed = notes.list().await;
    let below: Vec<_> = listed.into_iter().filter(|page| page["parentId"] == *top).collect();
    assert_eq!(titles(&below), ["One", "Two", "Three"]);
    assert_eq!(below.iter().map(|page| page["position"].clone()).collect::<Vec<_>>(), [1.0, 2.0, 3.0].map(Value::from));
}

#[tokio::test]
async fn a_database_has_a_schema_and_views_and_its_pages_have_properties() {
    let notes = Notes::new().await;
    let made = notes.try_make(json!({ "kind": "database", "title": "Tasks" })).await.expect(201);
    assert_eq!(made.json["page"]["schema"], json!([]));
    assert!(made.json["page"]["views"].is_array(), "{}", made.text);
    let database = made.str("/page/pageId");
    let row = notes.try_make(json!({ "parentId": database, "properties": {} })).await.expect(201);
    assert_eq!(row.json["page"]["properties"], json!({}));
    let doc = notes.page("root", "Doc").await;
    for parent in ["root", &doc] {
        let refused = notes.try_make(json!({ "parentId": parent, "properties": {} })).await;
        refused.expect_error(400, "not_a_row", "Only database rows have property values.");
    }
    let refused = notes.try_make(json!({ "parentId": database, "properties": { "due": "2026-01-01" } })).await;
    refused.expect_error(400, "unknown_property", "Unknown property.");
}

#[tokio::test]
async fn the_parent_must_be_there() {
    let notes = Notes::new().await;
    let elsewhere = {
        let other = Notes { path: format!("{}/pages", org(&notes.ada, "Other").await), ..Notes::new().await };
        let made = notes.ada.client.post(&other.path).json(&json!({})).send().await.expect(201);
        made.str("/page/pageId").to_owned()
    };
    for parent in [NEVER, "nowhere", "", "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", &"p".repeat(64), &elsewhere] {
        let refused = notes.try_make(json!({ "parentId": parent })).await;
        refused.expect_error(400, "parent_not_found", "Parent page not found.");
    }
    notes.try_make(json!({ "parentId": "p".repeat(65) })).await.expect_problems(&["parentId"]);
}

#[tokio::test]
async fn titles_and_icons_have_their_lengths() {
    let notes = Notes::new().await;
    for (title, icon, faults) in
        [(199, 15, &[][..]), (200, 16, &[]), (201, 16, &["title"]), (200, 17, &["icon"]), (201, 17, &["title", "icon"])]
    {
        let answer = notes.try_make(json!({ "title": "é".repeat(title), "icon": "é".repeat(icon) })).await;
        if faults.is_empty() {
            answer.expect(201)
        } else {
            answer.expect_problems(faults)
        };
    }
    notes.try_make(json!({ "kind": "folder" })).await.expect_problems(&["kind"]);
    let body = json!({ "parentId": 1, "title": null, "icon": [], "kind": {}, "properties": "x" });
    notes.try_make(body).await.expect_problems(&["parentId", "icon", "kind", "properties"]);
}

#[tokio::test]
async fn pages_lie_at_most_twenty_deep() {
    let notes = Notes::new().await;
    let chain = notes.chain("root", 20).await;
    let refused = notes.try_make(json!({ "parentId": chain[19] })).await;
    refused.expect_error(400, "too_deep", "Pages are nested too deeply.");
    notes.page(&chain[18], "Beside the deepest").await;
}

#[tokio::test]
async fn a_page_is_found_in_its_own_organization_only() {
    let notes = Notes::new().await;
    let page = notes.page("root", "Plans").await;
    let other = org(&notes.ada, "Other").await;
    for path in [format!("{other}/pages/{page}"), notes.at(NEVER), notes.at("doc_"), notes.at("usr_x")] {
        notes.ada.client.get(&path).send().await.expect_error(404, "not_found", "Page not found");
    }
}

#[tokio::test]
async fn viewers_read_pages_and_make_none() {
    let notes = Notes::new().await;
    let grace = notes.member("grace", "viewer").await;
    let page = notes.page("root", "Plans").await;
    grace.client.get(&notes.at(&page)).send().await.expect(200);
    let refused = grace.client.post(&notes.path).json(&json!({})).send().await;
    refused.expect_error(403, "missing_scope", "This needs the knowledge:write permission.");
}

#[tokio::test]
async fn the_list_is_of_pages_or_of_the_trash() {
    let notes = Notes::new().await;
    notes.page("root", "Plans").await;
    for (query, count) in [("", 1), ("?archived=0", 1), ("?archived=1", 0)] {
        let listed = notes.ada.client.get(&format!("{}{query}", notes.path)).send().await.expect(200);
        assert_eq!(listed.list("/pages").len(), count, "{query}");
    }
    for query in ["2", "", "true"] {
        let refused = notes.ada.client.get(&format!("{}?archived={query}", notes.path)).send().await;
        refused.expect_problems(&["archived"]);
    }
}

#[tokio::test]
async fn making_a_page_twice_under_one_key_makes_one() {
    let notes = Notes::new().await;
    let make =
        || notes.ada.client.post(&notes.path).header("idempotency-key", "one").json(&json!({ "title": "Plans" }));
    let first = make().send().await.expect(201);
    let again = make().send().await.expect(201);
    assert_eq!(first.json, again.json);
    assert_eq!(notes.list().await.len(), 1);
}

#[tokio::test]
async fn what_a_key_makes_was_made_by_who_made_the_key() {
    let notes = Notes::new().await;
    let org = notes.path.trim_end_matches("/pages");
    let key = async |scopes: &[&str]| {
        let body = json!({ "name": "A program", "kind": "api", "scopes": scopes });
        let key = notes.ada.client.post(&format!("{org}/keys")).json(&body).send().await.expect(201);
        notes.ada.client.with_token(key.str("/secret"))
    };
    let writer = key(&["knowledge:read", "knowledge:write"]).await;
    let made = writer.post(&notes.path).json(&json!({ "title": "By a program" })).send().await.expect(201);
    assert_eq!(made.str("/page/createdBy"), notes.ada.user_id);
    let path = notes.at(made.str("/page/pageId"));
    let changed = writer.patch(&path).json(&json!({ "title": "Again" })).send().await.expect(200);
    assert_eq!(changed.str("/page/updatedBy"), notes.ada.user_id);
    let reader = key(&["knowledge:read"]).await;
    reader.get(&path).send().await.expect(200);
    let refused = reader.patch(&path).json(&json!({ "title": "Mine" })).send().await;
    refused.expect_error(403, "missing_scope", "This needs the knowledge:write permission.");
}
