//! `POST /v1/auth/sign-in` and `POST /v1/auth/sign-out`

use std::time::Duration;

use serde_json::json;

use crate::{
    accounts::{WRONG, credentials, is_alive, try_sign_in},
    harness::Server,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn the_right_password_gives_a_token_bound_to_app_and_platform() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    server.clock.advance(Duration::from_millis(1));
    let body = json!({
        "email": "ADA@example.org", "password": ada.password, "app": "authenticator", "platform": "android",
        "installId": "pixel-7"
    });
    let answer = server.client().post("/v1/auth/sign-in").json(&body).send().await.expect(200);
    assert!(answer.str("/token").starts_with("trp_p_"));
    assert!(answer.str("/signInId").starts_with("sgn_"));
    assert_eq!(answer.str("/user/userId"), ada.user_id);
    assert_eq!(answer.int("/expiresAt"), server.clock.now().after(DAY * 90).as_millis());
    let phone = server.client().with_token(answer.str("/token"));
    let sign_ins = phone.get("/v1/me/sign-ins").send().await.expect(200);
    assert_eq!(sign_ins.str("/signIns/0/app"), "authenticator");
    assert_eq!(sign_ins.str("/signIns/0/platform"), "android");
    assert_eq!(sign_ins.str("/signIns/0/installId"), "pixel-7");
    phone.get("/v1/me/authenticator/vault").send().await.expect(200);
    ada.client.get("/v1/me/authenticator/vault").send().await.expect(403);
}

#[tokio::test]
async fn a_wrong_email_and_a_wrong_password_read_the_same() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let wrong_password = try_sign_in(&server.client(), &ada.email, "wrong horse battery").await;
    let wrong_email = try_sign_in(&server.client(), "nobody@example.org", &ada.password).await;
    for answer in [&wrong_password, &wrong_email] {
        answer.clone().expect_error(401, "wrong_credentials", WRONG);
    }
    assert_eq!(wrong_password.text, wrong_email.text);
}

#[tokio::test]
async fn apps_and_platforms_are_the_contracts() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for (app, platform, faults) in
        [("docs", "cli", &[] as &[&str]), ("solitaire", "web", &["app"]), ("account", "windows", &["platform"])]
    {
        let mut body = credentials(&ada.email, &ada.password);
        body["app"] = json!(app);
        body["platform"] = json!(platform);
        let answer = server.client().post("/v1/auth/sign-in").json(&body).send().await;
        if faults.is_empty() {
            answer.expect(200)
        } else {
            answer.expect_problems(faults)
        };
    }
}

#[tokio::test]
async fn install_ids_have_1_to_128_characters() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for (length, status) in [(0, 400), (1, 200), (128, 200), (129, 400)] {
        let mut body = credentials(&ada.email, &ada.password);
        body["installId"] = json!("i".repeat(length));
        server.client().post("/v1/auth/sign-in").json(&body).send().await.expect(status);
    }
}

#[tokio::test]
async fn a_token_that_was_signed_out_is_dead_at_once_and_others_live() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.authenticator().await;
    assert!(is_alive(&phone).await);
    let answer = phone.post("/v1/auth/sign-out").send().await.expect(200);
    assert_eq!(answer.json, json!({ "ok": true }));
    let dead = phone.get("/v1/me").send().await.expect_error(401, "unauthenticated", "Sign in to continue.");
    assert_eq!(dead.header("www-authenticate"), Some("Bearer"));
    assert!(is_alive(&ada.client).await);
}

#[tokio::test]
async fn a_token_that_nobody_issued_is_refused() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let token = ada.client.token.clone().unwrap();
    let other = if token.ends_with('x') { 'y' } else { 'x' };
    let mistyped = format!("{}{other}", &token[..token.len() - 1]);
    let made_up = domain::Token::generate(domain::TokenKind::SignIn).unwrap();
    for token in ["", "trp_p_", mistyped.as_str(), made_up.reveal()] {
        assert!(!is_alive(&server.client().with_token(token)).await, "{token}");
    }
}

#[tokio::test]
async fn a_sign_in_ends_when_it_was_not_used_for_ninety_days() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    server.clock.advance(DAY * 90 - Duration::from_millis(1));
    assert!(is_alive(&ada.client).await);
    let unused = server.person("unused").await;
    server.clock.advance(DAY * 90);
    assert!(!is_alive(&unused.client).await);
}

#[tokio::test]
async fn a_sign_in_that_is_used_lives_on() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for _ in 0..3 {
        server.clock.advance(DAY * 60);
        assert!(is_alive(&ada.client).await);
        let now = server.clock.now().as_millis();
        server
            .eventually("noting the use", async || {
                let sign_ins = ada.client.get("/v1/me/sign-ins").send().await.expect(200);
                (sign_ins.int("/signIns/0/lastSeenAt") == now).then_some(())
            })
            .await;
    }
}

#[tokio::test]
async fn the_hundred_and_first_sign_in_ends_the_one_unused_for_longest() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let mut clients = vec![ada.client.clone()];
    for _ in 0..99 {
        server.clock.advance(Duration::from_secs(1));
        clients.push(ada.sign_in("account", "web").await);
    }
    assert!(is_alive(&clients[0]).await);
    server.clock.advance(Duration::from_secs(1));
    let newest = ada.sign_in("account", "web").await;
    let sign_ins = newest.get("/v1/me/sign-ins").send().await.expect(200);
    assert_eq!(sign_ins.list("/signIns").len(), 100);
    server.eventually("the end of the oldest", async || (!is_alive(&clients[0]).await).then_some(())).await;
    assert!(is_alive(&clients[1]).await);
}
