//! Boards, sprints and ranks.

use super::*;

impl Desk {
    fn web(&self, rest: &str) -> String {
        format!("{}/spaces/WEB/{rest}", self.path)
    }

    async fn sprint(&self, name: &str) -> String {
        let body = json!({ "name": name });
        let made = self.ada.client.post(&self.web("sprints")).json(&body).send().await.expect(201);
        made.str("/sprint/sprintId").to_owned()
    }

    async fn sprint_act(&self, id: &str, act: &str, body: Value) -> Answer {
        self.ada.client.post(&self.web(&format!("sprints/{id}/{act}"))).json(&body).send().await
    }

    async fn put_in_sprint(&self, key: &str, sprint: Value) -> Answer {
        self.ada.client.patch(&format!("{}/{key}", self.path)).json(&json!({ "sprint": sprint })).send().await
    }

    async fn rank(&self, body: Value) -> Answer {
        self.ada.client.put(&format!("{}/rank", self.path)).json(&body).send().await
    }

    async fn by_rank(&self) -> Vec<String> {
        self.found(&self.ada, "order by rank").await
    }

    async fn issues(&self, count: usize) -> Vec<String> {
        let mut keys = Vec::new();
        for at in 0..count {
            self.server.clock.advance(std::time::Duration::from_millis(1));
            keys.push(self.issue(json!({ "summary": format!("Issue {at}") })).await);
        }
        keys
    }
}

fn keys(list: &Value) -> Vec<&str> {
    list.as_array().expect("issues").iter().map(|it| it["key"].as_str().expect("a key")).collect()
}

#[tokio::test]
async fn issues_are_ranked_before_and_behind_others() {
    let desk = Desk::new().await;
    let all = desk.issues(5).await;
    assert_eq!(desk.by_rank().await, all);
    let ranked = desk.rank(json!({ "issues": ["WEB-5", "WEB-4"], "before": "web-2" })).await.expect(200);
    assert_eq!(ranked.int("/ranked"), 2);
    assert_eq!(desk.by_rank().await, ["WEB-1", "WEB-5", "WEB-4", "WEB-2", "WEB-3"]);
    desk.rank(json!({ "issues": ["WEB-1"], "after": "WEB-3" })).await.expect(200);
    desk.rank(json!({ "issues": ["WEB-3"], "before": "WEB-5" })).await.expect(200);
    assert_eq!(desk.by_rank().await, ["WEB-3", "WEB-5", "WEB-4", "WEB-2", "WEB-1"]);
    let shown = desk.ada.client.get(&format!("{}/WEB-1", desk.path)).send().await.expect(200);
    assert_eq!(shown.int("/issue/version"), 1, "a rank is no change of the issue");
    desk.space("APP").await;
    let other = desk.issue(json!({ "space": "APP", "summary": "Elsewhere" })).await;
    for (body, path) in [
        (json!({ "issues": ["WEB-1"], "before": "WEB-9" }), "before"),
        (json!({ "issues": ["WEB-9"], "before": "WEB-1" }), "issues.0"),
        (json!({ "issues": [other], "before": "WEB-1" }), "issues.0"),
        (json!({ "issues": ["WEB-1", "web-1"], "before": "WEB-2" }), "issues.1"),
        (json!({ "issues": ["WEB-1"], "before": "WEB-1" }), "issues.0"),
        (json!({ "issues": ["WEB-1"] }), "before"),
        (json!({ "issues": ["WEB-1"], "before": "WEB-2", "after": "WEB-3" }), "before"),
        (json!({ "issues": [], "before": "WEB-2" }), "issues"),
        (json!({ "issues": vec!["WEB-1"; 51], "before": "WEB-2" }), "issues"),
    ] {
        desk.rank(body).await.expect_problems(&[path]);
    }
    let bob = desk.member("bob", "developer").await;
    let refused =
        bob.client.put(&format!("{}/rank", desk.path)).json(&json!({ "issues": ["WEB-1"], "after": "WEB-2" }));
    refused.send().await.expect_error(403, "space_permission", "You can't plan sprints in this space.");
}

