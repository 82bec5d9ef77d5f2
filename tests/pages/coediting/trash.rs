//! Pages that go to the trash while people edit them together.

use serde_json::json;

use super::Room;

impl Room {
    async fn set_archived(&self, archived: bool) {
        let patch = self.notes.ada.client.patch(&self.notes.at(&self.page)).json(&json!({ "archived": archived }));
        patch.send().await.expect(200);
    }
}

#[tokio::test]
async fn a_page_that_goes_to_the_trash_is_closed_and_comes_back_as_it_was() {
    let room = Room::new().await;
    let mut one = room.joined().await;
    one.insert(0, "kept").await;
    assert!(one.confirm().await);
    let epoch = room.collab().await.str("/epoch").to_owned();
    room.set_archived(true).await;
    assert_eq!(one.closed().await, Some(4404));
    assert_eq!(room.collab().await.json["canWrite"], false);
    let ticket = room.ticket(&room.notes.ada).await;
    one.open(&ticket, "").await.unwrap();
    assert_eq!(one.closed().await, Some(4404));

    room.set_archived(false).await;
    let collab = room.collab().await;
    assert_eq!((collab.str("/epoch"), &collab.json["canWrite"]), (&*epoch, &json!(true)));
    one.insert(4, " while away").await;
    one.connect().await;
    assert!(one.confirm().await);
    assert_eq!(room.joined().await.written(), "kept while away");
}

#[tokio::test]
async fn a_page_that_is_deleted_takes_its_document_along() {
    let room = Room::new().await;
    let mut one = room.joined().await;
    one.insert(0, "gone").await;
    assert!(one.confirm().await);
    room.set_archived(true).await;
    room.notes.ada.client.delete(&room.notes.at(&room.page)).send().await.expect(200);
    assert_eq!(room.stored().await, None);
    let answer = room.notes.ada.client.get(&room.collab_path()).send().await.expect(404);
    assert_eq!(answer.str("/error"), "Page not found");
}
