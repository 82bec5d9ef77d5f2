//! `GET` and `PATCH /v1/me`

use serde_json::json;

use crate::{accounts::org, harness::Server};

#[tokio::test]
async fn a_person_sees_and_changes_their_account() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let before = ada.client.get("/v1/me").send().await.expect(200);
    assert_eq!(before.json["user"]["locale"], json!(null));
    assert_eq!(before.int("/user/createdAt"), server.clock.now().as_millis());

    let patch =
        json!({ "name": "Ada King", "locale": "en-GB", "timeZone": "Europe/London", "phone": "+44 20 7946 0018" });
    let changed = ada.client.patch("/v1/me").json(&patch).send().await.expect(200);
    assert_eq!(changed.str("/user/name"), "Ada King");
    assert_eq!(changed.str("/user/phone"), "+442079460018");

    let patch = json!({ "phone": null });
    let cleared = ada.client.patch("/v1/me").json(&patch).send().await.expect(200);
    assert_eq!(cleared.json["user"]["phone"], json!(null));
    assert_eq!(cleared.str("/user/timeZone"), "Europe/London");
    assert_eq!(ada.client.get("/v1/me").send().await.expect(200).json, cleared.json);
}

#[tokio::test]
async fn every_field_at_fault_is_named_and_nothing_is_changed() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let patch = json!({ "name": "", "locale": "en_US", "timeZone": "../etc", "phone": "0664" });
    let answer = ada.client.patch("/v1/me").json(&patch).send().await;
    answer.expect_problems(&["name", "locale", "timeZone", "phone"]);
    let patch = json!({ "name": "Changed", "phone": 7 });
    ada.client.patch("/v1/me").json(&patch).send().await.expect_problems(&["phone"]);
    assert_eq!(ada.client.get("/v1/me").send().await.expect(200).str("/user/name"), "ada");
}

#[tokio::test]
async fn an_account_carries_an_entity_tag() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let first = ada.client.get("/v1/me").send().await.expect(200);
    let tag = first.header("etag").unwrap();
    ada.client.get("/v1/me").header("if-none-match", tag).send().await.expect(304);
    ada.client.patch("/v1/me").json(&json!({ "name": "Ada King" })).send().await.expect(200);
    ada.client.get("/v1/me").header("if-none-match", tag).send().await.expect(200);
}

#[tokio::test]
async fn an_account_belongs_to_people() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let org = org(&ada, "Acme").await;
    let body = json!({ "name": "Key", "kind": "api", "scopes": ["org:read"] });
    let made = ada.client.post(&format!("{org}/keys")).json(&body).send().await.expect(201);
    let key = server.client().with_token(made.str("/secret"));
    key.get("/v1/me").send().await.expect_error(403, "people_only", "This belongs to people.");
    key.post("/v1/auth/sign-out").send().await.expect(403);
}
