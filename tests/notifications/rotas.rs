//! `/v1/orgs/:orgId/notify/rotas`

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn body(people: &[&Person]) -> Value {
    let people: Vec<_> = people.iter().map(|person| &person.user_id).collect();
    json!({ "name": "Ops", "people": people, "handover": { "every": "day", "at": "13:00" }, "timeZone": "Europe/Vienna" })
}

async fn make(by: &Person, org: &str, body: &Value) -> Answer {
    by.client.post(&format!("{org}/notify/rotas")).json(body).send().await
}

/// A new rota's address.
async fn rota(by: &Person, org: &str, people: &[&Person]) -> String {
    let made = make(by, org, &body(people)).await.expect(201);
    format!("{org}/notify/rotas/{}", made.str("/rota/rotaId"))
}

async fn on_call(by: &Person, rota: &str, at: i64) -> Answer {
    by.client.get(&format!("{rota}/on-call?at={at}")).send().await
}

/// A server with an organization of Ada's that Grace and Linus belong to.
async fn acme() -> (Server, [Person; 3], String) {
    let server = Server::start().await;
    let people = [server.person("ada").await, server.person("grace").await, server.person("linus").await];
    let acme = org(&people[0], "Acme").await;
    join(&people[0], &acme, &people[1], "developer").await;
    join(&people[0], &acme, &people[2], "viewer").await;
    (server, people, acme)
}

#[tokio::test]
async fn a_rota_is_made_read_changed_and_deleted() {
    let (server, [ada, grace, linus], acme) = acme().await;
    let made = make(&ada, &acme, &body(&[&ada, &grace])).await.expect(201);
    let now = server.clock.now().0;
    let expected = json!({
        "rotaId": made.str("/rota/rotaId"), "orgId": acme.rsplit('/').next(), "name": "Ops",
        "people": [ada.user_id, grace.user_id], "handover": { "every": "day", "at": "13:00", "interval": 1 },
        "timeZone": "Europe/Vienna", "overrides": [], "createdBy": ada.user_id, "createdAt": now, "updatedAt": now,
    });
    assert_eq!(made.json, json!({ "rota": expected }));
    let path = format!("{acme}/notify/rotas/{}", made.str("/rota/rotaId"));
    assert_eq!(linus.client.get(&path).send().await.expect(200).json, made.json);
    let custom = json!({ "every": "custom", "moments": [{ "day": 1, "at": "09:00" }, { "day": 5, "at": "17:00" }] });
    let change = json!({ "name": "Nights", "handover": custom, "timeZone": "UTC" });
    let changed = ada.client.patch(&path).json(&change).send().await.expect(200);
    assert_eq!((&changed.json["rota"]["handover"], changed.str("/rota/timeZone")), (&custom, "UTC"));
    let listed = grace.client.get(&format!("{acme}/notify/rotas")).send().await.expect(200);
    assert_eq!(listed.json, json!({ "rotas": [changed.json["rota"]] }));
    ada.client.delete(&path).send().await.expect(200);
    ada.client.get(&path).send().await.expect_error(404, "not_found", "Rota not found.");
    ada.client.delete(&path).send().await.expect(404);
    let trail = ada.client.get(&format!("{acme}/audit?action=rota")).send().await.expect(200);
    let mut actions: Vec<_> = trail.list("/events").iter().map(|event| event["action"].as_str().unwrap()).collect();
    actions.sort_unstable();
    assert_eq!(actions, ["rota.changed", "rota.deleted", "rota.made"]);
}

