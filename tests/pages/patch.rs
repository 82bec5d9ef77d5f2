//! `PATCH /v1/orgs/:orgId/pages/:pageId`: titles, icons and widths

use std::time::Duration;

use serde_json::json;

use super::Notes;

#[tokio::test]
async fn what_is_named_changes_and_the_rest_stays() {
    let notes = Notes::new().await;
    let made = notes.try_make(json!({ "title": "Plans", "icon": "🚀" })).await.expect(201);
    let id = made.str("/page/pageId").to_owned();
    notes.server.clock.advance(Duration::from_secs(1));
    let changed = notes.patch(&id, json!({ "title": " Goals ", "fullWidth": true, "unknown": 1 })).await.expect(200);
    let mut expected = made.json["page"].clone();
    let now = notes.server.clock.now().0;
    for (field, value) in [
        ("title", json!("Goals")),
        ("fullWidth", json!(true)),
        ("updatedAt", json!(now)),
        ("updatedBy", json!(notes.ada.user_id)),
    ] {
        expected[field] = value;
    }
    assert_eq!(changed.json["page"], expected);
    assert_eq!(notes.get(&id).await.expect(200).json["page"], expected);

    let changed = notes.patch(&id, json!({ "icon": null, "fullWidth": false })).await.expect(200);
    assert_eq!(changed.json["page"].get("icon"), None);
    assert_eq!(changed.json["page"]["fullWidth"], false);
    let changed = notes.patch(&id, json!({ "title": "" })).await.expect(200);
    assert_eq!(changed.str("/page/title"), "");
}

#[tokio::test]
async fn a_change_that_changes_nothing_leaves_no_trace() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    let before = notes.get(&id).await.expect(200).json;
    notes.server.clock.advance(Duration::from_secs(1));
    let same = json!({ "title": "Plans", "icon": "", "parentId": "root", "position": 1, "archived": false });
    for body in [json!({}), same] {
        assert_eq!(notes.patch(&id, body).await.expect(200).json["page"], before["page"]);
    }
    assert_eq!(notes.get(&id).await.expect(200).json, before);
}

#[tokio::test]
async fn titles_icons_and_parents_have_their_lengths() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    for (title, icon, faults) in
        [(199, 15, &[][..]), (200, 16, &[]), (201, 16, &["title"]), (200, 17, &["icon"]), (201, 17, &["title", "icon"])]
    {
        let answer = notes.patch(&id, json!({ "title": "é".repeat(title), "icon": "é".repeat(icon) })).await;
        if faults.is_empty() {
            answer.expect(200)
        } else {
            answer.expect_problems(faults)
        };
    }
    notes.patch(&id, json!({ "parentId": "p".repeat(65) })).await.expect_problems(&["parentId"]);
    notes.patch(&id, json!({ "title": "one\ntwo" })).await.expect_problems(&["title"]);
    let body = json!({ "title": 1, "icon": {}, "fullWidth": "yes", "parentId": [], "position": "1", "archived": 1 });
    let faults = ["title", "icon", "fullWidth", "parentId", "position", "archived"];
    notes.patch(&id, body).await.expect_problems(&faults);
}

#[tokio::test]
async fn an_unknown_page_is_404_and_viewers_change_none() {
    let notes = Notes::new().await;
    let grace = notes.member("grace", "viewer").await;
    let id = notes.page("root", "Plans").await;
    let path = notes.at(&id);
    let refused = grace.client.patch(&path).json(&json!({ "title": "Mine" })).send().await;
    refused.expect_error(403, "missing_scope", "This needs the knowledge:write permission.");
    grace.client.delete(&path).send().await.expect(403);
    for unknown in ["doc_01jd7rt4m5e9fv2w8x3c6k0hqz", "doc_", "pgx_01jd7rt4m5e9fv2w8x3c6k0hqz"] {
        notes.patch(unknown, json!({ "title": "x" })).await.expect_error(404, "not_found", "Page not found");
        notes.delete(unknown).await.expect_error(404, "not_found", "Page not found");
    }
}

#[tokio::test]
async fn what_is_done_to_pages_is_written_down() {
    let notes = Notes::new().await;
    let (top, id) = (notes.page("root", "Top").await, notes.page("root", "Plans").await);
    // Entries of one moment have no order.
    let later = || notes.server.clock.advance(Duration::from_secs(1));
    later();
    notes.patch(&id, json!({ "title": "Goals", "parentId": top })).await.expect(200);
    later();
    notes.archive(&id).await;
    later();
    notes.restore(&id).await;
    later();
    notes.archive(&id).await;
    later();
    notes.delete(&id).await.expect(200);
    let org = notes.path.trim_end_matches("/pages");
    let trail = notes.ada.client.get(&format!("{org}/audit?target={id}")).send().await.expect(200);
    let mut actions: Vec<_> =
        trail.list("/events").iter().rev().map(|event| event["action"].as_str().unwrap()).collect();
    actions[1..3].sort_unstable();
    let expected = ["created", "changed", "moved", "archived", "restored", "archived", "deleted"];
    assert_eq!(actions, expected.map(|action| format!("page.{action}")));
}
