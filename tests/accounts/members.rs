//! `/v1/orgs/:orgId/members`

use serde_json::json;

use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

const LAST_OWNER: &str = "An organization always keeps an owner. Make somebody else an owner first.";
const TOO_LOW: &str = "Only an owner makes, changes or removes an owner.";

async fn change(by: &Person, org: &str, who: &Person, role: &str) -> Answer {
    by.client.patch(&format!("{org}/members/{}", who.user_id)).json(&json!({ "role": role })).send().await
}

async fn remove(by: &Person, org: &str, who: &Person) -> Answer {
    by.client.delete(&format!("{org}/members/{}", who.user_id)).send().await
}

#[tokio::test]
async fn members_are_added_listed_changed_and_removed() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    let body = json!({ "userId": grace.user_id, "role": "viewer" });
    let added = ada.client.post(&format!("{acme}/members")).json(&body).send().await.expect(201);
    assert_eq!(added.str("/member/email"), grace.email);
    let listed = grace.client.get(&format!("{acme}/members")).send().await.expect(200);
    assert_eq!(listed.list("/members").len(), 2);
    let changed = change(&ada, &acme, &grace, "admin").await.expect(200);
    assert_eq!(changed.str("/member/role"), "admin");
    remove(&ada, &acme, &grace).await.expect(200);
    grace.client.get(&acme).send().await.expect(404);
    remove(&ada, &acme, &grace).await.expect_error(404, "not_found", "Member not found.");
    change(&ada, &acme, &grace, "viewer").await.expect(404);
}

#[tokio::test]
async fn a_member_is_added_once_and_a_stranger_to_the_server_never() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let body = json!({ "userId": grace.user_id, "role": "viewer" });
    let again = ada.client.post(&format!("{acme}/members")).json(&body).send().await;
    again.expect_error(409, "already_member", "This person is a member already.");
    let body = json!({ "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "role": "viewer" });
    let stranger = ada.client.post(&format!("{acme}/members")).json(&body).send().await;
    stranger.expect_error(404, "not_found", "Person not found.");
    let body = json!({ "userId": "grace", "role": "king" });
    ada.client.post(&format!("{acme}/members")).json(&body).send().await.expect(400);
}

#[tokio::test]
async fn an_organization_always_keeps_an_owner() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    remove(&ada, &acme, &ada).await.expect_error(409, "last_owner", LAST_OWNER);
    change(&ada, &acme, &ada, "admin").await.expect_error(409, "last_owner", LAST_OWNER);
    join(&ada, &acme, &grace, "owner").await;
    change(&ada, &acme, &ada, "viewer").await.expect(200);
    remove(&grace, &acme, &grace).await.expect_error(409, "last_owner", LAST_OWNER);
}

#[tokio::test]
async fn two_owners_who_leave_at_the_same_time_leave_one_behind() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "owner").await;
    let (one, other) = futures::future::join(remove(&ada, &acme, &ada), remove(&grace, &acme, &grace)).await;
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
}

#[tokio::test]
async fn admins_manage_members_but_no_owners() {
    let server = Server::start().await;
    let (ada, grace, eve) = (server.person("ada").await, server.person("grace").await, server.person("eve").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    join(&grace, &acme, &eve, "viewer").await;
    change(&grace, &acme, &eve, "admin").await.expect(200);
    change(&grace, &acme, &eve, "owner").await.expect_error(403, "role_too_low", TOO_LOW);
    change(&grace, &acme, &grace, "owner").await.expect_error(403, "role_too_low", TOO_LOW);
    remove(&grace, &acme, &ada).await.expect_error(403, "role_too_low", TOO_LOW);
    change(&grace, &acme, &ada, "viewer").await.expect_error(403, "role_too_low", TOO_LOW);
}

#[tokio::test]
async fn developers_and_viewers_manage_nobody_but_may_leave() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    for role in ["developer", "viewer"] {
        join(&ada, &acme, &grace, role).await;
        let missing = "This needs the members:write permission.";
        change(&grace, &acme, &grace, "admin").await.expect_error(403, "missing_scope", missing);
        remove(&grace, &acme, &ada).await.expect_error(403, "missing_scope", missing);
        remove(&grace, &acme, &grace).await.expect(200);
        grace.client.get(&acme).send().await.expect(404);
    }
}

#[tokio::test]
async fn a_changed_role_counts_at_once() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    grace.client.get(&format!("{acme}/audit")).send().await.expect(200);
    change(&ada, &acme, &grace, "viewer").await.expect(200);
    grace.client.get(&format!("{acme}/audit")).send().await.expect(403);
}

#[tokio::test]
async fn members_come_in_pages() {
    let server = Server::start().await;
    let (ada, grace, eve) = (server.person("ada").await, server.person("grace").await, server.person("eve").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    join(&ada, &acme, &eve, "viewer").await;
    let first = ada.client.get(&format!("{acme}/members?limit=2")).send().await.expect(200);
    let path = format!("{acme}/members?limit=2&cursor={}", first.str("/cursor"));
    let second = ada.client.get(&path).send().await.expect(200);
    assert_eq!((first.list("/members").len(), second.list("/members").len()), (2, 1));
    assert_eq!(second.json["cursor"], json!(null));
    let path = format!("/v1/orgs?cursor={}", first.str("/cursor"));
    ada.client.get(&path).send().await.expect_error(400, "invalid_cursor", "Invalid cursor");
}
