//! Raising requests, and following them.

use std::time::Duration;

use super::*;
use crate::accounts::{letter, letters};

#[tokio::test]
async fn a_help_center_says_what_can_be_asked_for() {
    let desk = Desk::new().await;
    let slug = desk.portal.trim_end_matches("/HELP");
    let all = desk.eve.client.get(slug).send().await.expect(200);
    let center = json!({ "key": "HELP", "name": "Help", "title": "Ask us", "intro": "Hello" });
    assert_eq!((all.str("/org/name"), all.json["spaces"].clone()), ("Acme", json!([center])));
    let one = desk.eve.client.get(&desk.portal).send().await.expect(200);
    assert_eq!(one.json["space"], json!({ "key": "HELP", "name": "Help" }));
    assert_eq!(one.json["portal"], json!({ "title": "Ask us", "intro": "Hello" }));
    assert_eq!((one.json["satisfaction"].clone(), one.list("/requestTypes").len()), (json!(true), 3));
    let help = &one.list("/requestTypes")[0];
    assert_eq!((help["id"].clone(), help["fields"].clone()), (json!("get_help"), json!([])));
    let field = &one.list("/requestTypes")[1]["fields"][0];
    assert_eq!((field["id"].clone(), field["name"].clone()), (json!("priority"), json!("Priority")));
    assert_eq!(field["options"][0], json!({ "id": "highest", "name": "Highest" }));
}

#[tokio::test]
async fn somebody_without_a_part_raises_a_request_and_follows_it() {
    let desk = Desk::new().await;
    let body =
        json!({ "requestType": "report_a_problem", "summary": " Fire ", "description": "# Hot", "priority": "High" });
    let requests = format!("{}/requests", desk.portal);
    let raised = desk.eve.client.post(&requests).json(&body).send().await.expect(201);
    assert_eq!(raised.json, json!({ "key": "HELP-1" }));
    let path = format!("{requests}/help-1");
    let seen = desk.eve.client.get(&path).send().await.expect(200);
    let request = &seen.json["request"];
    assert_eq!((seen.str("/request/key"), seen.str("/request/summary")), ("HELP-1", "Fire"));
    assert_eq!((seen.str("/request/requestType"), seen.str("/request/description")), ("Report a problem", "# Hot"));
    assert_eq!((seen.str("/request/status"), seen.str("/request/statusCategory")), ("Waiting for support", "todo"));
    assert_eq!((seen.str("/request/reporter"), request["waitingForYou"].clone()), ("eve", json!(false)));
    assert_eq!((request["resolution"].clone(), request["satisfaction"].clone()), (json!(null), json!(null)));
    let issue = desk.ada.client.get(&desk.issue(&path)).send().await.expect(200);
    assert_eq!((issue.str("/issue/typeId"), issue.str("/issue/priorityId")), ("incident", "high"));
    assert_eq!((issue.str("/issue/channel"), issue.str("/issue/requestTypeId")), ("portal", "report_a_problem"));
    assert_eq!(issue.str("/issue/reporterId"), desk.eve.user_id);
    let mail = letter(&desk.server, &desk.eve.email, "[HELP-1] Fire").await;
    assert!(mail.contains("We have your request HELP-1"), "{mail}");
}

#[tokio::test]
async fn what_cannot_be_raised_is_said_at_its_field() {
    let desk = Desk::new().await;
    let path = format!("{}/requests", desk.portal);
    let post = async |body: Value| desk.eve.client.post(&path).json(&body).send().await;
    let unknown = post(json!({ "requestType": "x", "summary": "Fire" })).await.expect_problems(&["requestType"]);
    assert!(unknown.text.contains("Request type not found."));
    post(json!({ "requestType": "", "summary": " ", "description": "x".repeat(32_001) })).await.expect_problems(&[
        "requestType",
        "summary",
        "description",
    ]);
    let unasked = json!({ "requestType": "get_help", "summary": "Fire", "priority": "high" });
    post(unasked).await.expect_problems(&["priority"]);
    let no_priority = json!({ "requestType": "report_a_problem", "summary": "Fire", "priority": "dreadful" });
    post(no_priority).await.expect_problems(&["priority"]);
    for length in [1, 255, 256] {
        let body = json!({ "requestType": "get_help", "summary": "é".repeat(length) });
        assert_eq!(post(body).await.status, if length > 255 { 400 } else { 201 }, "{length}");
    }
}

