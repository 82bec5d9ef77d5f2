//! The shared text is the page's content, and writes from outside end the history.

use serde_json::{Value, json};

use super::Room;
use crate::harness::{Answer, Coeditor};

impl Room {
    async fn content(&self) -> Answer {
        self.notes.get(&self.page).await.expect(200)
    }

    async fn markdown(&self) -> String {
        self.content().await.str("/content/markdown").to_owned()
    }

    async fn put(&self, body: Value) -> Answer {
        self.notes.ada.client.put(&format!("{}/content", self.notes.at(&self.page))).json(&body).send().await
    }

    /// Everybody leaves, and what they wrote becomes the content.
    async fn left(&self, mut last: Coeditor) -> String {
        assert!(last.confirm().await);
        let written = last.written();
        last.disconnect();
        self.notes.server.eventually("the content", async || (self.markdown().await == written).then_some(())).await;
        written
    }
}

#[tokio::test]
async fn a_history_begins_with_the_content_and_what_is_edited_becomes_the_content() {
    let room = Room::new().await;
    room.put(json!({ "blocks": [], "markdown": "# Minutes\n", "baseVersion": 0 })).await.expect(200);
    let mut one = room.joined().await;
    assert_eq!(one.written(), "# Minutes\n");
    one.insert(10, "Wir grüßen 🎉").await;
    assert_eq!(room.left(one).await, "# Minutes\nWir grüßen 🎉");
    let content = room.content().await;
    assert_eq!(content.json["content"]["version"], 2);
    assert_eq!(content.json["content"]["blocks"], Value::Null);
    assert_eq!(content.json["page"]["updatedBy"], *room.notes.ada.user_id);
}

#[tokio::test]
async fn opening_a_page_together_changes_no_content() {
    let room = Room::new().await;
    room.put(json!({ "blocks": [{ "type": "p" }], "markdown": "text", "baseVersion": 0 })).await.expect(200);
    let mut one = room.joined().await;
    let map = one.doc.get_or_insert_map("other");
    one.edit(|tx| {
        yrs::Map::insert(&map, tx, "key", 1.0);
    })
    .await;
    assert!(one.confirm().await);
    one.disconnect();
    let folded = async || room.stored().await.filter(|stored| stored.folds > 0);
    room.notes.server.eventually("a fold", folded).await;
    let content = room.content().await;
    assert_eq!(content.json["content"]["version"], 1);
    assert_eq!(content.json["content"]["blocks"], json!([{ "type": "p" }]));
}

#[tokio::test]
async fn a_write_from_outside_must_have_seen_what_was_edited_together() {
    let room = Room::new().await;
    let mut one = room.joined().await;
    one.insert(0, "edited together").await;
    assert!(one.confirm().await);
    let answer = room.put(json!({ "blocks": null, "markdown": "blind", "baseVersion": 0 })).await.expect(409);
    assert_eq!(answer.str("/error"), "This page changed since you opened it.");
    assert_eq!(room.markdown().await, "edited together");
    assert!(one.confirm().await, "nobody is disturbed: {:?}", one.closed);
    room.put(json!({ "blocks": null, "markdown": "seen", "baseVersion": 1 })).await.expect(200);
    assert_eq!(one.closed().await, Some(4409));
}
