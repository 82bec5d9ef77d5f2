//! `/v1/orgs/:orgId/notify/protocols`

use serde_json::{Value, json};

use super::key;
use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

const PEOPLE_ONLY: &str = "Notifications belong to people.";

/// What the least protocol says.
fn least() -> Value {
    json!({ "name": "Nights", "rules": [rule()] })
}

fn rule() -> Value {
    json!({ "events": ["ops.alarm"], "steps": [{ "afterMinutes": 0, "channels": { "push": true } }] })
}

async fn make(by: &Person, org: &str, body: Value) -> Answer {
    by.client.post(&format!("{org}/notify/protocols")).json(&body).send().await
}

/// A new protocol's address.
async fn protocol(by: &Person, org: &str, body: Value) -> String {
    let made = make(by, org, body).await.expect(201);
    format!("{org}/notify/protocols/{}", made.str("/protocol/protocolId"))
}

async fn change(by: &Person, protocol: &str, body: Value) -> Answer {
    by.client.patch(protocol).json(&body).send().await
}

/// Tries a rule that differs from the least one in these fields.
async fn with_rule(by: &Person, org: &str, fields: Value) -> Answer {
    let mut rule = rule();
    rule.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    make(by, org, json!({ "name": "Nights", "rules": [rule] })).await
}

/// The audit entries about protocols, sorted: those of one moment stand in no order.
async fn actions(by: &Person, org: &str) -> Vec<String> {
    let trail = by.client.get(&format!("{org}/audit?action=protocol")).send().await.expect(200);
    let mut actions: Vec<_> =
        trail.list("/events").iter().map(|event| event["action"].as_str().unwrap().to_owned()).collect();
    actions.sort_unstable();
    actions
}

#[tokio::test]
async fn the_six_templates_are_there_and_each_makes_a_protocol() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let templates = ada.client.get(&format!("{acme}/notify/protocols/templates")).send().await.expect(200);
    let ids: Vec<_> = templates.list("/templates").iter().map(|template| template["id"].as_str().unwrap()).collect();
    let wanted = "production-on-call meeting-guard invitation-chaser vip-mail service-desk-sla agent-jobs";
    assert_eq!(ids.join(" "), wanted);
    for template in templates.list("/templates") {
        let made = make(&ada, &acme, json!({ "template": template["id"] })).await.expect(201);
        for field in ["name", "description", "rules"] {
            assert_eq!(made.json["protocol"][field], template[field]);
        }
        assert_eq!(made.json["protocol"]["attachments"], json!([]));
        assert_eq!(made.json["protocol"]["enabled"], true);
    }
    let listed = ada.client.get(&format!("{acme}/notify/protocols")).send().await.expect(200);
    assert_eq!(listed.list("/protocols").len(), 6);
}

#[tokio::test]
async fn an_unknown_template_is_400_and_so_is_one_beside_other_fields() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let refused = make(&ada, &acme, json!({ "template": "nights" })).await.expect_problems(&["template"]);
    assert_eq!(
        refused.str("/problems/0/message"),
        "There is no such template. Use one of: production-on-call, meeting-guard, invitation-chaser, vip-mail, \
         service-desk-sla, agent-jobs."
    );
    let both = json!({ "template": "vip-mail", "name": "Mine" });
    make(&ada, &acme, both).await.expect_problems(&["template"]);
    make(&ada, &acme, json!({})).await.expect_problems(&["name", "rules"]);
}

