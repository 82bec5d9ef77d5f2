//! `POST /v1/me/password`

use serde_json::json;

use crate::{
    accounts::{is_alive, letter, try_sign_in},
    harness::Server,
};

#[tokio::test]
async fn a_new_password_ends_every_other_sign_in_and_is_told_by_email() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.authenticator().await;
    assert!(is_alive(&phone).await);
    let body = json!({ "currentPassword": ada.password, "password": "another correct horse" });
    ada.client.post("/v1/me/password").json(&body).send().await.expect(200);
    assert!(!is_alive(&phone).await);
    assert!(is_alive(&ada.client).await);
    try_sign_in(&server.client(), &ada.email, &ada.password).await.expect(401);
    try_sign_in(&server.client(), &ada.email, "another correct horse").await.expect(200);
    letter(&server, &ada.email, "Your password was changed").await;
}

#[tokio::test]
async fn the_password_of_now_is_needed() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let body = json!({ "currentPassword": "wrong horse battery", "password": "another correct horse" });
    let answer = ada.client.post("/v1/me/password").json(&body).send().await;
    answer.expect_error(403, "wrong_password", "That password is wrong.");
    try_sign_in(&server.client(), &ada.email, &ada.password).await.expect(200);
}

#[tokio::test]
async fn the_next_password_has_10_to_1024_characters() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let mut current = ada.password.clone();
    for (length, fits) in [(9, false), (10, true), (1024, true), (1025, false)] {
        let next = "p".repeat(length);
        let body = json!({ "currentPassword": current, "password": next });
        let answer = ada.client.post("/v1/me/password").json(&body).send().await;
        if fits {
            answer.expect(200);
            current = next;
        } else {
            answer.expect_problems(&["password"]);
        }
    }
}

#[tokio::test]
async fn the_first_owner_is_asked_to_change_the_password_until_they_do() {
    let server = Server::start().await;
    let signed_in = try_sign_in(&server.client(), &server.owner_email, &server.owner_password).await.expect(200);
    assert_eq!(signed_in.json["user"]["passwordChangeDue"], true);
    let body = json!({ "currentPassword": server.owner_password, "password": "another correct horse" });
    server.owner().post("/v1/me/password").json(&body).send().await.expect(200);
    assert_eq!(server.owner().get("/v1/me").send().await.expect(200).json["user"]["passwordChangeDue"], false);
}