#[tokio::test]
async fn the_list_has_ones_own_and_those_shared_by_state_page_by_page() {
    let desk = Desk::new().await;
    let list = async |client: &Client, query: &str| {
        client.get(&format!("{}/requests{query}", desk.portal)).send().await.expect(200)
    };
    let keys = |answer: &Answer| -> Vec<String> {
        answer.list("/requests").iter().map(|it| it["key"].as_str().unwrap().to_owned()).collect()
    };
    for at in 1..=3 {
        desk.request(&desk.eve.client, &format!("Request {at}")).await;
        desk.server.clock.advance(Duration::from_secs(1));
    }
    let bob = desk.server.person("bob").await;
    assert_eq!(keys(&list(&bob.client, "?status=all").await), [""; 0]);
    let first = format!("{}/requests/HELP-1", desk.portal);
    let invite = json!({ "email": bob.email });
    desk.eve.client.post(&format!("{first}/participants")).json(&invite).send().await.expect(201);
    assert_eq!(keys(&list(&bob.client, "").await), ["HELP-1"]);
    desk.transition(&first, "resolve").await;
    assert_eq!(keys(&list(&desk.eve.client, "").await), ["HELP-3", "HELP-2"]);
    assert_eq!(keys(&list(&desk.eve.client, "?status=closed").await), ["HELP-1"]);
    let page = list(&desk.eve.client, "?status=all&limit=2").await;
    assert_eq!(keys(&page), ["HELP-1", "HELP-3"], "the one that changed last comes first");
    let next = list(&desk.eve.client, &format!("?status=all&limit=2&cursor={}", page.str("/cursor"))).await;
    assert_eq!((keys(&next), next.json["cursor"].clone()), (vec!["HELP-2".to_owned()], json!(null)));
    for query in ["?status=none", "?limit=0", "?limit=101", "?cursor=x"] {
        desk.eve.client.get(&format!("{}/requests{query}", desk.portal)).send().await.expect(400);
    }
}

#[tokio::test]
async fn a_conversation_goes_both_ways_and_moves_the_request() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    desk.say(&path, "Where is it?", true).await;
    let mail = letter(&desk.server, &desk.eve.email, "[HELP-1] Fire").await;
    assert!(!mail.is_empty());
    desk.transition(&path, "ask").await;
    desk.server.clock.advance(Duration::from_secs(1));
    let waiting = desk.eve.client.get(&path).send().await.expect(200);
    assert_eq!(waiting.json["request"]["waitingForYou"], true);
    let said = desk.eve.client.post(&format!("{path}/comments")).json(&json!({ "body": " In the hall " })).send().await;
    assert_eq!(said.expect(201).json, json!({ "ok": true }));
    let seen = desk.eve.client.get(&path).send().await.expect(200);
    let comments: Vec<_> = seen
        .list("/comments")
        .iter()
        .map(|it| (it["body"].clone(), it["author"].clone(), it["mine"].clone()))
        .collect();
    let wanted =
        [(json!("Where is it?"), json!("ada"), json!(false)), (json!("In the hall"), json!("eve"), json!(true))];
    assert_eq!(comments, wanted);
    assert_eq!(
        (seen.str("/request/status"), seen.json["request"]["waitingForYou"].clone()),
        ("Waiting for support", json!(false))
    );
    for length in [0, 1, 32_000, 32_001] {
        let body = json!({ "body": "x".repeat(length) });
        let answer = desk.eve.client.post(&format!("{path}/comments")).json(&body).send().await;
        assert_eq!(answer.status, if (1..=32_000).contains(&length) { 201 } else { 400 }, "{length}");
    }
}

#[tokio::test]
async fn a_comment_opens_a_request_again_for_thirty_days_after_its_end() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    desk.transition(&path, "resolve").await;
    let seen = desk.eve.client.get(&path).send().await.expect(200);
    assert_eq!((seen.str("/request/statusCategory"), seen.str("/request/resolution")), ("done", "Done"));
    let resolved = "Your request HELP-1 is resolved";
    desk.server
        .eventually("the mail of the resolution", async || {
            let kept = desk.server.operator().get(&format!("/kept?to={}", desk.eve.email)).send().await.expect(200);
            kept.text.contains(resolved).then_some(())
        })
        .await;
    let day = Duration::from_hours(24);
    desk.server.clock.advance(day * 30);
    let eve = desk.eve.sign_in("account", "web").await;
    eve.post(&format!("{path}/comments")).json(&json!({ "body": "Again" })).send().await.expect(201);
    let open = eve.get(&path).send().await.expect(200);
    assert_eq!(
        (open.str("/request/statusCategory"), open.json["request"]["resolution"].clone()),
        ("todo", json!(null))
    );
    let ada = desk.ada.sign_in("account", "web").await;
    let transition = format!("{}/transitions", desk.issue(&path));
    ada.post(&transition).json(&json!({ "transitionId": "resolve" })).send().await.expect(200);
    desk.server.clock.advance(day * 30 + Duration::from_millis(1));
    let eve = desk.eve.sign_in("account", "web").await;
    let closed = eve.post(&format!("{path}/comments")).json(&json!({ "body": "Again" })).send().await;
    closed.expect_error(409, "request_closed", "This request is closed. Raise a new one.");
}

