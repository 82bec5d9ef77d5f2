//! What may not be browsed is nowhere: not by key, not in a search, not in its total, not as a label, link or parent.

use super::*;

/// A space that only its maker sees.
pub async fn hide(desk: &Desk, key: &str) {
    let made = desk.space(key).await;
    let mut config = made.json["space"]["config"].clone();
    config["access"] = json!({ "visibility": "private", "members": [] });
    let path = format!("{}/spaces/{key}", desk.path);
    desk.ada.client.patch(&path).json(&json!({ "config": config })).send().await.expect(200);
}

#[tokio::test]
async fn what_a_search_finds_can_be_opened_and_nothing_else_is_counted() {
    let desk = Desk::new().await;
    hide(&desk, "SECRET").await;
    let open = desk.issue(json!({ "summary": "Open", "labels": ["seen"] })).await;
    let hidden = desk.issue(json!({ "space": "SECRET", "summary": "Hidden", "labels": ["unseen"] })).await;
    let bob = desk.member("bob", "developer").await;
    for jql in
        ["", "order by key", "summary ~ hidden or summary ~ open", "labels in (seen, unseen)", "not labels = nothing"]
    {
        assert_eq!(desk.found(&bob, jql).await, std::slice::from_ref(&open), "{jql}");
    }
    for jql in [format!("key = {hidden}"), "space = SECRET".to_owned(), format!("parent = {hidden}")] {
        desk.search_as(&bob, &jql).await.expect(400);
    }
    let path = format!("{}/{hidden}", desk.path);
    bob.client.get(&path).send().await.expect_error(404, "not_found", "Issue not found.");
    bob.client.patch(&path).json(&json!({ "summary": "x" })).send().await.expect_error(
        404,
        "not_found",
        "Issue not found.",
    );
    let labels = bob.client.get(&format!("{}/labels", desk.path)).send().await.expect(200);
    assert_eq!(labels.json["labels"], json!(["seen"]));
    let link = json!({ "type": "blocks", "to": hidden });
    bob.client.post(&format!("{}/{open}/links", desk.path)).json(&link).send().await.expect_problems(&["to"]);
    assert_eq!(desk.found(&desk.ada, "order by key").await.len(), 2, "who runs issue tracking sees both");
}

#[tokio::test]
async fn links_to_what_is_hidden_are_not_told() {
    let desk = Desk::new().await;
    hide(&desk, "SECRET").await;
    let open = desk.issue(json!({ "summary": "Open" })).await;
    let hidden = desk.issue(json!({ "space": "SECRET", "summary": "Hidden" })).await;
    let link = json!({ "type": "is blocked by", "to": hidden });
    let made = desk.ada.client.post(&format!("{}/{open}/links", desk.path)).json(&link).send().await.expect(201);
    assert_eq!((made.str("/link/fromKey"), made.str("/link/label")), (hidden.as_str(), "blocks"));
    let bob = desk.member("bob", "developer").await;
    let seen = bob.client.get(&format!("{}/{open}", desk.path)).send().await.expect(200);
    assert_eq!(seen.json["links"], json!([]));
    let among = json!({ "issues": [open, hidden] });
    let path = format!("{}/links/among", desk.path);
    let asked = bob.client.post(&path).json(&among).send().await.expect(200);
    assert_eq!(asked.json["links"], json!([]));
    let asked = desk.ada.client.post(&path).json(&among).send().await.expect(200);
    assert_eq!(asked.list("/links").len(), 1);
}

#[tokio::test]
async fn a_viewer_reads_and_changes_nothing() {
    let desk = Desk::new().await;
    let key = desk.issue(json!({ "summary": "One" })).await;
    let viewer = desk.member("vic", "viewer").await;
    viewer.client.get(&format!("{}/{key}", desk.path)).send().await.expect(200);
    let refused = viewer.client.patch(&format!("{}/{key}", desk.path)).json(&json!({ "summary": "x" })).send().await;
    refused.expect_error(403, "missing_scope", "This needs the issues:write permission.");
}
