//! Writes of a page's content while people edit it together.

use serde_json::json;

use super::Room;

/// The close code for a history that is over.
const CHANGED_ELSEWHERE: u16 = 4409;

#[tokio::test]
async fn a_write_from_outside_ends_the_history_and_the_next_one_begins_from_it() {
    let room = Room::new().await;
    let mut editor = room.joined().await;
    editor.insert(0, "Together").await;
    assert!(editor.confirm().await);
    let version = room.collab().await.int("/contentVersion");
    let blind = json!({ "blocks": null, "markdown": "From outside", "baseVersion": version });
    room.notes.try_write(&room.page, &blind).await.expect(409);
    // What was edited together was stored first.
    room.notes.write(&room.page, version + 1, "From outside").await;
    assert_eq!(editor.closed().await, Some(CHANGED_ELSEWHERE));
    assert!(room.collab().await.json["epoch"].is_null());
    assert_eq!(room.stored().await, None);
    let mut later = room.joined().await;
    assert!(later.confirm().await);
    assert_eq!(later.written(), "From outside");
}

#[tokio::test]
async fn a_restore_ends_the_history_too() {
    let room = Room::new().await;
    room.notes.write(&room.page, 0, "Once").await;
    room.notes.server.clock.advance(std::time::Duration::from_secs(600));
    room.notes.write(&room.page, 1, "Now").await;
    let mut editor = room.joined().await;
    let path = format!("{}/versions/1/restore", room.notes.at(&room.page));
    room.notes.ada.client.post(&path).send().await.expect(200);
    assert_eq!(editor.closed().await, Some(CHANGED_ELSEWHERE));
    let mut later = room.joined().await;
    assert!(later.confirm().await);
    assert_eq!(later.written(), "Once");
}

#[tokio::test]
async fn what_a_client_rendered_is_stored_and_the_history_goes_on() {
    let room = Room::new().await;
    let mut editor = room.joined().await;
    editor.insert(0, "Together").await;
    assert!(editor.confirm().await);
    let collab = room.collab().await;
    let epoch = collab.str("/epoch");
    let body = |epoch: &str| json!({ "blocks": [{ "x": 1 }], "markdown": "Together", "baseVersion": 0, "collab": true, "epoch": epoch });
    let written = room.notes.try_write(&room.page, &body(epoch)).await.expect(200);
    let content = room.notes.content(&room.page).await;
    assert_eq!(content, json!({ "version": written.int("/version"), "blocks": [{ "x": 1 }], "markdown": "Together" }));
    assert_eq!(room.collab().await.str("/epoch"), epoch);
    editor.insert(8, "!").await;
    assert!(editor.confirm().await, "the connection stays");
    room.notes.try_write(&room.page, &body("another")).await.expect_error(
        409,
        "stale_epoch",
        "This page was changed elsewhere and reloaded.",
    );
}
