//! Notifications (contract A 2.3, 3, 4.3, 6).

mod alarm_hooks;
mod alarms;
mod alertmanager;
mod budget;
mod callbacks;
mod deliveries;
mod devices;
mod escalations;
mod keys;
mod links;
mod live_activities;
mod nightly;
mod notices;
mod phone;
mod preview;
mod protocols;
mod providers;
mod reachable;
mod rotas;
#[path = "../../gateways/tests/services/server.rs"]
#[allow(dead_code, reason = "only a part of it is needed here")]
pub mod service;
mod settings;

use domain::{id::NoticeId, notify::EventType};
use serde_json::{Value, json};
use store::{Change, NewNotice};

use crate::harness::{Client, Person, Server};

/// Somebody with an account and no notices: the one of their own sign-in came and went.
async fn newcomer(server: &Server, name: &str) -> Person {
    let person = server.person(name).await;
    let notice = server
        .eventually("the notice of a new sign-in", async || notices(&person.client).await.into_iter().next())
        .await;
    assert_eq!(notice["event"], "account.new_sign_in");
    let path = format!("/v1/me/notifications/{}", notice["noticeId"].as_str().expect("an id"));
    person.client.delete(&path).send().await.expect(204);
    person
}

/// A notice to this person about an event of this type.
fn notice(server: &Server, person: &Person, event: &str) -> NewNotice {
    let id = NoticeId::new(server.clock.now());
    NewNotice {
        id,
        user_id: person.user_id.parse().expect("an id"),
        org_id: None,
        event: event.to_owned(),
        app: EventType::find(event).expect("an event").app,
        title: format!("{event} happened"),
        body: None,
        url: None,
        require_ack: false,
        escalation_id: None,
        is_read: false,
        created_at: server.clock.now(),
        source: id.to_string(),
    }
}

/// Gives people these notices, as what happens elsewhere in the server would.
async fn give(server: &Server, notices: impl IntoIterator<Item = NewNotice>) {
    let mut change = Change::new();
    change.notices_add(notices);
    let store = server.store().await;
    store.commit(change).await.expect("commits");
    store.close().await;
}

/// Gives a person a notice about an event of this type; its id.
async fn told(server: &Server, person: &Person, event: &str) -> String {
    let notice = notice(server, person, event);
    let id = notice.id.to_string();
    give(server, [notice]).await;
    id
}

/// Gives a person a notice that asks to be acknowledged; its id.
async fn alarmed(server: &Server, person: &Person) -> String {
    let notice = NewNotice { require_ack: true, ..notice(server, person, "ops.alarm") };
    let id = notice.id.to_string();
    give(server, [notice]).await;
    id
}

/// The person's notices, newest first.
async fn notices(client: &Client) -> Vec<Value> {
    client.get("/v1/me/notifications").send().await.expect(200).list("/notices").to_vec()
}

/// Waits until everything that was committed has left: no event, message or delivery waits any more.
async fn all_is_out(server: &Server) {
    let operator = server.owner();
    let none_is = |counts: &[Value], states: &[&str]| {
        counts.iter().all(|count| !states.contains(&count["state"].as_str().expect("a state")))
    };
    let is_out = async || {
        let outbox = operator.get("/v1/platform/outbox").send().await.expect(200);
        let deliveries = operator.get("/v1/platform/deliveries").send().await.expect(200);
        let is_out = none_is(outbox.list("/counts"), &["waiting", "claimed", "delayed"])
            && none_is(deliveries.list("/counts"), &["queued"]);
        is_out.then_some(())
    };
    server.eventually("all to be out", is_out).await;
}

/// A key of a new organization of this person's.
async fn key(person: &Person) -> Client {
    let org_id = person.client.org("Acme").await;
    key_with(person, &format!("/v1/orgs/{org_id}"), &["org:read", "org:write", "maps:read"]).await
}

/// A key of this organization with these scopes.
async fn key_with(person: &Person, org: &str, scopes: &[&str]) -> Client {
    let body = json!({ "name": "A program", "kind": "api", "scopes": scopes });
    let made = person.client.post(&format!("{org}/keys")).json(&body).send().await.expect(201);
    person.client.with_token(made.str("/secret"))
}
