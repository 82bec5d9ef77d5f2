//! What one writes, the others read, and so does whoever comes later.

use yrs::{
    Text, Transact,
    sync::{Message as Said, SyncMessage},
};

use super::Room;

#[tokio::test]
async fn what_one_writes_the_others_read() {
    let room = Room::new().await;
    let (mut one, mut two) = (room.joined().await, room.joined().await);
    one.insert(0, "Hello").await;
    assert!(two.listen(|two| two.written() == "Hello").await);
    two.insert(5, ", world").await;
    assert!(one.listen(|one| one.written() == "Hello, world").await);
}

#[tokio::test]
async fn whoever_comes_later_finds_it() {
    let room = Room::new().await;
    let mut one = room.joined().await;
    one.insert(0, "Hello").await;
    assert!(one.confirm().await);
    assert_eq!(room.joined().await.written(), "Hello");
    one.disconnect();
    assert_eq!(room.joined().await.written(), "Hello");
}

#[tokio::test]
async fn a_sync_answer_means_that_all_that_was_said_before_is_kept() {
    let room = Room::new().await;
    let mut one = room.joined().await;
    for round in 0..20 {
        one.insert(0, &format!("{round} ")).await;
        assert!(one.confirm().await);
        let collab = room.collab().await;
        let mut other = room.editor();
        other.apply(&base64::Engine::decode(&base64::prelude::BASE64_STANDARD, collab.str("/state")).unwrap());
        assert_eq!(other.written(), one.written());
    }
}

#[tokio::test]
async fn what_was_written_offline_is_sent_on_return() {
    let room = Room::new().await;
    let (mut one, mut two) = (room.joined().await, room.joined().await);
    one.disconnect();
    one.insert(0, "offline").await;
    two.insert(0, "online ").await;
    one.connect().await;
    assert!(two.listen(|two| two.written().contains("offline")).await);
    assert!(one.confirm().await);
    assert_eq!(one.written(), two.written());
}

#[tokio::test]
async fn updates_that_come_before_what_they_build_on_wait_for_it() {
    let room = Room::new().await;
    let (mut one, mut two) = (room.joined().await, room.joined().await);
    one.disconnect();
    one.insert(0, "a").await;
    let ticket = room.ticket(&room.notes.ada).await;
    one.open(&ticket, "").await.unwrap();
    // Said before the server's question for what it lacks is answered.
    one.insert(1, "b").await;
    assert!(one.confirm().await);
    assert!(two.listen(|two| two.written() == "ab").await);
}

#[tokio::test]
async fn documents_that_many_leave_and_enter_are_written_down_once() {
    let room = Room::new().await;
    for round in 0..5 {
        let mut one = room.joined().await;
        one.insert(0, &format!("{round}")).await;
        assert!(one.confirm().await);
        one.disconnect();
    }
    let last = room.joined().await;
    assert_eq!(last.written(), "43210");
}

#[tokio::test]
async fn rows_are_folded_when_there_are_many_and_nothing_of_them_is_lost() {
    let room = Room::new().await;
    let mut one = room.joined().await;
    // Each is confirmed before the next, and so has a row of its own.
    for round in 0..510 {
        one.insert(round, "x").await;
        assert!(one.confirm().await);
    }
    let folded = async || room.stored().await.filter(|stored| stored.folds > 0);
    let stored = room.notes.server.eventually("a fold", folded).await;
    let store = room.notes.server.store().await;
    let rows = store.page_updates(room.page.parse().unwrap(), &stored.epoch).await.unwrap();
    assert!(rows.len() < 500, "{}", rows.len());
    one.insert(510, "y").await;
    assert!(one.confirm().await);
    assert_eq!(room.joined().await.written(), format!("{}y", "x".repeat(510)));
}

#[tokio::test]
async fn who_brings_what_an_edit_waited_for_hears_of_that_edit() {
    let room = Room::new().await;
    let (mut first, mut second) = (room.joined().await, room.joined().await);
    // One edit builds on another that the server is told of later: its node died before it wrote that down, say.
    let text = first.text();
    let untold = {
        let mut edit = first.doc.transact_mut();
        text.insert(&mut edit, 0, "one ");
        edit.encode_update_v1()
    };
    second.apply(&untold);
    second.insert(4, "two").await;
    assert!(second.confirm().await);
    first.say(&Said::Sync(SyncMessage::Update(untold))).await;
    assert!(first.listen(|it| it.written() == "one two").await);
}