#[tokio::test]
async fn ranks_that_grow_too_long_are_spread_anew_and_keep_their_order() {
    let desk = Desk::new().await;
    desk.issues(3).await;
    let longest = async || {
        let found = desk.search_as(&desk.ada, "order by rank").await.expect(200);
        let ranks = found.list("/issues").iter().map(|it| it["rank"].as_str().expect("a rank").len());
        ranks.max().expect("issues")
    };
    // Two change places before the third, so each rank is one between the last and the third's.
    let (mut turn, mut grown) = (0, 0);
    while grown <= 60 {
        let (one, other) = if turn % 2 == 0 { ("WEB-1", "WEB-2") } else { ("WEB-2", "WEB-1") };
        desk.rank(json!({ "issues": [one], "after": other })).await.expect(200);
        let now = longest().await;
        if now < grown {
            break;
        }
        (turn, grown) = (turn + 1, now);
        assert!(turn < 1_000, "ranks don't grow: {grown}");
    }
    desk.server.eventually("short ranks", async || (longest().await <= 20).then_some(())).await;
    let order = desk.by_rank().await;
    assert_eq!((order.len(), order[2].as_str()), (3, "WEB-3"));
}

#[tokio::test]
async fn a_sprint_is_planned_started_and_closed() {
    let desk = Desk::new().await;
    desk.issues(4).await;
    let (one, two) = (desk.sprint("Sprint 1").await, desk.sprint("Sprint 2").await);
    for (key, sprint) in [("WEB-1", json!(one)), ("WEB-2", json!("sprint 1")), ("WEB-3", json!(two))] {
        desk.put_in_sprint(key, sprint).await.expect(200);
    }
    desk.put_in_sprint("WEB-4", json!("Sprint 9")).await.expect_problems(&["sprint"]);
    let bob = desk.member("bob", "developer").await;
    let body = json!({ "sprint": one });
    let refused = bob.client.patch(&format!("{}/WEB-4", desk.path)).json(&body).send().await;
    refused.expect_error(403, "space_permission", "You can't plan sprints in this space.");
    for (jql, found) in [
        ("sprint in futureSprints() order by key", vec!["WEB-1", "WEB-2", "WEB-3"]),
        ("sprint in openSprints()", vec![]),
        ("sprint = \"Sprint 1\" order by key", vec!["WEB-1", "WEB-2"]),
        ("sprint is empty", vec!["WEB-4"]),
    ] {
        assert_eq!(desk.found(&desk.ada, jql).await, found, "{jql}");
    }
    let early = desk.sprint_act(&one, "complete", json!({})).await;
    early.expect_error(409, "wrong_state", "Only the sprint that is active can be closed.");
    let now = desk.server.clock.now().as_millis();
    let ends = desk.sprint_act(&one, "start", json!({ "endAt": now })).await;
    ends.expect_problems(&["endAt"]);
    let started = desk.sprint_act(&one, "start", json!({ "endAt": now + 1, "goal": "Go" })).await.expect(200);
    assert_eq!((started.str("/sprint/state"), started.int("/sprint/startAt")), ("active", now));
    let second = desk.sprint_act(&two, "start", json!({})).await;
    second.expect_error(409, "sprint_active", "Another sprint of the space is active.");
    let done = format!("{}/WEB-1/transitions", desk.path);
    desk.ada.client.post(&done).json(&json!({ "to": "done" })).send().await.expect(200);
    assert_eq!(desk.found(&desk.ada, "sprint in openSprints() order by key").await, ["WEB-1", "WEB-2"]);
    desk.sprint_act(&one, "complete", json!({ "moveTo": one })).await.expect_problems(&["moveTo"]);
    let report = desk.sprint_act(&one, "complete", json!({ "moveTo": two })).await.expect(200);
    assert_eq!((report.int("/completed"), report.int("/unfinished")), (1, 1));
    let moved = async || {
        let found = desk.found(&desk.ada, "sprint in futureSprints() order by key").await;
        (found == ["WEB-2", "WEB-3"]).then_some(())
    };
    desk.server.eventually("the job", moved).await;
    let shown = desk.ada.client.get(&format!("{}/WEB-2", desk.path)).send().await.expect(200);
    assert_eq!(shown.json["issue"]["closedSprintIds"], json!([one]));
    assert_eq!(shown.json["issue"]["sprintId"], json!(two));
    let shown = desk.ada.client.get(&format!("{}/WEB-1", desk.path)).send().await.expect(200);
    assert_eq!((&shown.json["issue"]["closedSprintIds"], shown.json["issue"].get("sprintId")), (&json!([one]), None));
    for (jql, found) in [
        ("sprint in closedSprints() order by key", vec!["WEB-1", "WEB-2"]),
        ("sprint was \"Sprint 2\" order by key", vec!["WEB-2", "WEB-3"]),
        ("sprint changed to \"Sprint 2\" order by key", vec!["WEB-2", "WEB-3"]),
    ] {
        assert_eq!(desk.found(&desk.ada, jql).await, found, "{jql}");
    }
    desk.put_in_sprint("WEB-4", json!(one)).await.expect_problems(&["sprint"]);
    let closed = desk.ada.client.patch(&desk.web(&format!("sprints/{one}"))).json(&json!({ "name": "x" })).send().await;
    closed.expect_error(409, "wrong_state", "This sprint is closed.");
    let used = desk.ada.client.delete(&desk.web(&format!("sprints/{two}"))).send().await;
    used.expect_error(409, "in_use", "\"Sprint 2\" is still used.");
    let unused = desk.sprint("Sprint 3").await;
    desk.ada.client.delete(&desk.web(&format!("sprints/{unused}"))).send().await.expect(204);
    let gone = desk.ada.client.delete(&desk.web(&format!("sprints/{unused}"))).send().await;
    gone.expect_error(404, "not_found", "Sprint not found.");
}

