//! Escalations: who is told when, and what people do about them. The event is a real one: a sign-in from a new place.

use std::time::Duration;

use domain::{
    Role, Timestamp,
    id::{EscalationId, OrgId, ProtocolId, UserId},
    notify::{Attachment, Channel, Channels, Protocol, ProtocolDraft, ResourceType, Rule, Step, StepChannels},
};
use serde_json::{Value, json};
use store::Change;

use super::{key, notices};
use crate::{
    accounts::{join, org},
    harness::{Person, Server, Socket},
};

/// An organization of Ada's, with Bob, who watches, and Eve, who develops; and a protocol that tells owners and developers
/// at once in the app, and Eve after ten minutes by mail.
struct Acme {
    server: Server,
    ada: Person,
    bob: Person,
    eve: Person,
    org: String,
    protocol_id: ProtocolId,
}

fn step(after_minutes: u32, channels: &[Channel]) -> Step {
    Step { after_minutes, channels: StepChannels(Channels::of(channels)), rota: None }
}

fn rules(eve: &Person) -> Vec<Rule> {
    let events = vec!["account.new_sign_in".to_owned()];
    let at_once = Rule {
        events: events.clone(),
        roles: vec![Role::Owner, Role::Developer],
        steps: vec![step(0, &[Channel::Inapp])],
        ..Rule::default()
    };
    let later = Rule {
        events,
        user_ids: vec![eve.user_id.parse().expect("an id")],
        steps: vec![step(10, &[Channel::Email, Channel::Sms])],
        ..Rule::default()
    };
    vec![at_once, later]
}

impl Acme {
    async fn new() -> Self {
        let server = Server::start().await;
        let (ada, bob, eve) = (server.person("ada").await, server.person("bob").await, server.person("eve").await);
        let org = org(&ada, "Acme").await;
        join(&ada, &org, &bob, "viewer").await;
        join(&ada, &org, &eve, "developer").await;
        // Their own sign-ins are over before there is a protocol that is about such.
        for person in [&ada, &bob, &eve] {
            server.eventually("the notice of a sign-in", async || notices(&person.client).await.pop()).await;
        }
        let protocol_id = add_protocol(&server, &org, rules(&eve)).await;
        Self { server, ada, bob, eve, org, protocol_id }
    }

    fn path(&self) -> String {
        format!("{}/notify/escalations", self.org)
    }

    /// Somebody signs in as Ada from a new place; the path of the escalation, once its first step is done.
    async fn alarm(&self) -> String {
        let known = self.list("").await.len();
        // Ids of one millisecond have no order.
        self.server.clock.advance(Duration::from_millis(1));
        self.sign_in_from_somewhere_new(known).await;
        let id = self
            .server
            .eventually("an escalation", async || {
                let all = self.list("").await;
                let first = all.first().filter(|first| all.len() > known && first["stepsDone"] == 1)?;
                Some(first["escalationId"].as_str()?.to_owned())
            })
            .await;
        format!("{}/{id}", self.path())
    }

    async fn sign_in_from_somewhere_new(&self, number: usize) {
        let body = json!({
            "email": self.ada.email, "password": self.ada.password, "app": "account", "platform": "web",
            "installId": format!("somewhere-{number}"),
        });
        self.server.client().post("/v1/auth/sign-in").json(&body).send().await.expect(200);
    }

    async fn list(&self, query: &str) -> Vec<Value> {
        let answer = self.ada.client.get(&format!("{}{query}", self.path())).send().await.expect(200);
        answer.list("/escalations").to_vec()
    }

    async fn one(&self, path: &str) -> Value {
        self.bob.client.get(path).send().await.expect(200).json
    }

    async fn acked(&self, by: &Person, path: &str) -> Value {
        by.client.post(&format!("{path}/ack")).send().await.expect(200).json["acked"].clone()
    }

    fn pass(&self, minutes: u64) {
        self.server.clock.advance(Duration::from_secs(minutes * 60));
    }

    /// Once so many steps are done.
    async fn done(&self, path: &str, count: u64) -> Value {
        let check = async || Some(self.one(path).await).filter(|it| it["escalation"]["stepsDone"] == count);
        self.server.eventually("a step", check).await
    }
}