#[tokio::test]
async fn a_protocol_is_made_read_changed_and_deleted() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let full = json!({
        "events": ["ops.alarm", "pipeline.failed"], "match": { "severity": ["critical", "high"] },
        "steps": [{ "afterMinutes": 10_080, "channels": { "email": true, "sms": true, "push": true, "voice": true,
        "inapp": true } }], "beforeEvent": true, "roles": ["owner", "viewer"], "userIds": [grace.user_id],
        "overrideQuietHours": true,
    });
    let body = json!({ "name": " Nights ", "description": " Who wakes ", "enabled": false, "rules": [full] });
    let made = make(&ada, &acme, body).await.expect(201);
    let now = server.clock.now().0;
    let expected = json!({
        "protocolId": made.str("/protocol/protocolId"), "orgId": acme.rsplit('/').next(), "name": "Nights",
        "description": "Who wakes", "enabled": false, "rules": [full], "createdBy": ada.user_id, "updatedAt": now,
        "attachments": [], "active": false, "inactive": { "reason": "disabled", "message": "It is disabled." },
    });
    assert_eq!(made.json, json!({ "protocol": expected }));
    let path = format!("{acme}/notify/protocols/{}", made.str("/protocol/protocolId"));
    let read = ada.client.get(&path).send().await.expect(200);
    assert_eq!(read.json, made.json);
    let tag = read.header("etag").unwrap().to_owned();
    ada.client.get(&path).header("if-none-match", &tag).send().await.expect(304);

    let changed = change(&ada, &path, json!({ "description": null, "enabled": true })).await.expect(200);
    assert_eq!(changed.json["protocol"].get("description"), None);
    assert_eq!((changed.str("/protocol/name"), &changed.json["protocol"]["rules"]), ("Nights", &json!([full])));
    let listed = grace.client.get(&format!("{acme}/notify/protocols")).send().await.expect(200);
    assert_eq!(listed.json, json!({ "protocols": [changed.json["protocol"]] }));

    ada.client.delete(&path).send().await.expect(200);
    ada.client.get(&path).send().await.expect_error(404, "not_found", "Protocol not found.");
    change(&ada, &path, json!({ "name": "Gone" })).await.expect_error(404, "not_found", "Protocol not found.");
    ada.client.delete(&path).send().await.expect(404);
    assert_eq!(actions(&ada, &acme).await, ["protocol.changed", "protocol.deleted", "protocol.made"]);
}

#[tokio::test]
async fn owners_and_admins_write_and_every_member_reads() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let path = protocol(&ada, &acme, least()).await;
    for (name, role, status) in [("grace", "admin", 201), ("linus", "developer", 403), ("eve", "viewer", 403)] {
        let person = server.person(name).await;
        join(&ada, &acme, &person, role).await;
        person.client.get(&path).send().await.expect(200);
        person.client.get(&format!("{acme}/notify/protocols/templates")).send().await.expect(200);
        let made = make(&person, &acme, least()).await.expect(status);
        let changed = change(&person, &path, json!({ "name": name })).await;
        assert_eq!(changed.status, if status == 201 { 200 } else { 403 });
        if status == 403 {
            made.expect_error(403, "missing_scope", "This needs the org:write permission.");
        }
    }
}

#[tokio::test]
async fn keys_have_no_part_in_protocols() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let program = key(&ada).await;
    let orgs = ada.client.get("/v1/orgs").send().await.expect(200);
    let acme = format!("/v1/orgs/{}", orgs.str("/orgs/0/orgId"));
    let path = protocol(&ada, &acme, least()).await;
    for path in [format!("{acme}/notify/protocols"), format!("{acme}/notify/protocols/templates"), path.clone()] {
        program.get(&path).send().await.expect_error(403, "people_only", PEOPLE_ONLY);
    }
    let made = program.post(&format!("{acme}/notify/protocols")).json(&least()).send().await;
    made.expect_error(403, "people_only", PEOPLE_ONLY);
    program.delete(&path).send().await.expect_error(403, "people_only", PEOPLE_ONLY);
}

#[tokio::test]
async fn a_protocol_is_found_in_its_own_organization_only() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (acme, other) = (org(&ada, "Acme").await, org(&ada, "Other").await);
    let elsewhere = protocol(&ada, &acme, least()).await.replace(&acme, &other);
    ada.client.get(&elsewhere).send().await.expect(404);
    change(&ada, &elsewhere, json!({ "enabled": false })).await.expect(404);
    ada.client.delete(&elsewhere).send().await.expect(404);
    ada.client.put(&format!("{elsewhere}/attachments/space/a")).json(&json!({})).send().await.expect(404);
    assert_eq!(
        ada.client.get(&format!("{other}/notify/protocols")).send().await.expect(200).list("/protocols").len(),
        0
    );
}

