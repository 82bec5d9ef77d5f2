//! Calendars of mailboxes (contract B 2.8, 4.9).

mod alarms;
mod availability;
mod calendars;
mod changes;
mod events;
mod exchange;
mod guests;
mod mailed;
mod removal;
mod transfer;
mod windows;

use domain::calendar::recurrence::LocalTime;
use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Client, Person, Server},
    mail::{lent_domain, make_mailbox, peer::Peer},
};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// An organization with a mailbox of whoever owns it.
struct House {
    server: Server,
    /// Owns the organization, and is the mailbox's only member.
    ada: Person,
    /// `/v1/orgs/:orgId`
    org: String,
    /// Ada's mailbox.
    mailbox: Mailbox,
    /// Takes what leaves.
    peer: Peer,
}

/// A mailbox, as a member uses it.
struct Mailbox {
    client: Client,
    /// `/v1/orgs/:orgId/mail/mailboxes/:mailboxId`
    path: String,
    address: String,
    /// The default calendar.
    calendar: String,
}

impl House {
    async fn new() -> Self {
        let peer = Peer::start().await;
        let server = Server::with(&[&format!("mail_server.smarthost={}", peer.address)]).await;
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        let mailbox = Mailbox::make(&ada, &org, "ada", &ada).await;
        Self { server, ada, org, mailbox, peer }
    }

    /// Somebody else in the organization, with a mailbox of their own.
    async fn colleague(&self, name: &str) -> (Person, Mailbox) {
        let person = self.server.person(name).await;
        join(&self.ada, &self.org, &person, "viewer").await;
        let mailbox = Mailbox::make(&self.ada, &self.org, name, &person).await;
        (person, mailbox)
    }
}

impl Mailbox {
    /// Makes a mailbox of `member`'s.
    async fn make(admin: &Person, org: &str, name: &str, member: &Person) -> Self {
        let made = make_mailbox(admin, org, name, &[&member.user_id]).await;
        let path = format!("{org}/mail/mailboxes/{}", made.str("/mailbox/mailboxId"));
        let client = member.client.clone();
        let calendars = client.get(&format!("{path}/calendars")).send().await.expect(200);
        let calendar = calendars.str("/calendars/0/calendarId").to_owned();
        Self { client, path, address: format!("{name}@{}", lent_domain(admin, org).await), calendar }
    }

    async fn get(&self, what: &str) -> Answer {
        self.client.get(&format!("{}/{what}", self.path)).send().await
    }

    async fn post(&self, what: &str, body: Value) -> Answer {
        self.client.post(&format!("{}/{what}", self.path)).json(&body).send().await
    }

    async fn try_make(&self, body: Value) -> Answer {
        self.post(&format!("calendars/{}/events", self.calendar), body).await
    }

    /// Makes an event.
    async fn event(&self, body: Value) -> Answer {
        self.try_make(body).await.expect(201)
    }

    async fn patch(&self, event: &str, query: &str, body: Value) -> Answer {
        self.client.patch(&format!("{}/events/{event}?{query}", self.path)).json(&body).send().await
    }

    async fn delete(&self, event: &str, query: &str) -> Answer {
        self.client.delete(&format!("{}/events/{event}?{query}", self.path)).send().await
    }

    async fn show(&self, event: &str) -> Answer {
        self.get(&format!("events/{event}")).await
    }

    /// What occurs between two instants.
    async fn between(&self, from: i64, to: i64) -> Vec<Value> {
        let answer = self.get(&format!("events?from={from}&to={to}")).await.expect(200);
        answer.list("/occurrences").to_vec()
    }

    /// The beginnings of what occurs from one day to another.
    async fn starts(&self, from: &str, to: &str) -> Vec<i64> {
        let found = self.between(utc(from), utc(to)).await;
        found.iter().map(|it| it["start"].as_i64().unwrap()).collect()
    }
}

/// The instant at which a clock in universal time shows this.
fn utc(text: &str) -> i64 {
    LocalTime::parse(text).unwrap().wall().0 * 1000
}

/// A meeting in Vienna on the 23rd of November 2026.
fn meeting() -> Value {
    json!({
        "summary": "Meeting", "start": "2026-11-23T09:00", "end": "2026-11-23T10:00", "timeZone": "Europe/Vienna",
    })
}

/// The same with one field more.
fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

/// A meeting on ten days in a row.
fn ten_days() -> Value {
    with(meeting(), "recurrence", json!({ "freq": "daily", "count": 10 }))
}
