//! `GET …/availability`

use serde_json::{Value, json};

use super::{HOUR, House, Mailbox, meeting, utc, with};
use crate::{
    accounts::{join, org},
    harness::Answer,
};

async fn ask(mailbox: &Mailbox, query: &str) -> Answer {
    let (from, to) = (utc("2026-11-23"), utc("2026-11-24"));
    mailbox.get(&format!("availability?from={from}&to={to}&{query}")).await
}

#[tokio::test]
async fn times_and_kinds_are_told_and_nothing_else() {
    let house = House::new().await;
    let (_, bob) = house.colleague("bob").await;
    bob.event(meeting()).await;
    let from = |start: &str, end: &str| with(with(meeting(), "start", json!(start)), "end", json!(end));
    bob.event(with(from("2026-11-23T09:30", "2026-11-23T11:00"), "busyStatus", json!("oof"))).await;
    bob.event(with(from("2026-11-23T12:00", "2026-11-23T13:00"), "busyStatus", json!("free"))).await;
    bob.event(with(from("2026-11-23T14:00", "2026-11-23T15:00"), "status", json!("cancelled"))).await;
    bob.event(with(from("2026-11-23T16:00", "2026-11-23T17:00"), "status", json!("tentative"))).await;
    let query = format!("emails={},stranger@example.net&self=1", bob.address.to_uppercase());
    let answer = ask(&house.mailbox, &query).await.expect(200);
    let nine = utc("2026-11-23T08:00");
    assert_eq!(
        answer.json["people"],
        json!([
            {"email": house.mailbox.address, "known": true, "busy": [], "self": true},
            {
                "email": bob.address, "known": true, "busy": [
                    {"start": nine, "end": nine + HOUR / 2, "status": "busy"},
                    {"start": nine + HOUR / 2, "end": nine + 2 * HOUR, "status": "oof"},
                    {"start": nine + 7 * HOUR, "end": nine + 8 * HOUR, "status": "tentative"}
                ]
            },
            {"email": "stranger@example.net", "known": false, "busy": []}
        ])
    );
}

#[tokio::test]
async fn an_event_is_left_out_by_its_uid() {
    let house = House::new().await;
    let made = house.mailbox.event(meeting()).await;
    let busy = |answer: Answer| answer.expect(200).list("/people/0/busy").len();
    assert_eq!(busy(ask(&house.mailbox, "self=1").await), 1);
    assert_eq!(busy(ask(&house.mailbox, &format!("self=1&excludeUid={}", made.str("/event/uid"))).await), 0);
    ask(&house.mailbox, &format!("self=1&excludeUid={}", "a".repeat(1_000))).await.expect(200);
    ask(&house.mailbox, &format!("self=1&excludeUid={}", "a".repeat(1_001))).await.expect_problems(&["excludeUid"]);
}

#[tokio::test]
async fn a_member_is_known_by_the_address_of_their_account() {
    let house = House::new().await;
    let (bob, theirs) = house.colleague("bob").await;
    theirs.event(meeting()).await;
    let carol = house.server.person("carol").await;
    join(&house.ada, &house.org, &carol, "viewer").await;
    let eve = house.server.person("eve").await;
    let elsewhere = org(&eve, "Elsewhere").await;
    let strange = Mailbox::make(&eve, &elsewhere, "eve", &eve).await;
    let query = format!("emails={},{},{},{}", bob.email, carol.email, eve.email, strange.address);
    let answer = ask(&house.mailbox, &query).await.expect(200);
    let known: Vec<&Value> = answer.list("/people").iter().map(|it| &it["known"]).collect();
    assert_eq!(known, [&json!(true), &json!(true), &json!(false), &json!(false)]);
    assert_eq!(answer.list("/people/0/busy").len(), 1);
}

#[tokio::test]
async fn days_are_those_of_the_zone_that_is_named() {
    let house = House::new().await;
    let days = json!({"start": "2026-11-23", "end": "2026-11-24", "allDay": true, "timeZone": "Europe/Vienna"});
    house.mailbox.event(days).await;
    let (from, to) = (utc("2026-11-22"), utc("2026-11-26"));
    let start = |zone: &str| {
        house
            .mailbox
            .client
            .get(&format!("{}/availability?self=1&from={from}&to={to}&timeZone={zone}", house.mailbox.path))
            .send()
    };
    assert_eq!(start("America/New_York").await.expect(200).int("/people/0/busy/0/start"), utc("2026-11-23T05:00"));
    assert_eq!(start("UTC").await.expect(200).int("/people/0/busy/0/start"), utc("2026-11-23"));
    start("Mars").await.expect_problems(&["timeZone"]);
}

#[tokio::test]
async fn twenty_addresses_are_asked_for_and_no_more() {
    let house = House::new().await;
    let list = |count: usize| (0..count).map(|at| format!("p{at}@x.example")).collect::<Vec<_>>().join(",");
    let text = "Ask for at most 20 addresses at a time.";
    for (query, people) in [
        (format!("emails={}", list(19)), 19),
        (format!("emails={}", list(20)), 20),
        (format!("emails={}&self=1", list(19)), 20),
    ] {
        assert_eq!(ask(&house.mailbox, &query).await.expect(200).list("/people").len(), people);
    }
    ask(&house.mailbox, &format!("emails={}", list(21))).await.expect_error(400, "too_many_addresses", text);
    ask(&house.mailbox, &format!("emails={}&self=1", list(20))).await.expect_error(400, "too_many_addresses", text);
    for query in ["", "emails=", "emails=,%20,", "self=0"] {
        ask(&house.mailbox, query).await.expect_error(400, "no_address", "Ask for at least one address.");
    }
    ask(&house.mailbox, "self=2").await.expect_problems(&["self"]);
    ask(&house.mailbox, &format!("emails={}", "a".repeat(4_001))).await.expect_problems(&["emails"]);
    ask(&house.mailbox, &format!("emails={}", "a".repeat(4_000))).await.expect(200);
}

#[tokio::test]
async fn a_window_has_62_days() {
    let house = House::new().await;
    let day = 24 * HOUR;
    for (to, status) in [(62 * day - 1, 200), (62 * day, 200), (62 * day + 1, 400)] {
        house.mailbox.get(&format!("availability?self=1&from=0&to={to}")).await.expect(status);
    }
}
