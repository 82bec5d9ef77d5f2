//! One factor in an attacker's hands must not buy guesses at the other.

use serde_json::json;

use crate::{
    accounts::{App, try_sign_in},
    harness::{Person, Server},
};

const LOCKED: &str = "Too many failed attempts. Try again later.";

async fn guess_codes(ada: &Person, wrong: &str, times: usize) {
    for _ in 0..times {
        let body = json!({ "otp": wrong });
        let answer = ada.client.post("/v1/auth/step-up").json(&body).send().await;
        answer.expect_error(403, "wrong_code", "That code is wrong.");
    }
}

#[tokio::test]
async fn changing_the_password_forgets_no_wrong_codes() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    let wrong = app.wrong_code(&server);
    guess_codes(&ada, &wrong, 9).await;
    let body = json!({ "currentPassword": ada.password, "password": "another correct horse" });
    ada.client.post("/v1/me/password").json(&body).send().await.expect(200);
    guess_codes(&ada, &wrong, 1).await;
    let answer = ada.client.post("/v1/auth/step-up").json(&json!({ "otp": wrong })).send().await;
    answer.expect_error(429, "rate_limited", LOCKED);
}

#[tokio::test]
async fn showing_a_code_forgets_no_wrong_passwords() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    for _ in 0..9 {
        try_sign_in(&server.client(), &ada.email, "wrong horse battery").await.expect(401);
    }
    ada.client.post("/v1/auth/step-up").json(&json!({ "otp": app.code(&server) })).send().await.expect(200);
    try_sign_in(&server.client(), &ada.email, "wrong horse battery").await.expect(401);
    let answer = try_sign_in(&server.client(), &ada.email, &ada.password).await;
    answer.expect_error(429, "rate_limited", LOCKED);
}
