//! `Idempotency-Key`: what is asked for twice is made once.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

async fn make(client: &Client, key: &str, body: &Value) -> Answer {
    client.post("/v1/orgs").header("Idempotency-Key", key).json(body).send().await
}

async fn count(client: &Client) -> usize {
    client.get("/v1/orgs").send().await.expect(200).list("/orgs").len()
}

#[tokio::test]
async fn the_same_key_and_body_are_answered_with_the_first_answer() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let body = json!({ "name": "Acme" });
    let first = make(&ada, "key-1", &body).await.expect(201);
    assert_eq!(first.header("idempotency-replayed"), None);
    for _ in 0..2 {
        let again = make(&ada, "key-1", &body).await.expect(201);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.text, first.text);
        assert_eq!(again.header("content-type"), first.header("content-type"));
    }
    assert_eq!(count(&ada).await, 1);
    make(&ada, "key-2", &body).await.expect(201);
    assert_eq!(count(&ada).await, 2);
}

#[tokio::test]
async fn another_body_or_path_under_the_same_key_is_409() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let org = make(&ada, "key-1", &json!({ "name": "Acme" })).await.expect(201);
    let mismatch = make(&ada, "key-1", &json!({ "name": "Emca" })).await.expect(409);
    assert_eq!(mismatch.json["code"], "idempotency_mismatch");
    let path = format!("/v1/orgs/{}/teams", org.str("/org/orgId"));
    let elsewhere = ada.post(&path).header("Idempotency-Key", "key-1").json(&json!({ "name": "Acme" })).send().await;
    assert_eq!(elsewhere.expect(409).json["code"], "idempotency_mismatch");
    assert_eq!(count(&ada).await, 1);
}

#[tokio::test]
async fn a_key_has_1_to_255_characters() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let body = json!({ "name": "Acme" });
    for length in [1, 255] {
        make(&ada, &"k".repeat(length), &body).await.expect(201);
    }
    for key in [String::new(), "k".repeat(256)] {
        assert_eq!(make(&ada, &key, &body).await.expect(400).json["code"], "idempotency_key");
    }
    assert_eq!(count(&ada).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_ask_at_once_under_one_key_one_makes_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let body = json!({ "name": "Acme" });
    let answers = join_all((0..16).map(|_| make(&ada, "key-1", &body))).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert!(!made.is_empty());
    assert!(made.iter().all(|answer| answer.text == made[0].text), "one organization in every answer");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(
            (answer.status, answer.json["code"].as_str()),
            (409, Some("idempotency_in_progress")),
            "{}",
            answer.text
        );
        assert!(answer.header("retry-after").is_some());
    }
    assert_eq!(count(&ada).await, 1);
    let later = make(&ada, "key-1", &body).await.expect(201);
    assert_eq!(later.text, made[0].text);
}

#[tokio::test]
async fn keys_of_different_people_have_nothing_to_do_with_each_other() {
    let server = Server::start().await;
    let (ada, bob) = (server.person("ada").await.client, server.person("bob").await.client);
    let body = json!({ "name": "Acme" });
    let one = make(&ada, "key-1", &body).await.expect(201);
    let other = make(&bob, "key-1", &body).await.expect(201);
    assert_ne!(one.str("/org/orgId"), other.str("/org/orgId"));
}

#[tokio::test]
async fn a_request_that_came_to_nothing_gives_its_key_back() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    make(&ada, "key-1", &json!({ "name": "" })).await.expect(400);
    make(&ada, "key-1", &json!({ "name": "Acme" })).await.expect(201);
}

#[tokio::test]
async fn a_key_is_remembered_for_24_hours() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let body = json!({ "name": "Acme" });
    make(&ada, "key-1", &body).await.expect(201);
    server.clock.advance(Duration::from_millis(24 * 60 * 60 * 1_000 - 1));
    assert_eq!(make(&ada, "key-1", &body).await.expect(201).header("idempotency-replayed"), Some("true"));
    server.clock.advance(Duration::from_millis(1));
    assert_eq!(make(&ada, "key-1", &body).await.expect(201).header("idempotency-replayed"), None);
    assert_eq!(count(&ada).await, 2);
}