async fn add_protocol(server: &Server, org: &str, rules: Vec<Rule>) -> ProtocolId {
    let now = server.clock.now();
    let org_id: OrgId = org.rsplit('/').next().expect("an id").parse().expect("an id");
    let id = ProtocolId::new(now);
    let draft = ProtocolDraft { name: "Sign-ins".into(), description: None, enabled: true, rules };
    let attachment =
        Attachment { resource_type: ResourceType::Org, resource_id: org_id.to_string(), resource_label: None };
    let attachments = vec![attachment];
    let protocol =
        Protocol { id, org_id, draft, created_by: UserId::new(now), created_at: now, updated_at: now, attachments };
    let mut change = Change::new();
    change.protocol_add(&protocol);
    change.protocol_attach(now, org_id, id, &protocol.attachments[0]);
    let store = server.store().await;
    store.commit(change).await.expect("a protocol");
    store.close().await;
    id
}

/// The person's newest notice that asks for an acknowledgement.
async fn asked(person: &Person) -> Value {
    let all = notices(&person.client).await;
    all.into_iter().find(|notice| notice["requireAck"] == true).expect("a notice that asks")
}

#[tokio::test]
async fn who_was_told_when_over_what_and_why_not_can_be_read() {
    let acme = Acme::new().await;
    let path = acme.alarm().await;
    let started = acme.server.clock.now().as_millis();
    acme.pass(10);
    let found = acme.done(&path, 2).await;
    let escalation = &found["escalation"];
    assert_eq!(escalation["title"], "New sign-in to your account");
    assert_eq!(escalation["protocolId"], acme.protocol_id.to_string());
    assert_eq!(
        (&escalation["state"], &escalation["test"], &escalation["events"]),
        (&json!("running"), &json!(false), &json!(1))
    );
    let steps = found["steps"].as_array().unwrap();
    let lines = |step: &Value| -> Vec<Value> {
        let told = step["told"].as_array().unwrap().iter();
        told.map(|line| json!([line["userId"], line["channel"], line["whyNot"], line["at"]])).collect()
    };
    let first = lines(&steps[0]);
    assert_eq!(first.len(), 2);
    for person in [&acme.ada, &acme.eve] {
        assert!(first.contains(&json!([person.user_id, "inapp", null, started])), "{first:?}");
    }
    let later = started + 600_000;
    assert_eq!(
        lines(&steps[1]),
        [
            json!([acme.eve.user_id, "email", null, later]),
            json!([acme.eve.user_id, "sms", "no_confirmed_phone", later])
        ]
    );
    assert_eq!(
        (&steps[1]["due"], &steps[1]["done"], &steps[1]["afterMinutes"]),
        (&json!(later), &json!(true), &json!(10))
    );
    assert_eq!(steps[1]["channels"], json!(["email", "sms"]));
    assert_eq!(found["others"], json!([]));
}

