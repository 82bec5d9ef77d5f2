//! `POST …/calendars/:calendarId/events`, `GET …/events/:eventId`

use serde_json::{Value, json};

use super::{HOUR, House, meeting, utc, with};

#[tokio::test]
async fn an_event_is_made_and_shown() {
    let house = House::new().await;
    let body = json!({
        "summary": " Review ", "description": "Of all.\n", "location": "Vienna", "start": "2026-11-23T09:00",
        "end": "2026-11-23T10:00:00", "timeZone": "W. Europe Standard Time", "busyStatus": "oof",
        "sensitivity": "private", "reminders": [5, 10, 5], "categories": ["Work"], "url": "https://example.org",
        "status": "tentative",
    });
    let made = house.mailbox.event(body).await;
    let id = made.str("/event/eventId").to_owned();
    let start = utc("2026-11-23T08:00");
    assert_eq!(
        made.json["event"],
        json!({
            "eventId": id, "calendarId": house.mailbox.calendar, "uid": made.str("/event/uid"), "version": 1,
            "summary": "Review", "description": "Of all.\n", "location": "Vienna", "allDay": false, "start": start,
            "end": start + HOUR, "startLocal": "2026-11-23T09:00:00", "endLocal": "2026-11-23T10:00:00",
            "timeZone": "Europe/Berlin", "organizer": null, "attendees": [], "isOrganizer": true, "myStatus": null,
            "status": "tentative", "busyStatus": "oof", "sensitivity": "private", "reminders": [10, 5],
            "categories": ["Work"], "url": "https://example.org", "recurrence": null, "rrule": null,
            "exceptions": [], "sequence": 0
        })
    );
    let shown = house.mailbox.show(&id).await.expect(200);
    assert_eq!(shown.json["event"], made.json["event"]);
    house.mailbox.show("evt_01jd7rt4m5e9fv2w8x3c6k0hqz").await.expect_error(404, "not_found", "Event not found");
}

#[tokio::test]
async fn what_is_not_said_has_its_default() {
    let house = House::new().await;
    let body = json!({"start": "2026-11-23T09:00", "end": "2026-11-23T09:00", "timeZone": "utc"});
    let event = house.mailbox.event(body).await.json["event"].clone();
    for (field, value) in [
        ("summary", json!("")),
        ("status", json!("confirmed")),
        ("busyStatus", json!("busy")),
        ("sensitivity", json!("normal")),
        ("reminders", json!([])),
        ("url", Value::Null),
        ("timeZone", json!("UTC")),
    ] {
        assert_eq!(event[field], value, "{field}");
    }
}

#[tokio::test]
async fn whole_days_end_with_the_day_before_the_end() {
    let house = House::new().await;
    let days = json!({
        "start": "2026-11-23", "end": "2026-11-25", "allDay": true, "timeZone": "Europe/Vienna",
    });
    let event = house.mailbox.event(days).await;
    assert_eq!((event.str("/event/startLocal"), event.str("/event/endLocal")), ("2026-11-23", "2026-11-25"));
    assert_eq!(event.int("/event/start"), utc("2026-11-22T23:00"));
    assert_eq!(event.int("/event/end"), utc("2026-11-24T23:00"));
    let found = house.mailbox.between(utc("2026-11-24T00:00"), utc("2026-11-24T01:00")).await;
    assert_eq!((&found[0]["startDate"], &found[0]["endDate"]), (&json!("2026-11-23"), &json!("2026-11-25")));
    assert_eq!((&found[0]["allDay"], &found[0]["recurrenceId"]), (&json!(true), &Value::Null));
}

#[tokio::test]
async fn a_rule_is_shown_as_it_was_sent_and_as_a_text() {
    let house = House::new().await;
    let rule = json!({"freq": "monthly", "interval": 2, "count": 3, "byDay": [{"day": "MO", "nth": -1}]});
    let event = house.mailbox.event(with(meeting(), "recurrence", rule.clone())).await;
    assert_eq!(event.json["event"]["recurrence"], rule);
    assert_eq!(event.str("/event/rrule"), "FREQ=MONTHLY;COUNT=3;INTERVAL=2;BYDAY=-1MO");
}

