//! `/v1/orgs/:orgId/pages/:pageId/versions`

use std::time::Duration;

use serde_json::{Value, json};

use super::Notes;
use crate::harness::Answer;

const MINUTE: Duration = Duration::from_secs(60);

impl Notes {
    fn wait(&self, minutes: u32) {
        self.server.clock.advance(MINUTE * minutes);
    }

    async fn versions(&self, id: &str, query: &str) -> Answer {
        self.ada.client.get(&format!("{}/versions{query}", self.at(id))).send().await
    }

    /// The numbers of the versions.
    async fn kept(&self, id: &str) -> Vec<i64> {
        let versions = self.versions(id, "").await.expect(200);
        versions.list("/versions").iter().map(|version| version["version"].as_i64().unwrap()).collect()
    }

    async fn version(&self, id: &str, version: &str) -> Answer {
        self.ada.client.get(&format!("{}/versions/{version}", self.at(id))).send().await
    }

    async fn bring_back(&self, id: &str, version: i64) -> Answer {
        self.ada.client.post(&format!("{}/versions/{version}/restore", self.at(id))).send().await
    }
}

#[tokio::test]
async fn an_edited_page_keeps_a_version_every_ten_minutes() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    assert_eq!(notes.kept(&id).await, [] as [i64; 0]);
    for base in 0..25 {
        notes.write(&id, base, &format!("Minute {base}")).await;
        notes.wait(1);
    }
    assert_eq!(notes.kept(&id).await, [25, 20, 10]);
    let read = notes.version(&id, "10").await.expect(200);
    assert_eq!(read.json["content"], json!({ "version": 10, "blocks": null, "markdown": "Minute 9" }));
    let current = notes.version(&id, "25").await.expect(200);
    assert_eq!(current.json["version"]["current"], true);
    assert_eq!(current.json["content"]["markdown"], "Minute 24");
    assert_eq!(notes.version(&id, "10").await.expect(200).json["version"]["current"], false);
}

#[tokio::test]
async fn the_last_content_of_a_session_is_kept_when_another_begins() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    for base in 0..3 {
        notes.write(&id, base, "Today").await;
    }
    notes.wait(24 * 60);
    let ben = notes.member("ben", "developer").await;
    let body = json!({ "blocks": [], "markdown": "Tomorrow", "baseVersion": 3 });
    ben.client.put(&format!("{}/content", notes.at(&id))).json(&body).send().await.expect(200);
    let versions = notes.versions(&id, "").await.expect(200);
    let now = notes.server.clock.now().0;
    let yesterday = now - 24 * 60 * 60_000;
    assert_eq!(
        versions.json,
        json!({ "versions": [
            { "version": 4, "title": "Plans", "createdAt": now, "createdBy": ben.user_id, "current": true },
            { "version": 3, "title": "Plans", "createdAt": yesterday, "createdBy": notes.ada.user_id, "current": false },
        ]})
    );
}

#[tokio::test]
async fn a_version_comes_back_and_what_it_replaces_is_kept() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    let body = json!({ "blocks": [{ "x": 1 }], "markdown": "Good", "baseVersion": 0 });
    notes.try_write(&id, &body).await.expect(200);
    notes.wait(10);
    notes.write(&id, 1, "Bad").await;
    let restored = notes.bring_back(&id, 1).await.expect(200);
    assert_eq!(restored.json, json!({ "version": 3, "updatedAt": notes.server.clock.now().0 }));
    assert_eq!(notes.content(&id).await, json!({ "version": 3, "blocks": [{ "x": 1 }], "markdown": "Good" }));
    assert_eq!(notes.kept(&id).await, [3, 2, 1]);
    // What a restore brought stays in the history too, however soon the next edit comes.
    notes.write(&id, 3, "Worse").await;
    notes.write(&id, 4, "Worst").await;
    assert_eq!(notes.kept(&id).await, [5, 3, 2, 1]);
    // What the page says already needs no restoring.
    assert_eq!(notes.bring_back(&id, 5).await.expect(200).int("/version"), 5);
    let trail = notes.path.replace("/pages", "/audit?action=page.version_restored");
    let trail = notes.ada.client.get(&trail).send().await.expect(200);
    assert_eq!(trail.list("/events").len(), 1);
    assert_eq!(trail.json["events"][0]["metadata"], json!({ "contentVersion": 3, "restored": 1 }));
}

#[tokio::test]
async fn a_version_that_is_not_kept_does_not_exist() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    notes.write(&id, 0, "One").await;
    notes.write(&id, 1, "Two").await;
    for version in ["0", "1", "3", "-1", "x", "9223372036854775808"] {
        notes.version(&id, version).await.expect_error(404, "not_found", "Version not found.");
    }
    for version in [0, 1, 3] {
        notes.bring_back(&id, version).await.expect_error(404, "not_found", "Version not found.");
    }
    let never = super::NEVER;
    notes.versions(never, "").await.expect_error(404, "not_found", "Page not found");
    notes.version(never, "1").await.expect_error(404, "not_found", "Page not found");
    notes.bring_back(never, 1).await.expect_error(404, "not_found", "Page not found");
}

#[tokio::test]
async fn versions_come_page_by_page() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    for base in 0..7 {
        notes.write(&id, base, "x").await;
        notes.wait(10);
    }
    let (mut query, mut seen) = ("?limit=3".to_owned(), Vec::new());
    loop {
        let page = notes.versions(&id, &query).await.expect(200);
        seen.extend(page.list("/versions").iter().map(|version| version["version"].clone()));
        let Some(cursor) = page.json.get("cursor").and_then(Value::as_str) else { break };
        query = format!("?limit=3&cursor={cursor}");
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1].map(Value::from));
    notes.versions(&id, "?cursor=x").await.expect_error(400, "invalid_cursor", "Invalid cursor");
    notes.versions(&id, "?limit=101").await.expect_problems(&["limit"]);
}

#[tokio::test]
async fn a_page_in_the_trash_shows_its_history_and_takes_nothing_back() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    notes.write(&id, 0, "One").await;
    notes.wait(10);
    notes.write(&id, 1, "Two").await;
    notes.archive(&id).await;
    assert_eq!(notes.kept(&id).await, [2, 1]);
    let answer = notes.bring_back(&id, 1).await;
    answer.expect_error(409, "in_trash", "This page is in the trash. Restore it to edit.");
}

#[tokio::test]
async fn the_last_thousand_versions_are_kept() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    for base in 0..1_001 {
        notes.write(&id, base, &format!("Text {base}")).await;
        notes.wait(10);
    }
    // A version is kept once it is replaced: a thousand are behind the one that stands.
    notes.version(&id, "1").await.expect(200);
    notes.write(&id, 1_001, "One more").await;
    notes.version(&id, "1").await.expect(404);
    notes.version(&id, "2").await.expect(200);
    notes.version(&id, "1002").await.expect(200);
}