#[tokio::test]
async fn names_descriptions_rules_steps_and_minutes_have_their_limits() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    for (name, description, status) in [(1, 0, 201), (80, 256, 201), (81, 256, 400), (80, 257, 400), (0, 0, 400)] {
        let body = json!({ "name": "n".repeat(name), "description": "d".repeat(description), "rules": [rule()] });
        make(&ada, &acme, body).await.expect(status);
    }
    for (rules, status) in [(0, 400), (1, 201), (20, 201), (21, 400)] {
        make(&ada, &acme, json!({ "name": "Many", "rules": vec![rule(); rules] })).await.expect(status);
    }
    for (steps, status) in [(0, 400), (1, 201), (10, 201), (11, 400)] {
        let step = json!({ "afterMinutes": 0, "channels": { "inapp": true } });
        with_rule(&ada, &acme, json!({ "steps": vec![step; steps] })).await.expect(status);
    }
    for (minutes, status) in [(-1, 400), (0, 201), (10_080, 201), (10_081, 400)] {
        let step = json!({ "afterMinutes": minutes, "channels": { "inapp": true } });
        let answer = with_rule(&ada, &acme, json!({ "steps": [step] })).await.expect(status);
        if status == 400 {
            answer.expect_problems(&["rules[0].steps[0].afterMinutes"]);
        }
    }
}

#[tokio::test]
async fn a_rule_that_can_do_nothing_is_refused_with_all_that_is_wrong() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let refused = async |fields: Value, paths: &[&str]| {
        with_rule(&ada, &acme, fields).await.expect_problems(paths);
    };
    refused(json!({ "events": [] }), &["rules[0].events"]).await;
    refused(json!({ "events": ["vehicles.moved"] }), &["rules[0].events[0]"]).await;
    refused(json!({ "events": ["ops.alarm", "no.such"] }), &["rules[0].events[1]"]).await;
    refused(json!({ "events": ["ops.alarm", "ops.alarm"] }), &["rules[0].events"]).await;
    refused(json!({ "roles": ["owner", "boss"] }), &["rules[0].roles[1]"]).await;
    refused(json!({ "match": { "k": [] } }), &["rules[0].match.k"]).await;
    let step = |channels: Value| json!({ "steps": [{ "afterMinutes": 0, "channels": channels }] });
    refused(step(json!({})), &["rules[0].steps[0].channels"]).await;
    refused(step(json!({ "push": false })), &["rules[0].steps[0].channels"]).await;
    refused(step(json!({ "push": true, "fax": true })), &["rules[0].steps[0].channels.fax"]).await;
    refused(step(json!({ "push": "yes" })), &["rules[0].steps[0].channels.push"]).await;
    refused(step(json!(["push"])), &["rules[0].steps[0].channels"]).await;
    refused(json!({ "events": [], "steps": [] }), &["rules[0].events", "rules[0].steps"]).await;
    let path = protocol(&ada, &acme, least()).await;
    change(&ada, &path, json!({ "name": "", "rules": [] })).await.expect_problems(&["name", "rules"]);
}