#[tokio::test]
async fn everything_that_is_wrong_with_an_event_is_named() {
    let house = House::new().await;
    let refused = |body: Value| house.mailbox.try_make(body);
    refused(json!({})).await.expect_problems(&["start", "end", "timeZone"]);
    for (field, value, path) in [
        ("summary", json!("a".repeat(1_001)), "summary"),
        ("summary", json!("a\u{0}"), "summary"),
        ("description", json!("a".repeat(64_001)), "description"),
        ("location", json!("a".repeat(2_001)), "location"),
        ("url", json!("a".repeat(2_001)), "url"),
        ("reminders", json!([1, 2, 3, 4, 5, 6]), "reminders"),
        ("reminders", json!([-10_081]), "reminders[0]"),
        ("reminders", json!([40_321]), "reminders[0]"),
        ("categories", json!(vec!["a"; 31]), "categories"),
        ("categories", json!([""]), "categories[0]"),
        ("busyStatus", json!("away"), "busyStatus"),
        ("sensitivity", json!("secret"), "sensitivity"),
        ("status", json!("maybe"), "status"),
        ("timeZone", json!("Mars"), "timeZone"),
        ("start", json!("2026-11-23 09:00"), "start"),
        ("end", json!("2026-11-23T08:59"), "end"),
        ("attendees", json!([{"email": "nobody"}]), "attendees[0].email"),
        ("attendees", json!([{"email": "a@x.example", "name": "a".repeat(201)}]), "attendees[0].name"),
        ("recurrence", json!({"freq": "hourly"}), "recurrence.freq"),
        ("recurrence", json!({"freq": "daily", "interval": 1_000}), "recurrence.interval"),
        ("recurrence", json!({"freq": "daily", "interval": 0}), "recurrence.interval"),
        ("recurrence", json!({"freq": "daily", "count": 5_001}), "recurrence.count"),
        ("recurrence", json!({"freq": "daily", "count": 1, "until": "2027-01-01"}), "recurrence.until"),
        ("recurrence", json!({"freq": "daily", "until": "2026-11-22"}), "recurrence.until"),
        ("recurrence", json!({"freq": "monthly", "byMonthDay": [32]}), "recurrence.byMonthDay"),
        ("recurrence", json!({"freq": "yearly", "byMonth": [13]}), "recurrence.byMonth"),
        ("recurrence", json!({"freq": "weekly", "byDay": [{"day": "XX"}]}), "recurrence.byDay[0].day"),
        ("recurrence", json!({"freq": "daily", "bySetPos": [1]}), "recurrence.bySetPos"),
    ] {
        refused(with(meeting(), field, value)).await.expect_problems(&[path]);
    }
}

#[tokio::test]
async fn what_is_at_its_limit_is_taken() {
    let house = House::new().await;
    let people: Vec<_> = (0..200).map(|at| json!({"email": format!("p{at}@x.example")})).collect();
    for (field, value) in [
        ("summary", json!("é".repeat(1_000))),
        ("description", json!("é".repeat(64_000))),
        ("location", json!("é".repeat(2_000))),
        ("url", json!("é".repeat(2_000))),
        ("reminders", json!([-10_080, 0, 1, 2, 40_320])),
        ("categories", json!(vec!["é".repeat(100); 30])),
        ("attendees", json!(people)),
        ("recurrence", json!({"freq": "daily", "interval": 999, "count": 5_000})),
        ("start", json!("0001-01-01T00:00")),
        ("end", json!("9999-12-31T23:59:59")),
    ] {
        house.mailbox.event(with(with(meeting(), field, value), "notify", json!(false))).await;
    }
    let more: Vec<_> = (0..201).map(|at| json!({"email": format!("p{at}@x.example")})).collect();
    house.mailbox.try_make(with(meeting(), "attendees", json!(more))).await.expect_problems(&["attendees"]);
}

#[tokio::test]
async fn a_post_that_is_repeated_with_its_key_makes_one_event() {
    let house = House::new().await;
    let path = format!("{}/calendars/{}/events", house.mailbox.path, house.mailbox.calendar);
    let make = || house.mailbox.client.post(&path).header("idempotency-key", "one").json(&meeting()).send();
    let (first, second) = (make().await.expect(201), make().await.expect(201));
    assert_eq!(first.json, second.json);
    assert_eq!(house.mailbox.starts("2026-11-23", "2026-11-24").await.len(), 1);
}
