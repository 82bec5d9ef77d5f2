//! How a page is opened together, and when it is not.

use futures::future::join_all;
use tokio_tungstenite::tungstenite::http::StatusCode;

use super::Room;
use crate::harness::Ticket;

#[tokio::test]
async fn a_page_that_nobody_opened_together_has_no_history() {
    let room = Room::new().await;
    let collab = room.collab().await;
    assert_eq!(collab.json["epoch"], serde_json::Value::Null);
    assert_eq!(collab.json["seq"], 0);
    assert_eq!(collab.str("/state"), "AAA=");
    assert_eq!(collab.json["canWrite"], true);
    assert_eq!(collab.json["socket"], serde_json::Value::Null);
    assert_eq!(collab.json["contentVersion"], 0);
    assert_eq!(room.stored().await, None);
}

#[tokio::test]
async fn all_who_open_a_page_first_find_one_document() {
    let room = Room::new().await;
    let mut editors = join_all((0..12).map(|_| room.joined())).await;
    for (number, editor) in editors.iter_mut().enumerate() {
        editor.insert(0, &format!("{number};")).await;
    }
    for editor in &mut editors {
        assert!(editor.listen(|editor| editor.written().matches(';').count() == 12).await);
    }
    let first = editors[0].written();
    assert!(editors.iter().all(|editor| editor.written() == first));
    assert!(room.collab().await.str("/epoch").starts_with("pge_"));
}

#[tokio::test]
async fn a_ticket_opens_one_socket_of_its_page() {
    let room = Room::new().await;
    let ticket = room.ticket(&room.notes.ada).await;
    let mut editor = room.editor();
    assert_eq!(editor.open(&ticket, "").await, Ok(()));
    assert_eq!(editor.open(&ticket, "").await, Err(StatusCode::UNAUTHORIZED.as_u16()));
    let other = room.notes.page("root", "Other").await;
    let ticket = room.ticket(&room.notes.ada).await;
    let elsewhere = Ticket { url: ticket.url.replace(&room.page, &other), ticket: ticket.ticket };
    assert_eq!(editor.open(&elsewhere, "").await, Err(StatusCode::UNAUTHORIZED.as_u16()));
}

#[tokio::test]
async fn a_client_of_another_history_is_told_so() {
    let room = Room::new().await;
    drop(room.joined().await);
    let epoch = room.collab().await.str("/epoch").to_owned();
    let mut editor = room.editor();
    let ticket = room.ticket(&room.notes.ada).await;
    editor.open(&ticket, "&epoch=pge_other").await.unwrap();
    assert_eq!(editor.closed().await, Some(4409));
    let ticket = room.ticket(&room.notes.ada).await;
    editor.open(&ticket, &format!("&epoch={epoch}")).await.unwrap();
    assert!(editor.confirm().await);
}

#[tokio::test]
async fn who_may_not_write_reads_what_others_write() {
    let room = Room::new().await;
    let viewer = room.notes.member("vera", "viewer").await;
    let collab = viewer.client.get(&room.collab_path()).send().await.expect(200);
    assert_eq!(collab.json["canWrite"], false);
    let mut writer = room.joined().await;
    let mut reader = room.editor_of(&viewer.client);
    reader.connect().await;
    writer.insert(0, "written").await;
    assert!(reader.listen(|reader| reader.written() == "written").await);
    assert_eq!(reader.denied, None, "having nothing to say is no update");
    reader.insert(0, "not ").await;
    assert!(reader.listen(|reader| reader.denied.is_some()).await);
    assert_eq!(reader.denied.as_deref(), Some("permission denied"));
    assert!(writer.confirm().await);
    assert_eq!(writer.written(), "written");
}

#[tokio::test]
async fn a_page_of_others_is_not_there() {
    let room = Room::new().await;
    let stranger = room.notes.server.person("mallory").await;
    stranger.client.get(&room.collab_path()).send().await.expect(404);
    let missing = format!("{}/collab", room.notes.at("doc_00000000000000000000000000"));
    let answer = room.notes.ada.client.get(&missing).send().await.expect(404);
    assert_eq!(answer.str("/error"), "Page not found");
}
