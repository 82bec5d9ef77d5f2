//! Issues out to a file, and in from one.

use super::*;

impl Desk {
    async fn export(&self, person: &Person, query: &str) -> Answer {
        person.client.get(&format!("{}/export?{query}", self.path)).send().await
    }

    async fn import(&self, body: Value) -> Answer {
        self.ada.client.post(&format!("{}/import", self.path)).json(&body).send().await
    }

    /// Imports a whole file into a space; the answers of all calls.
    async fn import_all(&self, mut body: Value) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::new();
        loop {
            let answer = self.import(body.clone()).await.expect(200);
            let next = answer.json["nextRow"].clone();
            body["keyMap"] = answer.json["keyMap"].clone();
            answers.push(answer);
            if next.is_null() {
                return answers;
            }
            body["startRow"] = next;
        }
    }

    /// The parts of an issue that a file carries, without ids and times.
    async fn carried(&self, key: &str) -> Value {
        let issue = self.ada.client.get(&format!("{}/{key}", self.path)).send().await.expect(200);
        let comments = self.ada.client.get(&format!("{}/{key}/comments", self.path)).send().await.expect(200);
        let comments: Vec<_> =
            comments.list("/comments").iter().map(|it| (it["body"].clone(), it["authorId"].clone())).collect();
        let it = &issue.json["issue"];
        let names = [
            "typeId",
            "summary",
            "statusId",
            "priorityId",
            "resolutionId",
            "assigneeId",
            "reporterId",
            "labels",
            "dueDate",
            "startDate",
            "storyPoints",
            "originalEstimate",
            "environment",
            "watchers",
            "commentCount",
        ];
        let fields: Vec<_> = names.iter().map(|name| it[*name].clone()).collect();
        let links: Vec<_> = issue.list("/links").iter().map(|it| it["label"].clone()).collect();
        json!([fields, issue.json["description"], comments, links, it["createdAt"], it["resolvedAt"]])
    }
}

/// An epic, a task below it with all that a file carries, and a subtask.
async fn family(desk: &Desk) -> [String; 3] {
    let bob = desk.member("bob", "developer").await;
    let epic = desk.issue(json!({ "summary": "=Epic", "type": "epic" })).await;
    let task = desk
        .issue(json!({
            "summary": "A \"task\", with; all\tof it", "parent": epic, "priority": "High", "labels": ["Urgent", "x"],
            "assignee": bob.user_id, "dueDate": "2026-05-01", "startDate": "2026-04-01", "storyPoints": 2.5,
            "originalEstimate": 3600, "environment": "-1\nline", "description": "'=1+1\r\n**bold**, \"quoted\""
        }))
        .await;
    let sub = desk.issue(json!({ "summary": "Sub", "type": "subtask", "parent": task })).await;
    let path = format!("{}/{task}", desk.path);
    for body in ["one; two; three", "=cmd"] {
        desk.server.clock.advance(std::time::Duration::from_secs(1));
        bob.client.post(&format!("{path}/comments")).json(&json!({ "body": body })).send().await.expect(201);
    }
    desk.ada.client.post(&format!("{path}/transitions")).json(&json!({ "to": "done" })).send().await.expect(200);
    let link = json!({ "type": "blocks", "to": epic });
    desk.ada.client.post(&format!("{path}/links")).json(&link).send().await.expect(201);
    [epic, task, sub]
}

#[tokio::test]
async fn what_goes_out_comes_in_again_as_csv_and_as_json() {
    let desk = Desk::new().await;
    let [epic, task, sub] = family(&desk).await;
    for (format, space) in [("csv", "CSVA"), ("json", "JSONA")] {
        desk.space(space).await;
        let file =
            desk.export(&desk.ada, &format!("format={format}&jql=space%20%3D%20WEB%20order%20by%20key%20desc")).await;
        let file = file.expect(200);
        let body = json!({ "space": space, "format": format, "content": file.text });
        let answers = desk.import_all(body).await;
        let answer = &answers[0];
        assert_eq!((answer.int("/total"), answer.int("/processed"), answer.json["done"].clone()), (3, 3, json!(true)));
        for result in answer.list("/results") {
            assert!(result.get("error").is_none() && result.get("warnings").is_none(), "{format}: {result}");
        }
        for old in [&epic, &task, &sub] {
            let new = answer.json["keyMap"][old].as_str().expect("a key");
            assert!(new.starts_with(space), "{new}");
            assert_eq!(desk.carried(new).await, desk.carried(old).await, "{format} {old}");
        }
        let parent = answer.json["keyMap"][&epic].as_str().unwrap();
        let below = desk.found(&desk.ada, &format!("parent = {parent}")).await;
        assert_eq!(below, [answer.json["keyMap"][&task].as_str().unwrap()], "{format}");
    }
}

