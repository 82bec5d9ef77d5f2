//! The trash: what was thrown away comes back as it was.

use std::time::Duration;

use super::*;

const MONTH: Duration = Duration::from_hours(30 * 24);

impl Desk {
    async fn throw_away(&self, person: &Person, key: &str) {
        person.client.delete(&format!("{}/{key}", self.path)).send().await.expect(204);
    }

    async fn restore(&self, person: &Person, id: &str) -> Answer {
        person.client.post(&format!("{}/trash/{id}/restore", self.path)).send().await
    }

    /// The keys in the trash, as somebody sees it.
    async fn trash(&self, person: &Person, query: &str) -> Vec<String> {
        let list = person.client.get(&format!("{}/trash{query}", self.path)).send().await.expect(200);
        let keys = list.list("/issues").iter().map(|it| it["issue"]["key"].as_str().expect("a key").to_owned());
        keys.collect()
    }

    async fn id(&self, key: &str) -> String {
        let shown = self.ada.client.get(&format!("{}/{key}", self.path)).send().await.expect(200);
        shown.str("/issue/issueId").to_owned()
    }

    /// Everything that is shown of an issue, but for its version.
    async fn whole(&self, key: &str) -> Value {
        let path = format!("{}/{key}", self.path);
        let mut all = Vec::new();
        for part in ["", "/comments", "/history", "/transitions"] {
            all.push(self.ada.client.get(&format!("{path}{part}")).send().await.expect(200).json);
        }
        all[0]["issue"].as_object_mut().expect("an issue").remove("version");
        json!(all)
    }
}

#[tokio::test]
async fn what_was_thrown_away_comes_back_with_all_that_hangs_on_it() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let body = json!({ "summary": "Fire", "labels": ["x"], "description": "Words", "assignee": bob.user_id });
    let (one, two) = (desk.issue(body).await, desk.issue(json!({ "summary": "Two" })).await);
    let path = format!("{}/{one}", desk.path);
    let post = async |what: &str, body: Value| desk.ada.client.post(&format!("{path}/{what}")).json(&body).send().await;
    post("comments", json!({ "body": "Hello" })).await.expect(201);
    post("links", json!({ "type": "blocks", "to": two })).await.expect(201);
    post("transitions", json!({ "to": "done" })).await.expect(200);
    let queries = [
        "text ~ words",
        "comment ~ hello",
        "labels = x",
        "watcher = currentUser()",
        "assignee = bob",
        "status was todo and status = done",
        "status changed",
        "order by key",
    ];
    let found = async || {
        let mut all = Vec::new();
        for jql in queries {
            all.push(desk.found(&desk.ada, jql).await);
        }
        all
    };
    let labels = async || desk.ada.client.get(&format!("{}/labels", desk.path)).send().await.expect(200).json;
    let (before, found_before, labels_before) = (desk.whole(&one).await, found().await, labels().await);
    let linked = async || {
        let shown = desk.ada.client.get(&format!("{}/{two}", desk.path)).send().await.expect(200);
        shown.list("/links").len()
    };
    let id = desk.id(&one).await;
    assert!(found_before.iter().all(|keys| keys.contains(&one)) && linked().await == 1);
    desk.throw_away(&desk.ada, &one).await;
    assert!(found().await.iter().all(|keys| !keys.contains(&one)));
    assert_eq!((linked().await, desk.trash(&desk.ada, "").await), (0, vec![one.clone()]));
    let listed = desk.ada.client.get(&format!("{}/trash?space=web", desk.path)).send().await.expect(200);
    let month = i64::try_from(MONTH.as_millis()).expect("a month");
    assert_eq!(listed.int("/issues/0/restorableUntil"), listed.int("/issues/0/deletedAt") + month);
    let restored = desk.restore(&desk.ada, &id).await.expect(200);
    assert_eq!((restored.str("/issue/key"), restored.int("/issue/version")), (one.as_str(), 5));
    assert_eq!((desk.whole(&one).await, found().await, labels().await), (before, found_before, labels_before));
    assert_eq!((linked().await, desk.trash(&desk.ada, "").await), (1, Vec::new()));
    let again = desk.restore(&desk.ada, &id).await.expect(200);
    assert_eq!(again.int("/issue/version"), 5, "what is there is answered as it is");
    let changed =
        desk.ada.client.patch(&path).json(&json!({ "summary": "Ice", "version": 5 })).send().await.expect(200);
    assert_eq!(changed.int("/issue/version"), 6);
    assert_eq!(desk.found(&desk.ada, "summary ~ ice").await, [one]);
}

