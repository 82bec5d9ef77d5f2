//! Changes of many issues at once.

use super::*;

impl Desk {
    async fn bulk_as(&self, person: &Person, body: &Value) -> Answer {
        person.client.post(&format!("{}/bulk", self.path)).json(body).send().await
    }

    /// Does it, and waits for its end; what became of the issues: key and error.
    pub(super) async fn bulk(&self, person: &Person, body: &Value) -> (String, Vec<(String, Option<String>)>) {
        let id = self.bulk_as(person, body).await.expect(202).str("/jobId").to_owned();
        let results = self.ended(person, &id).await;
        (id, results)
    }

    async fn ended(&self, person: &Person, id: &str) -> Vec<(String, Option<String>)> {
        let path = format!("{}/jobs/{id}", self.path);
        let done = self
            .server
            .eventually("the job's end", async || {
                let job = person.client.get(&format!("{path}?limit=100")).send().await.expect(200);
                (job.json["state"] != "running").then_some(job)
            })
            .await;
        assert_eq!(done.json["done"], done.list("/results").len());
        let told =
            |it: &Value| (it["key"].as_str().expect("a key").to_owned(), it["error"].as_str().map(str::to_owned));
        done.list("/results").iter().map(told).collect()
    }

    pub(super) async fn undo(&self, person: &Person, id: &str) -> Vec<(String, Option<String>)> {
        let undone = person.client.post(&format!("{}/jobs/{id}/undo", self.path)).send().await.expect(202);
        self.ended(person, undone.str("/jobId")).await
    }

    async fn several(&self, count: usize) -> Vec<String> {
        let mut keys = Vec::new();
        for at in 0..count {
            keys.push(self.issue(json!({ "summary": format!("Issue {at}"), "labels": ["many"] })).await);
        }
        keys
    }
}

pub(super) fn fine(keys: &[&str]) -> Vec<(String, Option<String>)> {
    keys.iter().map(|key| ((*key).to_owned(), None)).collect()
}

#[tokio::test]
async fn many_issues_are_edited_and_go_back_where_nobody_has_changed_them() {
    let desk = Desk::new().await;
    desk.several(60).await;
    let edit =
        json!({ "jql": "labels = many", "edit": { "priority": "high", "labels": ["new"], "dueDate": "2027-01-01" } });
    let (id, results) = desk.bulk(&desk.ada, &edit).await;
    assert_eq!((results.len(), results.iter().filter(|(_, error)| error.is_some()).count()), (60, 0));
    let all = json!({ "jql": "priority = high and labels = new and due = 2027-01-01", "maxResults": 100 });
    let found = desk.ada.client.post(&format!("{}/search", desk.path)).json(&all).send().await.expect(200);
    assert_eq!(found.int("/total"), 60);
    let path = format!("{}/WEB-1", desk.path);
    desk.ada.client.patch(&path).json(&json!({ "priority": "low" })).send().await.expect(200);
    let back = desk.undo(&desk.ada, &id).await;
    let left: Vec<_> = back.iter().filter(|(_, error)| error.is_some()).collect();
    assert_eq!(left, [&("WEB-1".to_owned(), Some("Changed since: priorityId.".to_owned()))]);
    assert_eq!(desk.found(&desk.ada, "labels = new").await, [""; 0]);
    let first = desk.ada.client.get(&path).send().await.expect(200);
    assert_eq!((first.str("/issue/priorityId"), first.json["issue"].get("dueDate")), ("low", None));
    assert_eq!(desk.found(&desk.ada, "priority = low").await, ["WEB-1"]);
    assert_eq!(
        desk.found(&desk.ada, "labels = many and key in (WEB-2, WEB-60) order by key").await,
        ["WEB-2", "WEB-60"]
    );
    let twice = desk.ada.client.post(&format!("{}/jobs/{id}/undo", desk.path)).send().await.expect(202);
    assert_eq!(desk.ended(&desk.ada, twice.str("/jobId")).await.len(), 60, "what is back already stays");
    let undone = desk.ada.client.post(&format!("{}/jobs/{}/undo", desk.path, twice.str("/jobId"))).send().await;
    undone.expect_error(409, "wrong_state", "What was undone can't be undone.");
}

