//! How much a page may hold, and what is no message at all.

use actors::pages::session::{AWARENESS_LEN_MAX, TEXT_LEN_MAX};

use super::Room;

/// What one message may carry, well below the limit of messages.
const PART: usize = 512 * 1024;

#[tokio::test]
async fn a_text_may_be_as_long_as_the_limit_and_no_byte_longer() {
    let room = Room::new().await;
    let mut one = room.joined().await;
    one.insert(0, &"a".repeat(PART)).await;
    one.insert(0, &"b".repeat(TEXT_LEN_MAX - PART - 1)).await;
    assert!(one.confirm().await, "one below: {:?}", one.closed);
    one.insert(0, "c").await;
    assert!(one.confirm().await, "at the limit: {:?}", one.closed);
    let mut two = room.joined().await;
    assert_eq!(two.written().len(), TEXT_LEN_MAX);
    one.insert(0, "d").await;
    assert_eq!(one.closed().await, Some(4413));
    assert!(two.confirm().await);
    assert_eq!(two.written().len(), TEXT_LEN_MAX, "what is too much is not taken");
    two.edit(|tx| yrs::Text::remove_range(&tx_text(tx), tx, 0, 10)).await;
    two.insert(0, "room again").await;
    assert!(two.confirm().await, "{:?}", two.closed);
}

fn tx_text(tx: &yrs::TransactionMut<'_>) -> yrs::TextRef {
    yrs::ReadTxn::get_text(tx, "markdown").unwrap()
}

#[tokio::test]
async fn bytes_that_are_no_message_end_the_connection_and_change_nothing() {
    let room = Room::new().await;
    let mut witness = room.joined().await;
    witness.insert(0, "untouched").await;
    assert!(witness.confirm().await);
    let claims_all_memory = vec![0, 2, 6, 0xff, 0xff, 0xff, 0xff, 0x0f, 0];
    for bytes in [vec![], vec![0], vec![0, 2, 1, 9], vec![0, 9], claims_all_memory] {
        let mut one = room.joined().await;
        one.say_bytes(bytes.clone()).await;
        assert_eq!(one.closed().await, Some(4400), "{bytes:?}");
    }
    assert!(witness.confirm().await);
    assert_eq!(room.joined().await.written(), "untouched");
}

#[tokio::test]
async fn a_state_of_awareness_may_be_as_long_as_the_limit() {
    let room = Room::new().await;
    let state = |len: usize| format!("\"{}\"", "x".repeat(len - 2));
    let mut one = room.joined().await;
    one.appear(1, &state(AWARENESS_LEN_MAX)).await;
    assert!(one.confirm().await);
    one.appear(2, &state(AWARENESS_LEN_MAX + 1)).await;
    assert_eq!(one.closed().await, Some(4400));
}