#[tokio::test]
async fn a_file_of_cells_is_what_spreadsheets_expect_and_runs_nothing() {
    let desk = Desk::new().await;
    for summary in ["=1+1", "+1", "-1", "@x", "fine"] {
        desk.issue(json!({ "summary": summary, "labels": ["a", "b"] })).await;
    }
    let file = desk.export(&desk.ada, "jql=order%20by%20key").await.expect(200);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"issues.csv\""));
    assert_eq!(file.header("x-service-truncated"), None);
    let lines: Vec<&str> = file.text.trim_start_matches('\u{feff}').split("\r\n").collect();
    assert!(
        lines[0].starts_with("Summary,Issue key,Issue id,Issue Type,Status,") && lines[0].contains(",Labels,Labels,"),
        "{}",
        lines[0]
    );
    let cells: Vec<&str> = lines[1..6].iter().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(cells, ["'=1+1", "'+1", "'-1", "'@x", "fine"]);
    let object = desk.export(&desk.ada, "format=json&jql=summary~fine").await.expect(200);
    assert_eq!((object.list("/issues").len(), object.str("/issues/0/key")), (1, "WEB-5"));
    assert_eq!(desk.export(&desk.ada, "format=xml").await.status, 400);
    desk.export(&desk.ada, "jql=colour%20%3D%20red").await.expect(400);
    let none = desk.export(&desk.ada, "format=json&jql=summary~nothing").await.expect(200);
    assert_eq!(none.json, json!({ "issues": [] }));
    let audit = desk.ada.client.get(&format!("{}/audit", desk.org())).send().await.expect(200);
    assert!(audit.text.contains("issues.exported") && audit.text.contains("order by key"), "{}", audit.text);
}

#[tokio::test]
async fn what_is_hidden_doesnt_go_out() {
    let desk = Desk::new().await;
    sight::hide(&desk, "SECRET").await;
    let open = desk.issue(json!({ "summary": "Open" })).await;
    let hidden = desk.issue(json!({ "space": "SECRET", "summary": "Hidden", "type": "epic" })).await;
    let link = json!({ "type": "blocks", "to": hidden });
    desk.ada.client.post(&format!("{}/{open}/links", desk.path)).json(&link).send().await.expect(201);
    desk.ada.client.patch(&format!("{}/{open}", desk.path)).json(&json!({ "parent": hidden })).send().await.expect(200);
    let bob = desk.member("bob", "developer").await;
    let id = desk
        .ada
        .client
        .get(&format!("{}/{hidden}", desk.path))
        .send()
        .await
        .expect(200)
        .str("/issue/issueId")
        .to_owned();
    for format in ["csv", "json"] {
        let seen = desk.export(&desk.ada, &format!("format={format}")).await.expect(200);
        assert!(seen.text.contains(&hidden) && seen.text.contains(&id), "{format}");
        let file = desk.export(&bob, &format!("format={format}")).await.expect(200);
        assert!(file.text.contains(&open), "{format}");
        assert!(
            !file.text.contains(&hidden) && !file.text.contains(&id) && !file.text.contains("Hidden"),
            "{}",
            file.text
        );
    }
}

#[tokio::test]
async fn two_hundred_rows_are_taken_a_call_and_a_repeated_call_makes_none_twice() {
    let desk = Desk::new().await;
    for (rows, calls) in [(199, vec![199]), (200, vec![200]), (201, vec![200, 201])] {
        desk.space(&format!("R{rows}")).await;
        let lines = (0..rows).map(|at| format!("Row {at},K-{at}\n")).collect::<Vec<_>>().concat();
        let body = json!({ "space": format!("R{rows}"), "format": "csv", "content": format!("Summary,Key\n{lines}") });
        let answers = desk.import_all(body.clone()).await;
        assert_eq!(answers.iter().map(|it| it.int("/processed")).collect::<Vec<_>>(), calls);
        let last = answers.last().unwrap();
        assert_eq!(
            (last.int("/total"), last.json["done"].clone(), last.json["nextRow"].clone()),
            (rows, json!(true), Value::Null)
        );
        assert_eq!(last.json["keyMap"].as_object().unwrap().len(), usize::try_from(rows).unwrap());
        let again = desk.import(body).await.expect(200);
        assert_eq!(again.json["results"], answers[0].json["results"], "the same answer");
        let found = desk.search_as(&desk.ada, &format!("space = R{rows}")).await.expect(200);
        assert_eq!(found.int("/total"), rows);
    }
}