#[tokio::test]
async fn a_sprint_that_closes_while_an_issue_is_in_the_trash_is_left_by_it() {
    let desk = Desk::new().await;
    desk.issues(1).await;
    let sprint = desk.sprint("Sprint 1").await;
    desk.put_in_sprint("WEB-1", json!(sprint)).await.expect(200);
    let shown = desk.ada.client.get(&format!("{}/WEB-1", desk.path)).send().await.expect(200);
    desk.sprint_act(&sprint, "start", json!({})).await.expect(200);
    desk.ada.client.delete(&format!("{}/WEB-1", desk.path)).send().await.expect(204);
    desk.sprint_act(&sprint, "complete", json!({})).await.expect(200);
    let restore = format!("{}/trash/{}/restore", desk.path, shown.str("/issue/issueId"));
    let back = desk.ada.client.post(&restore).send().await.expect(200);
    assert_eq!((back.json["issue"].get("sprintId"), &back.json["issue"]["closedSprintIds"]), (None, &json!([sprint])));
}

#[tokio::test]
async fn a_board_shows_its_columns_by_rank_with_their_limits() {
    let desk = Desk::new().await;
    desk.issues(4).await;
    let boards = desk.ada.client.get(&desk.web("boards")).send().await.expect(200);
    let names: Vec<_> = boards.list("/boards/0/columns").iter().map(|it| it["name"].clone()).collect();
    assert_eq!((boards.list("/boards").len(), json!(names)), (1, json!(["To do", "In progress", "Done"])));
    let columns = json!([
        { "name": "Open", "statusIds": ["todo", "in_progress"], "max": 2 },
        { "name": "Done", "statusIds": ["done"], "min": 1 },
    ]);
    let body = json!({ "name": "Mine", "jql": "summary ~ issue order by created desc", "columns": columns });
    let made = desk.ada.client.post(&desk.web("boards")).json(&body).send().await.expect(201);
    let board = desk.web(&format!("boards/{}", made.str("/board/boardId")));
    desk.rank(json!({ "issues": ["WEB-4"], "before": "WEB-1" })).await.expect(200);
    let shown = desk.ada.client.get(&format!("{board}/issues")).send().await.expect(200);
    assert_eq!(keys(&shown.json["columns"][0]["issues"]), ["WEB-4", "WEB-1", "WEB-2", "WEB-3"]);
    assert_eq!((shown.int("/columns/0/total"), &shown.json["columns"][0]["outOfBounds"]), (4, &json!(true)));
    assert_eq!((shown.int("/columns/1/total"), &shown.json["columns"][1]["outOfBounds"]), (0, &json!(true)));
    for key in ["WEB-1", "WEB-2"] {
        let path = format!("{}/{key}/transitions", desk.path);
        desk.ada.client.post(&path).json(&json!({ "to": "done" })).send().await.expect(200);
    }
    let shown = desk.ada.client.get(&format!("{board}/issues")).send().await.expect(200);
    let bounds = [&shown.json["columns"][0]["outOfBounds"], &shown.json["columns"][1]["outOfBounds"]];
    assert_eq!(bounds, [&json!(false), &json!(false)]);
    let sprint = desk.sprint("Sprint 1").await;
    desk.put_in_sprint("WEB-3", json!(sprint)).await.expect(200);
    let none = desk.ada.client.get(&format!("{board}/issues?sprint=active")).send().await.expect(200);
    assert_eq!(none.int("/columns/0/total"), 0, "no sprint is active");
    desk.sprint_act(&sprint, "start", json!({})).await.expect(200);
    for which in ["active", sprint.as_str()] {
        let shown = desk.ada.client.get(&format!("{board}/issues?sprint={which}")).send().await.expect(200);
        assert_eq!(keys(&shown.json["columns"][0]["issues"]), ["WEB-3"]);
    }
    let unknown = desk.ada.client.get(&format!("{board}/issues?sprint=nothing")).send().await;
    unknown.expect_problems(&["sprint"]);
    let backlog = desk.ada.client.get(&format!("{board}/backlog")).send().await.expect(200);
    assert_eq!(backlog.json["parts"][0]["sprintId"], json!(sprint));
    assert_eq!(keys(&backlog.json["parts"][0]["issues"]), ["WEB-3"]);
    assert_eq!(keys(&backlog.json["parts"][1]["issues"]), ["WEB-4"]);
    desk.sprint_act(&sprint, "complete", json!({})).await.expect(200);
    let back = async || {
        let backlog = desk.ada.client.get(&format!("{board}/backlog")).send().await.expect(200);
        (keys(&backlog.json["parts"][0]["issues"]) == ["WEB-4", "WEB-3"]).then_some(())
    };
    desk.server.eventually("what wasn't done in the backlog", back).await;
}

