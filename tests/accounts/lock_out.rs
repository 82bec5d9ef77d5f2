//! Ten failures in 15 minutes lock an address for 15.

use std::time::Duration;

use serde_json::json;

use crate::{
    accounts::{App, WRONG, try_sign_in},
    harness::{Answer, Launch, Server},
};

const MINUTE: Duration = Duration::from_secs(60);

async fn fail(server: &Server, email: &str, times: usize) {
    for _ in 0..times {
        let answer = try_sign_in(&server.client(), email, "wrong horse battery").await;
        answer.expect_error(401, "wrong_credentials", WRONG);
    }
}

fn is_locked(answer: Answer) -> u64 {
    let answer = answer.expect_error(429, "rate_limited", "Too many failed attempts. Try again later.");
    answer.header("retry-after").unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_tenth_failure_locks_even_the_right_password_out_for_15_minutes() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    fail(&server, &ada.email, 10).await;
    let wait = is_locked(try_sign_in(&server.client(), &ada.email, &ada.password).await);
    assert_eq!(wait, 15 * 60);
    server.clock.advance(MINUTE * 15 - Duration::from_millis(1));
    assert_eq!(is_locked(try_sign_in(&server.client(), &ada.email, &ada.password).await), 1);
    server.clock.advance(Duration::from_millis(1));
    try_sign_in(&server.client(), &ada.email, &ada.password).await.expect(200);
}

#[tokio::test]
async fn nine_failures_do_not_lock_and_a_success_forgets_them() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for _ in 0..2 {
        fail(&server, &ada.email, 9).await;
        try_sign_in(&server.client(), &ada.email, &ada.password).await.expect(200);
    }
}

#[tokio::test]
async fn failures_older_than_15_minutes_do_not_count() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    fail(&server, &ada.email, 9).await;
    server.clock.advance(MINUTE * 15);
    fail(&server, &ada.email, 1).await;
    try_sign_in(&server.client(), &ada.email, &ada.password).await.expect(200);
}

#[tokio::test]
async fn an_address_that_nobody_has_locks_just_the_same() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let mut answers = Vec::new();
    for email in [ada.email.as_str(), "nobody@example.org"] {
        fail(&server, email, 10).await;
        let locked = try_sign_in(&server.client(), email, "wrong horse battery").await;
        answers.push(locked.text.clone());
        is_locked(locked);
    }
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test]
async fn an_address_locks_however_it_is_spelt_and_no_other_does() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let grace = server.person("grace").await;
    fail(&server, &ada.email, 5).await;
    fail(&server, &ada.email.to_uppercase(), 5).await;
    is_locked(try_sign_in(&server.client(), &ada.email, &ada.password).await);
    try_sign_in(&server.client(), &grace.email, &grace.password).await.expect(200);
}

#[tokio::test]
async fn wrong_codes_and_wrong_current_passwords_count_too() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    let mut body = crate::accounts::credentials(&ada.email, &ada.password);
    body["otp"] = json!(app.wrong_code(&server));
    for _ in 0..4 {
        server.client().post("/v1/auth/sign-in").json(&body).send().await.expect(401);
    }
    for _ in 0..3 {
        let body = json!({ "otp": app.wrong_code(&server) });
        ada.client.post("/v1/auth/step-up").json(&body).send().await.expect(403);
    }
    for _ in 0..3 {
        let body = json!({ "currentPassword": "wrong horse battery", "password": "another correct horse" });
        ada.client.post("/v1/me/password").json(&body).send().await.expect(403);
    }
    body["otp"] = json!(app.code(&server));
    is_locked(server.client().post("/v1/auth/sign-in").json(&body).send().await);
    is_locked(ada.client.post("/v1/auth/step-up").json(&json!({ "otp": app.code(&server) })).send().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_forgets_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = Launch::in_folder(folder.path());
    let first = launch.start();
    for _ in 0..10 {
        try_sign_in(&first.client(), "ada@example.org", "wrong horse battery").await.expect(401);
    }
    first.kill();
    let second = launch.start();
    is_locked(try_sign_in(&second.client(), "ada@example.org", "wrong horse battery").await);
}

#[tokio::test]
async fn guesses_at_the_same_time_are_counted_one_by_one() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let client = server.client();
    let guesses = (0..30).map(|_| try_sign_in(&client, &ada.email, "wrong horse battery"));
    let answers = futures::future::join_all(guesses).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 401).count(), 10);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 20);
}
