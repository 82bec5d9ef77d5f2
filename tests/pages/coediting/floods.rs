//! Clients that ask and say more than anybody has a use for, and documents that are larger than what may wait for a socket.

use yrs::{
    StateVector,
    sync::{Message as Said, SyncMessage},
};

use super::Room;

/// What one message may carry, well below the limit of messages.
const PART: usize = 512 * 1024;
/// How often a viewer asks for the whole document.
const QUESTIONS: usize = 3_000;

#[tokio::test]
async fn a_viewer_that_asks_without_end_is_shown_the_document_once_and_holds_up_nobody() {
    let room = Room::new().await;
    let mut editor = room.joined().await;
    editor.insert(0, &"x".repeat(PART)).await;
    assert!(editor.confirm().await);
    let viewer = room.notes.member("vera", "viewer").await;
    let mut viewer = room.editor_of(&viewer.client);
    viewer.connect().await;
    let shown = viewer.heard_len;
    assert!(shown > PART, "the viewer has the document: {shown}");
    for question in 0..QUESTIONS {
        viewer.say(&Said::Sync(SyncMessage::SyncStep1(StateVector::default()))).await;
        if question % 500 == 0 {
            editor.insert(0, "still typing ").await;
            assert!(editor.confirm().await, "{:?}", editor.closed);
        }
    }
    let written = editor.written();
    assert!(viewer.listen(|viewer| viewer.written() == written).await, "closed with {:?}", viewer.closed);
    assert!(viewer.heard_len < shown + PART / 2, "the document was sent again and again: {}", viewer.heard_len);
}

#[tokio::test]
async fn questions_that_come_together_are_each_answered() {
    let room = Room::new().await;
    let mut editor = room.joined().await;
    editor.insert(0, "here").await;
    assert!(editor.confirm().await);
    let ticket = room.ticket(&room.notes.ada).await;
    let mut newcomer = room.editor();
    newcomer.open(&ticket, "").await.unwrap();
    for _ in 0..10 {
        newcomer.ask().await;
    }
    assert!(newcomer.confirm().await, "one answer each: {:?}", newcomer.closed);
    assert_eq!(newcomer.written(), "here");
}

#[tokio::test]
async fn a_document_that_is_longer_than_what_may_wait_for_a_socket_reaches_a_newcomer() {
    let room = Room::new().await;
    let mut editor = room.joined().await;
    let other = editor.doc.get_or_insert_text("other");
    for part in 0..10 {
        let at = u32::try_from(part * PART).unwrap();
        editor.edit(|tx| yrs::Text::insert(&other, tx, at, &"x".repeat(PART))).await;
        assert!(editor.confirm().await, "{:?}", editor.closed);
    }
    let newcomer = room.joined().await;
    let other = newcomer.doc.get_or_insert_text("other");
    assert_eq!(yrs::GetString::get_string(&other, &yrs::Transact::transact(&newcomer.doc)).len(), 10 * PART);
    assert!(editor.confirm().await, "{:?}", editor.closed);
}

#[tokio::test]
async fn whoever_asks_who_is_there_again_and_again_is_told_once() {
    let room = Room::new().await;
    let (mut one, mut two) = (room.joined().await, room.joined().await);
    one.appear(1, &format!("\"{}\"", "x".repeat(32 * 1024))).await;
    assert!(two.listen(|two| !two.present.is_empty()).await);
    let heard = two.heard_len;
    for _ in 0..200 {
        two.say(&Said::AwarenessQuery).await;
    }
    assert!(two.confirm().await);
    // At most one a second; this takes less than a minute on the slowest of machines.
    assert!(two.heard_len < heard + 100 * 32 * 1024, "{} bytes", two.heard_len - heard);
}
