//! `/v1/orgs/:orgId/keys`

use std::time::Duration;

use serde_json::json;

use crate::{
    accounts::{join, org},
    harness::{Answer, Client, Person, Server},
};

async fn make(by: &Person, org: &str, scopes: &[&str]) -> Answer {
    let body = json!({ "name": "Importer", "kind": "api", "scopes": scopes });
    by.client.post(&format!("{org}/keys")).json(&body).send().await
}

async fn key(by: &Person, org: &str, scopes: &[&str]) -> Client {
    by.client.with_token(make(by, org, scopes).await.expect(201).str("/secret"))
}

#[tokio::test]
async fn a_key_shows_its_secret_once() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let made = make(&ada, &acme, &["org:read", "members:read"]).await.expect(201);
    let secret = made.str("/secret");
    assert!(secret.starts_with("trp_k_") && secret.ends_with(made.str("/key/hint")), "{}", made.text);
    assert_eq!(made.json["key"]["scopes"], json!(["org:read", "members:read"]));
    assert_eq!(made.str("/key/createdBy"), ada.user_id);
    let listed = ada.client.get(&format!("{acme}/keys")).send().await.expect(200);
    assert_eq!(listed.json, json!({ "keys": [made.json["key"]], "cursor": null }));
    assert!(!listed.text.contains("trp_k_"), "{}", listed.text);
}

#[tokio::test]
async fn a_key_has_exactly_its_scopes_in_its_own_organization() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (acme, other) = (org(&ada, "Acme").await, org(&ada, "Other").await);
    let key = key(&ada, &acme, &["org:read", "members:read"]).await;
    key.get(&acme).send().await.expect(200);
    key.get(&format!("{acme}/members")).send().await.expect(200);
    let missing = key.get(&format!("{acme}/audit")).send().await;
    missing.expect_error(403, "missing_scope", "This needs the audit:read permission.");
    key.patch(&acme).json(&json!({ "name": "Mine" })).send().await.expect(403);
    key.get(&other).send().await.expect_error(404, "not_found", "Organization not found.");
    let orgs = key.get("/v1/orgs").send().await.expect(200);
    assert_eq!(orgs.list("/orgs").len(), 1);
}

#[tokio::test]
async fn a_key_is_given_no_permission_that_its_maker_lacks() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    make(&grace, &acme, &["audit:read", "tenant:write"]).await.expect_error(
        403,
        "missing_scope",
        "This needs the tenant:write permission.",
    );
    make(&ada, &acme, &["tenant:write"]).await.expect(201);
    make(&ada, &acme, &["platform:admin"]).await.expect_error(
        403,
        "missing_scope",
        "This needs the platform:admin permission.",
    );
}

#[tokio::test]
async fn a_key_never_has_more_than_its_maker_at_the_moment_of_use() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    let key = key(&grace, &acme, &["org:read", "audit:read"]).await;
    key.get(&format!("{acme}/audit")).send().await.expect(200);

    let member = format!("{acme}/members/{}", grace.user_id);
    ada.client.patch(&member).json(&json!({ "role": "developer" })).send().await.expect(200);
    key.get(&format!("{acme}/audit")).send().await.expect(403);
    key.get(&acme).send().await.expect(200);
    ada.client.patch(&member).json(&json!({ "role": "admin" })).send().await.expect(200);
    key.get(&format!("{acme}/audit")).send().await.expect(200);

    ada.client.delete(&member).send().await.expect(200);
    key.get(&acme).send().await.expect(401);
    join(&ada, &acme, &grace, "admin").await;
    key.get(&acme).send().await.expect(401);
}

#[tokio::test]
async fn a_deleted_key_is_dead_at_once() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let made = make(&ada, &acme, &["org:read"]).await.expect(201);
    let key = server.client().with_token(made.str("/secret"));
    key.get(&acme).send().await.expect(200);
    let path = format!("{acme}/keys/{}", made.str("/key/keyId"));
    ada.client.delete(&path).send().await.expect(200);
    key.get(&acme).send().await.expect_error(401, "unauthenticated", "Sign in to continue.");
    ada.client.delete(&path).send().await.expect_error(404, "not_found", "Key not found.");
}

#[tokio::test]
async fn a_key_expires_when_it_was_told_to() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let now = server.clock.now();
    let body = |at: i64| json!({ "name": "Brief", "kind": "mcp", "scopes": ["org:read"], "expiresAt": at });
    let path = format!("{acme}/keys");
    ada.client.post(&path).json(&body(now.as_millis())).send().await.expect_problems(&["expiresAt"]);
    let made = ada.client.post(&path).json(&body(now.as_millis() + 1000)).send().await.expect(201);
    let key = server.client().with_token(made.str("/secret"));
    server.clock.advance(Duration::from_millis(999));
    key.get(&acme).send().await.expect(200);
    server.clock.advance(Duration::from_millis(1));
    key.get(&acme).send().await.expect(401);
}

#[tokio::test]
async fn a_key_makes_no_keys_and_makes_nobody_an_owner() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    let key = key(&ada, &acme, &["keys:write", "members:write"]).await;
    let body = json!({ "name": "Child", "kind": "api", "scopes": ["keys:write"] });
    let refused = key.post(&format!("{acme}/keys")).json(&body).send().await;
    refused.expect_error(403, "people_only", "This is for people, not for keys.");
    let members = format!("{acme}/members");
    let body = |role: &str| json!({ "userId": grace.user_id, "role": role });
    key.post(&members).json(&body("owner")).send().await.expect(403);
    key.delete(&format!("{members}/{}", ada.user_id)).send().await.expect(403);
    key.delete(&acme).send().await.expect(403);
}

#[tokio::test]
async fn every_field_at_fault_is_named() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let path = format!("{acme}/keys");
    let body = json!({ "name": 7, "kind": "robot", "scopes": "all" });
    ada.client.post(&path).json(&body).send().await.expect_problems(&["name", "kind", "scopes"]);
    make(&ada, &acme, &["issues:fly"]).await.expect_problems(&["scopes[0]"]);
    make(&ada, &acme, &[]).await.expect_problems(&["scopes"]);
}

#[tokio::test]
async fn developers_neither_see_nor_make_keys() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "developer").await;
    grace.client.get(&format!("{acme}/keys")).send().await.expect(403);
    make(&grace, &acme, &["org:read"]).await.expect(403);
}

#[tokio::test]
async fn the_use_of_a_key_is_noted() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let key = key(&ada, &acme, &["org:read"]).await;
    key.get(&acme).send().await.expect(200);
    let now = server.clock.now().as_millis();
    server
        .eventually("noting the use", async || {
            let listed = ada.client.get(&format!("{acme}/keys")).send().await.expect(200);
            (listed.json["keys"][0]["lastUsedAt"] == json!(now)).then_some(())
        })
        .await;
}

#[tokio::test]
async fn an_organization_has_at_most_two_hundred_keys() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    for _ in 0..200 {
        make(&ada, &acme, &["org:read"]).await.expect(201);
    }
    let refused = make(&ada, &acme, &["org:read"]).await;
    refused.expect_error(400, "limit_reached", "An organization has at most 200 keys.");
}
