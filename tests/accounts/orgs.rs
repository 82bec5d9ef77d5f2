//! `/v1/orgs` and `/v1/orgs/:orgId`

use std::time::Duration;

use serde_json::json;

use crate::{
    accounts::{App, is_alive, join, org},
    harness::Server,
};

#[tokio::test]
async fn whoever_makes_an_organization_owns_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let body = json!({ "name": "  Acme & Sons ", "slug": "acme" });
    let made = ada.client.post("/v1/orgs").json(&body).send().await.expect(201);
    assert_eq!(made.str("/org/name"), "Acme & Sons");
    assert_eq!(made.str("/org/slug"), "acme");
    assert_eq!(made.str("/org/kind"), "customer");
    assert_eq!(made.str("/org/role"), "owner");
    let path = format!("/v1/orgs/{}", made.str("/org/orgId"));
    assert_eq!(ada.client.get(&path).send().await.expect(200).json, made.json);
    let orgs = ada.client.get("/v1/orgs").send().await.expect(200);
    assert_eq!(orgs.json, json!({ "orgs": [made.json["org"]], "cursor": null }));
}

#[tokio::test]
async fn a_slug_is_made_of_the_name_where_none_is_given_and_is_unique() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for _ in 0..2 {
        let made = ada.client.post("/v1/orgs").json(&json!({ "name": "Größe & Co" })).send().await.expect(201);
        assert!(made.str("/org/slug").starts_with("gr-e-co-"), "{}", made.text);
    }
    let body = json!({ "name": "Acme", "slug": "acme" });
    ada.client.post("/v1/orgs").json(&body).send().await.expect(201);
    let again = ada.client.post("/v1/orgs").json(&body).send().await;
    again.expect_error(409, "slug_taken", "Another organization has this slug.");
    let other = org(&ada, "Other").await;
    ada.client.patch(&other).json(&json!({ "slug": "acme" })).send().await.expect(409);
}

#[tokio::test]
async fn names_and_slugs_have_their_forms() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let body = json!({ "name": "n".repeat(81), "slug": "Acme Inc" });
    ada.client.post("/v1/orgs").json(&body).send().await.expect_problems(&["name", "slug"]);
    for (length, status) in [(1, 400), (2, 201), (40, 201), (41, 400)] {
        let body = json!({ "name": "Acme", "slug": "s".repeat(length) });
        ada.client.post("/v1/orgs").json(&body).send().await.expect(status);
    }
    let acme = org(&ada, &"n".repeat(80)).await;
    ada.client.patch(&acme).json(&json!({ "name": "", "slug": "-" })).send().await.expect_problems(&["name", "slug"]);
}

#[tokio::test]
async fn an_organization_that_one_has_no_part_in_does_not_exist() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let eve = server.person("eve").await;
    let acme = org(&ada, "Acme").await;
    for path in [acme.as_str(), "/v1/orgs/org_01jd7rt4m5e9fv2w8x3c6k0hqz", "/v1/orgs/nonsense"] {
        eve.client.get(path).send().await.expect_error(404, "not_found", "Organization not found.");
        eve.client.patch(path).json(&json!({ "name": "Mine" })).send().await.expect(404);
        eve.client.delete(path).send().await.expect(404);
        for part in ["members", "invites", "teams", "keys", "audit"] {
            eve.client.get(&format!("{path}/{part}")).send().await.expect(404);
        }
    }
    assert_eq!(eve.client.get("/v1/orgs").send().await.expect(200).list("/orgs").len(), 0);
}

#[tokio::test]
async fn admins_change_an_organization_and_developers_read_it() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "developer").await;
    assert_eq!(grace.client.get(&acme).send().await.expect(200).str("/org/role"), "developer");
    let patch = json!({ "name": "Acme Ltd", "slug": "acme-ltd" });
    let refused = grace.client.patch(&acme).json(&patch).send().await;
    refused.expect_error(403, "missing_scope", "This needs the org:write permission.");
    let changed = ada.client.patch(&acme).json(&patch).send().await.expect(200);
    assert_eq!(changed.str("/org/slug"), "acme-ltd");
}

