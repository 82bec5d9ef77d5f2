//! `/v1/platform/timers`, `outbox`, `deliveries`

use std::time::Duration;

use domain::{Tenant, Timestamp};
use serde_json::json;
use store::{Change, NewWork, Permits, Turns};

use crate::harness::Server;

#[tokio::test]
async fn timers_are_counted_by_kind_and_late_ones_are_named() {
    let server = Server::start().await;
    let operator = server.owner();
    let store = server.store().await;
    let now = store.now();
    let mut change = Change::new();
    for (name, due) in [("late", now.before(Duration::from_secs(6))), ("soon", now.after(Duration::from_mins(1)))] {
        change.timer_set("nobodys", "key", name, due);
    }
    store.commit(change).await.unwrap();
    let answer = server
        .eventually("the timer of the housekeeping", async || {
            let answer = operator.get("/v1/platform/timers").send().await.expect(200);
            let is_set = |kind: &serde_json::Value| kind["kind"] == "housekeeping" && kind["set"] == 1;
            answer.list("/kinds").iter().any(is_set).then_some(answer)
        })
        .await;
    let late = answer.list("/late");
    assert!(late.iter().all(|timer| timer["kind"] == "nobodys" && timer["name"] == "late"), "{}", answer.text);
}

#[tokio::test]
async fn the_outbox_is_counted_by_topic_and_state_and_what_fails_is_named() {
    let server = Server::with(&["mail.host=127.0.0.1", "mail.port=1", "mail.tls=none"]).await;
    let ada = server.person("ada").await.client;
    let org_id = ada.org("Acme").await;
    let invite = json!({ "email": "guest@example.org", "role": "viewer" });
    ada.post(&format!("/v1/orgs/{org_id}/invites")).json(&invite).send().await.expect(201);
    let operator = server.owner();
    let delayed = |count: &serde_json::Value| count["topic"] == "email" && count["state"] == "delayed";
    let answer = server
        .eventually("the e-mail fails", async || {
            let answer = operator.get("/v1/platform/outbox").send().await.expect(200);
            // What is counted is read first, and the e-mail may fail right behind that.
            let has_failed = !answer.list("/failing").is_empty() && answer.list("/counts").iter().any(delayed);
            has_failed.then_some(answer)
        })
        .await;
    let failing = &answer.json["failing"][0];
    assert_eq!((&failing["topic"], &failing["attempts"]), (&json!("email"), &json!(1)));
    assert!(failing["nextTry"].as_i64() > Some(server.clock.now().as_millis()), "{failing}");
    assert!(!failing["error"].as_str().unwrap().is_empty());

    let mut change = Change::new();
    let store = server.store().await;
    let work = store.work(failing["seq"].as_i64().unwrap()).await.unwrap().unwrap();
    change.work_given_up(&work, "given up");
    store.commit(change).await.unwrap();
    let parked = operator.get("/v1/platform/outbox").send().await.expect(200);
    let is_parked = |count: &serde_json::Value| count["topic"] == "email" && count["state"] == "parked";
    assert!(parked.list("/counts").iter().any(is_parked), "{}", parked.text);
    // Another e-mail that was committed before it may have failed meanwhile.
    let shown = parked.list("/failing").iter().find(|entry| entry["seq"] == failing["seq"]).expect("the entry");
    assert_eq!((&shown["nextTry"], &shown["error"]), (&json!(null), &json!("given up")));
}

#[tokio::test]
async fn what_was_kept_is_shown_without_what_opens_something() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let org_id = ada.org("Acme").await;
    let invite = json!({ "email": "guest@example.org", "role": "viewer" });
    ada.post(&format!("/v1/orgs/{org_id}/invites")).json(&invite).send().await.expect(201);
    let phone = json!({ "phone": "+15005550006" });
    ada.post("/v1/me/phone").json(&phone).send().await.expect_success();
    let operator = server.owner();
    let sent = |count: &serde_json::Value| count["channel"] == "sms" && count["state"] == "sent";
    let answer = server
        .eventually("both are kept, and the text counts as sent", async || {
            let answer = operator.get("/v1/platform/deliveries").send().await.expect(200);
            let kept = answer.list("/kept");
            let has = |field: &str, value: &str| kept.iter().any(|message| message[field] == value);
            // A text is kept before its delivery is settled.
            let is_sent = has("channel", "sms") && answer.list("/counts").iter().any(sent);
            (has("to", "guest@example.org") && is_sent).then_some(answer)
        })
        .await;
    assert!(!answer.text.contains("trp_i_"), "{}", answer.text);
    let kept = answer.list("/kept");
    let text = kept.iter().find(|message| message["channel"] == "sms").unwrap()["body"].as_str().unwrap();
    assert!(text.starts_with("••• is your code"), "{text}");
    let email = kept.iter().find(|message| message["to"] == "guest@example.org").unwrap();
    assert!(email["body"].as_str().unwrap().contains("•••"), "{email}");
}

#[tokio::test]
async fn a_dead_letter_is_shown_repeated_and_dropped_and_the_trail_has_it() {
    let server = Server::start().await;
    let store = server.store().await;
    let now = store.now();
    let mut change = Change::new();
    for number in 0..2 {
        change.work_add(now, NewWork::new("nobodys", Tenant::System, &number));
    }
    store.commit(change).await.unwrap();
    let claimed = store.work_claim("nobodys", &Turns::new(Permits::shared(2)), Duration::from_mins(1)).await;
    let claimed = claimed.unwrap().taken();
    let mut change = Change::new();
    for work in &claimed {
        change.work_given_up(work, "no such thing");
    }
    store.commit(change).await.unwrap();

    let operator = server.owner();
    let path = "/v1/platform/dead-letters";
    let shown = operator.get(path).send().await.expect(200);
    assert_eq!((&shown.json["total"], shown.list("/deadLetters").len()), (&json!(2), 2));
    let last = &shown.list("/deadLetters")[0];
    assert_eq!((&last["seq"], &last["topic"]), (&json!(claimed[1].seq), &json!("nobodys")));
    assert_eq!((&last["tenant"], &last["error"]), (&json!(null), &json!("no such thing")));

    operator.post(&format!("{path}/{}/repeat", claimed[0].seq)).send().await.expect(200);
    operator.post(&format!("{path}/{}/drop", claimed[1].seq)).send().await.expect(200);
    let repeated = store.work(claimed[0].seq).await.unwrap().expect("it is there");
    assert_eq!((repeated.wake_at, repeated.attempts), (Some(Timestamp(0)), 0));
    assert_eq!(store.work(claimed[1].seq).await.unwrap(), None);
    for act in ["repeat", "drop"] {
        let gone = operator.post(&format!("{path}/{}/{act}", claimed[0].seq)).send().await;
        gone.expect_error(404, "not_found", "There is no such dead letter.");
    }
    let shown = operator.get(path).send().await.expect(200);
    assert_eq!(shown.json, json!({ "total": 0, "deadLetters": [] }));
}
