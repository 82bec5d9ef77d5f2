//! `/v1/me/notifications`: listing, reading, acknowledging, deleting.

use std::time::Duration;

use domain::id::OrgId;
use serde_json::{Value, json};
use store::NewNotice;

use super::{alarmed, give, key, newcomer, notice, notices, told};
use crate::{
    accounts::{join, org},
    harness::{Person, Server, Socket},
};

fn ids(notices: &[Value]) -> Vec<&str> {
    notices.iter().map(|notice| notice["noticeId"].as_str().expect("an id")).collect()
}

#[tokio::test]
async fn notices_are_listed_newest_first_with_what_the_contract_names() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    let org_id = OrgId::new(server.clock.now());
    let alarm = NewNotice {
        org_id: Some(org_id),
        body: Some("On db-1.".into()),
        url: Some("/alarms/1".into()),
        require_ack: true,
        ..notice(&server, &ada, "ops.alarm")
    };
    let first = alarm.id.to_string();
    give(&server, [alarm]).await;
    server.clock.advance(Duration::from_secs(1));
    let second = told(&server, &ada, "issue.assigned").await;
    let found = notices(&ada.client).await;
    assert_eq!(ids(&found), [second.as_str(), first.as_str()]);
    let created_at = server.clock.now().as_millis();
    assert_eq!(
        found[0],
        json!({
            "noticeId": second, "event": "issue.assigned", "app": "tasks", "title": "issue.assigned happened",
            "read": false, "requireAck": false, "createdAt": created_at
        })
    );
    assert_eq!(
        found[1],
        json!({
            "noticeId": first, "orgId": org_id, "event": "ops.alarm", "app": "admin", "title": "ops.alarm happened",
            "body": "On db-1.", "url": "/alarms/1", "read": false, "requireAck": true, "createdAt": created_at - 1_000
        })
    );
}

#[tokio::test]
async fn a_notice_that_is_not_wanted_in_the_app_comes_as_read() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    give(&server, [NewNotice { is_read: true, ..notice(&server, &ada, "food.receipt") }]).await;
    assert_eq!(notices(&ada.client).await[0]["read"], true);
    let count = ada.client.get("/v1/me/notifications/count").send().await.expect(200);
    assert_eq!(count.json["byApp"].get("food"), None);
}

#[tokio::test]
async fn one_app_is_listed_alone_and_home_means_every_app() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    let alarm = told(&server, &ada, "ops.alarm").await;
    told(&server, &ada, "issue.assigned").await;
    let list = async |query: &str| {
        let path = format!("/v1/me/notifications?{query}");
        ada.client.get(&path).send().await.expect(200).list("/notices").to_vec()
    };
    assert_eq!(ids(&list("app=admin").await), [alarm.as_str()]);
    assert!(list("app=mail").await.is_empty());
    assert_eq!(list("app=home").await, list("").await);
    ada.client.get("/v1/me/notifications?app=fax").send().await.expect_problems(&["app"]);
}

#[tokio::test]
async fn pages_have_one_to_a_hundred_notices_and_fifty_by_default() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    give(&server, (0..101).map(|_| notice(&server, &ada, "ops.alarm"))).await;
    let page = async |query: &str| ada.client.get(&format!("/v1/me/notifications?{query}")).send().await;
    assert_eq!(page("").await.expect(200).list("/notices").len(), 50);
    assert_eq!(page("limit=1").await.expect(200).list("/notices").len(), 1);
    let hundred = page("limit=100").await.expect(200);
    let rest = page(&format!("limit=100&cursor={}", hundred.str("/cursor"))).await.expect(200);
    assert_eq!((hundred.list("/notices").len(), rest.list("/notices").len()), (100, 1));
    assert_eq!(rest.json["cursor"], Value::Null);
    assert!(!ids(hundred.list("/notices")).contains(&ids(rest.list("/notices"))[0]));
    for query in ["limit=0", "limit=101", "limit=ten"] {
        page(query).await.expect_problems(&["limit"]);
    }
    page("cursor=nonsense").await.expect_error(400, "invalid_cursor", "Invalid cursor");
    page(&format!("cursor={}", "x".repeat(2_000))).await.expect_error(400, "invalid_cursor", "Invalid cursor");
    page(&format!("cursor={}", "x".repeat(2_001))).await.expect_problems(&["cursor"]);
}