#[tokio::test]
async fn a_resolved_request_is_rated_once_by_who_raised_it() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let bob = desk.server.person("bob").await;
    desk.eve.client.post(&format!("{path}/participants")).json(&json!({ "email": bob.email })).send().await.expect(201);
    let rate = async |client: &Client, body: Value| client.post(&format!("{path}/rating")).json(&body).send().await;
    let five = || json!({ "rating": 5, "comment": "Quick" });
    let early = rate(&desk.eve.client, five()).await;
    early.expect_error(409, "not_resolved", "You can rate a request once it is resolved.");
    desk.transition(&path, "resolve").await;
    let other = rate(&bob.client, five()).await;
    other.expect_error(403, "reporter_only", "Only the person who raised the request can rate it.");
    for (rating, length) in [(0, 0), (6, 0), (5, 1_001)] {
        rate(&desk.eve.client, json!({ "rating": rating, "comment": "x".repeat(length) })).await.expect(400);
    }
    desk.configure(|config| config["satisfaction"] = json!(false)).await;
    let off = rate(&desk.eve.client, five()).await;
    off.expect_error(409, "ratings_off", "This help center doesn't take ratings.");
    desk.configure(|config| config["satisfaction"] = json!(true)).await;
    assert_eq!(rate(&desk.eve.client, five()).await.expect(200).json, json!({ "ok": true }));
    let twice = rate(&desk.eve.client, five()).await;
    twice.expect_error(409, "already_rated", "You have rated this request.");
    assert_eq!(desk.eve.client.get(&path).send().await.expect(200).int("/request/satisfaction"), 5);
    let issue = desk.ada.client.get(&desk.issue(&path)).send().await.expect(200);
    assert_eq!((issue.int("/issue/satisfaction"), issue.str("/issue/satisfactionComment")), (5, "Quick"));
}

#[tokio::test]
async fn a_repeated_request_with_its_key_is_raised_once() {
    let desk = Desk::new().await;
    let body = json!({ "requestType": "get_help", "summary": "Fire" });
    let post = async || {
        let request = desk.eve.client.post(&format!("{}/requests", desk.portal)).header("idempotency-key", "one");
        request.json(&body).send().await.expect(201)
    };
    assert_eq!((post().await.str("/key"), post().await.str("/key")), ("HELP-1", "HELP-1"));
    desk.server
        .eventually("the mail", async || (letters(&desk.server, &desk.eve.email, "[HELP-1]").await == 1).then_some(()))
        .await;
}

#[tokio::test]
async fn the_desks_own_words_stand_for_statuses_and_hidden_types_stay_readable() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    desk.configure(|config| {
        config["requestTypes"][0]["statuses"] = json!({ "waiting_for_support": "We look at it" });
        config["requestTypes"][0]["hidden"] = json!(true);
    })
    .await;
    let seen = desk.eve.client.get(&path).send().await.expect(200);
    assert_eq!((seen.str("/request/status"), seen.str("/request/requestType")), ("We look at it", "Get help"));
    assert_eq!(desk.eve.client.get(&desk.portal).send().await.expect(200).list("/requestTypes").len(), 2);
    let body = json!({ "requestType": "get_help", "summary": "Fire" });
    let hidden = desk.eve.client.post(&format!("{}/requests", desk.portal)).json(&body).send().await;
    hidden.expect_problems(&["requestType"]);
    desk.configure(|config| {
        config["requestTypes"].as_array_mut().expect("types").remove(0);
    })
    .await;
    let seen = desk.eve.client.get(&path).send().await.expect(200);
    assert_eq!(seen.json["request"]["requestType"], json!(null));
}
