//! Writes of a page's content while people edit it together.

use std::time::Duration;

use actors::pages::session::{SHARED_TEXT, TEXT_LEN_MAX};
use domain::id::PageId;
use serde_json::{Value, json};
use store::{
    Change,
    pages::{NewPageUpdate, PageUpdateId},
};
use yrs::{Doc, ReadTxn, StateVector, Text, Transact};

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

/// A write from outside that rests on this version.
fn outside(base: i64) -> Value {
    json!({ "blocks": null, "markdown": "From outside", "baseVersion": base })
}

impl Room {
    async fn markdown_now(&self) -> String {
        self.notes.content(&self.page).await["markdown"].as_str().unwrap().to_owned()
    }

    /// Somebody on another node, which nobody here hears of, types at the front of the text; `true` once that is kept.
    async fn typed_on_another_node(&self, typed: &str) -> bool {
        let doc = Doc::new();
        doc.get_or_insert_text(SHARED_TEXT).insert(&mut doc.transact_mut(), 0, typed);
        let update = doc.transact().encode_state_as_update_v1(&StateVector::default());
        let mut payload = Vec::new();
        yrs::encoding::write::Write::write_buf(&mut payload, &update);
        let (page_id, now) = (self.page.parse::<PageId>().unwrap(), self.notes.server.clock.now());
        let Some(stored) = self.stored().await else { return false };
        let mut change = Change::new();
        let id = PageUpdateId(now.as_millis() * 256_000);
        change.page_update_add(NewPageUpdate { page_id, epoch: &stored.epoch, id, payload, now });
        self.notes.server.store().await.commit(change).await.is_ok()
    }
}

#[tokio::test]
async fn a_write_from_outside_is_not_taken_while_what_was_edited_together_cant_be_stored_first() {
    let room = Room::new().await;
    room.notes.write(&room.page, 0, "Once").await;
    room.notes.server.clock.advance(Duration::from_secs(600));
    room.notes.write(&room.page, 1, "Now").await;
    let mut editor = room.joined().await;
    editor.insert(0, "Together ").await;
    assert!(editor.confirm().await);
    for effect in ["fail", "away"] {
        room.notes.server.faults.set(&format!("commit:page_fold={effect}")).unwrap();
        let written = room.notes.try_write(&room.page, &outside(2)).await;
        written.expect_error(503, "busy", "The server is busy; try again.");
        let path = format!("{}/versions/1/restore", room.notes.at(&room.page));
        let restored = room.notes.ada.client.post(&path).send().await;
        restored.expect_error(503, "busy", "The server is busy; try again.");
    }
    room.notes.server.faults.clear();
    assert!(editor.confirm().await, "nobody is disturbed: {:?}", editor.closed);
    room.notes.try_write(&room.page, &outside(2)).await.expect_error(
        409,
        "stale_content",
        "This page changed since you opened it.",
    );
    assert_eq!(room.markdown_now().await, "Together Now");
}

#[tokio::test]
async fn what_another_node_commits_between_the_fold_and_a_write_from_outside_is_not_deleted() {
    let room = Room::new().await;
    let mut editor = room.joined().await;
    editor.insert(0, "here").await;
    assert!(editor.confirm().await);
    room.notes.try_write(&room.page, &outside(0)).await.expect(409);
    room.notes.server.faults.set("commit:page_session=stall(5s);times=1").unwrap();
    let (body, faults) = (outside(1), &room.notes.server.faults);
    let (written, is_kept) = tokio::join!(room.notes.try_write(&room.page, &body), async {
        room.notes.server.eventually("the write's commit", async || (faults.happened() > 0).then_some(())).await;
        room.typed_on_another_node("there ").await
    });
    assert!(is_kept, "what the other node was answered");
    written.expect_error(409, "stale_content", "This page changed since you opened it.");
    let content = room.markdown_now().await;
    assert!(content.contains("here") && content.contains("there "), "{content:?}");
}

#[tokio::test]
async fn a_history_that_another_node_begins_before_a_write_from_outside_is_not_ended_unseen() {
    let room = Room::new().await;
    room.notes.server.faults.set("commit:page_session=stall(5s);times=1").unwrap();
    let (body, faults) = (outside(0), &room.notes.server.faults);
    let (written, is_kept) = tokio::join!(room.notes.try_write(&room.page, &body), async {
        room.notes.server.eventually("the write's commit", async || (faults.happened() > 0).then_some(())).await;
        let document = store::pages::PageDocument { epoch: "pge_other".into(), snapshot: empty_snapshot(), folds: 0 };
        let mut change = Change::new();
        change.page_document_begin(room.page.parse().unwrap(), &document, 0, room.notes.server.clock.now());
        room.notes.server.store().await.commit(change).await.unwrap();
        room.typed_on_another_node("there").await
    });
    assert!(is_kept, "what the other node was answered");
    written.expect_error(409, "stale_content", "This page changed since you opened it.");
    assert_eq!(room.markdown_now().await, "there");
}

/// The snapshot of a history that begins with an empty page: its version, the hash of no text, no row, no update.
fn empty_snapshot() -> Vec<u8> {
    let hash_of_nothing: u64 = 0xcbf2_9ce4_8422_2325;
    [&[1][..], &hash_of_nothing.to_be_bytes(), &[0; 8], &[0, 0]].concat()
}

#[tokio::test]
async fn a_text_that_two_nodes_let_in_and_that_is_too_long_together_is_the_pages_content_all_the_same() {
    let room = Room::new().await;
    let mut editor = room.joined().await;
    editor.insert(0, &"a".repeat(TEXT_LEN_MAX / 2)).await;
    assert!(editor.confirm().await);
    assert!(room.typed_on_another_node(&"b".repeat(TEXT_LEN_MAX / 2 + 1)).await);
    room.notes.try_write(&room.page, &outside(0)).await.expect(409);
    assert_eq!(room.markdown_now().await.len(), TEXT_LEN_MAX + 1);
}
