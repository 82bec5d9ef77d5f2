//! Moves to other spaces.

use super::{bulk::fine, *};

impl Desk {
    async fn move_as(&self, person: &Person, key: &str, body: Value) -> Answer {
        person.client.post(&format!("{}/{key}/move", self.path)).json(&body).send().await
    }

    /// Makes a component of a space; its id.
    async fn component_of(&self, space: &str, name: &str) -> String {
        let path = format!("{}/spaces/{space}/components", self.path);
        let made = self.ada.client.post(&path).json(&json!({ "name": name })).send().await.expect(201);
        made.str("/component/componentId").to_owned()
    }
}

#[tokio::test]
async fn an_issue_keeps_all_that_hangs_on_it_and_its_former_key_finds_it() {
    let desk = Desk::new().await;
    desk.space("OPS").await;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for name in ["Pump", "Valve"] {
        ours.push(desk.component_of("WEB", name).await);
    }
    theirs.push(desk.component_of("OPS", "pump").await);
    let key = desk.issue(json!({ "summary": "Leak", "components": ["Pump", "Valve"], "labels": ["wet"] })).await;
    let other = desk.issue(json!({ "summary": "Flood" })).await;
    let path = format!("{}/{key}", desk.path);
    desk.ada.client.post(&format!("{path}/comments")).json(&json!({ "body": "Drip" })).send().await.expect(201);
    desk.ada
        .client
        .post(&format!("{path}/links"))
        .json(&json!({ "type": "blocks", "to": other }))
        .send()
        .await
        .expect(201);
    let moved = desk.move_as(&desk.ada, &key, json!({ "space": "ops", "version": 2 })).await.expect(200);
    assert_eq!((moved.str("/issue/key"), moved.int("/issue/number"), moved.int("/issue/version")), ("OPS-1", 1, 3));
    assert_eq!(moved.json["issue"]["componentIds"], json!(theirs));
    for named in ["OPS-1", "WEB-1", "web-1"] {
        let shown = desk.shown(named).await;
        assert_eq!(shown.str("/issue/key"), "OPS-1", "{named}");
        assert_eq!((shown.str("/links/0/toKey"), shown.int("/issue/commentCount")), (other.as_str(), 1));
    }
    for (jql, found) in [
        ("key = WEB-1", &["OPS-1"][..]),
        ("space = OPS", &["OPS-1"]),
        ("space = WEB", &["WEB-2"]),
        ("space was WEB order by key", &["OPS-1", "WEB-2"]),
        ("space changed from WEB to OPS", &["OPS-1"]),
        ("labels = wet and text ~ drip", &["OPS-1"]),
        ("component = Valve", &[]),
    ] {
        assert_eq!(desk.found(&desk.ada, jql).await, found, "{jql}");
    }
    assert_eq!(desk.issue(json!({ "summary": "Next" })).await, "WEB-3", "a number is never given twice");
    let comments = desk.ada.client.get(&format!("{path}/comments")).send().await.expect(200);
    assert_eq!(comments.list("/comments").len(), 1);
    let gone = format!("{}/spaces/WEB/components/{}", desk.path, ours[1]);
    desk.ada.client.delete(&gone).send().await.expect(204);
    let back = desk.move_as(&desk.ada, "WEB-1", json!({ "space": "WEB" })).await.expect(200);
    assert_eq!(back.str("/issue/key"), "WEB-4");
    assert_eq!(back.json["issue"]["componentIds"], json!([ours[0]]));
    for named in ["OPS-1", "WEB-1", "WEB-4"] {
        assert_eq!(desk.shown(named).await.str("/issue/key"), "WEB-4");
    }
    let history = desk.ada.client.get(&format!("{path}/history")).send().await.expect(200);
    let times = history.list("/changes").iter().filter(|it| it["field"] == "space").count();
    assert_eq!(times, 2);
}

#[tokio::test]
async fn subtasks_go_along_and_alone_they_stay() {
    let desk = Desk::new().await;
    desk.space("OPS").await;
    let top = desk.issue(json!({ "summary": "Top", "type": "epic" })).await;
    let parent = desk.issue(json!({ "summary": "Parent", "parent": top })).await;
    let mut below = Vec::new();
    for summary in ["One", "Two"] {
        below.push(desk.issue(json!({ "summary": summary, "type": "subtask", "parent": parent })).await);
    }
    let alone = desk.move_as(&desk.ada, &below[0], json!({ "space": "OPS" })).await.expect(400);
    assert!(alone.text.contains("A subtask needs a parent in its space."), "{}", alone.text);
    let moved = desk.move_as(&desk.ada, &parent, json!({ "space": "OPS" })).await.expect(200);
    assert_eq!(moved.str("/issue/key"), "OPS-1");
    assert_eq!(desk.found(&desk.ada, "parent = OPS-1 order by key").await, ["OPS-2", "OPS-3"]);
    assert_eq!(desk.shown(&below[1]).await.str("/issue/key"), "OPS-3");
    assert_eq!(desk.found(&desk.ada, "parent = WEB-1").await, ["OPS-1"], "what isn't a subtask goes alone");
    desk.move_as(&desk.ada, &top, json!({ "space": "OPS" })).await.expect(200);
    assert_eq!(desk.found(&desk.ada, "space = OPS order by key").await, ["OPS-1", "OPS-2", "OPS-3", "OPS-4"]);
    assert_eq!(desk.found(&desk.ada, "space = WEB").await, [""; 0]);
}

