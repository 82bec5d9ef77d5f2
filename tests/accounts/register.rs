//! `POST /v1/auth/register`

use std::time::Duration;

use serde_json::json;

use crate::{
    accounts::{letter, org, try_sign_in},
    harness::Server,
};

fn body(email: &str) -> serde_json::Value {
    json!({ "email": email, "password": "correct horse battery", "name": "Ada" })
}

#[tokio::test]
async fn where_registration_is_open_anybody_makes_an_account() {
    let server = Server::start().await;
    let body = json!({ "email": " Ada@Example.org ", "password": "correct horse battery", "name": "  Ada Lovelace " });
    let answer = server.client().post("/v1/auth/register").json(&body).send().await.expect(201);
    assert_eq!(answer.str("/user/email"), "ada@example.org");
    assert_eq!(answer.str("/user/name"), "Ada Lovelace");
    assert!(answer.str("/user/userId").starts_with("usr_"));
    assert_eq!(answer.json["user"]["otpEnrolled"], false);
    assert_eq!(answer.json["user"]["passwordChangeDue"], false);
    try_sign_in(&server.client(), "ada@example.org", "correct horse battery").await.expect(200);
}

#[tokio::test]
async fn an_address_has_one_account_however_it_is_spelt() {
    let server = Server::start().await;
    server.client().post("/v1/auth/register").json(&body("ada@example.org")).send().await.expect(201);
    let again = server.client().post("/v1/auth/register").json(&body("ADA@example.org")).send().await;
    again.expect_error(409, "email_taken", "There is an account with this email already.");
}

#[tokio::test]
async fn every_field_at_fault_is_named() {
    let server = Server::start().await;
    let body = json!({ "email": "ada", "password": "short", "name": " " });
    let answer = server.client().post("/v1/auth/register").json(&body).send().await;
    answer.expect_problems(&["email", "password", "name"]);
    let answer = server.client().post("/v1/auth/register").json(&json!({ "email": 7 })).send().await;
    answer.expect_problems(&["email", "password", "name"]);
}

#[tokio::test]
async fn passwords_and_names_have_their_lengths() {
    let server = Server::start().await;
    for (number, (password, name, status)) in
        [(9, 4, 400), (10, 1, 201), (1024, 80, 201), (1025, 4, 400), (10, 81, 400)].into_iter().enumerate()
    {
        let body = json!({
            "email": format!("ada{number}@example.org"), "password": "ä".repeat(password), "name": "é".repeat(name)
        });
        server.client().post("/v1/auth/register").json(&body).send().await.expect(status);
    }
}

#[tokio::test]
async fn where_registration_is_by_invitation_an_invitation_opens_it_once_and_for_its_address() {
    let server = Server::with(&["accounts.registration=invite"]).await;
    let refused = server.client().post("/v1/auth/register").json(&body("ada@example.org")).send().await;
    refused.expect_error(403, "invite_wanted", "Registration is by invitation.");

    let orgs = server.owner().get("/v1/orgs").send().await.expect(200);
    let org = format!("/v1/orgs/{}", orgs.str("/orgs/0/orgId"));
    let invite = json!({ "email": "ada@example.org", "role": "developer" });
    server.owner().post(&format!("{org}/invites")).json(&invite).send().await.expect(201);
    let token = crate::accounts::invites::token(&letter(&server, "ada@example.org", "Join").await);

    let mut eve = body("eve@example.org");
    eve["invite"] = json!(token);
    let refused = server.client().post("/v1/auth/register").json(&eve).send().await;
    refused.expect_error(403, "other_email", "This invitation was sent to another e-mail address.");

    server.clock.advance(Duration::from_millis(1));
    let mut ada = body("ada@example.org");
    ada["invite"] = json!(token);
    let made = server.client().post("/v1/auth/register").json(&ada).send().await.expect(201);
    assert_eq!(made.str("/orgId"), orgs.str("/orgs/0/orgId"));
    let members = server.owner().get(&format!("{org}/members")).send().await.expect(200);
    assert_eq!(members.list("/members").len(), 2);
    assert_eq!(members.str("/members/1/role"), "developer");

    let mut again = body("grace@example.org");
    again["invite"] = json!(token);
    let refused = server.client().post("/v1/auth/register").json(&again).send().await;
    refused.expect_error(404, "not_found", "This invitation doesn't exist or has expired.");
}

#[tokio::test]
async fn where_registration_is_closed_not_even_an_invitation_opens_it() {
    let server = Server::with(&["accounts.registration=closed"]).await;
    for invite in [None, Some("trp_i_x")] {
        let mut body = body("ada@example.org");
        body["invite"] = json!(invite);
        let refused = server.client().post("/v1/auth/register").json(&body).send().await;
        if invite.is_none() {
            refused.expect_error(403, "registration_closed", "Registration is closed.");
        } else {
            refused.expect(404);
        }
    }
}

#[tokio::test]
async fn an_invitation_may_be_used_where_registration_is_open_too() {
    let server = Server::start().await;
    let owner = server.person("owner").await;
    let org = org(&owner, "Acme").await;
    let invite = json!({ "email": "ada@example.org", "role": "viewer" });
    owner.client.post(&format!("{org}/invites")).json(&invite).send().await.expect(201);
    server.clock.advance(Duration::from_millis(1));
    let mut body = body("ada@example.org");
    body["invite"] = json!(crate::accounts::invites::token(&letter(&server, "ada@example.org", "Join").await));
    server.client().post("/v1/auth/register").json(&body).send().await.expect(201);
    let members = owner.client.get(&format!("{org}/members")).send().await.expect(200);
    assert_eq!(members.str("/members/1/email"), "ada@example.org");
}
