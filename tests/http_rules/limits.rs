//! How often a caller may ask.

use std::time::Duration;

use crate::harness::{Answer, Server};

fn assert_refused(answer: Answer) {
    let answer = answer.expect(429);
    assert_eq!(answer.json["code"], "rate_limited");
    let seconds: u64 = answer.header("retry-after").expect("Retry-After").parse().expect("whole seconds");
    assert!((1..=60).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn a_caller_has_so_many_requests_a_minute_and_another_has_their_own() {
    let server = Server::with(&["server.requests_per_minute=5"]).await;
    let (ada, bob) = (server.person("ada").await.client, server.person("bob").await.client);
    // Whatever making them has used up.
    server.clock.advance(Duration::from_mins(1));
    for _ in 0..5 {
        ada.get("/v1/me").send().await.expect(200);
    }
    assert_refused(ada.get("/v1/me").send().await);
    bob.get("/v1/me").send().await.expect(200);
    server.clock.advance(Duration::from_secs(12));
    ada.get("/v1/me").send().await.expect(200);
    assert_refused(ada.get("/v1/me").send().await);
}

#[tokio::test]
async fn an_address_that_is_not_signed_in_has_so_many_requests_a_minute() {
    let server = Server::with(&["server.anonymous_requests_per_minute=5"]).await;
    let ada = server.person("ada").await.client;
    server.clock.advance(Duration::from_mins(1));
    for _ in 0..5 {
        server.client().get("/v1/openapi.json").send().await.expect(200);
    }
    assert_refused(server.client().get("/v1/openapi.json").send().await);
    assert_refused(server.client().with_token("a guess").get("/v1/me").send().await);
    ada.get("/v1/me").send().await.expect(200);
}

#[tokio::test]
async fn an_address_cannot_be_claimed_by_a_header() {
    let server = Server::with(&["server.anonymous_requests_per_minute=5"]).await;
    let ask = |number: usize| {
        let address = format!("198.51.100.{number}");
        server.client().get("/v1/openapi.json").header("x-forwarded-for", address).send()
    };
    for number in 0..5 {
        ask(number).await.expect(200);
    }
    assert_refused(ask(5).await);
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_its_own_address() {
    let server = Server::with(&["server.anonymous_requests_per_minute=5", "server.trusted_proxies=127.0.0.1"]).await;
    for number in 0..10 {
        let address = format!("198.51.100.{number}");
        server.client().get("/v1/openapi.json").header("x-forwarded-for", address).send().await.expect(200);
    }
}

#[tokio::test]
async fn sign_in_is_limited_by_address_whoever_is_tried() {
    let server = Server::start().await;
    let mut refused = None;
    for number in 0..1_000 {
        let body = serde_json::json!({
            "email": format!("somebody{number}@example.com"), "password": "a guess of ten", "app": "account", "platform": "web",
        });
        let answer = server.client().post("/v1/auth/sign-in").json(&body).send().await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        answer.expect(401);
    }
    assert_refused(refused.expect("a refusal before a thousand guesses"));
}
