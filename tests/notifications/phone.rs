//! `/v1/me/phone`

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

const PHONE: &str = "+431234567";
const MINUTE: Duration = Duration::from_mins(1);

async fn ask(client: &Client, phone: &str) -> Answer {
    client.post("/v1/me/phone").json(&json!({ "phone": phone })).send().await
}

async fn confirm(client: &Client, code: &str) -> Answer {
    client.post("/v1/me/phone/confirm").json(&json!({ "code": code })).send().await
}

async fn has_phone(client: &Client) -> bool {
    client.get("/v1/me/notifications/settings").send().await.expect(200).json["hasPhone"] == true
}

/// The code of the `number`th text to `phone`, counted from 1.
async fn code(server: &Server, phone: &str, number: usize) -> String {
    let path = format!("/kept?to={}", phone.replace('+', "%2B"));
    let text = server
        .eventually("a text", async || {
            let kept = server.operator().get(&path).send().await.expect(200);
            let texts = kept.list("/messages");
            (texts.len() >= number).then(|| texts[0].clone())
        })
        .await;
    assert_eq!(text["channel"], "sms");
    let body = text["body"].as_str().expect("a text");
    assert!(body.ends_with(" is your code to confirm this number. It counts for ten minutes."), "{body}");
    body[..6].to_owned()
}

fn another(code: &str) -> &'static str {
    if code == "000000" { "111111" } else { "000000" }
}

#[tokio::test]
async fn a_number_is_confirmed_by_the_code_that_was_texted_to_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let asked = ask(&ada.client, "+43 1 234567").await.expect(202);
    let expires_at = server.clock.now().after(MINUTE * 10).as_millis();
    assert_eq!(asked.json, json!({ "phone": PHONE, "expiresAt": expires_at }));
    assert!(!has_phone(&ada.client).await);
    let confirmed = confirm(&ada.client, &code(&server, PHONE, 1).await).await.expect(200);
    assert_eq!(confirmed.json, json!({ "phone": PHONE, "confirmed": true }));
    assert!(has_phone(&ada.client).await);
    assert_eq!(ada.client.get("/v1/me").send().await.expect(200).str("/user/phone"), PHONE);
}

#[tokio::test]
async fn a_code_counts_once_and_for_ten_minutes() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let gone = |answer: Answer| drop(answer.expect_error(409, "no_code", "That code has expired. Ask for a new one."));
    gone(confirm(&ada.client, "123456").await);
    ask(&ada.client, PHONE).await.expect(202);
    let first = code(&server, PHONE, 1).await;
    server.clock.advance(MINUTE * 10);
    gone(confirm(&ada.client, &first).await);
    ask(&ada.client, PHONE).await.expect(202);
    let second = code(&server, PHONE, 2).await;
    server.clock.advance(MINUTE * 10 - Duration::from_millis(1));
    confirm(&ada.client, &second).await.expect(200);
    gone(confirm(&ada.client, &second).await);
}

#[tokio::test]
async fn the_sixth_try_counts_no_more() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for (tries, status) in [(4, 200), (5, 409)] {
        ask(&ada.client, PHONE).await.expect(202);
        let right = code(&server, PHONE, if tries == 4 { 1 } else { 2 }).await;
        for _ in 0..tries {
            confirm(&ada.client, another(&right)).await.expect_error(403, "wrong_code", "That code is wrong.");
        }
        confirm(&ada.client, &right).await.expect(status);
        server.clock.advance(MINUTE);
    }
}

#[tokio::test]
async fn the_last_code_counts_and_that_of_nobody_else() {
    let server = Server::start().await;
    let (ada, bob) = (server.person("ada").await, server.person("bob").await);
    ask(&ada.client, PHONE).await.expect(202);
    let first = code(&server, PHONE, 1).await;
    confirm(&bob.client, &first).await.expect(409);
    server.clock.advance(MINUTE);
    ask(&ada.client, PHONE).await.expect(202);
    let second = code(&server, PHONE, 2).await;
    if first != second {
        confirm(&ada.client, &first).await.expect(403);
    }
    confirm(&ada.client, &format!(" {}-{} ", &second[..3], &second[3..])).await.expect(200);
}

#[tokio::test]
async fn another_number_is_not_confirmed() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    ask(&ada.client, PHONE).await.expect(202);
    confirm(&ada.client, &code(&server, PHONE, 1).await).await.expect(200);
    let patch = async |phone: Value| {
        ada.client.patch("/v1/me").json(&json!({ "phone": phone })).send().await.expect(200);
        has_phone(&ada.client).await
    };
    assert!(patch(json!(PHONE)).await, "the same number stays confirmed");
    assert!(!patch(json!("+437654321")).await);
    assert!(!patch(json!(PHONE)).await, "and one that comes back is not");
    assert!(!patch(json!(null)).await);
}

#[tokio::test]
async fn five_codes_an_hour_are_sent() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for number in 0..5 {
        ask(&ada.client, &format!("+43123456{number}")).await.expect(202);
        server.clock.advance(MINUTE);
    }
    let refused = ask(&ada.client, PHONE).await;
    let refused = refused.expect_error(429, "rate_limited", "That was too many codes; try again later.");
    assert_eq!(refused.header("retry-after"), Some("3300"));
    server.clock.advance(MINUTE * 55);
    ask(&ada.client, PHONE).await.expect(202);
}

#[tokio::test]
async fn one_number_is_not_texted_by_many() {
    let server = Server::start().await;
    for number in 0..6 {
        let person = server.person(&format!("person{number}")).await;
        ask(&person.client, PHONE).await.expect(if number < 5 { 202 } else { 429 });
    }
}

#[tokio::test]
async fn numbers_and_codes_of_another_form_are_refused() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    ask(&ada.client, "0664 123").await.expect_problems(&["phone"]);
    for code in ["", "12345", "1234567", "abcdef"] {
        confirm(&ada.client, code).await.expect_problems(&["code"]);
    }
    let key = super::key(&ada).await;
    ask(&key, PHONE).await.expect_error(403, "people_only", "Notifications belong to people.");
}
