//! `/v1/me/app-passwords`, and what a listener finds by one.

use std::time::Duration;

use serde_json::{Value, json};
use store::accounts::AppPassword;

use crate::{
    accounts::{App, join, letter, org},
    harness::{Answer, Person, Server},
};

const PATH: &str = "/v1/me/app-passwords";

async fn make(by: &Person, body: &Value) -> Answer {
    by.client.post(PATH).json(body).send().await
}

/// An organization's id, of its address.
fn id_of(org: &str) -> &str {
    org.rsplit('/').next().unwrap()
}

fn body(org: &str) -> Value {
    json!({ "name": "Thunderbird", "orgId": id_of(org), "uses": ["imap"] })
}

/// What a mail client's secret stands for now.
async fn found(server: &Server, secret: &str) -> Option<AppPassword> {
    server.store().await.app_password_by_token(&secret.parse().unwrap()).await.unwrap()
}

#[tokio::test]
async fn an_app_password_shows_its_secret_once_and_is_found_by_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let body = json!({ "name": " Thunderbird ", "orgId": id_of(&acme), "uses": ["dav", "imap", "dav"] });
    let made = make(&ada, &body).await.expect(201);
    let secret = made.str("/secret");
    assert!(secret.starts_with("trp_a_"), "{}", made.text);
    let expected = json!({
        "appPasswordId": made.str("/appPassword/appPasswordId"), "name": "Thunderbird", "orgId": id_of(&acme),
        "uses": ["imap", "dav"], "createdAt": server.clock.now().0, "lastUsedAt": null
    });
    assert_eq!(made.json["appPassword"], expected);
    let listed = ada.client.get(PATH).send().await.expect(200);
    assert_eq!(listed.json, json!({ "appPasswords": [expected] }));
    let known = found(&server, secret).await.expect("the app password");
    assert_eq!((known.user_id.to_string(), known.org_id.to_string()), (ada.user_id.clone(), id_of(&acme).to_owned()));
    letter(&server, &ada.email, "A password for a mail client was made").await;
    let trail = ada.client.get(&format!("{acme}/audit?limit=100")).send().await.expect(200);
    assert!(trail.text.contains("app_password.created") && !trail.text.contains("trp_a_"), "{}", trail.text);
}

#[tokio::test]
async fn an_app_password_opens_nothing_over_http() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let made = make(&ada, &body(&acme)).await.expect(201);
    ada.client.with_token(made.str("/secret")).get("/v1/me").send().await.expect(401);
}

#[tokio::test]
async fn what_a_new_app_password_says_is_checked() {
    let server = Server::start().await;
    let (ada, eve) = (server.person("ada").await, server.person("eve").await);
    let (acme, strange) = (org(&ada, "Acme").await, org(&eve, "Elsewhere").await);
    let with = |name: &str, value: Value| {
        let mut body = body(&acme);
        body[name] = value;
        body
    };
    for (body, path) in [
        (with("name", json!("")), "name"),
        (with("name", json!("n".repeat(81))), "name"),
        (with("orgId", json!("org_x")), "orgId"),
        (with("uses", json!([])), "uses"),
    ] {
        make(&ada, &body).await.expect_problems(&[path]);
    }
    make(&ada, &with("uses", json!(["pop"]))).await.expect(400);
    make(&ada, &with("name", json!("n".repeat(80)))).await.expect(201);
    make(&ada, &body(&strange)).await.expect(404);
    assert_eq!(ada.client.get(PATH).send().await.expect(200).list("/appPasswords").len(), 1);
}

#[tokio::test]
async fn a_person_has_at_most_20_app_passwords() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let mut last = String::new();
    for _ in 0..20 {
        last = make(&ada, &body(&acme)).await.expect(201).str("/appPassword/appPasswordId").to_owned();
    }
    let full = "A person has at most 20 app passwords.";
    make(&ada, &body(&acme)).await.expect_error(400, "limit_reached", full);
    ada.client.delete(&format!("{PATH}/{last}")).send().await.expect(204);
    make(&ada, &body(&acme)).await.expect(201);
}

#[tokio::test]
async fn a_revoked_app_password_is_found_no_more_and_only_its_own_person_revokes_it() {
    let server = Server::start().await;
    let (ada, eve) = (server.person("ada").await, server.person("eve").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &eve, "owner").await;
    let made = make(&ada, &body(&acme)).await.expect(201);
    let path = format!("{PATH}/{}", made.str("/appPassword/appPasswordId"));
    let missing = "App password not found.";
    eve.client.delete(&path).send().await.expect_error(404, "not_found", missing);
    eve.client.delete(&format!("{PATH}/apw_nonsense")).send().await.expect_error(404, "not_found", missing);
    assert!(found(&server, made.str("/secret")).await.is_some());
    ada.client.delete(&path).send().await.expect(204);
    assert!(found(&server, made.str("/secret")).await.is_none());
    ada.client.delete(&path).send().await.expect_error(404, "not_found", missing);
    let trail = ada.client.get(&format!("{acme}/audit?limit=100")).send().await.expect(200);
    assert!(trail.text.contains("app_password.revoked"), "{}", trail.text);
}

#[tokio::test]
async fn app_passwords_end_with_their_persons_part_in_the_organization() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let (acme, other) = (org(&ada, "Acme").await, org(&grace, "Other").await);
    join(&ada, &acme, &grace, "viewer").await;
    let (here, there) = (make(&grace, &body(&acme)).await.expect(201), make(&grace, &body(&other)).await.expect(201));
    ada.client.delete(&format!("{acme}/members/{}", grace.user_id)).send().await.expect(200);
    assert!(found(&server, here.str("/secret")).await.is_none());
    assert!(found(&server, there.str("/secret")).await.is_some());
    join(&ada, &acme, &grace, "viewer").await;
    assert!(found(&server, here.str("/secret")).await.is_none());
    grace.client.delete(&other).send().await.expect(200);
    assert!(found(&server, there.str("/secret")).await.is_none());
    assert_eq!(grace.client.get(PATH).send().await.expect(200).json, json!({ "appPasswords": [] }));
}

#[tokio::test]
async fn another_password_ends_all_app_passwords() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let made = make(&ada, &body(&acme)).await.expect(201);
    let wrong = json!({ "currentPassword": "wrong horse battery", "password": "another correct horse" });
    ada.client.post("/v1/me/password").json(&wrong).send().await.expect(403);
    assert!(found(&server, made.str("/secret")).await.is_some());
    let right = json!({ "currentPassword": ada.password, "password": "another correct horse" });
    ada.client.post("/v1/me/password").json(&right).send().await.expect(200);
    assert!(found(&server, made.str("/secret")).await.is_none());
}

#[tokio::test]
async fn who_has_a_second_factor_shows_it_before_making_one() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let app = App::enrol(&server, &ada).await;
    make(&ada, &body(&acme)).await.expect(201);
    server.clock.advance(Duration::from_secs(600));
    let refused = make(&ada, &body(&acme)).await;
    refused.expect_error(403, "step_up", "Confirm with your second factor first.");
    let code = json!({ "otp": app.code(&server) });
    ada.client.post("/v1/auth/step-up").json(&code).send().await.expect(200);
    make(&ada, &body(&acme)).await.expect(201);
}