#[tokio::test]
async fn type_and_status_are_those_of_the_other_space_and_rights_are_asked_in_both() {
    let desk = Desk::new().await;
    for (key, template) in [("BUGS", "bugs"), ("SAFE", "basic")] {
        let space = json!({ "key": key, "name": key, "template": template });
        desk.ada.client.post(&format!("{}/spaces", desk.path)).json(&space).send().await.expect(201);
    }
    let safe = format!("{}/spaces/SAFE", desk.path);
    let mut config = desk.ada.client.get(&safe).send().await.expect(200).json["space"]["config"].clone();
    config["access"]["visibility"] = json!("private");
    desk.ada.client.patch(&safe).json(&json!({ "config": config })).send().await.expect(200);
    let (bob, eve) = (desk.member("bob", "developer").await, desk.member("eve", "viewer").await);
    desk.issue(json!({ "summary": "Epic", "type": "epic" })).await;
    let task = desk.issue(json!({ "summary": "Task" })).await;
    let to = |body: Value| desk.move_as(&bob, "WEB-1", body);
    to(json!({ "space": "SAFE" })).await.expect_problems(&["space"]);
    to(json!({ "space": "WEB" })).await.expect_problems(&["space"]);
    to(json!({ "space": "NONE" })).await.expect_problems(&["space"]);
    to(json!({ "space": "" })).await.expect_problems(&["space"]);
    to(json!({ "space": "BUGS" })).await.expect_problems(&["type"]);
    to(json!({ "space": "BUGS", "type": "bug", "status": "done" })).await.expect_problems(&["status"]);
    to(json!({ "space": "BUGS", "type": "story" })).await.expect_problems(&["type"]);
    let stale = to(json!({ "space": "BUGS", "type": "bug", "version": 9 })).await.expect(409);
    assert_eq!(stale.str("/code"), "stale_version");
    desk.move_as(&eve, "WEB-1", json!({ "space": "BUGS", "type": "bug" })).await.expect(403);
    let body = json!({ "space": "BUGS", "type": "Bug", "status": "Resolved", "fields": { "priority": "high" } });
    let moved = to(body).await.expect(200);
    let issue = &moved.json["issue"];
    assert_eq!((&issue["typeId"], &issue["statusId"]), (&json!("bug"), &json!("resolved")));
    assert_eq!((&issue["resolutionId"], &issue["priorityId"]), (&json!("done"), &json!("high")));
    desk.ada.client.post(&format!("{}/spaces/BUGS/archive", desk.path)).send().await.expect(200);
    let shut = desk.move_as(&desk.ada, &task, json!({ "space": "BUGS", "type": "task" })).await;
    shut.expect_error(409, "space_archived", "This space is archived.");
    let out = desk.move_as(&desk.ada, "BUGS-1", json!({ "space": "WEB", "type": "task", "status": "done" })).await;
    out.expect_error(409, "space_archived", "This space is archived.");
    desk.ada.client.get(&format!("{}/BUGS-9", desk.path)).send().await.expect(404);
}

