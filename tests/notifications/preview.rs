//! `/v1/orgs/:orgId/notify/protocols/:protocolId/preview`

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

async fn protocol(by: &Person, org: &str, rules: Value) -> String {
    let body = json!({ "name": "Nights", "rules": rules });
    let made = by.client.post(&format!("{org}/notify/protocols")).json(&body).send().await.expect(201);
    format!("{org}/notify/protocols/{}", made.str("/protocol/protocolId"))
}

async fn preview(by: &Person, protocol: &str, query: &str) -> Answer {
    by.client.get(&format!("{protocol}/preview?{query}")).send().await
}

/// The channels of a person in a preview, as one line.
fn channels(person: &Value) -> String {
    let line = |channel: &Value| {
        let how = channel["whyNot"].as_str().or(channel["target"].as_str()).unwrap_or("used");
        format!("{} {how}", channel["channel"].as_str().unwrap())
    };
    person["channels"].as_array().unwrap().iter().map(line).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn it_says_who_is_told_when_over_what_and_why_not_otherwise() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "developer").await;
    let rules = json!([
        { "events": ["ops.alarm"], "roles": ["owner"], "match": { "severity": ["critical"] }, "steps": [
            { "afterMinutes": 0, "channels": { "email": true, "inapp": true, "push": true } },
            { "afterMinutes": 5, "channels": { "sms": true, "voice": true } },
        ] },
        { "events": ["ops.alarm"], "steps": [{ "afterMinutes": 0, "channels": { "inapp": true } }] },
        { "events": ["mail.vip"], "steps": [{ "afterMinutes": 0, "channels": { "inapp": true } }] },
    ]);
    let path = protocol(&ada, &acme, rules).await;
    let query = format!("event=ops.alarm&data=%7B%22severity%22:%22critical%22%7D&userIds={}", grace.user_id);
    let seen = preview(&ada, &path, &query).await.expect(200);
    let now = server.clock.now().0;
    assert_eq!((seen.int("/at"), &seen.json["enabled"], &seen.json["attached"]), (now, &json!(true), &json!(false)));
    let steps = seen.list("/rules/0/steps");
    assert_eq!((&steps[0]["at"], &steps[1]["at"]), (&json!(now), &json!(now + 5 * MINUTE)));
    let told = &steps[0]["people"][0];
    assert_eq!(
        (&told["userId"], &told["name"], &told["because"]),
        (&json!(ada.user_id), &json!("ada"), &json!("role"))
    );
    assert_eq!(channels(told), "email ada@example.org, sms not_chosen, push no_device, voice not_chosen, inapp used");
    let texts = "email not_chosen, sms no_confirmed_phone, push not_chosen, voice no_confirmed_phone, inapp not_chosen";
    assert_eq!(channels(&steps[1]["people"][0]), texts);
    let concerned = &seen.list("/rules/1/steps")[0]["people"][0];
    assert_eq!((&concerned["userId"], &concerned["because"]), (&json!(grace.user_id), &json!("concerned")));
    assert_eq!((&seen.json["rules"][2]["applies"], seen.str("/rules/2/whyNot")), (&json!(false), "other_events"));

    let low = preview(&ada, &path, "event=ops.alarm&data=%7B%22severity%22:%22low%22%7D").await.expect(200);
    assert_eq!((low.str("/rules/0/whyNot"), low.list("/rules/0/steps").len()), ("no_match", 0));
}

#[tokio::test]
async fn it_shows_what_quiet_hours_hold_back_and_until_when() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let phone = ada.sign_in("mail", "ios").await;
    let device = json!({ "token": "a-token", "platform": "ios", "appId": "mail", "name": "Phone", "model": "iPhone",
        "osVersion": "20", "appVersion": "1" });
    phone.put("/v1/me/notifications/devices/phone-1").json(&device).send().await.expect(200);
    let quiet = json!({ "quietHours": { "start": "11:00", "end": "14:00", "allowUrgent": false } });
    ada.client.put("/v1/me/notifications/settings/prefs").json(&quiet).send().await.expect(200);
    let step = json!({ "afterMinutes": 0, "channels": { "push": true, "email": true } });
    let held = json!({ "events": ["ops.alarm"], "steps": [step] });
    let through = json!({ "events": ["ops.alarm"], "steps": [step], "overrideQuietHours": true });
    let path = protocol(&ada, &acme, json!([held, through])).await;
    let seen = preview(&ada, &path, "event=ops.alarm").await.expect(200);
    let push = |rule: usize| {
        let channels = seen.json["rules"][rule]["steps"][0]["people"][0]["channels"].as_array().unwrap();
        channels.iter().find(|channel| channel["channel"] == "push").unwrap().clone()
    };
    let now = server.clock.now().0;
    let until = now + 2 * HOUR;
    let expected = json!({ "channel": "push", "used": true, "at": until, "quietUntil": until, "target": "ios (mail)" });
    assert_eq!(push(0), expected);
    assert_eq!(push(1), json!({ "channel": "push", "used": true, "at": now, "target": "ios (mail)" }));
}