#[tokio::test]
async fn people_take_turns() {
    // The clock starts on a Friday at noon UTC, 13:00 in Vienna: a handover.
    let (server, [ada, grace, linus], acme) = acme().await;
    let rota = rota(&ada, &acme, &[&ada, &grace, &linus]).await;
    let start = server.clock.now().0;
    let now = ada.client.get(&format!("{rota}/on-call")).send().await.expect(200);
    assert_eq!(now.json, json!({ "userId": ada.user_id, "name": "ada", "since": start, "until": start + DAY }));
    for (at, person) in [(DAY - 1, &ada), (DAY, &grace), (2 * DAY, &linus), (3 * DAY, &ada), (-1, &linus)] {
        assert_eq!(on_call(&grace, &rota, start + at).await.expect(200).str("/userId"), person.user_id, "{at}");
    }
    server.clock.advance(Duration::from_hours(24));
    assert_eq!(linus.client.get(&format!("{rota}/on-call")).send().await.expect(200).str("/name"), "grace");
    for at in ["-1", "221845392000001", "soon"] {
        ada.client.get(&format!("{rota}/on-call?at={at}")).send().await.expect_problems(&["at"]);
    }
    on_call(&ada, &rota, 0).await.expect(200);
    on_call(&ada, &rota, 221_845_392_000_000).await.expect(200);
}

#[tokio::test]
async fn an_override_has_somebody_else_be_on_call() {
    let (server, [ada, grace, linus], acme) = acme().await;
    let rota = rota(&ada, &acme, &[&ada, &grace]).await;
    let start = server.clock.now().0;
    let window = json!({ "userId": linus.user_id, "from": start + HOUR, "until": start + 2 * HOUR });
    let made = ada.client.post(&format!("{rota}/overrides")).json(&window).send().await.expect(201);
    let found = on_call(&ada, &rota, start + HOUR).await.expect(200);
    let expected = json!({
        "userId": linus.user_id, "name": "linus", "since": start + HOUR, "until": start + 2 * HOUR,
        "override": made.json["override"],
    });
    assert_eq!(found.json, expected);
    assert_eq!(on_call(&ada, &rota, start).await.int("/until"), start + HOUR);
    assert_eq!(on_call(&ada, &rota, start + 2 * HOUR).await.int("/since"), start + 2 * HOUR);
    let shown = ada.client.get(&rota).send().await.expect(200);
    assert_eq!(shown.json["rota"]["overrides"], json!([made.json["override"]]));

    let path = format!("{rota}/overrides/{}", made.str("/override/overrideId"));
    ada.client.delete(&path).send().await.expect(200);
    ada.client.delete(&path).send().await.expect_error(404, "not_found", "Override not found.");
    assert_eq!(on_call(&ada, &rota, start + HOUR).await.str("/userId"), ada.user_id);
}

#[tokio::test]
async fn overrides_have_their_limits() {
    let (server, [ada, grace, _], acme) = acme().await;
    let stranger = server.person("eve").await;
    let rota = rota(&ada, &acme, &[&ada]).await;
    let now = server.clock.now().0;
    let add = async |user_id: &str, from: i64, until: i64| {
        let body = json!({ "userId": user_id, "from": from, "until": until });
        ada.client.post(&format!("{rota}/overrides")).json(&body).send().await
    };
    add(&grace.user_id, now - 5, now).await.expect_problems(&["until"]);
    add(&grace.user_id, now - 5, now + 1).await.expect(201);
    add(&grace.user_id, now + 5, now + 5).await.expect_problems(&["until"]);
    add(&grace.user_id, now, now + 366 * DAY).await.expect(201);
    add(&grace.user_id, now, now + 366 * DAY + 1).await.expect_problems(&["until"]);
    add(&stranger.user_id, now, now + 5).await.expect_problems(&["userId"]);
    for _ in 2..100 {
        add(&grace.user_id, now, now + 5).await.expect(201);
    }
    let refused = add(&grace.user_id, now, now + 5).await;
    refused.expect_error(400, "limit_reached", "A rota has at most 100 overrides.");
}