#[tokio::test]
async fn who_may_throw_an_issue_away_may_bring_it_back_and_nobody_else() {
    let desk = Desk::new().await;
    let (bob, cem) = (desk.member("bob", "developer").await, desk.member("cem", "developer").await);
    let made = bob.client.post(&desk.path).json(&json!({ "space": "WEB", "summary": "Mine" })).send().await.expect(201);
    let mine = made.str("/issue/key").to_owned();
    let others = desk.issue(json!({ "summary": "Hers" })).await;
    let (mine_id, others_id) = (desk.id(&mine).await, desk.id(&others).await);
    desk.throw_away(&bob, &mine).await;
    desk.throw_away(&desk.ada, &others).await;
    assert_eq!(desk.trash(&bob, "").await, std::slice::from_ref(&mine));
    assert_eq!(desk.trash(&cem, "").await, [""; 0]);
    assert_eq!(desk.trash(&desk.ada, "").await, [others.clone(), mine.clone()], "the last one first");
    let refused = "You can't delete issues in this space.";
    for id in [&mine_id, &others_id] {
        desk.restore(&cem, id).await.expect_error(403, "space_permission", refused);
    }
    desk.restore(&bob, &others_id).await.expect_error(403, "space_permission", refused);
    desk.restore(&bob, &mine_id).await.expect(200);
    let nothing = format!("{}/trash/iss_01jd7rt4m5e9fv2w8x3c6k0hqz/restore", desk.path);
    desk.ada.client.post(&nothing).send().await.expect_error(404, "not_found", "Issue not found.");
    let unknown = desk.ada.client.get(&format!("{}/trash?space=NONE", desk.path)).send().await;
    unknown.expect_problems(&["space"]);
    desk.ada.client.post(&format!("{}/spaces/WEB/archive", desk.path)).send().await.expect(200);
    let archived = desk.restore(&desk.ada, &others_id).await;
    archived.expect_error(409, "space_archived", "This space is archived.");
}

#[tokio::test]
async fn the_trash_is_listed_in_pages_and_empties_after_thirty_days() {
    let desk = Desk::new().await;
    let mut keys = Vec::new();
    for summary in ["One", "Two", "Three"] {
        let key = desk.issue(json!({ "summary": summary })).await;
        keys.push((desk.id(&key).await, key));
    }
    for (_, key) in &keys {
        desk.throw_away(&desk.ada, key).await;
    }
    let page = async |cursor: Option<&str>| {
        let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        desk.ada.client.get(&format!("{}/trash?limit=2{cursor}", desk.path)).send().await.expect(200)
    };
    let first = page(None).await;
    let second = page(first.json["cursor"].as_str()).await;
    let seen: Vec<Value> =
        [&first, &second].iter().flat_map(|page| page.list("/issues")).map(|it| it["issue"]["key"].clone()).collect();
    assert_eq!((json!(seen), &second.json["cursor"]), (json!(["WEB-3", "WEB-2", "WEB-1"]), &Value::Null));
    for wrong in ["?limit=0", "?limit=101", "?cursor=x"] {
        desk.ada.client.get(&format!("{}/trash{wrong}", desk.path)).send().await.expect(400);
    }
    desk.server.clock.advance(MONTH - Duration::from_millis(1));
    desk.restore(&desk.ada, &keys[0].0).await.expect(200);
    desk.server.clock.advance(Duration::from_millis(1));
    desk.restore(&desk.ada, &keys[1].0).await.expect(200);
    desk.server.clock.advance(Duration::from_millis(1));
    assert_eq!(desk.trash(&desk.ada, "").await, [""; 0]);
    desk.restore(&desk.ada, &keys[2].0).await.expect_error(404, "not_found", "Issue not found.");
    assert_eq!(desk.found(&desk.ada, "order by key").await, ["WEB-1", "WEB-2"]);
}

#[tokio::test]
async fn what_stands_above_comes_back_first() {
    let desk = Desk::new().await;
    let epic = desk.issue(json!({ "summary": "Epic", "type": "epic" })).await;
    let task = desk.issue(json!({ "summary": "Task", "parent": epic })).await;
    let (epic_id, task_id) = (desk.id(&epic).await, desk.id(&task).await);
    desk.throw_away(&desk.ada, &task).await;
    desk.throw_away(&desk.ada, &epic).await;
    let text = "The issue above this one is in the trash. Restore that one first.";
    desk.restore(&desk.ada, &task_id).await.expect_error(409, "parent_in_trash", text);
    desk.restore(&desk.ada, &epic_id).await.expect(200);
    assert_eq!(desk.found(&desk.ada, &format!("parent = {epic}")).await, [""; 0]);
    desk.restore(&desk.ada, &task_id).await.expect(200);
    assert_eq!(desk.found(&desk.ada, &format!("parent = {epic}")).await, [task]);
}