#[tokio::test]
async fn it_follows_rotas_and_counts_back_from_a_start() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let body = json!({ "name": "Ops", "people": [grace.user_id, ada.user_id],
        "handover": { "every": "day", "at": "12:00" } });
    let rota = ada.client.post(&format!("{acme}/notify/rotas")).json(&body).send().await.expect(201);
    let step = |minutes: i64| json!({ "afterMinutes": minutes, "channels": { "inapp": true }, "rota": rota.str("/rota/rotaId") });
    let after = json!({ "events": ["ops.alarm"], "steps": [step(0), step(1_440)] });
    let before = json!({ "events": ["calendar.meeting_soon"], "beforeEvent": true, "steps": [step(15), step(5)] });
    let path = protocol(&ada, &acme, json!([after, before])).await;
    let seen = preview(&ada, &path, "event=ops.alarm").await.expect(200);
    let names: Vec<_> =
        seen.list("/rules/0/steps").iter().map(|step| step["people"][0]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["grace", "ada"]);
    assert_eq!(seen.str("/rules/0/steps/0/people/0/because"), "rota");

    let now = server.clock.now().0;
    let start = now + HOUR;
    let meeting = preview(&ada, &path, &format!("event=calendar.meeting_soon&startsAt={start}")).await.expect(200);
    let times: Vec<_> = meeting.list("/rules/1/steps").iter().map(|step| step["at"].as_i64().unwrap()).collect();
    assert_eq!(times, [start - 15 * MINUTE, start - 5 * MINUTE]);
    let without = preview(&ada, &path, "event=calendar.meeting_soon").await.expect(200);
    assert_eq!(without.str("/rules/1/whyNot"), "no_start");

    // Whoever has left is passed over, and a rota without anybody is nobody's.
    ada.client.delete(&format!("{acme}/members/{}", grace.user_id)).send().await.expect(200);
    let left = preview(&ada, &path, "event=ops.alarm").await.expect(200);
    assert_eq!(left.str("/rules/0/steps/0/people/0/name"), "ada");
}

#[tokio::test]
async fn it_names_who_would_not_be_told() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let step = json!({ "afterMinutes": 0, "channels": { "inapp": true } });
    let named = json!({ "events": ["ops.alarm"], "userIds": [grace.user_id], "steps": [step] });
    let developers = json!({ "events": ["ops.alarm"], "roles": ["developer"], "steps": [step] });
    let path = protocol(&ada, &acme, json!([named, developers])).await;
    ada.client.delete(&format!("{acme}/members/{}", grace.user_id)).send().await.expect(200);
    let seen = preview(&ada, &path, "event=ops.alarm").await.expect(200);
    let gone = json!({ "userId": grace.user_id, "name": "grace", "whyNot": "not_a_member" });
    assert_eq!(seen.json["rules"][0]["steps"][0]["others"], json!([gone]));
    assert_eq!(seen.json["rules"][1]["steps"][0]["others"], json!([{ "whyNot": "nobody_named" }]));
    assert_eq!(seen.json["rules"][0]["reachesNobody"], true);
}

#[tokio::test]
async fn what_can_not_be_looked_at_is_400_and_only_writers_look() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "developer").await;
    let step = json!({ "afterMinutes": 0, "channels": { "inapp": true } });
    let path = protocol(&ada, &acme, json!([{ "events": ["ops.alarm"], "steps": [step] }])).await;
    for (query, problem) in [
        ("event=vehicles.moved", "event"),
        ("event=ops.alarm&data=1", "data"),
        ("event=ops.alarm&data=%5B%5D", "data"),
        ("event=ops.alarm&userIds=ada", "userIds"),
        ("event=ops.alarm&at=-1", "at"),
        ("event=ops.alarm&startsAt=221845392000001", "startsAt"),
    ] {
        preview(&ada, &path, query).await.expect_problems(&[problem]);
    }
    preview(&ada, &path, "").await.expect(400);
    let many = |count: usize| format!("event=ops.alarm&userIds={}", vec![ada.user_id.as_str(); count].join(","));
    preview(&ada, &path, &many(50)).await.expect(200);
    preview(&ada, &path, &many(51)).await.expect_problems(&["userIds"]);
    preview(&grace, &path, "event=ops.alarm").await.expect(403);
    let unknown = format!("{acme}/notify/protocols/ptc_01jd7rt4m5e9fv2w8x3c6k0hqz");
    preview(&ada, &unknown, "event=ops.alarm").await.expect_error(404, "not_found", "Protocol not found.");
}
