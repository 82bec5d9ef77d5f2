//! `GET /v1/orgs/:orgId/audit`

use serde_json::json;

use crate::{
    accounts::{join, org},
    harness::{Answer, Server},
};

fn actions(answer: &Answer) -> Vec<&str> {
    answer.list("/events").iter().map(|event| event["action"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_change_in_an_organization_is_written_down() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let member = format!("{acme}/members/{}", grace.user_id);
    ada.client.patch(&member).json(&json!({ "role": "admin" })).send().await.expect(200);
    ada.client.patch(&acme).json(&json!({ "name": "Acme Ltd" })).send().await.expect(200);
    let team = ada.client.post(&format!("{acme}/teams")).json(&json!({ "name": "Support" })).send().await.expect(201);
    let team = format!("{acme}/teams/{}", team.str("/team/teamId"));
    let body = json!({ "userId": grace.user_id });
    ada.client.post(&format!("{team}/members")).json(&body).send().await.expect(201);
    ada.client.delete(&format!("{team}/members/{}", grace.user_id)).send().await.expect(200);
    ada.client.patch(&team).json(&json!({ "name": "Help" })).send().await.expect(200);
    ada.client.delete(&team).send().await.expect(200);
    let invite = json!({ "email": "new@example.org", "role": "viewer" });
    let invite = ada.client.post(&format!("{acme}/invites")).json(&invite).send().await.expect(201);
    ada.client.delete(&format!("{acme}/invites/{}", invite.str("/invite/inviteId"))).send().await.expect(200);
    let key = json!({ "name": "Key", "kind": "api", "scopes": ["org:read"] });
    let key = ada.client.post(&format!("{acme}/keys")).json(&key).send().await.expect(201);
    ada.client.delete(&format!("{acme}/keys/{}", key.str("/key/keyId"))).send().await.expect(200);
    ada.client.delete(&member).send().await.expect(200);

    let trail = ada.client.get(&format!("{acme}/audit")).send().await.expect(200);
    let mut expected = [
        "org.created",
        "member.added",
        "member.role_changed",
        "org.changed",
        "team.made",
        "team.member_added",
        "team.member_removed",
        "team.changed",
        "team.deleted",
        "invite.made",
        "invite.cancelled",
        "key.made",
        "key.deleted",
        "member.removed",
    ];
    let mut found = actions(&trail);
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn an_entry_says_who_what_on_what_from_where_and_when() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let patch = json!({ "role": "developer" });
    let request = ada.client.patch(&format!("{acme}/members/{}", grace.user_id)).header("user-agent", "probe/1");
    request.json(&patch).send().await.expect(200);
    let trail = ada.client.get(&format!("{acme}/audit?action=member.role_changed")).send().await.expect(200);
    let event = &trail.list("/events")[0];
    assert!(event["eventId"].as_str().unwrap().starts_with("aud_"));
    assert_eq!(format!("/v1/orgs/{}", event["orgId"].as_str().unwrap()), acme);
    assert_eq!(event["actor"], json!({ "type": "user", "id": ada.user_id }));
    assert_eq!(event["target"], json!({ "type": "person", "id": grace.user_id, "label": "grace" }));
    assert_eq!(event["metadata"], json!({ "from": "viewer", "to": "developer" }));
    assert_eq!(event["ip"], "127.0.0.1");
    assert_eq!(event["userAgent"], "probe/1");
    assert_eq!(event["createdAt"], server.clock.now().as_millis());
}

#[tokio::test]
async fn what_a_key_does_is_written_down_as_the_keys() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let body = json!({ "name": "Key", "kind": "api", "scopes": ["org:read", "org:write"] });
    let made = ada.client.post(&format!("{acme}/keys")).json(&body).send().await.expect(201);
    let key = server.client().with_token(made.str("/secret"));
    key.patch(&acme).json(&json!({ "name": "Renamed" })).send().await.expect(200);
    let path = format!("{acme}/audit?actor={}", made.str("/key/keyId"));
    let trail = ada.client.get(&path).send().await.expect(200);
    assert_eq!(actions(&trail), ["org.changed"]);
    assert_eq!(trail.str("/events/0/actor/type"), "key");
}

#[tokio::test]
async fn the_trail_is_narrowed_by_action_actor_and_target() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    grace.client.patch(&acme).json(&json!({ "name": "Ltd" })).send().await.expect(200);
    for (query, expected) in [
        ("action=member", vec!["member.added"]),
        ("action=org.changed", vec!["org.changed"]),
        ("action=mem", vec![]),
        (&format!("actor={}", grace.user_id), vec!["org.changed"]),
        (&format!("target={}", grace.user_id), vec!["member.added"]),
        (&format!("actor={}&action=org.created", ada.user_id), vec!["org.created"]),
    ] {
        let trail = ada.client.get(&format!("{acme}/audit?{query}")).send().await.expect(200);
        assert_eq!(actions(&trail), expected, "{query}");
    }
    for query in ["action=Member", "action=a.b.c", "action=", "actor=", "target=", "limit=0"] {
        ada.client.get(&format!("{acme}/audit?{query}")).send().await.expect(400);
    }
    let long = "a".repeat(32);
    ada.client.get(&format!("{acme}/audit?action={long}.{long}")).send().await.expect(200);
    ada.client.get(&format!("{acme}/audit?action={long}a")).send().await.expect_problems(&["action"]);
}

#[tokio::test]
async fn the_trail_comes_in_pages_newest_first() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    for number in 0..4 {
        server.clock.advance(std::time::Duration::from_millis(1));
        let body = json!({ "name": format!("Team {number}") });
        ada.client.post(&format!("{acme}/teams")).json(&body).send().await.expect(201);
    }
    let mut labels = Vec::new();
    let mut path = format!("{acme}/audit?limit=2");
    loop {
        let page = ada.client.get(&path).send().await.expect(200);
        labels.extend(page.list("/events").iter().map(|event| event["target"]["label"].as_str().unwrap().to_owned()));
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        path = format!("{acme}/audit?limit=2&cursor={cursor}");
    }
    assert_eq!(labels, ["Team 3", "Team 2", "Team 1", "Team 0", "Acme"]);
    ada.client.get(&format!("{acme}/audit?cursor=x")).send().await.expect_error(
        400,
        "invalid_cursor",
        "Invalid cursor",
    );
}

#[tokio::test]
async fn the_trail_is_for_admins_and_owners_of_that_organization() {
    let server = Server::start().await;
    let (ada, grace, eve) = (server.person("ada").await, server.person("grace").await, server.person("eve").await);
    let (acme, other) = (org(&ada, "Acme").await, org(&eve, "Other").await);
    join(&ada, &acme, &grace, "developer").await;
    let refused = grace.client.get(&format!("{acme}/audit")).send().await;
    refused.expect_error(403, "missing_scope", "This needs the audit:read permission.");
    eve.client.get(&format!("{acme}/audit")).send().await.expect(404);
    let trail = eve.client.get(&format!("{other}/audit")).send().await.expect(200);
    assert_eq!(actions(&trail), ["org.created"]);
}
