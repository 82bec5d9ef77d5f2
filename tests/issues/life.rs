//! The life of an issue.

use super::*;

#[tokio::test]
async fn an_issue_is_made_changed_moved_and_deleted() {
    let desk = Desk::new().await;
    let made =
        desk.ada.client.post(&desk.path).json(&json!({ "summary": " One ", "description": "# Hello" })).send().await;
    let made = made.expect(201);
    assert_eq!((made.str("/issue/key"), made.str("/issue/summary")), ("WEB-1", "One"));
    assert_eq!((made.str("/issue/statusId"), made.str("/issue/priorityId")), ("todo", "medium"));
    assert_eq!((made.str("/issue/typeId"), made.str("/issue/excerpt")), ("task", "Hello"));
    let path = format!("{}/web-1", desk.path);
    let patched = desk
        .ada
        .client
        .patch(&path)
        .json(&json!({ "summary": "Two", "labels": ["A", "a"], "version": 1 }))
        .send()
        .await;
    let patched = patched.expect(200);
    assert_eq!((patched.int("/issue/version"), patched.json["issue"]["labels"].clone()), (2, json!(["A"])));
    let stale = desk.ada.client.patch(&path).json(&json!({ "summary": "Three", "version": 1 })).send().await;
    let stale = stale.expect_error(409, "stale_version", "The issue changed. Load it again.");
    assert_eq!(stale.str("/issue/summary"), "Two");
    let same = desk.ada.client.patch(&path).json(&json!({ "summary": "Two" })).send().await.expect(200);
    assert_eq!(same.int("/issue/version"), 2, "what changes nothing counts nothing");
    let done =
        desk.ada.client.post(&format!("{path}/transitions")).json(&json!({ "transitionId": "done" })).send().await;
    let done = done.expect(200);
    assert_eq!((done.str("/issue/statusCategory"), done.str("/issue/resolutionId")), ("done", "done"));
    let again =
        desk.ada.client.post(&format!("{path}/transitions")).json(&json!({ "transitionId": "done" })).send().await;
    again.expect_error(409, "wrong_status", "This transition doesn't leave the issue's status.");
    let back =
        desk.ada.client.post(&format!("{path}/transitions")).json(&json!({ "to": "todo" })).send().await.expect(200);
    assert!(back.json["issue"].get("resolvedAt").is_none() && back.json["issue"].get("resolutionId").is_none());
    let history = desk.ada.client.get(&format!("{path}/history")).send().await.expect(200);
    let fields: Vec<_> = history.list("/changes").iter().map(|it| it["field"].as_str().unwrap().to_owned()).collect();
    assert_eq!(fields.iter().filter(|field| *field == "status").count(), 2, "{fields:?}");
    desk.ada.client.delete(&path).send().await.expect(204);
    desk.ada.client.get(&path).send().await.expect_error(404, "not_found", "Issue not found.");
    assert_eq!(desk.issue(json!({ "summary": "Next" })).await, "WEB-2", "numbers are never used again");
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_at_once() {
    let desk = Desk::new().await;
    let body = json!({
        "summary": "", "type": "dream", "priority": "x", "labels": ["a b"], "assignee": "nobody@example.org", "dueDate": "1.1.2026"
    });
    let answer = desk.ada.client.post(&desk.path).json(&body).send().await.expect(400);
    let mut paths: Vec<_> = answer.list("/problems").iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect();
    paths.sort();
    assert_eq!(paths, ["assignee", "dueDate", "labels.0", "priority", "summary", "type"]);
    for length in [254, 255, 256] {
        let body = json!({ "summary": "é".repeat(length) });
        let answer = desk.ada.client.post(&desk.path).json(&body).send().await;
        assert_eq!(answer.status, if length > 255 { 400 } else { 201 }, "{length}");
    }
}

#[tokio::test]
async fn components_and_versions_are_those_of_the_space() {
    let desk = Desk::new().await;
    for name in ["components", "fixVersions", "affectsVersions"] {
        desk.issue(json!({ "summary": "One", name: [] })).await;
        let ask = async |list: Value| {
            let body = json!({ "summary": "One", name: list });
            desk.ada.client.post(&desk.path).json(&body).send().await
        };
        let refused = ask(json!(["none", "x".repeat(100), "x".repeat(101)])).await;
        let refused = refused.expect_problems(&[&format!("{name}.0"), &format!("{name}.1"), &format!("{name}.2")]);
        let said: Vec<_> =
            refused.list("/problems").iter().map(|it| it["message"].as_str().unwrap().to_owned()).collect();
        assert!(said[0].starts_with("The space has no such") && said[2] == "Use at most 100 characters.", "{said:?}");
        ask(json!(vec!["x"; 51])).await.expect_problems(&[name]);
    }
}

#[tokio::test]
async fn a_space_is_chosen_where_there_are_several() {
    let desk = Desk::new().await;
    desk.space("APP").await;
    let body = json!({ "summary": "One" });
    let refused = desk.ada.client.post(&desk.path).json(&body).send().await.expect_problems(&["space"]);
    assert!(refused.text.contains("Choose a space."));
    let body = json!({ "summary": "One", "space": "NONE" });
    let refused = desk.ada.client.post(&desk.path).json(&body).send().await.expect_problems(&["space"]);
    assert!(refused.text.contains("Space not found."));
}

#[tokio::test]
async fn parents_stand_higher_and_subtasks_need_one() {
    let desk = Desk::new().await;
    let epic = desk.issue(json!({ "summary": "Epic", "type": "epic" })).await;
    let task = desk.issue(json!({ "summary": "Task", "parent": epic })).await;
    desk.issue(json!({ "summary": "Subtask", "type": "subtask", "parent": task })).await;
    let alone = json!({ "space": "WEB", "summary": "Alone", "type": "subtask" });
    desk.ada.client.post(&desk.path).json(&alone).send().await.expect_problems(&["parent"]);
    let turned = desk.ada.client.patch(&format!("{}/{epic}", desk.path)).json(&json!({ "parent": task })).send().await;
    turned.expect_problems(&["parent"]);
    let has = desk.ada.client.delete(&format!("{}/{epic}", desk.path)).send().await;
    has.expect_error(409, "has_subtasks", "Other issues stand below this one.");
    assert_eq!(desk.found(&desk.ada, &format!("parent = {epic}")).await, [task]);
}

#[tokio::test]
async fn comments_are_written_found_changed_and_deleted() {
    let desk = Desk::new().await;
    let key = desk.issue(json!({ "summary": "One" })).await;
    let path = format!("{}/{key}/comments", desk.path);
    let said = desk.ada.client.post(&path).json(&json!({ "body": " Hello " })).send().await.expect(201);
    let one = format!("{path}/{}", said.str("/comment/commentId"));
    assert_eq!(said.str("/comment/body"), "Hello");
    let bob = desk.member("bob", "developer").await;
    let refused = bob.client.patch(&one).json(&json!({ "body": "x" })).send().await;
    refused.expect_error(403, "space_permission", "You can't edit others' comments in this space.");
    desk.ada.client.patch(&one).json(&json!({ "body": "Goodbye" })).send().await.expect(200);
    assert_eq!(desk.found(&desk.ada, "comment ~ hello").await, [""; 0]);
    assert_eq!(desk.found(&desk.ada, "comment ~ goodbye").await, [key]);
    desk.ada.client.delete(&one).send().await.expect(204);
    desk.ada.client.delete(&one).send().await.expect_error(404, "not_found", "Comment not found.");
    assert_eq!(desk.found(&desk.ada, "comment is not empty").await, [""; 0]);
    for length in [0, 1, 31_999, 32_000, 32_001] {
        let answer = desk.ada.client.post(&path).json(&json!({ "body": "x".repeat(length) })).send().await;
        assert_eq!(answer.status, if (1..=32_000).contains(&length) { 201 } else { 400 }, "{length}");
    }
}
