//! Who is there.

use super::Room;

#[tokio::test]
async fn who_is_there_is_told_to_those_who_are_and_to_those_who_come() {
    let room = Room::new().await;
    let (mut one, mut two) = (room.joined().await, room.joined().await);
    let one_id = one.doc.client_id().get();
    one.appear(1, r#"{"user":{"name":"Ann"}}"#).await;
    assert!(two.listen(|two| two.present.contains_key(&one_id)).await);
    let mut three = room.joined().await;
    assert!(three.listen(|three| three.present.contains_key(&one_id)).await);
    one.disconnect();
    assert!(two.listen(|two| !two.present.contains_key(&one_id)).await, "gone with the connection");
    assert!(three.listen(|three| !three.present.contains_key(&one_id)).await);
    assert!(room.joined().await.present.is_empty());
}

#[tokio::test]
async fn a_state_that_is_no_json_ends_the_connection_and_nobody_hears_it() {
    let room = Room::new().await;
    let (mut one, mut two) = (room.joined().await, room.joined().await);
    one.appear(1, "{").await;
    assert_eq!(one.closed().await, Some(4400));
    assert!(two.confirm().await);
    assert!(two.present.is_empty());
}
