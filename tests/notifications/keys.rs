//! On-call kept as code: what a key may do about the organization's rotas and escalations.

use serde_json::{Value, json};

use super::{alarm_hooks::make, key_with};
use crate::{
    accounts::org,
    harness::{Client, Person, Server},
};

const PEOPLE_ONLY: &str = "Notifications belong to people.";
const NEEDS_WRITE: &str = "This needs the org:write permission.";

/// A server, Ada, an organization of hers, a key that may write there, and one that may only read.
async fn acme() -> (Server, Person, String, [Client; 2]) {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let writer = key_with(&ada, &acme, &["org:read", "org:write"]).await;
    let reader = key_with(&ada, &acme, &["org:read"]).await;
    (server, ada, acme, [writer, reader])
}

fn rota(of: &Person) -> Value {
    json!({ "name": "Ops", "people": [of.user_id], "handover": { "every": "day", "at": "09:00" } })
}

#[tokio::test]
async fn a_key_keeps_rotas_within_its_scopes() {
    let (server, ada, acme, [writer, reader]) = acme().await;
    let rotas = format!("{acme}/notify/rotas");
    reader.post(&rotas).json(&rota(&ada)).send().await.expect_error(403, "missing_scope", NEEDS_WRITE);
    let made = writer.post(&rotas).json(&rota(&ada)).send().await.expect(201);
    assert_eq!(made.str("/rota/createdBy"), ada.user_id, "what a key makes, its maker made");
    let path = format!("{rotas}/{}", made.str("/rota/rotaId"));
    assert_eq!(reader.get(&rotas).send().await.expect(200).list("/rotas").len(), 1);
    reader.get(&path).send().await.expect(200);
    assert_eq!(reader.get(&format!("{path}/on-call")).send().await.expect(200).str("/userId"), ada.user_id);

    let name = json!({ "name": "Nights" });
    reader.patch(&path).json(&name).send().await.expect_error(403, "missing_scope", NEEDS_WRITE);
    writer.patch(&path).json(&name).send().await.expect(200);
    let now = server.clock.now().as_millis();
    let window = json!({ "userId": ada.user_id, "from": now, "until": now + 3_600_000 });
    let added = writer.post(&format!("{path}/overrides")).json(&window).send().await.expect(201);
    let window = format!("{path}/overrides/{}", added.str("/override/overrideId"));
    writer.delete(&window).send().await.expect(200);
    reader.delete(&path).send().await.expect_error(403, "missing_scope", NEEDS_WRITE);
    writer.delete(&path).send().await.expect(200);
    let trail = ada.client.get(&format!("{acme}/audit?action=rota.deleted")).send().await.expect(200);
    assert_eq!(trail.str("/events/0/actor/type"), "key", "the trail names the key");
}

#[tokio::test]
async fn a_key_stops_keeping_rotas_when_its_maker_may_not_any_more() {
    let (server, ada, acme, _) = acme().await;
    let grace = server.person("grace").await;
    crate::accounts::join(&ada, &acme, &grace, "admin").await;
    let hers = key_with(&grace, &acme, &["org:read", "org:write"]).await;
    let member = format!("{acme}/members/{}", grace.user_id);
    ada.client.patch(&member).json(&json!({ "role": "viewer" })).send().await.expect(200);
    let rotas = format!("{acme}/notify/rotas");
    hers.post(&rotas).json(&rota(&grace)).send().await.expect_error(403, "missing_scope", NEEDS_WRITE);
}

#[tokio::test]
async fn a_key_answers_escalations_as_an_operator() {
    let (server, ada, acme, [writer, reader]) = acme().await;
    let hook = make(&ada.client, &acme, "Alertmanager").await.expect(201);
    let hook = hook.str("/url").strip_prefix(&server.url).expect("an address of this server").to_owned();
    let rule = json!({ "events": ["ops.alarm"], "roles": ["owner"],
        "steps": [{ "afterMinutes": 0, "channels": { "inapp": true } }] });
    let body = json!({ "name": "On call", "rules": [rule] });
    let made = ada.client.post(&format!("{acme}/notify/protocols")).json(&body).send().await.expect(201);
    let org_id = acme.rsplit('/').next().expect("an id");
    let attachment = format!("{acme}/notify/protocols/{}/attachments/org/{org_id}", made.str("/protocol/protocolId"));
    ada.client.put(&attachment).json(&json!({})).send().await.expect(200);
    for name in ["one", "two"] {
        let alert = json!({ "status": "firing", "labels": { "alertname": name }, "fingerprint": name });
        server.client().post(&hook).json(&json!({ "alerts": [alert] })).send().await.expect(200);
    }
    let all = server
        .eventually("both to be told", async || {
            let all = reader.get(&format!("{acme}/notify/escalations")).send().await.expect(200);
            let all = all.list("/escalations").to_vec();
            (all.len() == 2 && all.iter().all(|it| it["stepsDone"] == 1)).then_some(all)
        })
        .await;
    let path = |place: usize| format!("{acme}/notify/escalations/{}", all[place]["escalationId"].as_str().unwrap());
    reader.get(&path(0)).send().await.expect(200);
    for act in ["ack", "resolve"] {
        let refused = reader.post(&format!("{}/{act}", path(0))).send().await;
        refused.expect_error(403, "missing_scope", NEEDS_WRITE);
    }
    let snoozed = writer.post(&format!("{}/snooze", path(0))).json(&json!({ "minutes": 5 })).send().await;
    snoozed.expect(200);
    assert_eq!(writer.post(&format!("{}/ack", path(0))).send().await.expect(200).json, json!({ "acked": true }));
    let acked = reader.get(&path(0)).send().await.expect(200);
    assert_eq!(acked.str("/escalation/ackedVia"), "operator", "{}", acked.text);
    let resolved = writer.post(&format!("{}/resolve", path(1))).send().await.expect(200);
    assert_eq!(resolved.str("/escalation/state"), "resolved");
}

#[tokio::test]
async fn protocols_stay_with_people() {
    let (_server, ada, acme, [writer, _]) = acme().await;
    let protocols = format!("{acme}/notify/protocols");
    let made = ada.client.post(&protocols).json(&json!({ "template": "vip-mail" })).send().await.expect(201);
    writer.get(&protocols).send().await.expect_error(403, "people_only", PEOPLE_ONLY);
    let made = format!("{protocols}/{}", made.str("/protocol/protocolId"));
    writer.delete(&made).send().await.expect_error(403, "people_only", PEOPLE_ONLY);
    writer.post(&format!("{made}/test")).send().await.expect_error(403, "people_only", PEOPLE_ONLY);
}