#[tokio::test]
async fn each_issue_tells_what_became_of_it_with_the_rights_of_who_asked() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    desk.several(2).await;
    let mine = bob.client.post(&desk.path).json(&json!({ "space": "WEB", "summary": "Mine" })).send().await.expect(201);
    let mine = mine.str("/issue/key").to_owned();
    let (id, deleted) = desk.bulk(&bob, &json!({ "issues": ["WEB-1", mine], "delete": true })).await;
    let refused = Some("You can't delete issues in this space.".to_owned());
    assert_eq!(deleted, [("WEB-1".to_owned(), refused), (mine.clone(), None)]);
    assert_eq!(desk.found(&desk.ada, "order by key").await, ["WEB-1", "WEB-2"]);
    assert_eq!(desk.undo(&bob, &id).await, fine(&["WEB-1", &mine]));
    assert_eq!(desk.found(&desk.ada, "order by key").await, ["WEB-1", "WEB-2", "WEB-3"]);
    let (id, moved) = desk.bulk(&bob, &json!({ "issues": ["WEB-1", "WEB-2"], "transition": "done" })).await;
    assert_eq!(moved, fine(&["WEB-1", "WEB-2"]));
    assert_eq!(desk.found(&desk.ada, "status = done and resolution = done order by key").await, ["WEB-1", "WEB-2"]);
    desk.undo(&bob, &id).await;
    assert_eq!(desk.found(&desk.ada, "status = todo and resolution is empty order by key").await.len(), 3);
    let (_, wrong) = desk.bulk(&bob, &json!({ "issues": ["WEB-1"], "edit": { "priority": "none" } })).await;
    assert_eq!(wrong[0].1.as_deref(), Some("priority: There is no such priority."));
    let (_, watched) = desk.bulk(&bob, &json!({ "jql": "labels = many", "watch": true })).await;
    assert_eq!((watched.len(), desk.found(&desk.ada, "watcher = bob").await.len()), (2, 3));
    let cem = desk.member("cem", "developer").await;
    for path in ["", "/undo", "/cancel"] {
        let path = format!("{}/jobs/{id}{path}", desk.path);
        let request = if path.ends_with(&id) { cem.client.get(&path) } else { cem.client.post(&path) };
        request.send().await.expect_error(404, "not_found", "Job not found.");
    }
    desk.ada.client.get(&format!("{}/jobs/{id}", desk.path)).send().await.expect(200);
}

#[tokio::test]
async fn a_change_of_many_says_which_issues_and_one_thing() {
    let desk = Desk::new().await;
    desk.several(1).await;
    for (body, path) in [
        (json!({ "delete": true }), "issues"),
        (json!({ "issues": ["WEB-1"], "jql": "", "delete": true }), "issues"),
        (json!({ "issues": [], "delete": true }), "issues"),
        (json!({ "issues": vec!["WEB-1"; 1_001], "delete": true }), "issues"),
        (json!({ "issues": ["WEB-9"], "delete": true }), "issues.0"),
        (json!({ "issues": ["WEB-1"] }), "edit"),
        (json!({ "issues": ["WEB-1"], "delete": true, "watch": true }), "edit"),
        (json!({ "issues": ["WEB-1"], "edit": {} }), "edit"),
    ] {
        desk.bulk_as(&desk.ada, &body).await.expect_problems(&[path]);
    }
    let named = json!({ "issues": vec!["WEB-1"; 1_000], "watch": false });
    let (id, once) = desk.bulk(&desk.ada, &named).await;
    assert_eq!(once, fine(&["WEB-1"]), "an issue that is named twice is changed once");
    assert_eq!(
        desk.bulk_as(&desk.ada, &json!({ "jql": "status =", "delete": true })).await.expect(400).json["code"],
        "jql"
    );
    let cancelled = desk.ada.client.post(&format!("{}/jobs/{id}/cancel", desk.path)).send().await.expect(200);
    assert_eq!(cancelled.str("/state"), "done", "what has ended stays so");
    desk.server.clock.advance(std::time::Duration::from_hours(30 * 24));
    desk.ada.client.post(&format!("{}/jobs/{id}/undo", desk.path)).send().await.expect(202);
    let (id, _) = desk.bulk(&desk.ada, &named).await;
    desk.server.clock.advance(std::time::Duration::from_hours(30 * 24) + std::time::Duration::from_millis(1));
    desk.ada.client.post(&format!("{}/jobs/{id}/undo", desk.path)).send().await.expect(404);
}
