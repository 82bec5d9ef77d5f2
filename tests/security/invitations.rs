//! An invitation is worth no more than whoever sent it.

use serde_json::json;

use crate::{
    accounts::{invites::token, join, letter, org},
    harness::{Answer, Person, Server},
};

const GONE: &str = "This invitation doesn't exist or has expired.";

/// Grace, an owner beside Ada, invites Eve as `role`; the organization, and Eve's token.
async fn invited(server: &Server, ada: &Person, grace: &Person, eve: &Person, role: &str) -> (String, String) {
    let name = format!("{role} {}", server.clock.now());
    let acme = org(ada, &name).await;
    join(ada, &acme, grace, "owner").await;
    let body = json!({ "email": eve.email, "role": role });
    grace.client.post(&format!("{acme}/invites")).json(&body).send().await.expect(201);
    let token = token(&letter(server, &eve.email, &format!("Join {name}")).await);
    (acme, token)
}

async fn accept(person: &Person, token: &str) -> Answer {
    person.client.post(&format!("/v1/invites/{token}/accept")).send().await
}

#[tokio::test]
async fn who_is_removed_leaves_no_open_invitation_behind() {
    let server = Server::start().await;
    let (ada, grace, eve) = (server.person("ada").await, server.person("grace").await, server.person("eve").await);
    let (acme, token) = invited(&server, &ada, &grace, &eve, "viewer").await;
    ada.client.delete(&format!("{acme}/members/{}", grace.user_id)).send().await.expect(200);
    accept(&eve, &token).await.expect_error(404, "not_found", GONE);
    let body = json!({ "email": eve.email, "role": "viewer" });
    ada.client.post(&format!("{acme}/invites")).json(&body).send().await.expect(201);
}

#[tokio::test]
async fn who_may_no_longer_give_a_role_has_invited_nobody_to_it() {
    let server = Server::start().await;
    let (ada, grace, eve) = (server.person("ada").await, server.person("grace").await, server.person("eve").await);
    for (invited_as, now, status) in [("owner", "admin", 404), ("admin", "developer", 404), ("admin", "admin", 200)] {
        let (acme, token) = invited(&server, &ada, &grace, &eve, invited_as).await;
        let member = format!("{acme}/members/{}", grace.user_id);
        ada.client.patch(&member).json(&json!({ "role": now })).send().await.expect(200);
        accept(&eve, &token).await.expect(status);
        server.clock.advance(std::time::Duration::from_secs(1));
    }
}

#[tokio::test]
async fn an_invitation_by_a_key_goes_with_the_maker_of_the_key() {
    let server = Server::start().await;
    let (ada, grace, eve) = (server.person("ada").await, server.person("grace").await, server.person("eve").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    let all: Vec<&str> =
        domain::Role::Admin.scopes(domain::OrgKind::Customer).iter().map(domain::Scope::as_str).collect();
    let body = json!({ "name": "Importer", "kind": "api", "scopes": all });
    let made = grace.client.post(&format!("{acme}/keys")).json(&body).send().await.expect(201);
    let key = server.client().with_token(made.str("/secret"));
    let body = json!({ "email": eve.email, "role": "admin" });
    key.post(&format!("{acme}/invites")).json(&body).send().await.expect(201);
    let token = token(&letter(&server, &eve.email, "Join Acme").await);
    ada.client.delete(&format!("{acme}/members/{}", grace.user_id)).send().await.expect(200);
    accept(&eve, &token).await.expect_error(404, "not_found", GONE);
}
