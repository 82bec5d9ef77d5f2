//! `/v1/orgs/:orgId/invites` and `POST /v1/invites/:token/accept`

use std::time::Duration;

use serde_json::json;

use crate::{
    accounts::{join, letter, org},
    harness::{Answer, Person, Server},
};

const GONE: &str = "This invitation doesn't exist or has expired.";
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The token in an invitation's letter.
pub fn token(letter: &str) -> String {
    let start = letter.find("trp_i_").expect("a token");
    letter[start..].chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
}

async fn invite(by: &Person, org: &str, email: &str, role: &str) -> Answer {
    by.client.post(&format!("{org}/invites")).json(&json!({ "email": email, "role": role })).send().await
}

async fn accept(person: &Person, token: &str) -> Answer {
    person.client.post(&format!("/v1/invites/{token}/accept")).send().await
}

#[tokio::test]
async fn an_invitation_goes_out_by_email_and_makes_its_addressee_a_member() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    let made = invite(&ada, &acme, "GRACE@example.org", "developer").await.expect(201);
    assert_eq!(made.str("/invite/email"), grace.email);
    assert_eq!(made.str("/invite/invitedBy"), ada.user_id);
    assert_eq!(made.int("/invite/expiresAt"), server.clock.now().after(WEEK).as_millis());
    assert!(!made.text.contains("trp_i_"), "{}", made.text);
    let letter = letter(&server, &grace.email, "Join Acme").await;

    let accepted = accept(&grace, &token(&letter)).await.expect(200);
    assert_eq!(accepted.str("/org/name"), "Acme");
    assert_eq!(accepted.str("/org/role"), "developer");
    assert_eq!(accepted.str("/member/userId"), grace.user_id);
    grace.client.get(&acme).send().await.expect(200);
    assert_eq!(ada.client.get(&format!("{acme}/invites")).send().await.expect(200).list("/invites").len(), 0);
    accept(&grace, &token(&letter)).await.expect_error(404, "not_found", GONE);
}

#[tokio::test]
async fn an_invitation_is_for_the_address_that_it_was_sent_to() {
    let server = Server::start().await;
    let (ada, eve) = (server.person("ada").await, server.person("eve").await);
    let acme = org(&ada, "Acme").await;
    invite(&ada, &acme, "grace@example.org", "developer").await.expect(201);
    let token = token(&letter(&server, "grace@example.org", "Join").await);
    let refused = accept(&eve, &token).await;
    refused.expect_error(403, "other_email", "This invitation was sent to another e-mail address.");
    let grace = server.person("grace").await;
    accept(&grace, &token).await.expect(200);
}

#[tokio::test]
async fn an_invitation_expires() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    let made = invite(&ada, &acme, &grace.email, "viewer").await.expect(201);
    let first = token(&letter(&server, &grace.email, "Join").await);
    server.clock.advance(WEEK);
    accept(&grace, &first).await.expect_error(404, "not_found", GONE);
    assert_eq!(ada.client.get(&format!("{acme}/invites")).send().await.expect(200).list("/invites").len(), 0);
    let path = format!("{acme}/invites/{}", made.str("/invite/inviteId"));
    ada.client.delete(&path).send().await.expect(404);
    invite(&ada, &acme, &grace.email, "viewer").await.expect(201);
}

#[tokio::test]
async fn an_invitation_can_be_taken_back() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    let made = invite(&ada, &acme, &grace.email, "viewer").await.expect(201);
    let token = token(&letter(&server, &grace.email, "Join").await);
    let path = format!("{acme}/invites/{}", made.str("/invite/inviteId"));
    ada.client.delete(&path).send().await.expect(200);
    accept(&grace, &token).await.expect_error(404, "not_found", GONE);
    ada.client.delete(&path).send().await.expect_error(404, "not_found", "Invitation not found.");
}

#[tokio::test]
async fn an_address_is_invited_once_and_a_member_not_at_all() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    invite(&ada, &acme, "new@example.org", "viewer").await.expect(201);
    let again = invite(&ada, &acme, "new@example.org", "admin").await;
    again.expect_error(409, "already_invited", "This address is invited already.");
    join(&ada, &acme, &grace, "viewer").await;
    let member = invite(&ada, &acme, &grace.email, "viewer").await;
    member.expect_error(409, "already_member", "This person is a member already.");
    invite(&ada, &acme, "not an address", "viewer").await.expect_problems(&["email"]);
}

#[tokio::test]
async fn a_token_that_nobody_was_sent_is_refused() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let made_up = domain::Token::generate(domain::TokenKind::Invite).unwrap();
    let of_another_kind = ada.client.token.clone().unwrap();
    for token in ["nonsense", made_up.reveal(), &of_another_kind] {
        accept(&ada, token).await.expect_error(404, "not_found", GONE);
    }
}

#[tokio::test]
async fn only_owners_invite_owners_and_developers_nobody() {
    let server = Server::start().await;
    let (ada, grace, eve) = (server.person("ada").await, server.person("grace").await, server.person("eve").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    join(&ada, &acme, &eve, "developer").await;
    invite(&grace, &acme, "new@example.org", "owner").await.expect(403);
    invite(&grace, &acme, "new@example.org", "admin").await.expect(201);
    invite(&eve, &acme, "other@example.org", "viewer").await.expect(403);
    invite(&ada, &acme, "other@example.org", "owner").await.expect(201);
}

#[tokio::test]
async fn an_organization_has_at_most_two_hundred_open_invitations() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    for number in 0..200 {
        invite(&ada, &acme, &format!("new{number}@example.org"), "viewer").await.expect(201);
    }
    let refused = invite(&ada, &acme, "one.more@example.org", "viewer").await;
    refused.expect_error(400, "limit_reached", "An organization has at most 200 open invitations.");
    let page = ada.client.get(&format!("{acme}/invites?limit=100")).send().await.expect(200);
    assert_eq!(page.list("/invites").len(), 100);
    let path = format!("{acme}/invites/{}", page.str("/invites/0/inviteId"));
    ada.client.delete(&path).send().await.expect(200);
    invite(&ada, &acme, "one.more@example.org", "viewer").await.expect(201);
}