#[tokio::test]
async fn reading_marks_those_that_are_named_and_passes_over_the_rest() {
    let server = Server::start().await;
    let (ada, bob) = (newcomer(&server, "ada").await, newcomer(&server, "bob").await);
    let (mine, other) = (told(&server, &ada, "ops.alarm").await, told(&server, &ada, "issue.assigned").await);
    let his = told(&server, &bob, "ops.alarm").await;
    let body = json!({ "noticeIds": [mine, mine, his, "nonsense", "nte_01jd7rt4m5e9fv2w8x3c6k0hqz"] });
    let answer = ada.client.post("/v1/me/notifications/read").json(&body).send().await.expect(200);
    assert_eq!(answer.json, json!({ "ok": true }));
    for notice in notices(&ada.client).await {
        assert_eq!(notice["read"], notice["noticeId"] == *mine, "{notice}");
        assert!(notice["noticeId"] == *mine || notice["noticeId"] == *other);
    }
    assert_eq!(notices(&bob.client).await[0]["read"], false);
}

#[tokio::test]
async fn one_to_a_hundred_notices_are_read_at_once() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    let read = async |ids: Vec<String>| {
        ada.client.post("/v1/me/notifications/read").json(&json!({ "noticeIds": ids })).send().await
    };
    read(vec!["x".repeat(64); 100]).await.expect(200);
    read(Vec::new()).await.expect_problems(&["noticeIds"]);
    read(vec!["x".into(); 101]).await.expect_problems(&["noticeIds"]);
    read(vec!["x".into(), "x".repeat(65)]).await.expect_problems(&["noticeIds[1]"]);
    ada.client.post("/v1/me/notifications/read").json(&json!({})).send().await.expect_problems(&["noticeIds"]);
}

#[tokio::test]
async fn unread_notices_are_counted_by_app_until_all_are_read() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    for event in ["ops.alarm", "issue.assigned", "issue.mentioned"] {
        told(&server, &ada, event).await;
    }
    let count = async || ada.client.get("/v1/me/notifications/count").send().await.expect(200).json;
    assert_eq!(count().await, json!({ "unread": 3, "byApp": { "admin": 1, "tasks": 2 } }));
    let read_all = async |body: Value| ada.client.post("/v1/me/notifications/read-all").json(&body).send().await;
    assert_eq!(read_all(json!({ "app": "tasks" })).await.expect(200).json, json!({ "ok": true }));
    assert_eq!(count().await, json!({ "unread": 1, "byApp": { "admin": 1 } }));
    read_all(json!({ "app": "home" })).await.expect(200);
    assert_eq!(count().await, json!({ "unread": 0, "byApp": {} }));
    read_all(json!({ "app": "fax" })).await.expect_problems(&["app"]);
}

#[tokio::test]
async fn a_notice_is_acknowledged_once() {
    let server = Server::start().await;
    let (ada, bob) = (newcomer(&server, "ada").await, newcomer(&server, "bob").await);
    let id = alarmed(&server, &ada).await;
    let path = format!("/v1/me/notifications/{id}/ack");
    bob.client.post(&path).send().await.expect_error(404, "not_found", "Notice not found.");
    assert_eq!(ada.client.post(&path).send().await.expect(200).json, json!({ "acked": true }));
    let notice = &notices(&ada.client).await[0];
    assert_eq!(notice["ackedAt"], server.clock.now().as_millis());
    assert_eq!(notice["read"], true);
    assert_eq!(ada.client.post(&path).send().await.expect(200).json, json!({ "acked": false }));
}

/// A sign-in of `ada`'s tells her and `bob`, and asks both to acknowledge; her notice, and his.
async fn escalated(server: &Server, ada: &Person, bob: &Person) -> (Value, Value) {
    let acme = org(ada, "Acme").await;
    join(ada, &acme, bob, "viewer").await;
    let rule = json!({
        "events": ["account.new_sign_in"], "userIds": [ada.user_id, bob.user_id],
        "steps": [{ "afterMinutes": 0, "channels": { "inapp": true } }, { "afterMinutes": 5, "channels": { "email": true } }]
    });
    let body = json!({ "name": "Sign-ins", "rules": [rule] });
    let made = ada.client.post(&format!("{acme}/notify/protocols")).json(&body).send().await.expect(201);
    let path = format!("{acme}/notify/protocols/{}", made.str("/protocol/protocolId"));
    let org_id = acme.rsplit('/').next().expect("an id");
    ada.client.put(&format!("{path}/attachments/org/{org_id}")).json(&json!({})).send().await.expect(200);
    ada.sign_in("mail", "android").await;
    let asking = async |person: &Person| {
        let asks = async || notices(&person.client).await.into_iter().find(|notice| notice["requireAck"] == true);
        server.eventually("a notice that asks", asks).await
    };
    (asking(ada).await, asking(bob).await)
}

