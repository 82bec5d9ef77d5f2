//! What agents work with: queues, answers at hand, customers; and the configuration that has them.

use super::*;

impl Desk {
    fn space(&self, rest: &str) -> String {
        format!("{}/issues/spaces/HELP{rest}", self.org)
    }

    /// Changes a part of the space's configuration.
    async fn part(&self, config: Value) -> Answer {
        self.ada.client.patch(&self.space("")).json(&json!({ "config": config })).send().await
    }
}

#[tokio::test]
async fn queues_count_and_list_the_issues_of_their_desk_in_their_order() {
    let desk = Desk::new().await;
    let other = json!({ "key": "WEB", "name": "Web", "template": "basic" });
    desk.ada.client.post(&format!("{}/issues/spaces", desk.org)).json(&other).send().await.expect(201);
    let elsewhere = json!({ "space": "WEB", "summary": "Elsewhere" });
    desk.ada.client.post(&format!("{}/issues", desk.org)).json(&elsewhere).send().await.expect(201);
    for summary in ["Fire", "Water", "Air"] {
        desk.server.clock.advance(std::time::Duration::from_secs(1));
        desk.request(&desk.eve.client, summary).await;
    }
    let mine = json!({ "assignee": desk.ada.email });
    desk.ada.client.patch(&format!("{}/issues/HELP-2", desk.org)).json(&mine).send().await.expect(200);
    let counts = async || {
        let listed = desk.ada.client.get(&desk.space("/queues")).send().await.expect(200);
        listed.list("/queues").iter().map(|it| (it["id"].clone(), it["count"].clone())).collect::<Vec<_>>()
    };
    let wanted = |late: u64| {
        [("unassigned", 2), ("mine", 1), ("open", 3), ("late_soon", late)].map(|(id, count)| (json!(id), json!(count)))
    };
    assert_eq!(counts().await, wanted(0));
    let keys = async |path: &str| {
        let found = desk.ada.client.get(&desk.space(path)).send().await.expect(200);
        found.list("/issues").iter().map(|it| it["key"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys("/queues/open/issues").await, ["HELP-1", "HELP-2", "HELP-3"]);
    assert_eq!(keys("/queues/unassigned/issues?maxResults=1&startAt=1").await, ["HELP-3"]);
    let nowhere = desk.ada.client.get(&desk.space("/queues/nowhere/issues")).send().await;
    nowhere.expect_error(404, "not_found", "Queue not found.");
    desk.ada
        .client
        .get(&desk.space("/queues/open/issues?maxResults=1001"))
        .send()
        .await
        .expect_problems(&["maxResults"]);
    let queues = json!([
        { "id": "new", "name": "New", "jql": "requestType = get_help order by created desc", "columns": ["key", "status"] },
        { "id": "wrong", "name": "Wrong", "jql": "nothing = 1" },
    ]);
    desk.part(json!({ "servicedesk": { "queues": queues } })).await.expect(200);
    let listed = desk.ada.client.get(&desk.space("/queues")).send().await.expect(200);
    assert_eq!((listed.int("/queues/0/count"), &listed.json["queues"][1]["count"]), (3, &Value::Null));
    assert!(listed.str("/queues/1/error").starts_with("Field 'nothing' does not exist"), "{}", listed.text);
    assert_eq!(keys("/queues/new/issues").await, ["HELP-3", "HELP-2", "HELP-1"]);
    desk.ada.client.get(&desk.space("/queues/wrong/issues")).send().await.expect(400);
    let basic = format!("{}/issues/spaces/WEB/queues", desk.org);
    assert_eq!(desk.ada.client.get(&basic).send().await.expect(200).json, json!({ "queues": [] }));
}

#[tokio::test]
async fn a_configuration_changes_by_part_and_a_desk_goes_only_where_that_is_said() {
    let desk = Desk::new().await;
    let before = desk.ada.client.get(&desk.space("")).send().await.expect(200).json["space"]["config"].clone();
    let changed = desk.part(json!({ "estimation": "storyPoints", "access": { "visibility": "private" } })).await;
    let config = changed.expect(200).json["space"]["config"].clone();
    let mut wanted = before.clone();
    wanted["estimation"] = json!("storyPoints");
    wanted["access"]["visibility"] = json!("private");
    assert_eq!(config, wanted);
    let satisfied = desk.part(json!({ "servicedesk": { "satisfaction": false } })).await.expect(200);
    wanted["servicedesk"]["satisfaction"] = json!(false);
    assert_eq!(satisfied.json["space"]["config"], wanted);
    desk.eve.client.get(&desk.portal).send().await.expect(200);
    desk.part(json!({ "nothing": 1 })).await.expect_problems(&["config"]);
    desk.part(json!({ "servicedesk": { "queues": 1 } })).await.expect_problems(&["config"]);
    desk.part(json!([])).await.expect(400);
    let bare = desk.part(json!({ "servicedesk": null })).await.expect(200);
    assert_eq!(bare.json["space"]["config"].get("servicedesk"), None);
    no_help_center(desk.eve.client.get(&desk.portal).send().await);
}

#[tokio::test]
async fn answers_at_hand_are_for_agents_and_customers_for_admins() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let canned = json!([{ "id": "hello", "name": "Hello", "body": "We look into it." }]);
    desk.part(json!({ "servicedesk": { "cannedResponses": canned } })).await.expect(200);
    desk.configure(|config| config["portal"]["customers"] = json!([desk.eve.email, bob.email, "new@example.org"]))
        .await;
    let get = async |person: &Person, rest: &str| person.client.get(&desk.space(rest)).send().await;
    assert_eq!(get(&desk.ada, "/canned").await.expect(200).json, json!({ "canned": canned }));
    assert_eq!(get(&bob, "/canned").await.expect(403).json["code"], "space_permission");
    let listed = get(&desk.ada, "/customers").await.expect(200);
    let wanted = json!([
        { "email": desk.eve.email },
        { "email": bob.email, "userId": bob.user_id, "name": "bob" },
        { "email": "new@example.org" },
    ]);
    assert_eq!(listed.json["customers"], wanted, "who isn't a member can't be probed");
    get(&bob, "/customers").await.expect_error(403, "space_admin", "Only admins of the space can do this.");
    get(&desk.eve, "/customers").await.expect(404);
}

#[tokio::test]
async fn queues_and_answers_hold_at_their_limits() {
    let desk = Desk::new().await;
    let queue = |at: usize| json!({ "id": format!("q{at}"), "name": "Q", "jql": "" });
    for (count, status) in [(49, 200), (50, 200), (51, 400)] {
        let queues: Vec<Value> = (0..count).map(queue).collect();
        assert_eq!(desk.part(json!({ "servicedesk": { "queues": queues } })).await.status, status, "{count}");
    }
    let answer = |at: usize, body: String| json!({ "id": format!("c{at}"), "name": "C", "body": body });
    for (count, status) in [(199, 200), (200, 200), (201, 400)] {
        let all: Vec<Value> = (0..count).map(|at| answer(at, "x".to_owned())).collect();
        assert_eq!(desk.part(json!({ "servicedesk": { "cannedResponses": all } })).await.status, status, "{count}");
    }
    for (length, status) in [(0, 400), (1, 200), (31_999, 200), (32_000, 200), (32_001, 400)] {
        let all = json!([answer(0, "x".repeat(length))]);
        assert_eq!(desk.part(json!({ "servicedesk": { "cannedResponses": all } })).await.status, status, "{length}");
    }
    let wrong = json!([
        { "id": "A", "name": "", "jql": "status =", "columns": vec!["key"; 31] },
        { "id": "b", "name": "B", "jql": "", "columns": [""] },
        { "id": "b", "name": "B", "jql": "" },
    ]);
    let at = |rest: &str| format!("config.servicedesk.queues{rest}");
    let paths = [at("[0].id"), at("[0].name"), at("[0].jql"), at("[0].columns"), at("[1].columns[0]"), at("[2].id")];
    let refused = desk.part(json!({ "servicedesk": { "queues": wrong } })).await;
    refused.expect_problems(&paths.each_ref().map(String::as_str));
}