#[tokio::test]
async fn rules_name_members_and_rotas_that_there_are() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let (acme, other) = (org(&ada, "Acme").await, org(&ada, "Other").await);
    let people = json!({ "userIds": [ada.user_id, grace.user_id] });
    let refused = with_rule(&ada, &acme, people.clone()).await.expect_problems(&["rules[0].userIds[1]"]);
    assert!(refused.str("/problems/0/message").ends_with("is no member of the organization."));
    with_rule(&ada, &acme, json!({ "userIds": ["ada"] })).await.expect_problems(&["rules[0].userIds[0]"]);
    join(&ada, &acme, &grace, "viewer").await;
    with_rule(&ada, &acme, people.clone()).await.expect(201);

    let body = json!({ "name": "Ops", "people": [ada.user_id], "handover": { "every": "day", "at": "09:00" } });
    let rota = ada.client.post(&format!("{other}/notify/rotas")).json(&body).send().await.expect(201);
    let step = |rota: &str| json!({ "steps": [{ "afterMinutes": 0, "channels": { "push": true }, "rota": rota }] });
    for unknown in [rota.str("/rota/rotaId"), "rot_01jd7rt4m5e9fv2w8x3c6k0hqz", "ops"] {
        with_rule(&ada, &acme, step(unknown)).await.expect_problems(&["rules[0].steps[0].rota"]);
    }
    with_rule(&ada, &other, step(rota.str("/rota/rotaId"))).await.expect(201);

    // Whoever leaves may stay in a rule, which can be renamed and disabled all the same, but not be written again.
    let mut named = rule();
    named["userIds"] = people["userIds"].clone();
    let path = protocol(&ada, &acme, json!({ "name": "Nights", "rules": [named] })).await;
    ada.client.delete(&format!("{acme}/members/{}", grace.user_id)).send().await.expect(200);
    change(&ada, &path, json!({ "name": "Days", "enabled": false })).await.expect(200);
    named["roles"] = json!(["owner"]);
    change(&ada, &path, json!({ "rules": [named] })).await.expect_problems(&["rules[0].userIds[1]"]);
}

#[tokio::test]
async fn a_protocol_is_attached_to_things_and_detached_from_them() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (acme, other) = (org(&ada, "Acme").await, org(&ada, "Other").await);
    let path = protocol(&ada, &acme, least()).await;
    let attach =
        async |to: &str, body: Value| ada.client.put(&format!("{path}/attachments/{to}")).json(&body).send().await;
    let attached = attach("project/prj_1", json!({ "label": " Shop " })).await.expect(200);
    let shop = json!({ "resourceType": "project", "resourceId": "prj_1", "resourceLabel": "Shop" });
    assert_eq!(attached.json["protocol"]["attachments"], json!([shop]));
    server.clock.advance(std::time::Duration::from_secs(1));
    for kind in ["agent", "calendar", "mailbox", "space"] {
        attach(&format!("{kind}/a"), json!({})).await.expect(200);
    }
    let own = acme.rsplit('/').next().unwrap();
    attach(&format!("org/{own}"), json!({})).await.expect(200);
    let strange = other.rsplit('/').next().unwrap();
    attach(&format!("org/{strange}"), json!({})).await.expect_problems(&["resourceId"]);
    attach("planet/mars", json!({})).await.expect_error(404, "not_found", "Unknown kind of resource.");
    let renamed = attach("project/prj_1", json!({})).await.expect(200);
    assert_eq!(renamed.list("/protocol/attachments").len(), 6);
    assert_eq!(renamed.json["protocol"]["attachments"][0].get("resourceLabel"), None);

    let detached = ada.client.delete(&format!("{path}/attachments/org/{own}")).send().await.expect(200);
    assert_eq!(detached.list("/protocol/attachments").len(), 5);
    assert_eq!(ada.client.get(&path).send().await.expect(200).json, detached.json);
    let again = ada.client.delete(&format!("{path}/attachments/org/{own}")).send().await;
    again.expect_error(404, "not_found", "The protocol is not attached to this.");
    let trail = actions(&ada, &acme).await;
    assert_eq!(trail.iter().filter(|action| *action == "protocol.attached").count(), 7);
    assert!(trail.contains(&"protocol.detached".to_owned()));
}