#[tokio::test]
async fn boards_are_checked_and_belong_to_admins() {
    let desk = Desk::new().await;
    let post = async |body: Value| desk.ada.client.post(&desk.web("boards")).json(&body).send().await;
    let wrong = post(json!({ "name": "x", "jql": "status =" })).await.expect(400);
    assert_eq!(wrong.json["code"], "jql");
    let twice = json!([{ "name": "A", "statusIds": ["todo"] }, { "name": "", "statusIds": ["todo", "nowhere"] }]);
    let refused = post(json!({ "name": "x", "columns": twice })).await;
    refused.expect_problems(&["columns[1].name", "columns[1].statusIds[0]", "columns[1].statusIds[1]"]);
    for (count, status) in [(0, 400), (1, 201), (20, 201), (21, 400)] {
        let columns = vec![json!({ "name": "A", "statusIds": [] }); count];
        assert_eq!(post(json!({ "name": "x", "columns": columns })).await.status, status, "{count}");
    }
    for number in 0..17 {
        post(json!({ "name": format!("Board {number}") })).await.expect(201);
    }
    let full = post(json!({ "name": "One more" })).await;
    full.expect_error(400, "limit_reached", "A space has at most 20 boards.");
    let boards = desk.ada.client.get(&desk.web("boards")).send().await.expect(200);
    let path = desk.web(&format!("boards/{}", boards.str("/boards/1/boardId")));
    let bob = desk.member("bob", "developer").await;
    let refused = bob.client.patch(&path).json(&json!({ "name": "Mine" })).send().await;
    refused.expect_error(403, "space_admin", "Only admins of the space can do this.");
    let changed = desk.ada.client.patch(&path).json(&json!({ "name": "Ours", "version": 1 })).send().await.expect(200);
    assert_eq!((changed.str("/board/name"), changed.int("/board/version")), ("Ours", 2));
    let stale = desk.ada.client.patch(&path).json(&json!({ "name": "x", "version": 1 })).send().await;
    stale.expect_error(409, "stale_version", "The board changed. Load it again.");
    desk.ada.client.delete(&path).send().await.expect(204);
    desk.ada.client.delete(&path).send().await.expect_error(404, "not_found", "Board not found.");
}
