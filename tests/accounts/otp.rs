//! The second factor: enrolling, signing in with it, recovery codes, stepping up, switching it off.

use std::time::Duration;

use serde_json::json;

use crate::{
    accounts::{App, STEP, credentials, letter, secret},
    harness::{Answer, Person, Server},
};

async fn sign_in_with(server: &Server, person: &Person, otp: &str) -> Answer {
    let mut body = credentials(&person.email, &person.password);
    body["otp"] = json!(otp);
    server.client().post("/v1/auth/sign-in").json(&body).send().await
}

async fn step_up(person: &Person, otp: &str) -> Answer {
    person.client.post("/v1/auth/step-up").json(&json!({ "otp": otp })).send().await
}

#[tokio::test]
async fn enrolling_gives_a_secret_that_counts_once_a_code_was_shown() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let enrolment = ada.client.post("/v1/me/otp").send().await.expect(200);
    assert!(enrolment.str("/uri").starts_with("otpauth://totp/Troupe:ada%40example.org?secret="));
    let unconfirmed = crate::accounts::try_sign_in(&server.client(), &ada.email, &ada.password).await.expect(200);
    assert_eq!(unconfirmed.json["user"]["otpEnrolled"], false);

    let app = App { secret: secret(enrolment.str("/secret")), recovery_codes: Vec::new() };
    let wrong = json!({ "otp": app.wrong_code(&server) });
    let refused = ada.client.post("/v1/me/otp/confirm").json(&wrong).send().await;
    refused.expect_error(403, "wrong_code", "That code is wrong.");
    let right = json!({ "otp": app.code(&server) });
    let confirmed = ada.client.post("/v1/me/otp/confirm").json(&right).send().await.expect(200);
    assert_eq!(confirmed.list("/recoveryCodes").len(), 10);
    assert_eq!(ada.client.get("/v1/me").send().await.expect(200).json["user"]["otpEnrolled"], true);
    letter(&server, &ada.email, "Second factor switched on").await;
}

#[tokio::test]
async fn starting_again_makes_another_secret_and_confirming_nothing_is_refused() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let nothing = ada.client.post("/v1/me/otp/confirm").json(&json!({ "otp": "123456" })).send().await;
    nothing.expect_error(409, "otp_not_started", "Start with POST /v1/me/otp.");
    let first = ada.client.post("/v1/me/otp").send().await.expect(200);
    let second = ada.client.post("/v1/me/otp").send().await.expect(200);
    assert_ne!(first.str("/secret"), second.str("/secret"));
    App::enrol(&server, &ada).await;
    let third = ada.client.post("/v1/me/otp").send().await;
    third.expect_error(409, "otp_enrolled", "You have a second factor already.");
}

#[tokio::test]
async fn once_enrolled_signing_in_takes_the_password_and_a_code() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    let without = crate::accounts::try_sign_in(&server.client(), &ada.email, &ada.password).await;
    without.expect_error(401, "code_wanted", "Enter the code from your authenticator app.");
    sign_in_with(&server, &ada, &app.wrong_code(&server)).await.expect_error(401, "wrong_code", "That code is wrong.");
    sign_in_with(&server, &ada, &app.code(&server)).await.expect(200);
}

#[tokio::test]
async fn a_code_is_accepted_once_wherever_it_was_shown() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    let code = app.code(&server);
    sign_in_with(&server, &ada, &code).await.expect(200);
    sign_in_with(&server, &ada, &code).await.expect(401);
    step_up(&ada, &code).await.expect(403);
    server.clock.advance(STEP);
    sign_in_with(&server, &ada, &code).await.expect(401);
    sign_in_with(&server, &ada, &app.code(&server)).await.expect(200);
}

#[tokio::test]
async fn of_two_sign_ins_with_one_code_at_the_same_time_one_succeeds() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    let code = app.code(&server);
    let (sign_in, step_up) = futures::future::join(sign_in_with(&server, &ada, &code), step_up(&ada, &code)).await;
    assert_eq!([sign_in.status, step_up.status].iter().filter(|status| **status == 200).count(), 1);
}

#[tokio::test]
async fn a_recovery_code_stands_in_once() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    let code = &app.recovery_codes[3];
    sign_in_with(&server, &ada, &code.to_uppercase().replace('-', " ")).await.expect(200);
    sign_in_with(&server, &ada, code).await.expect(401);
    step_up(&ada, &app.recovery_codes[4]).await.expect(200);
    step_up(&ada, &app.recovery_codes[4]).await.expect(403);
    letter(&server, &ada.email, "A recovery code was used").await;
}

#[tokio::test]
async fn stepping_up_counts_for_ten_minutes() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    server.clock.advance(Duration::from_secs(600));
    let cold = ada.client.delete("/v1/me/otp").send().await;
    cold.expect_error(403, "step_up", "Confirm with your second factor first.");
    let confirmed = step_up(&ada, &app.code(&server)).await.expect(200);
    assert_eq!(confirmed.int("/confirmedUntil"), server.clock.now().after(Duration::from_secs(600)).as_millis());
    server.clock.advance(Duration::from_secs(600));
    ada.client.delete("/v1/me/otp").send().await.expect(403);
    step_up(&ada, &app.code(&server)).await.expect(200);
    server.clock.advance(Duration::from_millis(599_999));
    ada.client.delete("/v1/me/otp").send().await.expect(200);
}

#[tokio::test]
async fn stepping_up_is_for_the_sign_in_that_did_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.authenticator().await;
    let app = App::enrol(&server, &ada).await;
    server.clock.advance(Duration::from_secs(600));
    step_up(&ada, &app.code(&server)).await.expect(200);
    phone.delete("/v1/me/otp").send().await.expect(403);
}

#[tokio::test]
async fn without_a_second_factor_there_is_nothing_to_show_or_switch_off() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    step_up(&ada, "123456").await.expect_error(409, "otp_not_enrolled", "You have no second factor yet.");
    ada.client.delete("/v1/me/otp").send().await.expect_error(
        409,
        "otp_not_enrolled",
        "You have no second factor yet.",
    );
}

#[tokio::test]
async fn once_switched_off_the_password_is_enough_and_recovery_codes_are_gone() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let old = App::enrol(&server, &ada).await;
    ada.client.delete("/v1/me/otp").send().await.expect(200);
    crate::accounts::try_sign_in(&server.client(), &ada.email, &ada.password).await.expect(200);
    letter(&server, &ada.email, "Second factor switched off").await;
    App::enrol(&server, &ada).await;
    sign_in_with(&server, &ada, &old.recovery_codes[0]).await.expect(401);
}
