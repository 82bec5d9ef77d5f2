use serde_json::{Value, json};

use super::{
    newcomer,
    reachable::{Reachable, kept, reachable},
};
use crate::harness::{Answer, Client, Server};

const PATH: &str = "/v1/me/notifications/test";
const HOUR: std::time::Duration = std::time::Duration::from_hours(1);

async fn test(client: &Client, channel: &str) -> Answer {
    client.post(PATH).json(&json!({ "channel": channel })).send().await
}

/// The only delivery of a test's notice, once it is settled.
async fn settled(server: &Server, client: &Client, answer: &Answer) -> Value {
    let path = format!("/v1/me/notifications/{}/deliveries", answer.str("/delivery/noticeId"));
    server
        .eventually("a settled delivery", async || {
            let deliveries = client.get(&path).send().await.expect(200);
            let [delivery] = deliveries.list("/deliveries") else { panic!("one delivery: {}", deliveries.text) };
            (delivery["state"] != "queued").then(|| delivery.clone())
        })
        .await
}

#[tokio::test]
async fn a_test_goes_over_the_channel_that_is_tried_out_and_says_what_became_of_it() {
    let Reachable { server, person, phone, device } = reachable().await;
    let targets = [("email", person.email.as_str()), ("sms", &phone), ("voice", &phone), ("push", &device)];
    for (channel, target) in targets {
        let answer = test(&person.client, channel).await.expect(201);
        assert_eq!((answer.str("/delivery/channel"), answer.str("/delivery/target")), (channel, target));
        let delivery = settled(&server, &person.client, &answer).await;
        assert_eq!(delivery["deliveryId"], answer.json["delivery"]["deliveryId"]);
        assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("sent"), &json!(1)));
        assert!(delivery["createdAt"].is_i64() && delivery["updatedAt"].is_i64());
        assert!(delivery.get("error").is_none() && delivery.get("nextAttemptAt").is_none());
        let kept = kept(&server, channel).await;
        assert!(kept.iter().any(|text| text.contains("test") || text.contains("You asked for it")), "{kept:?}");
    }
}

#[tokio::test]
async fn a_test_in_the_app_is_a_notice_and_there_at_once() {
    let server = Server::start().await;
    let person = newcomer(&server, "ada").await;
    let answer = test(&person.client, "inapp").await.expect(201);
    assert_eq!((answer.str("/delivery/state"), answer.str("/delivery/target")), ("sent", "inbox"));
    let notices = person.client.get("/v1/me/notifications").send().await.expect(200);
    assert_eq!(notices.str("/notices/0/title"), "This is a test");
    assert_eq!(notices.str("/notices/0/noticeId"), answer.str("/delivery/noticeId"));
}

#[tokio::test]
async fn a_channel_that_cannot_reach_the_person_is_400_and_says_why() {
    let server = Server::start().await;
    let person = server.person("ada").await;
    for channel in ["sms", "voice"] {
        let answer = test(&person.client, channel).await;
        answer.expect_error(400, "no_confirmed_phone", "Confirm a telephone number first.");
    }
    let answer = test(&person.client, "push").await;
    answer.expect_error(400, "no_device", "No device of yours is registered for push messages.");
    test(&person.client, "fax").await.expect_problems(&["channel"]);
}

#[tokio::test]
async fn ten_tests_an_hour_are_sent_and_the_eleventh_is_429() {
    let server = Server::start().await;
    let person = server.person("ada").await;
    for _ in 0..10 {
        test(&person.client, "inapp").await.expect(201);
    }
    let refused = test(&person.client, "inapp").await;
    assert!(refused.header("retry-after").is_some());
    refused.expect_error(429, "rate_limited", "That were too many tests; try again later.");
    server.clock.advance(HOUR);
    test(&person.client, "inapp").await.expect(201);
}

#[tokio::test]
async fn the_same_test_twice_with_one_idempotency_key_is_sent_once() {
    let server = Server::start().await;
    let person = server.person("ada").await;
    let ask = || person.client.post(PATH).json(&json!({ "channel": "inapp" })).header("Idempotency-Key", "one").send();
    let (first, second) = (ask().await.expect(201), ask().await.expect(201));
    assert_eq!(first.str("/delivery/deliveryId"), second.str("/delivery/deliveryId"));
}

#[tokio::test]
async fn the_deliveries_of_a_notice_are_its_owners_only() {
    let server = Server::start().await;
    let (ada, eve) = (server.person("ada").await, server.person("eve").await);
    let answer = test(&ada.client, "inapp").await.expect(201);
    let path = format!("/v1/me/notifications/{}/deliveries", answer.str("/delivery/noticeId"));
    assert_eq!(ada.client.get(&path).send().await.expect(200).list("/deliveries").len(), 1);
    eve.client.get(&path).send().await.expect_error(404, "not_found", "Notice not found.");
    for unknown in ["nte_01jd7rt4m5e9fv2w8x3c6k0hqz", "nonsense"] {
        let path = format!("/v1/me/notifications/{unknown}/deliveries");
        ada.client.get(&path).send().await.expect_error(404, "not_found", "Notice not found.");
    }
}
