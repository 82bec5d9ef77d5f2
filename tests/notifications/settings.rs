//! `/v1/me/notifications/settings`

use domain::notify::EventType;
use serde_json::{Value, json};

use crate::harness::{Client, Server, Socket};

async fn settings(client: &Client) -> Value {
    client.get("/v1/me/notifications/settings").send().await.expect(200).json
}

async fn prefs(client: &Client, body: Value) -> crate::harness::Answer {
    client.put("/v1/me/notifications/settings/prefs").json(&body).send().await
}

fn event<'s>(settings: &'s Value, kind: &str) -> &'s Value {
    settings["events"].as_array().expect("a list").iter().find(|event| event["type"] == kind).expect("the event")
}

#[tokio::test]
async fn whoever_chose_nothing_has_settings_all_the_same() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let mut settings = settings(&ada.client).await;
    let events = settings.as_object_mut().expect("an object").remove("events").expect("events");
    assert_eq!(
        settings,
        json!({
            "hasPhone": false, "callsAvailable": true, "quietHours": null, "timeZone": "UTC", "vipSenders": [],
            "meetingLeadMinutes": 10, "calendarReminders": true
        })
    );
    let kinds: Vec<_> = events.as_array().expect("a list").iter().map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds, EventType::all().iter().map(|event| Some(event.kind)).collect::<Vec<_>>());
    assert_eq!(
        events[62],
        json!({
            "type": "marketing.journey", "app": "marketing", "label": "Journey",
            "description": "A journey stopped, or somebody in it needs attention.", "channels": ["inapp"],
            "textsOff": true
        })
    );
    assert_eq!(events[60]["urgent"], true);
    assert_eq!(events[60].get("textsOff"), None);
}

#[tokio::test]
async fn a_change_touches_what_it_names_and_answers_everything() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let quiet = json!({ "start": "22:00", "end": "07:00", "days": [0, 6], "allowUrgent": true });
    let first = prefs(&ada.client, json!({ "quietHours": quiet, "timeZone": "europe/vienna" })).await.expect(200);
    assert_eq!(first.json["quietHours"], quiet);
    assert_eq!(first.json["timeZone"], "Europe/Vienna");
    let body = json!({ "vipSenders": ["  grace@example.com "], "meetingLeadMinutes": 0, "calendarReminders": false });
    let second = prefs(&ada.client, body).await.expect(200);
    assert_eq!(second.json["vipSenders"], json!(["grace@example.com"]));
    assert_eq!((&second.json["meetingLeadMinutes"], &second.json["calendarReminders"]), (&json!(0), &json!(false)));
    assert_eq!(second.json["quietHours"], quiet);
    assert_eq!(second.json, settings(&ada.client).await);
    let third = prefs(&ada.client, json!({ "quietHours": null })).await.expect(200);
    assert_eq!(third.json["quietHours"], Value::Null);
    assert_eq!(prefs(&ada.client, json!({})).await.expect(200).json, third.json);
}

#[tokio::test]
async fn the_profiles_time_zone_counts_until_another_is_chosen() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let profile = async |zone: &str| {
        ada.client.patch("/v1/me").json(&json!({ "timeZone": zone })).send().await.expect(200);
        settings(&ada.client).await["timeZone"].clone()
    };
    assert_eq!(profile("Europe/London").await, "Europe/London");
    assert_eq!(profile("Somewhere/Else").await, "UTC");
    prefs(&ada.client, json!({ "calendarReminders": false })).await.expect(200);
    assert_eq!(profile("Europe/London").await, "Europe/London");
    prefs(&ada.client, json!({ "timeZone": "Asia/Tokyo" })).await.expect(200);
    assert_eq!(profile("Europe/Paris").await, "Asia/Tokyo");
}