#[tokio::test]
async fn one_acknowledgement_ends_an_escalation_for_everybody() {
    let server = Server::start().await;
    let (ada, bob) = (newcomer(&server, "ada").await, newcomer(&server, "bob").await);
    let (hers, his) = escalated(&server, &ada, &bob).await;
    let ack = async |person: &Person, notice: &Value| {
        let path = format!("/v1/me/notifications/{}/ack", notice["noticeId"].as_str().expect("an id"));
        person.client.post(&path).send().await.expect(200).json["acked"].clone()
    };
    assert_eq!(ack(&bob, &his).await, true);
    assert_eq!(ack(&ada, &hers).await, false);
    let found = notices(&ada.client).await;
    assert_eq!(found[0]["ackedAt"], server.clock.now().as_millis());
    assert_eq!(found[0]["read"], false, "she has not seen that he did");
    assert_eq!(notices(&bob.client).await[0]["read"], true);
}

#[tokio::test]
async fn what_asks_for_nothing_is_not_acknowledged() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    let id = told(&server, &ada, "ops.alarm").await;
    let acked = ada.client.post(&format!("/v1/me/notifications/{id}/ack")).send().await.expect(200);
    assert_eq!(acked.json, json!({ "acked": false }));
    assert_eq!(notices(&ada.client).await[0].get("ackedAt"), None);
    for unknown in ["nte_01jd7rt4m5e9fv2w8x3c6k0hqz", "nonsense"] {
        let path = format!("/v1/me/notifications/{unknown}/ack");
        ada.client.post(&path).send().await.expect_error(404, "not_found", "Notice not found.");
    }
}

#[tokio::test]
async fn a_deleted_notice_is_gone() {
    let server = Server::start().await;
    let (ada, bob) = (newcomer(&server, "ada").await, newcomer(&server, "bob").await);
    let id = told(&server, &ada, "ops.alarm").await;
    let path = format!("/v1/me/notifications/{id}");
    bob.client.delete(&path).send().await.expect_error(404, "not_found", "Notice not found.");
    ada.client.delete(&path).send().await.expect(204);
    assert!(!ids(&notices(&ada.client).await).contains(&id.as_str()));
    ada.client.delete(&path).send().await.expect_error(404, "not_found", "Notice not found.");
}

#[tokio::test]
async fn every_device_hears_what_was_read_acknowledged_and_deleted() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    let alarm = alarmed(&server, &ada).await;
    let (one, two) = (told(&server, &ada, "issue.assigned").await, told(&server, &ada, "mail.vip").await);
    let mut socket = Socket::live(&ada.client, 0).await;
    for of_the_sign_in in ["notice.created", "notice.deleted"] {
        assert_eq!(socket.message().await["type"], of_the_sign_in);
    }
    let mut hear = async |wanted: Value| {
        let mut message = socket.message().await;
        message.as_object_mut().expect("an object").remove("seq");
        assert_eq!(message, wanted);
    };
    ada.client.post("/v1/me/notifications/read").json(&json!({ "noticeIds": [one] })).send().await.expect(200);
    hear(json!({ "type": "notices.read", "noticeIds": [one], "unread": 2 })).await;
    ada.client.post(&format!("/v1/me/notifications/{alarm}/ack")).send().await.expect(200);
    let at = server.clock.now().as_millis();
    hear(json!({ "type": "notice.acked", "noticeId": alarm, "ackedAt": at, "unread": 1 })).await;
    ada.client.delete(&format!("/v1/me/notifications/{one}")).send().await.expect(204);
    hear(json!({ "type": "notice.deleted", "noticeId": one, "unread": 1 })).await;
    ada.client.post("/v1/me/notifications/read-all").json(&json!({ "app": "mail" })).send().await.expect(200);
    hear(json!({ "type": "notices.read", "all": true, "app": "mail", "unread": 0 })).await;
    assert_eq!(notices(&ada.client).await[0]["noticeId"], *two);
}

#[tokio::test]
async fn notifications_belong_to_people() {
    let server = Server::start().await;
    let ada = newcomer(&server, "ada").await;
    let key = key(&ada).await;
    for path in ["", "/count", "/devices", "/live-activities", "/settings"] {
        let answer = key.get(&format!("/v1/me/notifications{path}")).send().await;
        answer.expect_error(403, "people_only", "Notifications belong to people.");
    }
    let answer = key.post("/v1/me/notifications/read").raw("{").send().await;
    answer.expect_error(403, "people_only", "Notifications belong to people.");
    let answer = key.put("/v1/me/notifications/settings/prefs").json(&json!({})).send().await;
    answer.expect_error(403, "people_only", "Notifications belong to people.");
}