#[tokio::test]
async fn whoever_leaves_the_organization_is_passed_over() {
    let (server, [ada, grace, linus], acme) = acme().await;
    let rota = rota(&ada, &acme, &[&grace, &linus]).await;
    let now = server.clock.now().0;
    assert_eq!(on_call(&ada, &rota, now).await.str("/userId"), grace.user_id);
    ada.client.delete(&format!("{acme}/members/{}", grace.user_id)).send().await.expect(200);
    assert_eq!(on_call(&ada, &rota, now).await.str("/userId"), linus.user_id);
    // The rest of it can be changed, but nobody can be put in who is no member.
    ada.client.patch(&rota).json(&json!({ "name": "Days" })).send().await.expect(200);
    let back = json!({ "people": [linus.user_id, grace.user_id] });
    ada.client.patch(&rota).json(&back).send().await.expect(200);
    ada.client.patch(&rota).json(&json!({ "people": [linus.user_id] })).send().await.expect(200);
    ada.client.patch(&rota).json(&back).send().await.expect_problems(&["people"]);
    ada.client.delete(&format!("{acme}/members/{}", linus.user_id)).send().await.expect(200);
    let nobody = "Nobody of this rota belongs to the organization any more.";
    on_call(&ada, &rota, now).await.expect_error(404, "nobody_on_call", nobody);
}

#[tokio::test]
async fn a_rota_that_a_protocol_uses_stays() {
    let (_server, [ada, ..], acme) = acme().await;
    let rota = rota(&ada, &acme, &[&ada]).await;
    let step = json!({ "afterMinutes": 0, "channels": { "push": true }, "rota": rota.rsplit('/').next() });
    let body = json!({ "name": "Nights", "rules": [{ "events": ["ops.alarm"], "steps": [step] }] });
    let protocol = ada.client.post(&format!("{acme}/notify/protocols")).json(&body).send().await.expect(201);
    let refused = ada.client.delete(&rota).send().await;
    refused.expect_error(409, "rota_in_use", "The protocol Nights uses this rota.");
    let path = format!("{acme}/notify/protocols/{}", protocol.str("/protocol/protocolId"));
    ada.client.delete(&path).send().await.expect(200);
    ada.client.delete(&rota).send().await.expect(200);
}

#[tokio::test]
async fn rotas_have_their_limits() {
    let (_server, [ada, grace, _], acme) = acme().await;
    let with = async |fields: Value| {
        let mut body = body(&[&ada]);
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        make(&ada, &acme, &body).await
    };
    with(json!({ "name": "" })).await.expect_problems(&["name"]);
    with(json!({ "name": "n".repeat(81) })).await.expect_problems(&["name"]);
    with(json!({ "people": [] })).await.expect_problems(&["people"]);
    with(json!({ "people": [ada.user_id, ada.user_id] })).await.expect_problems(&["people"]);
    with(json!({ "people": ["ada"] })).await.expect_problems(&["people[0]"]);
    with(json!({ "people": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"] })).await.expect_problems(&["people"]);
    with(json!({ "timeZone": "Europe/Atlantis" })).await.expect_problems(&["timeZone"]);
    for (handover, path) in [
        (json!({ "every": "hour" }), "handover.every"),
        (json!({ "every": "day" }), "handover.at"),
        (json!({ "every": "day", "at": "24:00" }), "handover.at"),
        (json!({ "every": "day", "at": "09:00", "interval": 0 }), "handover.interval"),
        (json!({ "every": "day", "at": "09:00", "interval": 13 }), "handover.interval"),
        (json!({ "every": "week", "at": "09:00" }), "handover.day"),
        (json!({ "every": "week", "at": "09:00", "day": 7 }), "handover.day"),
        (json!({ "every": "custom" }), "handover.moments"),
        (json!({ "every": "custom", "moments": [{ "day": 1, "at": "9" }] }), "handover.moments[0].at"),
    ] {
        with(json!({ "handover": handover })).await.expect_problems(&[path]);
    }
    grace.client.post(&format!("{acme}/notify/rotas")).json(&body(&[&ada])).send().await.expect(403);
    for _ in 0..50 {
        with(json!({ "name": "n".repeat(80) })).await.expect(201);
    }
    with(json!({})).await.expect_error(400, "limit_reached", "An organization has at most 50 rotas.");
}
