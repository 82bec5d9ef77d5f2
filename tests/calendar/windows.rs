//! `GET …/events`, `GET …/calendar/mine`

use serde_json::json;

use super::{DAY, HOUR, House, Mailbox, meeting, ten_days, utc, with};
use crate::harness::Answer;

const WINDOW_TOO_LONG: &str = "window_too_long";

#[tokio::test]
async fn a_series_keeps_its_time_on_the_wall_where_clocks_change() {
    let house = House::new().await;
    let body = json!({
        "summary": "Monday", "start": "2027-03-22T09:00", "end": "2027-03-22T10:00", "timeZone": "Europe/Vienna",
        "recurrence": {"freq": "weekly", "byDay": [{"day": "MO"}]},
    });
    house.mailbox.event(body).await;
    let found = house.mailbox.between(utc("2027-03-01"), utc("2027-04-12")).await;
    let starts: Vec<_> = found.iter().map(|it| it["start"].as_i64().unwrap()).collect();
    // Clocks go forward on the 28th of March.
    assert_eq!(starts, [utc("2027-03-22T08:00"), utc("2027-03-29T07:00"), utc("2027-04-05T07:00")]);
    let ids: Vec<_> = found.iter().map(|it| it["recurrenceId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["2027-03-22T09:00:00", "2027-03-29T09:00:00", "2027-04-05T09:00:00"]);
    assert_eq!((&found[0]["recurring"], &found[0]["isException"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn what_reaches_into_a_window_is_in_it_and_what_touches_it_is_not() {
    let house = House::new().await;
    house.mailbox.event(meeting()).await;
    let (start, end) = (utc("2026-11-23T08:00"), utc("2026-11-23T09:00"));
    for (from, to, count) in [
        (start, start + 1, 1),
        (start - 1, start, 0),
        (end - 1, end, 1),
        (end, end + 1, 0),
        (start - DAY, end + DAY, 1),
        (start + 1, end - 1, 1),
    ] {
        assert_eq!(house.mailbox.between(from, to).await.len(), count, "{from} {to}");
    }
}

#[tokio::test]
async fn events_of_more_than_a_month_and_without_length_are_found() {
    let house = House::new().await;
    let times = |start: &str, end: &str| with(with(meeting(), "start", json!(start)), "end", json!(end));
    house.mailbox.event(times("2026-01-01T09:00", "2026-12-31T09:00")).await;
    house.mailbox.event(times("2026-06-01T09:00", "2026-07-02T09:00")).await;
    house.mailbox.event(times("2026-07-02T08:00", "2026-07-02T08:00")).await;
    let found = house.mailbox.between(utc("2026-07-02T06:00"), utc("2026-07-02T06:01")).await;
    assert_eq!(found.len(), 3);
    assert_eq!(house.mailbox.between(utc("2026-07-02T06:01"), utc("2026-07-02T06:02")).await.len(), 2);
    assert_eq!(house.mailbox.between(utc("2026-08-02T06:00"), utc("2026-08-02T06:02")).await.len(), 1);
}

#[tokio::test]
async fn a_window_has_its_days_and_no_millisecond_more() {
    let house = House::new().await;
    let mine =
        |from: i64, to: i64| house.ada.client.get(&format!("{}/mail/calendar/mine?from={from}&to={to}", house.org));
    let events =
        |from: i64, to: i64| house.mailbox.client.get(&format!("{}/events?from={from}&to={to}", house.mailbox.path));
    events(0, 400 * DAY).send().await.expect(200);
    let text = "Choose a window of at most 400 days.";
    events(0, 400 * DAY + 1).send().await.expect_error(400, WINDOW_TOO_LONG, text);
    events(i64::MIN, i64::MAX).send().await.expect_error(400, WINDOW_TOO_LONG, text);
    events(5, 5).send().await.expect_problems(&["to"]);
    mine(0, 62 * DAY).send().await.expect(200);
    let text = "Choose a window of at most 62 days.";
    mine(0, 62 * DAY + 1).send().await.expect_error(400, WINDOW_TOO_LONG, text);
    house.mailbox.event(with(meeting(), "recurrence", json!({"freq": "daily"}))).await;
    let last = utc("9999-12-31");
    for (from, to) in [(i64::MIN, i64::MIN + DAY), (i64::MAX - DAY, i64::MAX), (last, last + 10 * DAY)] {
        events(from, to).send().await.expect(200);
        mine(from, to).send().await.expect(200);
    }
    house.mailbox.get("events?from=a&to=1").await.expect_problems(&["from"]);
    house.mailbox.get("events?to=1").await.expect_problems(&["from"]);
}

#[tokio::test]
async fn calendars_are_picked_and_one_that_is_not_there_is_404() {
    let house = House::new().await;
    let made = house.mailbox.post("calendars", json!({"name": "Team"})).await.expect(201);
    let team = made.str("/calendar/calendarId").to_owned();
    house.mailbox.event(meeting()).await;
    house.mailbox.post(&format!("calendars/{team}/events"), meeting()).await.expect(201);
    let (from, to) = (utc("2026-11-23"), utc("2026-11-24"));
    let look = |ids: &str| {
        house.mailbox.client.get(&format!("{}/events?from={from}&to={to}&calendarId={ids}", house.mailbox.path)).send()
    };
    let count = |answer: Answer| answer.expect(200).list("/occurrences").len();
    assert_eq!(count(look("").await), 2);
    assert_eq!(count(look(&team).await), 1);
    let both = format!("{team},{}", house.mailbox.calendar);
    assert_eq!(count(look(&both).await), 2);
    let never = "cal_01jd7rt4m5e9fv2w8x3c6k0hqz";
    look(never).await.expect_error(404, "not_found", "Calendar not found");
    look("nonsense").await.expect_error(404, "not_found", "Calendar not found");
    look(&"a".repeat(2_001)).await.expect_problems(&["calendarId"]);
    look(&"a".repeat(2_000)).await.expect(404);
}

#[tokio::test]
async fn an_answer_has_twenty_thousand_occurrences_and_no_more() {
    let house = House::new().await;
    let daily = with(meeting(), "recurrence", json!({"freq": "daily"}));
    // 400 of each of these lie in a window.
    for _ in 0..50 {
        house.mailbox.event(daily.clone()).await;
    }
    let (from, to) = (utc("2027-01-01"), utc("2027-01-01") + 400 * DAY);
    assert_eq!(house.mailbox.between(from, to).await.len(), 20_000);
    let one_more = with(with(meeting(), "start", json!("2027-01-02T09:00")), "end", json!("2027-01-02T10:00"));
    house.mailbox.event(one_more).await;
    let refused = house.mailbox.get(&format!("events?from={from}&to={to}")).await;
    refused.expect_error(400, "too_many_occurrences", "Choose a shorter window.");
}

#[tokio::test]
async fn my_events_are_those_of_all_my_mailboxes_without_what_leaves_me_free() {
    let house = House::new().await;
    let second = Mailbox::make(&house.ada, &house.org, "second", &house.ada).await;
    let (_, others) = house.colleague("bob").await;
    house.mailbox.event(meeting()).await;
    house.mailbox.event(with(meeting(), "status", json!("cancelled"))).await;
    house.mailbox.event(with(meeting(), "busyStatus", json!("free"))).await;
    others.event(meeting()).await;
    let later = with(with(meeting(), "start", json!("2026-11-23T11:00")), "end", json!("2026-11-23T12:00"));
    let later = second.event(with(later, "location", json!("Here"))).await;
    let (from, to) = (utc("2026-11-23"), utc("2026-11-24"));
    let mine = house.ada.client.get(&format!("{}/mail/calendar/mine?from={from}&to={to}", house.org)).send().await;
    let mine = mine.expect(200);
    let list = mine.list("/events");
    assert_eq!(list.len(), 2, "{}", mine.text);
    let start = utc("2026-11-23T10:00");
    assert_eq!(
        list[1],
        json!({
            "mailboxId": second.path.rsplit('/').next().unwrap(), "calendarId": second.calendar,
            "calendarName": "Calendar", "eventId": later.str("/event/eventId"), "summary": "Meeting", "start": start,
            "end": start + HOUR, "allDay": false, "location": "Here"
        })
    );
}

#[tokio::test]
async fn a_series_far_from_its_start_is_found_at_once() {
    let house = House::new().await;
    let long_ago = json!({
        "start": "0002-01-01T09:00", "end": "0002-01-01T10:00", "timeZone": "UTC", "recurrence": {"freq": "daily"},
    });
    house.mailbox.event(long_ago).await;
    assert_eq!(house.mailbox.starts("9998-01-01", "9998-01-03").await.len(), 2);
}

#[tokio::test]
async fn a_series_that_counts_ends() {
    let house = House::new().await;
    house.mailbox.event(ten_days()).await;
    assert_eq!(house.mailbox.starts("2026-11-01", "2027-11-01").await.len(), 10);
    assert_eq!(house.mailbox.starts("2026-12-03", "2026-12-04").await.len(), 0);
}