#[tokio::test]
async fn every_limit_of_the_settings_holds_on_both_sides() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let good = async |body: Value| drop(prefs(&ada.client, body).await.expect(200));
    let bad = async |body: Value, paths: &[&str]| drop(prefs(&ada.client, body).await.expect_problems(paths));
    good(json!({ "meetingLeadMinutes": 120 })).await;
    bad(json!({ "meetingLeadMinutes": 121 }), &["meetingLeadMinutes"]).await;
    bad(json!({ "meetingLeadMinutes": -1 }), &["meetingLeadMinutes"]).await;
    let senders = |count: usize, length: usize| -> Vec<String> {
        (0..count).map(|number| format!("{number:0>length$}")).collect()
    };
    good(json!({ "vipSenders": senders(100, 254) })).await;
    bad(json!({ "vipSenders": senders(101, 3) }), &["vipSenders"]).await;
    bad(json!({ "vipSenders": senders(1, 255) }), &["vipSenders[0]"]).await;
    bad(json!({ "timeZone": "" }), &["timeZone"]).await;
    bad(json!({ "timeZone": "Europe/Atlantis" }), &["timeZone"]).await;
    bad(json!({ "timeZone": "x".repeat(65) }), &["timeZone"]).await;
    let quiet = |start: &str, end: &str, days: Value| json!({ "quietHours": { "start": start, "end": end, "days": days, "allowUrgent": false } });
    good(quiet("00:00", "23:59", json!([0, 1, 2, 3, 4, 5, 6]))).await;
    good(quiet("23:59", "00:00", json!([6, 6, 6, 6, 6, 6, 6]))).await;
    bad(quiet("24:00", "7:00", json!([])), &["quietHours.start", "quietHours.end"]).await;
    bad(quiet("22:60", "07:00", json!([7])), &["quietHours.start"]).await;
    bad(quiet("22:00", "07:00", json!([7])), &["quietHours.days"]).await;
    bad(quiet("22:00", "07:00", json!([1, 1, 1, 1, 1, 1, 1, 1])), &["quietHours.days"]).await;
    bad(quiet("22:00", "07:00", json!([-1])), &["quietHours.days[0]"]).await;
    bad(quiet("08:00", "08:00", json!([0, 1, 2, 3, 4, 5, 6])), &["quietHours"]).await;
}

#[tokio::test]
async fn unknown_fields_and_other_types_are_refused() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let bad = async |body: Value, paths: &[&str]| drop(prefs(&ada.client, body).await.expect_problems(paths));
    bad(json!({ "timezone": "UTC" }), &["timezone"]).await;
    let quiet = json!({ "start": "22:00", "end": "07:00", "allowUrgent": true, "color": "blue" });
    bad(json!({ "quietHours": quiet }), &["quietHours.color"]).await;
    bad(json!({ "quietHours": { "start": "22:00" } }), &["quietHours.end", "quietHours.allowUrgent"]).await;
    bad(json!({ "calendarReminders": "yes" }), &["calendarReminders"]).await;
    bad(json!({ "timeZone": null }), &["timeZone"]).await;
    assert_eq!(settings(&ada.client).await["timeZone"], "UTC");
}

#[tokio::test]
async fn the_channels_of_an_event_are_chosen_one_by_one() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let choose = async |kind: &str, channels: Value| {
        let path = format!("/v1/me/notifications/settings/events/{kind}");
        ada.client.put(&path).json(&json!({ "channels": channels })).send().await
    };
    let chosen = choose("ops.alarm", json!(["voice", "email"])).await.expect(200);
    assert_eq!(chosen.json["event"]["channels"], json!(["email", "voice"]));
    let after = settings(&ada.client).await;
    assert_eq!(*event(&after, "ops.alarm"), chosen.json["event"]);
    assert_eq!(event(&after, "feedback.bug")["channels"], json!(["email", "inapp"]));
    choose("ops.alarm", json!([])).await.expect(200);
    assert_eq!(event(&settings(&ada.client).await, "ops.alarm")["channels"], json!([]));

    choose("food.receipt", json!(["email", "push", "inapp"])).await.expect(200);
    choose("food.receipt", json!(["sms"])).await.expect_problems(&["channels"]);
    choose("food.receipt", json!(["voice", "inapp"])).await.expect_problems(&["channels"]);
    choose("ops.alarm", json!(["fax"])).await.expect_problems(&["channels[0]"]);
    choose("food.fight", json!([])).await.expect_error(404, "not_found", "There is no such event.");
}

#[tokio::test]
async fn other_devices_hear_of_other_settings() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let mut socket = Socket::live(&ada.client, 0).await;
    prefs(&ada.client, json!({ "meetingLeadMinutes": 5 })).await.expect(200);
    loop {
        if socket.message().await["type"] == "notify.settings_changed" {
            break;
        }
    }
}

#[tokio::test]
async fn a_server_that_can_not_call_says_so() {
    let server = Server::with(&["notify.calls=false"]).await;
    let ada = server.person("ada").await;
    assert_eq!(settings(&ada.client).await["callsAvailable"], false);
    let answer = ada.client.post("/v1/me/phone").json(&json!({ "phone": "+43 1 234567" })).send().await;
    answer.expect_error(409, "texts_unavailable", "This server can't send texts.");
}
