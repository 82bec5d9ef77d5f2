//! The whole way of an alarm: from the monitor's post over a protocol to people, and to its end.

use std::time::Duration;

use serde_json::{Value, json};

use super::{alarm_hooks::make, notices};
use crate::harness::{Person, Server};

/// An organization of Ada's that is on call for its alarms: she is mailed at once, and again ten minutes later.
struct Watched {
    server: Server,
    ada: Person,
    org: String,
    hook: String,
    protocol: String,
}

impl Watched {
    async fn new() -> Self {
        let server = Server::start().await;
        let ada = server.person("ada").await;
        let org_id = ada.client.org("Acme").await;
        let org = format!("/v1/orgs/{org_id}");
        let made = make(&ada.client, &org, "Alertmanager").await.expect(201);
        let hook = made.str("/url").strip_prefix(&server.url).expect("an address of this server").to_owned();
        let steps = json!([
            { "afterMinutes": 0, "channels": { "email": true } },
            { "afterMinutes": 10, "channels": { "email": true } },
        ]);
        let body =
            json!({ "name": "On call", "rules": [{ "events": ["ops.alarm"], "roles": ["owner"], "steps": steps }] });
        let made = ada.client.post(&format!("{org}/notify/protocols")).json(&body).send().await.expect(201);
        let protocol = format!("{org}/notify/protocols/{}", made.str("/protocol/protocolId"));
        let attachment = format!("{protocol}/attachments/org/{org_id}");
        ada.client.put(&attachment).json(&json!({})).send().await.expect(200);
        Self { server, ada, org, hook, protocol }
    }

    async fn post(&self, status: &str) {
        let alert = json!({
            "status": status, "labels": { "alertname": "DiskFull", "instance": "db-1" },
            "annotations": { "summary": "The disk of db-1 is full" }, "fingerprint": "1f2e3d4c5b6a7988",
        });
        let body = json!({ "version": "4", "status": status, "alerts": [alert] });
        self.server.client().post(&self.hook).json(&body).send().await.expect(200);
    }

    /// The one escalation, once `holds` of it.
    async fn escalation(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let path = format!("{}/notify/escalations", self.org);
        self.server
            .eventually(what, async || {
                let all = self.ada.client.get(&path).send().await.expect(200).list("/escalations").to_vec();
                all.into_iter().next().filter(|escalation| holds(escalation))
            })
            .await
    }

    /// The e-mails about the notice of the alarm.
    async fn emails(&self) -> Vec<Value> {
        let all = notices(&self.ada.client).await;
        let alarm = all.iter().find(|notice| notice["title"] == "The disk of db-1 is full").expect("a notice");
        let path = format!("/v1/me/notifications/{}/deliveries", alarm["noticeId"].as_str().expect("an id"));
        let mut deliveries = self.ada.client.get(&path).send().await.expect(200).list("/deliveries").to_vec();
        deliveries.retain(|delivery| delivery["channel"] == "email");
        deliveries
    }
}

#[tokio::test]
async fn a_step_that_comes_with_the_alarm_does_not_mail_twice_and_a_later_one_mails_again() {
    let watched = Watched::new().await;
    watched.post("firing").await;
    watched.escalation("the first step", |escalation| escalation["stepsDone"] == 1).await;
    assert_eq!(watched.emails().await.len(), 1);
    watched.server.clock.advance(Duration::from_mins(10));
    watched.escalation("the second step", |escalation| escalation["stepsDone"] == 2).await;
    assert_eq!(watched.emails().await.len(), 2);
}

#[tokio::test]
async fn an_alarm_that_fires_again_goes_into_its_escalation_and_one_that_is_resolved_ends_it() {
    let watched = Watched::new().await;
    watched.post("firing").await;
    watched.escalation("the first step", |escalation| escalation["stepsDone"] == 1).await;
    watched.post("firing").await;
    watched.escalation("the second event", |escalation| escalation["events"] == 2).await;
    watched.post("resolved").await;
    let ended = watched.escalation("the end", |escalation| escalation["state"] == "resolved").await;
    assert_eq!(ended["stepsDone"], 1);
    watched.server.clock.advance(Duration::from_mins(30));
    watched
        .server
        .eventually("the good news", async || {
            let all = notices(&watched.ada.client).await;
            all.into_iter().find(|notice| notice["title"] == "Resolved: The disk of db-1 is full")
        })
        .await;
    assert_eq!(watched.emails().await.len(), 1);
    watched.escalation("no further step", |escalation| escalation["stepsDone"] == 1).await;
}

#[tokio::test]
async fn a_protocol_that_is_switched_off_ends_what_it_runs() {
    let watched = Watched::new().await;
    watched.post("firing").await;
    watched.escalation("the first step", |escalation| escalation["stepsDone"] == 1).await;
    watched.ada.client.patch(&watched.protocol).json(&json!({ "enabled": false })).send().await.expect(200);
    watched.escalation("the end", |escalation| escalation["state"] == "ended").await;
    let trail = format!("{}/audit?action=escalation.ended", watched.org);
    let entries = watched.ada.client.get(&trail).send().await.expect(200);
    assert_eq!(entries.str("/events/0/target/label"), "The disk of db-1 is full");
    watched.server.clock.advance(Duration::from_mins(10));
    watched.post("firing").await;
    let ended = watched.escalation("the same", |escalation| escalation["state"] == "ended").await;
    assert_eq!((&ended["stepsDone"], &ended["events"]), (&json!(1), &json!(1)));
}
