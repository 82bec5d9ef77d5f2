//! What others read of a page while it is edited together.

use std::time::Duration;

use super::Room;

/// Fewer than what is folded for being many, and typed without a pause.
const ROUNDS: u32 = 120;

#[tokio::test]
async fn what_is_edited_together_is_read_by_everybody_within_seconds_while_the_editing_goes_on() {
    let room = Room::new().await;
    let mut editor = room.joined().await;
    editor.insert(0, "acknowledged ").await;
    assert!(editor.confirm().await);
    let mut is_read = false;
    for _ in 0..ROUNDS {
        editor.insert(0, "x ").await;
        assert!(editor.confirm().await);
        room.notes.server.clock.advance(Duration::from_secs(1));
        let content = room.notes.content(&room.page).await;
        is_read |= content["markdown"].as_str().unwrap().contains("acknowledged");
    }
    assert!(is_read, "{ROUNDS} seconds later it can't be read");
    let path = format!("{}/search?q=acknowledged", room.notes.path);
    let found = room.notes.ada.client.get(&path).send().await.expect(200);
    assert_eq!(found.list("/results").len(), 1, "{}", found.text);
}