#[tokio::test]
async fn a_request_follows_its_desk_and_is_none_where_there_is_none() {
    let desk = Desk::new().await;
    for key in ["ONE", "TWO"] {
        let space = json!({ "key": key, "name": key, "template": "service" });
        let made = desk.ada.client.post(&format!("{}/spaces", desk.path)).json(&space).send().await.expect(201);
        let mut config = made.json["space"]["config"].clone();
        config["servicedesk"]["portal"] = json!({ "enabled": true, "access": "org" });
        let path = format!("{}/spaces/{key}", desk.path);
        desk.ada.client.patch(&path).json(&json!({ "config": config })).send().await.expect(200);
    }
    let slug = desk.ada.client.get(desk.org()).send().await.expect(200).str("/org/slug").to_owned();
    let portal = |rest: &str| format!("/v1/portal/issues/{slug}/{rest}");
    let raise = json!({ "requestType": "get_help", "summary": "Help" });
    desk.ada.client.post(&portal("ONE/requests")).json(&raise).send().await.expect(201);
    assert_eq!(desk.shown("ONE-1").await.json["issue"]["sla"].as_object().map(serde_json::Map::len), Some(2));
    desk.move_as(&desk.ada, "ONE-1", json!({ "space": "TWO" })).await.expect(200);
    desk.ada.client.get(&portal("ONE/requests/ONE-1")).send().await.expect(404);
    let there = desk.ada.client.get(&portal("TWO/requests/ONE-1")).send().await.expect(200);
    assert_eq!((there.str("/request/key"), there.str("/request/requestType")), ("TWO-1", "Get help"));
    for (space, count) in [("ONE", 0), ("TWO", 1)] {
        let listed = desk.ada.client.get(&portal(&format!("{space}/requests"))).send().await.expect(200);
        assert_eq!(listed.list("/requests").len(), count, "{space}");
    }
    assert_eq!(desk.found(&desk.ada, "requestType = \"Get help\" and channel = portal").await, ["TWO-1"]);
    let bare = json!({ "space": "WEB", "type": "task", "status": "todo" });
    let moved = desk.move_as(&desk.ada, "TWO-1", bare).await.expect(200);
    assert_eq!((moved.json["issue"].get("requestTypeId"), &moved.json["issue"]["sla"]), (None, &json!({})));
    let listed = desk.ada.client.get(&portal("TWO/requests")).send().await.expect(200);
    assert_eq!(listed.list("/requests").len(), 0);
    let back =
        json!({ "space": "TWO", "type": "request", "status": "in_progress", "fields": { "requestType": "Get help" } });
    desk.move_as(&desk.ada, "WEB-1", back).await.expect(200);
    desk.ada.client.get(&portal("TWO/requests/TWO-2")).send().await.expect(200);
    let path = format!("{}/TWO-2", desk.path);
    let change = async |body: Value| desk.ada.client.patch(&path).json(&body).send().await;
    change(json!({ "requestType": "report_a_problem" })).await.expect_problems(&["requestType"]);
    change(json!({ "requestType": "none" })).await.expect_problems(&["requestType"]);
    let asked = change(json!({ "requestType": "report_a_problem", "type": "incident" })).await.expect(200);
    assert_eq!(asked.str("/issue/requestTypeId"), "report_a_problem");
    assert_eq!(desk.found(&desk.ada, "requestType was get_help").await, ["TWO-2"]);
    change(json!({ "requestType": null })).await.expect(200);
    desk.ada.client.get(&portal("TWO/requests/TWO-2")).send().await.expect(404);
}

#[tokio::test]
async fn many_are_moved_and_go_back_under_their_own_keys() {
    let desk = Desk::new().await;
    desk.space("OPS").await;
    desk.component_of("WEB", "Pump").await;
    for at in 0..3 {
        desk.issue(json!({ "summary": format!("Issue {at}"), "components": ["Pump"] })).await;
    }
    desk.issue(json!({ "summary": "Below", "type": "subtask", "parent": "WEB-1" })).await;
    let body = json!({ "issues": ["WEB-1", "WEB-2", "WEB-3"], "move": { "space": "OPS" } });
    let (id, moved) = desk.bulk(&desk.ada, &body).await;
    assert_eq!(moved, fine(&["WEB-1", "WEB-2", "WEB-3"]));
    assert_eq!(desk.found(&desk.ada, "space = OPS order by key").await, ["OPS-1", "OPS-2", "OPS-3", "OPS-4"]);
    let (_, again) = desk.bulk(&desk.ada, &body).await;
    assert_eq!(again, fine(&["OPS-1", "OPS-3", "OPS-4"]), "what is there already stays");
    desk.move_as(&desk.ada, "WEB-3", json!({ "space": "WEB" })).await.expect(200);
    let back = desk.undo(&desk.ada, &id).await;
    let errors: Vec<_> = back.iter().map(|(key, error)| (key.as_str(), error.as_deref())).collect();
    assert_eq!(errors, [("WEB-1", None), ("WEB-2", None), ("WEB-3", Some("The issue was moved again."))]);
    assert_eq!(desk.found(&desk.ada, "space = WEB order by key").await, ["WEB-1", "WEB-2", "WEB-5", "WEB-6"]);
    assert_eq!(desk.found(&desk.ada, "component = Pump order by key").await, ["WEB-1", "WEB-2"]);
    assert_eq!(desk.shown("OPS-1").await.str("/issue/key"), "WEB-1");
    assert_eq!(desk.found(&desk.ada, "parent = WEB-1").await, ["WEB-6"]);
    let (_, gone) = desk.bulk(&desk.ada, &json!({ "issues": ["WEB-1"], "move": { "space": "NONE" } })).await;
    assert_eq!(gone[0].1.as_deref(), Some("space: Space not found."));
}

#[tokio::test(flavor = "multi_thread")]
async fn issues_that_move_at_once_have_numbers_of_their_own() {
    let desk = Desk::new().await;
    desk.space("OPS").await;
    for at in 0..6 {
        desk.issue(json!({ "summary": format!("Issue {at}") })).await;
    }
    let keys: Vec<String> = (1..=6).map(|at| format!("WEB-{at}")).collect();
    let moved = keys.iter().map(|key| desk.move_as(&desk.ada, key, json!({ "space": "OPS" })));
    let mut numbers: Vec<i64> =
        futures::future::join_all(moved).await.into_iter().map(|it| it.expect(200).int("/issue/number")).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=6).collect::<Vec<_>>());
}