#[tokio::test]
async fn the_list_is_the_organizations_own_newest_first_by_state_and_in_pages() {
    let acme = Acme::new().await;
    let (first, second) = (acme.alarm().await, acme.alarm().await);
    let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    acme.acked(&acme.ada, &first).await;
    let ids = async |query: &str| -> Vec<String> {
        acme.list(query).await.iter().map(|it| it["escalationId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("").await, [id(&second), id(&first)]);
    assert_eq!(ids("?state=running").await, [id(&second)]);
    assert_eq!(ids("?state=acknowledged").await, [id(&first)]);
    assert_eq!(ids("?state=ended").await, Vec::<String>::new());
    let page = acme.ada.client.get(&format!("{}?limit=1", acme.path())).send().await.expect(200);
    let cursor = page.str("/cursor").to_owned();
    assert_eq!(ids(&format!("?limit=1&cursor={cursor}")).await, [id(&first)]);
    for (query, code) in
        [("?cursor=nonsense", "invalid_cursor"), ("?state=paused", "invalid"), ("?limit=101", "invalid")]
    {
        let refused = acme.ada.client.get(&format!("{}{query}", acme.path())).send().await.expect(400);
        assert_eq!(refused.json["code"], code);
    }
    let other = org(&acme.ada, "Other").await;
    let elsewhere = format!("{other}/notify/escalations/{}", id(&first));
    acme.ada.client.get(&elsewhere).send().await.expect_error(404, "not_found", "Escalation not found.");
    for what in ["ack", "resolve"] {
        let path = format!("{elsewhere}/{what}");
        acme.ada.client.post(&path).send().await.expect_error(404, "not_found", "Escalation not found.");
    }
    let made_up = format!("{}/{}", acme.path(), EscalationId::new(Timestamp(1)));
    acme.ada.client.get(&made_up).send().await.expect_error(404, "not_found", "Escalation not found.");
}

#[tokio::test]
async fn one_acknowledgement_ends_it_for_everybody() {
    let acme = Acme::new().await;
    let path = acme.alarm().await;
    let notice = asked(&acme.eve).await;
    let ack = format!("/v1/me/notifications/{}/ack", notice["noticeId"].as_str().unwrap());
    assert_eq!(acme.eve.client.post(&ack).send().await.expect(200).json, json!({ "acked": true }));
    assert_eq!(acme.eve.client.post(&ack).send().await.expect(200).json, json!({ "acked": false }));
    assert_eq!(acme.acked(&acme.ada, &path).await, false);
    let found = acme.one(&path).await;
    let escalation = &found["escalation"];
    assert_eq!((&escalation["state"], &escalation["ackedVia"]), (&json!("acknowledged"), &json!("app")));
    assert_eq!(escalation["ackedBy"], acme.eve.user_id);
    let (mine, others) = (asked(&acme.eve).await, asked(&acme.ada).await);
    assert!(mine["ackedAt"].is_i64() && others["ackedAt"].is_i64());
    assert_eq!((&mine["read"], &others["read"]), (&json!(true), &json!(false)));
    acme.pass(60);
    acme.alarm().await;
    assert_eq!(acme.one(&path).await["escalation"]["stepsDone"], 1);
}

#[tokio::test]
async fn an_acknowledgement_reaches_everybodys_sockets() {
    let acme = Acme::new().await;
    let path = acme.alarm().await;
    let notice = asked(&acme.ada).await;
    let mut socket = Socket::live(&acme.ada.client, 0).await;
    acme.acked(&acme.eve, &path).await;
    let message = socket.message_of("notice.acked").await;
    assert_eq!((&message["noticeId"], &message["ackedBy"]), (&notice["noticeId"], &json!(acme.eve.user_id)));
}

#[tokio::test]
async fn who_was_not_told_acknowledges_as_an_operator_or_not_at_all() {
    let acme = Acme::new().await;
    let cy = acme.server.person("cy").await;
    join(&acme.ada, &acme.org, &cy, "admin").await;
    let path = acme.alarm().await;
    for what in ["ack", "resolve"] {
        let refused = acme.bob.client.post(&format!("{path}/{what}")).send().await;
        refused.expect_error(403, "missing_scope", "This needs the org:write permission.");
    }
    assert_eq!(acme.acked(&cy, &path).await, true);
    assert_eq!(acme.one(&path).await["escalation"]["ackedVia"], "operator");
    let audit = acme.ada.client.get(&format!("{}/audit?action=escalation.acknowledged", acme.org)).send().await;
    assert_eq!(audit.expect(200).json["events"][0]["actor"]["id"], cy.user_id);
}

#[tokio::test]
async fn keys_run_no_tests_of_protocols() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let key = key(&ada).await;
    let org_id = ada.client.get("/v1/orgs").send().await.expect(200).str("/orgs/0/orgId").to_owned();
    let path = format!("/v1/orgs/{org_id}/notify/protocols/{}/test", ProtocolId::new(Timestamp(1)));
    key.post(&path).send().await.expect_error(403, "people_only", "Notifications belong to people.");
}

#[tokio::test]
async fn a_snooze_puts_what_is_left_off() {
    let acme = Acme::new().await;
    let path = acme.alarm().await;
    let snooze = async |body: Value| acme.ada.client.post(&format!("{path}/snooze")).json(&body).send().await;
    let now = acme.server.clock.now().as_millis();
    for body in [
        json!({}),
        json!({ "minutes": 0 }),
        json!({ "minutes": 1441 }),
        json!({ "minutes": 5, "until": now + 1 }),
        json!({ "until": now }),
        json!({ "until": now + 86_400_001 }),
    ] {
        assert_eq!(snooze(body.clone()).await.expect(400).json["code"], "invalid", "{body}");
    }
    for body in [json!({ "until": now + 86_400_000 }), json!({ "minutes": 1440 }), json!({ "minutes": 1 })] {
        snooze(body).await.expect(200);
    }
    let snoozed = snooze(json!({ "minutes": 30 })).await.expect(200).json;
    let escalation = &snoozed["escalation"];
    assert_eq!(escalation["snoozedUntil"], now + 30 * 60_000);
    assert_eq!(escalation["nextStepAt"], now + 40 * 60_000);
    acme.pass(39);
    acme.alarm().await;
    assert_eq!(acme.one(&path).await["escalation"]["stepsDone"], 1);
    acme.pass(1);
    acme.done(&path, 2).await;
    acme.acked(&acme.ada, &path).await;
    let over = snooze(json!({ "minutes": 1 })).await;
    over.expect_error(409, "escalation_over", "This escalation is over.");
}

#[tokio::test]
async fn what_is_left_goes_to_whom_it_is_handed_over() {
    let acme = Acme::new().await;
    let stranger = acme.server.person("stranger").await;
    let path = acme.alarm().await;
    let hand_over = async |to: &Person| {
        let body = json!({ "userId": to.user_id });
        acme.ada.client.post(&format!("{path}/hand-over")).json(&body).send().await
    };
    hand_over(&stranger).await.expect_error(404, "not_found", "Member not found.");
    let handed = hand_over(&acme.bob).await.expect(200).json;
    assert_eq!(handed["escalation"]["handedTo"], acme.bob.user_id);
    assert_eq!(asked(&acme.bob).await["title"], "New sign-in to your account");
    acme.pass(10);
    let found = acme.done(&path, 2).await;
    let told: Vec<_> =
        found["steps"][1]["told"].as_array().unwrap().iter().map(|line| line["userId"].clone()).collect();
    assert_eq!(told, [json!(acme.bob.user_id), json!(acme.bob.user_id)]);
    assert_eq!(found["others"][0]["occasion"], "hand_over");
    assert_eq!(acme.acked(&acme.bob, &path).await, true);
    hand_over(&acme.bob).await.expect_error(409, "escalation_over", "This escalation is over.");
}

#[tokio::test]
async fn who_was_told_hears_that_it_is_over() {
    let acme = Acme::new().await;
    let path = acme.alarm().await;
    let resolve = async || acme.eve.client.post(&format!("{path}/resolve")).send().await;
    let resolved = resolve().await.expect(200).json;
    assert_eq!(
        (&resolved["escalation"]["state"], &resolved["escalation"]["endReason"]),
        (&json!("resolved"), &json!("resolved"))
    );
    for person in [&acme.ada, &acme.eve] {
        let newest = notices(&person.client).await[0].clone();
        assert_eq!(
            (&newest["title"], &newest["requireAck"]),
            (&json!("Resolved: New sign-in to your account"), &json!(false))
        );
    }
    let of_bob = notices(&acme.bob.client).await;
    assert!(of_bob.iter().all(|notice| !notice["title"].as_str().unwrap().starts_with("Resolved")), "{of_bob:?}");
    resolve().await.expect_error(409, "escalation_over", "This escalation is over.");
}

#[tokio::test]
async fn a_test_runs_all_steps_at_once_to_whoever_asks_and_to_nobody_else() {
    let acme = Acme::new().await;
    let test = |id: &str| format!("{}/notify/protocols/{id}/test", acme.org);
    let id = acme.protocol_id.to_string();
    let refused = acme.eve.client.post(&test(&id)).send().await;
    refused.expect_error(403, "missing_scope", "This needs the org:write permission.");
    let unknown = test(&ProtocolId::new(Timestamp(1)).to_string());
    acme.ada.client.post(&unknown).send().await.expect_error(404, "not_found", "Protocol not found.");
    let before = notices(&acme.eve.client).await.len();
    let shown = acme.ada.client.post(&test(&id)).send().await.expect(200).json;
    let escalation = &shown["escalation"];
    assert_eq!((&escalation["test"], &escalation["title"]), (&json!(true), &json!("Test: Sign-ins")));
    assert_eq!((&escalation["stepsDone"], &escalation["steps"]), (&json!(2), &json!(2)));
    for step in shown["steps"].as_array().unwrap() {
        for line in step["told"].as_array().unwrap() {
            assert_eq!(line["userId"], acme.ada.user_id);
        }
    }
    assert_eq!(asked(&acme.ada).await["title"], "Test: Sign-ins");
    assert_eq!(notices(&acme.eve.client).await.len(), before);
    let path = format!("{}/{}", acme.path(), escalation["escalationId"].as_str().unwrap());
    assert_eq!(acme.acked(&acme.ada, &path).await, true);
}
