//! A company whose alarms escalate, to its owner and to whom is on call.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use super::stage::{Stage, eventually};
use crate::{
    accounts::{join, org},
    harness::{Client, Person, Server},
    outages::worker::Progress,
};

/// Steps of each escalation, and after how many minutes: none begins while an alarm may still be posted again.
const STEPS: [u32; 3] = [0, 2, 30];
/// How long whoever posts too often waits.
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

pub struct Company {
    owner: Person,
    /// `/v1/orgs/:orgId`
    org: String,
    /// Where alarms are posted, by nobody who is signed in.
    hook: String,
    poster: Client,
    /// Titles of the alarms that were taken.
    taken: BTreeSet<String>,
}

impl Company {
    pub async fn found(server: &Server) -> Self {
        let (owner, other) = (server.person("olivia").await, server.person("otto").await);
        let org = org(&owner, "Company").await;
        join(&owner, &org, &other, "developer").await;
        let rota = json!({
            "name": "Ops", "people": [owner.user_id, other.user_id], "handover": { "every": "day", "at": "09:00" },
            "timeZone": "Europe/Vienna"
        });
        let rota = owner.client.post(&format!("{org}/notify/rotas")).json(&rota).send().await.expect(201);
        let channels = json!({ "email": true });
        let steps = json!([
            { "afterMinutes": STEPS[0], "channels": channels },
            { "afterMinutes": STEPS[1], "channels": channels, "rota": rota.str("/rota/rotaId") },
            { "afterMinutes": STEPS[2], "channels": channels },
        ]);
        let rules = json!([{ "events": ["ops.alarm"], "roles": ["owner"], "steps": steps }]);
        let body = json!({ "name": "Alarms", "rules": rules });
        let made = owner.client.post(&format!("{org}/notify/protocols")).json(&body).send().await.expect(201);
        let (id, org_id) = (made.str("/protocol/protocolId"), org.rsplit('/').next().unwrap());
        let path = format!("{org}/notify/protocols/{id}/attachments/org/{org_id}");
        owner.client.put(&path).json(&json!({})).send().await.expect_success();
        let made = owner.client.post(&format!("{org}/notify/hooks")).json(&json!({ "name": "Watch" })).send().await;
        let made = made.expect(201);
        let hook = made.str("/url").strip_prefix(&server.url).expect("an address of this server").to_owned();
        Self { owner, org, hook, poster: server.client(), taken: BTreeSet::new() }
    }

    pub async fn work(&mut self, times: u64, progress: &Progress) {
        for _ in 0..times {
            let title = format!("Alarm {}", self.taken.len());
            let alert = json!({
                "status": "firing", "labels": { "alertname": title }, "annotations": { "summary": title },
                "fingerprint": title.replace(' ', "-"),
            });
            let body = json!({ "alerts": [alert] });
            // Posted again it is the same one.
            loop {
                let posted = self.poster.post(&self.hook).json(&body).try_send().await;
                let Some(answer) = progress.judge(posted).await else { continue };
                // What is tried again and again counts, too: a hook takes only so many posts a minute.
                if answer.status == 429 {
                    tokio::time::sleep(BETWEEN_TRIES).await;
                    continue;
                }
                answer.expect(200);
                break;
            }
            self.taken.insert(title);
        }
    }

    /// Each alarm has one escalation, with each of its steps done once, none of them early, and everybody mailed.
    pub async fn verify(&self, stage: &Stage) {
        eventually("an escalation of every alarm", async || self.titles().await.len() >= self.taken.len()).await;
        let titles = self.titles().await;
        assert_eq!(titles.iter().cloned().collect::<BTreeSet<_>>(), self.taken);
        assert_eq!(titles.len(), self.taken.len(), "one escalation of each alarm: {titles:?}");
        for _ in 0..7 {
            // Less at once than an escalation waits for at its end.
            stage.server.clock.advance(Duration::from_mins(5));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        eventually("every step", async || self.escalations().await.iter().all(is_done)).await;
        for escalation in self.escalations().await {
            for (step, minutes) in escalation["steps"].as_array().unwrap().iter().zip(STEPS) {
                let told = step["told"].as_array().unwrap();
                assert_eq!(told.len(), 1, "{minutes} minutes: each step tells once: {escalation}");
                assert!(told[0]["at"].as_i64() >= step["due"].as_i64(), "early: {escalation}");
            }
        }
    }

    async fn list(&self) -> Vec<Value> {
        let mut found = Vec::new();
        let mut page = format!("{}/notify/escalations?limit=100", self.org);
        loop {
            let answer = self.owner.client.get(&page).send().await.expect(200);
            found.extend_from_slice(answer.list("/escalations"));
            let Some(cursor) = answer.json["cursor"].as_str() else { return found };
            page = format!("{}/notify/escalations?limit=100&cursor={cursor}", self.org);
        }
    }

    async fn titles(&self) -> Vec<String> {
        self.list().await.iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect()
    }

    async fn escalations(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for escalation in self.list().await {
            let id = escalation["escalationId"].as_str().unwrap();
            let path = format!("{}/notify/escalations/{id}", self.org);
            all.push(self.owner.client.get(&path).send().await.expect(200).json);
        }
        all
    }
}

/// Whether all steps are done, and their mails sent.
fn is_done(escalation: &Value) -> bool {
    let steps = escalation["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), STEPS.len(), "{escalation}");
    let is_sent = |step: &Value| step["told"].as_array().unwrap().iter().all(|told| told["delivery"] == "sent");
    steps.iter().all(|step| step["done"] == true && is_sent(step))
}
