//! A key that manages members must not become more than it is by way of a person.

use serde_json::json;

use crate::{
    accounts::{join, org},
    harness::{Client, Person, Server},
};

async fn key(by: &Person, org: &str, scopes: &[&str]) -> Client {
    let body = json!({ "name": "Importer", "kind": "api", "scopes": scopes });
    let made = by.client.post(&format!("{org}/keys")).json(&body).send().await.expect(201);
    by.client.with_token(made.str("/secret"))
}

#[tokio::test]
async fn a_key_gives_nobody_a_role_that_can_do_more_than_the_key() {
    let server = Server::start().await;
    let (ada, eve) = (server.person("ada").await, server.person("eve").await);
    let acme = org(&ada, "Acme").await;
    let key = key(&ada, &acme, &["members:write", "org:read"]).await;
    let missing = "This needs the org:write permission.";
    let body = json!({ "userId": eve.user_id, "role": "admin" });
    let added = key.post(&format!("{acme}/members")).json(&body).send().await;
    added.expect_error(403, "missing_scope", missing);
    let body = json!({ "email": "eve@example.com", "role": "admin" });
    let invited = key.post(&format!("{acme}/invites")).json(&body).send().await;
    invited.expect_error(403, "missing_scope", missing);
    join(&ada, &acme, &eve, "viewer").await;
    let changed = key.patch(&format!("{acme}/members/{}", eve.user_id)).json(&json!({ "role": "admin" })).send().await;
    changed.expect_error(403, "missing_scope", missing);
}

#[tokio::test]
async fn a_key_with_all_that_a_role_can_do_gives_it() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    let scopes: Vec<&str> =
        domain::Role::Viewer.scopes(domain::OrgKind::Customer).iter().map(domain::Scope::as_str).collect();
    let key = key(&ada, &acme, &[scopes.as_slice(), &["members:write"]].concat()).await;
    let members = format!("{acme}/members");
    let body = |role: &str| json!({ "userId": grace.user_id, "role": role });
    key.post(&members).json(&body("developer")).send().await.expect(403);
    key.post(&members).json(&body("viewer")).send().await.expect(201);
}
