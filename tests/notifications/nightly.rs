//! The nightly check of protocols that would reach nobody.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    accounts::{join, letter, letters, org},
    harness::{Person, Server},
};

const SUBJECT: &str = "Notification protocols of Acme reach nobody";

/// A protocol that is attached to its organization and tells the members with this role.
async fn protocol(by: &Person, org: &str, name: &str, role: &str, channels: Value) -> String {
    let step = json!({ "afterMinutes": 0, "channels": channels });
    let body = json!({ "name": name, "rules": [{ "events": ["ops.alarm"], "roles": [role], "steps": [step] }] });
    let made = by.client.post(&format!("{org}/notify/protocols")).json(&body).send().await.expect(201);
    let path = format!("{org}/notify/protocols/{}", made.str("/protocol/protocolId"));
    let attachment = format!("{path}/attachments/org/{}", org.rsplit('/').next().unwrap());
    by.client.put(&attachment).json(&json!({})).send().await.expect(200);
    path
}

/// The rules' protocols that were warned of so far, by name, as the audit trail has them.
async fn warned(by: &Person, org: &str) -> Vec<String> {
    let trail = by.client.get(&format!("{org}/audit?action=protocol.reaches_nobody")).send().await.expect(200);
    let mut names: Vec<_> =
        trail.list("/events").iter().map(|event| event["target"]["label"].as_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    names
}

/// Waits until so many protocols have been warned of; their names.
async fn warned_of(server: &Server, by: &Person, org: &str, count: usize) -> Vec<String> {
    let all = async || Some(warned(by, org).await).filter(|names| names.len() >= count);
    server.eventually("the warning", all).await
}

#[tokio::test]
async fn owners_hear_of_protocols_that_reach_nobody() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "admin").await;
    protocol(&ada, &acme, "Empty", "developer", json!({ "inapp": true })).await;
    protocol(&ada, &acme, "Silent", "owner", json!({ "sms": true, "voice": true })).await;
    protocol(&ada, &acme, "Fine", "owner", json!({ "inapp": true })).await;
    let disabled = protocol(&ada, &acme, "Disabled", "developer", json!({ "inapp": true })).await;
    ada.client.patch(&disabled).json(&json!({ "enabled": false })).send().await.expect(200);
    let template = json!({ "template": "production-on-call" });
    ada.client.post(&format!("{acme}/notify/protocols")).json(&template).send().await.expect(201);

    // It starts at noon; the night is fourteen hours away.
    server.clock.advance(Duration::from_hours(14) - Duration::from_millis(1));
    assert!(warned(&ada, &acme).await.is_empty());
    server.clock.advance(Duration::from_millis(1));
    assert_eq!(warned_of(&server, &ada, &acme, 3).await, ["Empty", "Production on-call", "Silent"]);
    let text = letter(&server, &ada.email, SUBJECT).await;
    assert!(text.contains("- Empty, rule 1 (ops.alarm)") && text.contains("- Silent, rule 1"), "{text}");
    assert!(text.contains("- Production on-call: it is attached to nothing"), "{text}");
    assert!(!text.contains("Fine") && !text.contains("Disabled"), "{text}");
    assert_eq!(letters(&server, &grace.email, SUBJECT).await, 0, "she is no owner");
}

#[tokio::test]
async fn they_hear_of_each_once_a_week_unless_it_changes() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let first = protocol(&ada, &acme, "First", "developer", json!({ "inapp": true })).await;
    server.clock.advance(Duration::from_hours(14));
    assert_eq!(warned_of(&server, &ada, &acme, 1).await, ["First"]);

    // The second night is for another one only.
    protocol(&ada, &acme, "Second", "developer", json!({ "inapp": true })).await;
    server.clock.advance(Duration::from_hours(24));
    assert_eq!(warned_of(&server, &ada, &acme, 2).await, ["First", "Second"]);

    // On the third it is said again of what was changed.
    ada.client.patch(&first).json(&json!({ "name": "Third" })).send().await.expect(200);
    server.clock.advance(Duration::from_hours(24));
    assert_eq!(warned_of(&server, &ada, &acme, 3).await, ["First", "Second", "Third"]);

    // A week after the second night, the second is due again; the other one is a day later.
    for day in 4..=8 {
        server.clock.advance(Duration::from_hours(24));
        assert_eq!(warned(&ada, &acme).await.len(), 3, "{day}");
    }
    server.clock.advance(Duration::from_hours(24));
    assert_eq!(warned_of(&server, &ada, &acme, 4).await, ["First", "Second", "Second", "Third"]);
}

#[tokio::test]
async fn a_check_that_was_missed_is_made_up_for_and_one_of_nothing_comes_back_with_the_next_protocol() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let path = protocol(&ada, &acme, "Gone", "developer", json!({ "inapp": true })).await;
    ada.client.delete(&path).send().await.expect(200);
    server.clock.advance(Duration::from_hours(40));
    protocol(&ada, &acme, "Next", "developer", json!({ "inapp": true })).await;
    server.clock.advance(Duration::from_hours(24 * 3));
    assert_eq!(warned_of(&server, &ada, &acme, 1).await, ["Next"]);
}

#[tokio::test]
async fn a_protocol_that_is_attached_to_nothing_is_named_until_it_is() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let loose = protocol(&ada, &acme, "Loose", "owner", json!({ "inapp": true })).await;
    let attachment = format!("{loose}/attachments/org/{}", acme.rsplit('/').next().unwrap());
    ada.client.delete(&attachment).send().await.expect(200);
    server.clock.advance(Duration::from_hours(14));
    assert_eq!(warned_of(&server, &ada, &acme, 1).await, ["Loose"]);
    let trail = ada.client.get(&format!("{acme}/audit?action=protocol.reaches_nobody")).send().await.expect(200);
    assert_eq!(trail.json["events"][0]["metadata"], json!({ "reason": "not_attached", "rules": [] }));
    let text = letter(&server, &ada.email, SUBJECT).await;
    assert!(text.contains("- Loose: it is attached to nothing"), "{text}");
    ada.client.put(&attachment).json(&json!({})).send().await.expect(200);
    server.clock.advance(Duration::from_hours(8 * 24));
    protocol(&ada, &acme, "Empty", "developer", json!({ "inapp": true })).await;
    server.clock.advance(Duration::from_hours(24));
    assert_eq!(warned_of(&server, &ada, &acme, 2).await, ["Empty", "Loose"]);
}