#[tokio::test]
async fn what_isnt_understood_is_left_out_and_told() {
    let desk = Desk::new().await;
    desk.issue(json!({ "summary": "One", "labels": ["known"] })).await;
    let content = "Key,Summary,Type,Status,Priority,Assignee,Labels,Parent,Due date,Mood,Outward issue link (Blocks)\n\
                   A-1,First,Dream,Nowhere,Odd,nobody@example.org,known new,Z-9,someday,glad,A-3\n\
                   A-2,,Task,,,,,,,,\n\
                   A-3,Third,Task,Done,High,ADA,known,,04/Mar/24,,\n";
    let body = json!({ "space": "web", "format": "csv", "content": content });
    let answer = desk.import(body).await.expect(200);
    let results = answer.list("/results");
    assert_eq!(
        results[0]["warnings"],
        json!([
            "Unknown column: Mood",
            "Unknown type: Dream; \"Task\" instead.",
            "Unknown priority: Odd",
            "Unknown status: Nowhere; \"To do\" instead.",
            "Unknown person: nobody@example.org",
            "Unknown label: new",
            "Unknown due date: someday",
            "Unknown issue: Z-9"
        ])
    );
    assert_eq!(results[1], json!({ "row": 1, "from": "A-2", "error": "Summary: Use 1 to 255 characters." }));
    assert_eq!(results[2], json!({ "row": 2, "from": "A-3", "key": "WEB-3" }));
    let third = desk.ada.client.get(&format!("{}/WEB-3", desk.path)).send().await.expect(200);
    assert_eq!((third.str("/issue/statusCategory"), third.str("/issue/dueDate")), ("done", "2024-03-04"));
    assert_eq!(third.str("/issue/assigneeId"), desk.ada.user_id);
    assert_eq!((third.str("/links/0/fromKey"), third.str("/links/0/label")), ("WEB-2", "blocks"));
    let made =
        json!({ "space": "WEB", "format": "csv", "content": "Summary,Labels\nFourth,new\n", "createMissing": true });
    assert_eq!(desk.import(made).await.expect(200).json["results"], json!([{ "row": 0, "key": "WEB-4" }]));
    assert_eq!(desk.found(&desk.ada, "labels = new").await, ["WEB-4"]);
}

#[tokio::test]
async fn an_import_is_for_admins_of_the_space_and_has_its_limits() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let path = format!("{}/import", desk.path);
    let body = json!({ "space": "WEB", "format": "csv", "content": "Summary\nOne\n" });
    let refused = bob.client.post(&path).json(&body).send().await;
    refused.expect_error(403, "space_admin", "Only admins of the space can do this.");
    let with = |name: &str, value: Value| {
        let mut body = body.clone();
        body[name] = value;
        body
    };
    for (name, value) in [
        ("space", json!("")),
        ("space", json!("x".repeat(65))),
        ("content", json!("")),
        ("keyMap", json!({ "x".repeat(65): "WEB-1" })),
        ("keyMap", json!({ "A-1": "x".repeat(65) })),
    ] {
        desk.import(with(name, value)).await.expect_problems(&[name]);
    }
    for (name, value) in [("format", json!("xml")), ("startRow", json!(-1)), ("startRow", json!(1.5))] {
        assert_eq!(desk.import(with(name, value)).await.status, 400, "{name}");
    }
    let unknown = desk.import(with("space", json!("NONE"))).await.expect_problems(&["space"]);
    assert!(unknown.text.contains("Space not found."));
    let open = desk.import(with("content", json!("Summary\n\"One\n"))).await.expect_problems(&["content"]);
    assert!(open.text.contains("The quote in line 2 is never closed."));
    for (length, fits) in [(63, true), (64, true), (65, false)] {
        let answer = desk.import(with("keyMap", json!({ "x".repeat(length): "WEB-1" }))).await;
        assert_eq!(answer.status, if fits { 200 } else { 400 }, "{length}");
    }
    let past = desk.import(with("startRow", json!(7))).await.expect(200);
    assert_eq!((past.json["done"].clone(), past.list("/results").len()), (json!(true), 0));
    // The limit counts the whole body.
    let rest = serde_json::to_vec(&with("content", json!("Summary\n"))).unwrap().len();
    for (over, status) in [(0, 200), (1, 413)] {
        let content = format!("Summary\n{}", "x".repeat(5 * 1024 * 1024 - rest + over));
        let answer = desk.import(with("content", json!(content))).await;
        assert_eq!(answer.status, status, "{over}");
        if status == 413 {
            answer.expect_error(413, "too_large", "Import files can be up to 5 MB.");
        }
    }
}
