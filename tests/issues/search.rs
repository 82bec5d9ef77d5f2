//! The query language over HTTP.

use super::*;

#[tokio::test]
async fn queries_ask_fields_texts_and_history() {
    let desk = Desk::new().await;
    let one = desk
        .issue(
            json!({ "summary": "Printers on fire", "priority": "High", "labels": ["Urgent"], "dueDate": "2026-05-01" }),
        )
        .await;
    let two = desk.issue(json!({ "summary": "Coffee is cold", "assignee": desk.ada.user_id, "storyPoints": 3 })).await;
    let path = format!("{}/{two}", desk.path);
    desk.server.clock.advance(std::time::Duration::from_millis(1));
    desk.ada.client.post(&format!("{path}/transitions")).json(&json!({ "to": "done" })).send().await.expect(200);
    desk.ada
        .client
        .post(&format!("{path}/comments"))
        .json(&json!({ "body": "It was the kettle" }))
        .send()
        .await
        .expect(201);
    let (one, two) = ([one], [two]);
    for (jql, expected) in [
        ("summary ~ printer", &one),
        ("text ~ kettle", &two),
        ("comment ~ \"was the kettle\"", &two),
        ("priority = high", &one),
        ("priority > Medium", &one),
        ("labels = urgent", &one),
        ("assignee = currentUser()", &two),
        ("assignee is empty", &one),
        ("status = done", &two),
        ("statusCategory != Done", &one),
        ("resolution is not empty", &two),
        ("status was todo and status = done", &two),
        ("status changed from todo to done", &two),
        ("not status changed", &one),
        ("resolution was empty and resolution = done", &two),
        ("due < 2026-05-02", &one),
        ("storyPoints >= 3", &two),
        ("key = web-1", &one),
        ("watcher = currentUser() and summary !~ coffee", &one),
    ] {
        assert_eq!(desk.found(&desk.ada, jql).await, *expected, "{jql}");
    }
    assert_eq!(desk.found(&desk.ada, "order by key").await, [one[0].clone(), two[0].clone()]);
    assert_eq!(desk.found(&desk.ada, "order by key desc").await, [two[0].clone(), one[0].clone()]);
    assert_eq!(desk.found(&desk.ada, "order by due").await, [one[0].clone(), two[0].clone()], "no value comes last");
    assert_eq!(desk.found(&desk.ada, "").await, [two[0].clone(), one[0].clone()], "what changed last comes first");
}

#[tokio::test]
async fn wrong_queries_say_where() {
    let desk = Desk::new().await;
    desk.search_as(&desk.ada, "status =").await.expect_error(
        400,
        "jql",
        "The query ends where a value, a function or EMPTY was expected. (line 1, character 9)",
    );
    let answer = desk.search_as(&desk.ada, "status =").await;
    let expected = json!([{
        "path": "jql", "message": "The query ends where a value, a function or EMPTY was expected.", "start": 8, "end": 8,
        "expected": ["a value", "a function", "EMPTY"]
    }]);
    assert_eq!(answer.json["problems"], expected);
    let answer = desk.search_as(&desk.ada, "status = nowhere and\n\"🎉\" = 1").await;
    let places: Vec<_> = answer.list("/problems").iter().map(|it| json!([it["start"], it["end"]])).collect();
    assert_eq!(places, [json!([9, 16]), json!([21, 25])], "UTF-16 units: {}", answer.text);
    desk.search_as(&desk.ada, "colour = red").await.expect_error(
        400,
        "jql",
        "Field 'colour' does not exist or you do not have permission to view it. (line 1, character 1)",
    );
    desk.search_as(&desk.ada, "status = nowhere").await.expect_error(
        400,
        "jql",
        "The value 'nowhere' does not exist for the field 'status'. (line 1, character 10)",
    );
}

#[tokio::test]
async fn a_page_has_its_limits() {
    let desk = Desk::new().await;
    for at in 0..3 {
        desk.issue(json!({ "summary": format!("Issue {at}") })).await;
    }
    let path = format!("{}/search", desk.path);
    let ask = async |body: Value| desk.ada.client.post(&path).json(&body).send().await;
    for (name, ends) in [("startAt", [-1, 0, 100_000, 100_001]), ("maxResults", [0, 1, 1_000, 1_001])] {
        for (value, fits) in ends.into_iter().zip([false, true, true, false]) {
            assert_eq!(ask(json!({ name: value })).await.status, if fits { 200 } else { 400 }, "{name} {value}");
        }
    }
    let page = ask(json!({ "startAt": 1, "maxResults": 1, "order": "key" })).await.expect(200);
    assert_eq!((page.str("/issues/0/key"), page.int("/total"), page.int("/scanned")), ("WEB-2", 3, 3));
    let listed = desk.ada.client.get(&format!("{}?jql=summary~1&maxResults=2", desk.path)).send().await.expect(200);
    assert_eq!((listed.int("/total"), listed.int("/maxResults"), listed.int("/startAt")), (1, 2, 0));
    for length in [9_999, 10_000, 10_001] {
        let jql = format!("{:length$}", "");
        assert_eq!(ask(json!({ "jql": jql })).await.status, if length > 10_000 { 400 } else { 200 }, "{length}");
    }
}

#[tokio::test]
async fn long_and_deep_queries_are_answered_or_refused_but_never_fail() {
    let desk = Desk::new().await;
    let key = desk.issue(json!({ "summary": "One" })).await;
    let many = vec!["key=WEB-1"; 700].join(" or ");
    assert_eq!(desk.found(&desk.ada, &many).await, std::slice::from_ref(&key));
    let brackets = format!("{}key=WEB-1{}", "(".repeat(4_000), ")".repeat(4_000));
    assert_eq!(desk.found(&desk.ada, &brackets).await, [key]);
    let deep = (0..150).fold("key=WEB-1".to_owned(), |inner, _| format!("(key=WEB-1 and ({inner} or key=WEB-1))"));
    assert_eq!(desk.search_as(&desk.ada, &deep).await.status, 400);
    for hostile in ["summary ~ \"'; drop table issues; --\"", "summary ~ \"a* OR ) NOT (\"", "labels = \"\\u0000\""] {
        desk.search_as(&desk.ada, hostile).await.expect(200);
    }
}
