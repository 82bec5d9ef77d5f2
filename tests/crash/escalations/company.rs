//! An organization whose owner is texted and called about deployments that fail.

use std::time::Duration;

use actors::event::Event;
use domain::Timestamp;
use serde_json::json;
use store::Change;

use super::provider::Provider;
use crate::harness::{Answer, Client};

const PHONE: &str = "+491701234567";
/// The least that a step waits for.
const MINUTE: Duration = Duration::from_mins(1);

/// The organization, as its owner sees it.
#[derive(Clone, Debug)]
pub struct Company {
    owner: Client,
    org_id: String,
}

impl Company {
    /// Founds it: the owner has a confirmed telephone number, and a protocol is attached.
    pub async fn found(client: &Client, provider: &Provider) -> Self {
        let email = client.register("ada").await;
        let owner = client.sign_in(&email, "account", "web").await;
        owner.post("/v1/me/phone").json(&json!({ "phone": PHONE })).send().await.expect(202);
        let code = provider.code().await;
        owner.post("/v1/me/phone/confirm").json(&json!({ "code": code })).send().await.expect(200);
        let org_id = owner.org("Acme").await;
        let company = Self { owner, org_id };
        company.attach_protocol().await;
        company
    }

    async fn attach_protocol(&self) {
        let (events, roles) = (json!(["deployment.failed"]), json!(["owner"]));
        let step =
            |after_minutes, channel: &str| json!({ "afterMinutes": after_minutes, "channels": { channel: true } });
        let body = json!({ "name": "Deployments", "rules": [
            { "events": events, "roles": roles, "steps": [step(0, "sms"), step(1, "sms")] },
            { "events": events, "roles": roles, "beforeEvent": true, "steps": [step(0, "voice")] },
        ]});
        let path = self.path("protocols");
        let made = self.owner.post(&path).json(&body).send().await.expect(201);
        let path = format!("{path}/{}/attachments/org/{}", made.str("/protocol/protocolId"), self.org_id);
        self.owner.put(&path).json(&json!({})).send().await.expect_success();
    }

    /// The same at another start of the program.
    pub fn at(&self, client: &Client) -> Self {
        Self { owner: self.owner.at(client.base()), ..self.clone() }
    }

    fn path(&self, what: &str) -> String {
        format!("/v1/orgs/{}/notify/{what}", self.org_id)
    }

    /// Reads something of its notifications.
    pub async fn get(&self, what: &str) -> Answer {
        self.owner.get(&self.path(what)).send().await.expect(200)
    }

    /// Emits an event a minute before `first`: its steps are overdue, due at `first`, and due at `second`.
    pub fn emit(&self, change: &mut Change, number: usize, first: Timestamp, second: Timestamp) {
        let event = Event {
            org_id: Some(self.org_id.parse().expect("an id")),
            starts_at: Some(second),
            dedup_key: Some(format!("deployment {number}")),
            ..Event::new("deployment.failed", ("deployment", number.to_string()), format!("Deployment {number} failed"))
        };
        event.emit(change, first.before(MINUTE));
    }
}