#[tokio::test]
async fn attachments_have_their_limits() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let path = protocol(&ada, &acme, least()).await;
    let attach = async |id: &str, label: usize| {
        let body = json!({ "label": "l".repeat(label) });
        ada.client.put(&format!("{path}/attachments/space/{id}")).json(&body).send().await
    };
    for (id, label, status) in [(128, 120, 200), (129, 120, 400), (1, 121, 400), (1, 0, 400)] {
        attach(&"i".repeat(id), label).await.expect(status);
    }
    for number in 1..100 {
        attach(&number.to_string(), 1).await.expect(200);
    }
    attach("one-more", 1).await.expect_error(400, "limit_reached", "A protocol has at most 100 attachments.");
    attach("1", 2).await.expect(200);
}

#[tokio::test]
async fn an_organization_has_at_most_a_hundred_protocols() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    for _ in 0..100 {
        make(&ada, &acme, least()).await.expect(201);
    }
    let refused = make(&ada, &acme, least()).await;
    refused.expect_error(400, "limit_reached", "An organization has at most 100 protocols.");
}

#[tokio::test]
async fn a_protocol_is_made_once_for_one_idempotency_key() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let send = || {
        let call = ada.client.post(&format!("{acme}/notify/protocols")).header("idempotency-key", "once");
        call.json(&least()).send()
    };
    let (first, second) = (send().await.expect(201), send().await.expect(201));
    assert_eq!(first.json, second.json);
    assert_eq!(
        ada.client.get(&format!("{acme}/notify/protocols")).send().await.expect(200).list("/protocols").len(),
        1
    );
}

#[tokio::test]
async fn a_protocol_is_attached_to_its_organization_in_the_commit_that_makes_it_where_that_is_asked_for() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let own = json!([{ "resourceType": "org", "resourceId": acme.rsplit('/').next().unwrap() }]);
    let mut body = least();
    body["attach"] = json!(true);
    for body in [body, json!({ "template": "vip-mail", "attach": true })] {
        let made = make(&ada, &acme, body).await.expect(201);
        assert_eq!(made.json["protocol"]["attachments"], own, "{}", made.text);
        assert_eq!(made.json["protocol"]["active"], true);
        assert!(made.json["protocol"].get("inactive").is_none(), "{}", made.text);
        let path = format!("{acme}/notify/protocols/{}", made.str("/protocol/protocolId"));
        let read = ada.client.get(&path).send().await.expect(200);
        assert_eq!(read.json, made.json);
    }
    assert_eq!(actions(&ada, &acme).await, ["protocol.made", "protocol.made"], "one commit, one entry");
    let mut left = least();
    left["attach"] = json!(false);
    let made = make(&ada, &acme, left).await.expect(201);
    assert_eq!(made.json["protocol"]["attachments"], json!([]));
}

#[tokio::test]
async fn a_protocol_that_does_nothing_says_so_and_why() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let path = protocol(&ada, &acme, least()).await;
    let read = async || {
        let listed = ada.client.get(&format!("{acme}/notify/protocols")).send().await.expect(200);
        let one = ada.client.get(&path).send().await.expect(200);
        assert_eq!(listed.json["protocols"][0], one.json["protocol"]);
        (one.json["protocol"]["active"].clone(), one.json["protocol"]["inactive"]["reason"].clone(), one)
    };
    let (active, reason, answer) = read().await;
    assert_eq!((active, reason), (json!(false), json!("not_attached")));
    let message =
        "It is attached to nothing, so it applies to no event. Attach it to the organization or to a part of it.";
    assert_eq!(answer.str("/protocol/inactive/message"), message);

    let attachment = format!("{path}/attachments/project/prj_1");
    let attached = ada.client.put(&attachment).json(&json!({})).send().await.expect(200);
    assert_eq!(attached.json["protocol"]["active"], true);
    let changed = change(&ada, &path, json!({ "enabled": false })).await.expect(200);
    assert_eq!(changed.json["protocol"]["active"], false);
    assert_eq!(changed.str("/protocol/inactive/reason"), "disabled");
    change(&ada, &path, json!({ "enabled": true })).await.expect(200);
    let detached = ada.client.delete(&attachment).send().await.expect(200);
    assert_eq!(detached.str("/protocol/inactive/reason"), "not_attached");
}