#[tokio::test]
async fn lists_come_in_pages() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for number in 0..5 {
        org(&ada, &format!("Acme {number}")).await;
    }
    let mut names = Vec::new();
    let mut path = "/v1/orgs?limit=2".to_owned();
    loop {
        let page = ada.client.get(&path).send().await.expect(200);
        names.extend(page.list("/orgs").iter().map(|org| org["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        path = format!("/v1/orgs?limit=2&cursor={cursor}");
    }
    names.sort();
    assert_eq!(names, ["Acme 0", "Acme 1", "Acme 2", "Acme 3", "Acme 4"]);
    ada.client.get("/v1/orgs?cursor=nonsense").send().await.expect_error(400, "invalid_cursor", "Invalid cursor");
    ada.client.get("/v1/orgs?limit=101").send().await.expect_problems(&["limit"]);
}

#[tokio::test]
async fn one_person_owns_at_most_fifty() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    for number in 0..50 {
        org(&ada, &format!("Acme {number}")).await;
    }
    let body = json!({ "name": "One more" });
    let refused = ada.client.post("/v1/orgs").json(&body).send().await;
    refused.expect_error(400, "limit_reached", "One person owns at most 50 organizations.");
}

#[tokio::test]
async fn making_one_twice_with_one_idempotency_key_makes_one() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let make = || ada.client.post("/v1/orgs").header("idempotency-key", "once").json(&json!({ "name": "Acme" })).send();
    let (first, second) = (make().await.expect(201), make().await.expect(201));
    assert_eq!(first.json, second.json);
    assert_eq!(ada.client.get("/v1/orgs").send().await.expect(200).list("/orgs").len(), 1);
}

#[tokio::test]
async fn an_owner_deletes_an_organization_with_everything_in_it() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    let body = json!({ "name": "Key", "kind": "api", "scopes": ["org:read"] });
    let key = ada.client.post(&format!("{acme}/keys")).json(&body).send().await.expect(201);
    let key = server.client().with_token(key.str("/secret"));
    key.get(&acme).send().await.expect(200);

    let refused = grace.client.delete(&acme).send().await;
    refused.expect_error(403, "owners_only", "Only an owner deletes an organization.");
    ada.client.delete(&acme).send().await.expect(200);
    ada.client.get(&acme).send().await.expect(404);
    grace.client.get(&acme).send().await.expect(404);
    server.eventually("the key's end", async || (key.get(&acme).send().await.status == 401).then_some(())).await;
    assert!(is_alive(&ada.client).await);
}

#[tokio::test]
async fn a_deleted_organization_is_gone_at_once_and_its_members_after_it() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    let (store, org_id) = (server.store().await, acme.rsplit('/').next().unwrap().parse().unwrap());
    server.faults.set("commit:organization.removal=fail").unwrap();
    ada.client.delete(&acme).send().await.expect(200);
    for person in [&ada, &grace] {
        person.client.get(&acme).send().await.expect(404);
        assert_eq!(person.client.get("/v1/orgs").send().await.expect(200).list("/orgs").len(), 0);
    }
    assert_eq!(store.members_count(org_id).await.unwrap(), 2, "they are not deleted yet");
    server.faults.clear();
    let are_deleted = async || {
        server.clock.advance(Duration::from_secs(60));
        (store.members_count(org_id).await.unwrap() == 0).then_some(())
    };
    server.eventually("the members are deleted", are_deleted).await;
}

#[tokio::test]
async fn an_owner_with_a_second_factor_shows_it_before_deleting() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let app = App::enrol(&server, &ada).await;
    server.clock.advance(Duration::from_secs(600));
    ada.client.delete(&acme).send().await.expect_error(403, "step_up", "Confirm with your second factor first.");
    ada.client.post("/v1/auth/step-up").json(&json!({ "otp": app.code(&server) })).send().await.expect(200);
    ada.client.delete(&acme).send().await.expect(200);
}

#[tokio::test]
async fn the_platforms_own_organization_stays() {
    let server = Server::start().await;
    let orgs = server.owner().get("/v1/orgs").send().await.expect(200);
    assert_eq!(orgs.str("/orgs/0/kind"), "platform");
    let path = format!("/v1/orgs/{}", orgs.str("/orgs/0/orgId"));
    let refused = server.owner().delete(&path).send().await;
    refused.expect_error(409, "platform_organization", "The platform's own organization stays.");
}
