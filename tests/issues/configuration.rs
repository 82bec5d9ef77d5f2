//! Catalogs, workflows and spaces.

use super::*;

#[tokio::test]
async fn settings_are_replaced_by_who_saw_the_last_ones() {
    let desk = Desk::new().await;
    let path = format!("{}/config/settings", desk.path);
    let first = desk.ada.client.get(&path).send().await.expect(200);
    assert_eq!((first.int("/version"), first.list("/settings/statuses").len()), (0, 10));
    let mut settings = first.json["settings"].clone();
    settings["statuses"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "id": "blocked", "name": " Blocked ", "category": "todo" }));
    let put =
        desk.ada.client.put(&path).json(&json!({ "settings": settings, "baseVersion": 0 })).send().await.expect(200);
    assert_eq!((put.int("/version"), put.str("/settings/statuses/10/name")), (1, "Blocked"));
    let stale = desk.ada.client.put(&path).json(&json!({ "settings": settings, "baseVersion": 0 })).send().await;
    let stale = stale.expect_error(409, "stale_version", "The settings changed. Load them again.");
    assert_eq!(stale.int("/version"), 1);
    settings["issueTypes"].as_array_mut().unwrap().retain(|kind| kind["id"] != "task");
    let used = desk.ada.client.put(&path).json(&json!({ "settings": settings, "baseVersion": 1 })).send().await;
    let used = used.expect_error(409, "in_use", "\"Task\" is still used.");
    assert_eq!(used.str("/uses/0/kind"), "space");
    let bob = desk.member("bob", "developer").await;
    let refused =
        bob.client.put(&path).json(&json!({ "settings": first.json["settings"], "baseVersion": 1 })).send().await;
    refused.expect_error(403, "missing_scope", "This needs the issues:admin permission.");
}

#[tokio::test]
async fn workflows_say_which_spaces_use_them() {
    let desk = Desk::new().await;
    let path = format!("{}/config/workflows", desk.path);
    let all = desk.ada.client.get(&path).send().await.expect(200);
    assert_eq!(all.list("/workflows").len(), 5);
    let basic = desk.ada.client.get(&format!("{path}/wf_basic")).send().await.expect(200);
    assert_eq!(basic.str("/workflow/spaces/0/key"), "WEB");
    desk.ada.client.get(&format!("{path}/wf_none")).send().await.expect_error(404, "not_found", "Workflow not found.");
}

#[tokio::test]
async fn the_bundle_keeps_addresses_from_who_may_not_read_them() {
    let desk = Desk::new().await;
    let meta = desk.ada.client.get(&format!("{}/config/meta", desk.path)).send().await.expect(200);
    assert_eq!((meta.list("/systemFields").len(), meta.list("/templates").len()), (22, 5));
    assert!(meta.json["people"][0].get("email").is_some());
    assert_eq!((meta.str("/actor/type"), meta.str("/spaces/0/key")), ("user", "WEB"));
}

#[tokio::test]
async fn spaces_have_keys_of_their_own_and_can_be_archived() {
    let desk = Desk::new().await;
    let path = format!("{}/spaces", desk.path);
    let same = json!({ "key": "web", "name": "Again", "template": "basic" });
    let taken = desk.ada.client.post(&path).json(&same).send().await;
    taken.expect_error(409, "key_taken", "Another space has this key.");
    for (key, status) in [("A", 400), ("AB", 201), ("ABCDEFGHIJ", 201), ("ABCDEFGHIJK", 400), ("1A", 400)] {
        let body = json!({ "key": key, "name": "A space", "template": "kanban" });
        assert_eq!(desk.ada.client.post(&path).json(&body).send().await.status, status, "{key}");
    }
    let key = desk.issue(json!({ "summary": "One" })).await;
    desk.ada.client.post(&format!("{path}/WEB/archive")).send().await.expect(200);
    let refused = desk.ada.client.patch(&format!("{}/{key}", desk.path)).json(&json!({ "summary": "x" })).send().await;
    refused.expect_error(409, "space_archived", "This space is archived.");
    assert_eq!(desk.found(&desk.ada, "").await, [""; 0]);
    assert_eq!(desk.found(&desk.ada, "space = WEB").await, std::slice::from_ref(&key));
    desk.ada.client.post(&format!("{path}/WEB/unarchive")).send().await.expect(200);
    assert_eq!(desk.found(&desk.ada, "").await, [key]);
}
