//! `/v1/orgs/:orgId/access-keys`, and what a listener finds by one.

use std::time::Duration;

use domain::{
    Scope,
    access_key::{Access, AccessKeyId},
};
use serde_json::{Value, json};
use store::accounts::AccessKeyCredential;

use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

async fn make(by: &Person, org: &str, body: Value) -> Answer {
    by.client.post(&format!("{org}/access-keys")).json(&body).send().await
}

async fn made(by: &Person, org: &str, access: &str) -> Answer {
    make(by, org, json!({ "name": "Backups", "access": access })).await.expect(201)
}

/// What is checked with a key now.
async fn found(server: &Server, key: &str) -> Option<AccessKeyCredential> {
    let id: AccessKeyId = key.parse().unwrap();
    server.store().await.access_key_credential(id).await.unwrap()
}

#[tokio::test]
async fn an_access_key_shows_its_secret_once_and_signs_with_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let made = made(&ada, &acme, "write").await;
    let (id, secret) = (made.str("/accessKey/accessKeyId"), made.str("/secretAccessKey"));
    assert!(id.starts_with("TRPA") && id.len() == 20 && secret.len() == 40, "{}", made.text);
    let now = server.clock.now().0;
    let expected = json!({
        "accessKeyId": id, "name": "Backups", "access": "write", "resources": null, "prefix": null,
        "createdBy": ada.user_id, "createdAt": now, "expiresAt": null, "lastUsedAt": null
    });
    assert_eq!(made.json["accessKey"], expected);
    let listed = ada.client.get(&format!("{acme}/access-keys")).send().await.expect(200);
    assert_eq!(listed.json, json!({ "accessKeys": [expected] }));
    let credential = found(&server, id).await.expect("the key");
    assert_eq!(credential.secret.reveal(), secret);
    let authority = credential.authority().unwrap();
    assert!(authority.has(Scope::ResourcesRead) && authority.has(Scope::ResourcesWrite));
    assert!(!authority.has(Scope::OrgRead) && !authority.has(Scope::KeysRead));
    assert_eq!(format!("/v1/orgs/{}", authority.org_id()), acme);
    assert!(found(&server, "TRPAAAAAAAAAAAAAAAAA").await.is_none());
}

#[tokio::test]
async fn what_an_access_key_reaches_is_checked_and_kept() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (acme, other) = (org(&ada, "Acme").await, org(&ada, "Other").await);
    let bucket = async |org: &str| {
        let made =
            ada.client.post(&format!("{org}/storage")).json(&json!({ "name": "files" })).send().await.expect(201);
        made.str("/bucket/resourceId").to_owned()
    };
    let (mine, strange) = (bucket(&acme).await, bucket(&other).await);
    let body = |resources: Value, prefix: Value| json!({ "name": "K", "access": "read", "resources": resources, "prefix": prefix });
    let made = make(&ada, &acme, body(json!([mine]), json!("a/"))).await.expect(201);
    assert_eq!(made.json["accessKey"]["resources"], json!([mine]));
    assert_eq!(made.str("/accessKey/prefix"), "a/");
    let grant = found(&server, made.str("/accessKey/accessKeyId")).await.unwrap().caller.grant;
    assert_eq!((grant.access, grant.resources.as_deref()), (Access::Read, Some(&[mine.parse().unwrap()][..])));
    for (body, path) in [
        (body(json!([strange]), json!(null)), "resources[0]"),
        (body(json!([mine, "x"]), json!(null)), "resources[1]"),
        (body(json!([mine, mine]), json!(null)), "resources[1]"),
        (body(json!([]), json!(null)), "resources"),
        (body(json!(vec![mine.clone(); 101]), json!(null)), "resources"),
        (body(json!(null), json!("")), "prefix"),
        (body(json!(null), json!("a".repeat(1_025))), "prefix"),
        (json!({ "name": "", "access": "read" }), "name"),
        (json!({ "name": "K", "access": "read", "expiresAt": server.clock.now().0 }), "expiresAt"),
    ] {
        let refused = make(&ada, &acme, body).await.expect(400);
        assert!(refused.text.contains(&format!("\"{path}\"")), "{path}: {}", refused.text);
    }
    make(&ada, &acme, body(json!(null), json!("a".repeat(1_024)))).await.expect(201);
    make(&ada, &acme, json!({ "name": "K", "access": "all" })).await.expect(400);
}

#[tokio::test]
async fn an_access_key_is_dead_when_it_is_deleted_expired_or_its_maker_has_gone() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    let until = server.clock.now().after(Duration::from_secs(1));
    let brief =
        make(&grace, &acme, json!({ "name": "Brief", "access": "read", "expiresAt": until.0 })).await.expect(201);
    let brief = found(&server, brief.str("/accessKey/accessKeyId")).await.unwrap();
    assert!(brief.is_valid(until.before(Duration::from_millis(1))) && !brief.is_valid(until));

    let key = made(&ada, &acme, "read").await.str("/accessKey/accessKeyId").to_owned();
    let path = format!("{acme}/access-keys/{key}");
    ada.client.delete(&path).send().await.expect(204);
    assert!(found(&server, &key).await.is_none());
    ada.client.delete(&path).send().await.expect_error(404, "not_found", "Access key not found.");
    ada.client.delete(&format!("{acme}/access-keys/x")).send().await.expect(404);

    let key = made(&grace, &acme, "write").await.str("/accessKey/accessKeyId").to_owned();
    let member = format!("{acme}/members/{}", grace.user_id);
    ada.client.patch(&member).json(&json!({ "role": "viewer" })).send().await.expect(200);
    let authority = found(&server, &key).await.unwrap().authority().unwrap();
    assert!(authority.has(Scope::ResourcesRead) && !authority.has(Scope::ResourcesWrite));
    ada.client.delete(&member).send().await.expect(200);
    assert!(found(&server, &key).await.is_none());
    join(&ada, &acme, &grace, "admin").await;
    assert!(found(&server, &key).await.is_none());
}

#[tokio::test]
async fn access_keys_are_for_people_and_a_hundred_are_enough() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let body = json!({ "name": "A program", "kind": "api", "scopes": ["keys:read", "keys:write"] });
    let key = ada.client.post(&format!("{acme}/keys")).json(&body).send().await.expect(201);
    let program = ada.client.with_token(key.str("/secret"));
    let path = format!("{acme}/access-keys");
    let people = "This is for people, not for keys.";
    program.get(&path).send().await.expect_error(403, "people_only", people);
    let body = json!({ "name": "K", "access": "read" });
    program.post(&path).json(&body).send().await.expect_error(403, "people_only", people);
    for _ in 0..100 {
        ada.client.post(&path).json(&body).send().await.expect(201);
    }
    let full = "An organization has at most 100 access keys.";
    ada.client.post(&path).json(&body).send().await.expect_error(400, "limit_reached", full);
    let listed = ada.client.get(&path).send().await.expect(200);
    assert_eq!(listed.list("/accessKeys").len(), 100);
    let first = listed.str("/accessKeys/0/accessKeyId").to_owned();
    program.delete(&format!("{path}/{first}")).send().await.expect_error(403, "people_only", people);
    let trail = ada.client.get(&format!("{acme}/audit?limit=100")).send().await.expect(200);
    assert!(trail.text.contains("access_key.created"), "{}", trail.text);
}

#[tokio::test]
async fn access_keys_go_with_their_organization() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let key = made(&ada, &acme, "read").await.str("/accessKey/accessKeyId").to_owned();
    ada.client.delete(&acme).send().await.expect(200);
    assert!(found(&server, &key).await.is_none());
}
