//! `PATCH|DELETE …/events/:eventId`: one occurrence, those that follow, all.

use serde_json::{Value, json};

use super::{DAY, HOUR, House, meeting, ten_days, utc, with};

const ONE: &str = "scope=one&recurrenceId=2026-11-25T09:00:00";
const FOLLOWING: &str = "scope=following&recurrenceId=2026-11-28T09:00:00";

/// The times of day, in universal time, at which something occurs on the ten days.
async fn hours(house: &House) -> Vec<(i64, i64)> {
    let first = utc("2026-11-23");
    let starts = house.mailbox.starts("2026-11-20", "2026-12-20").await;
    starts.iter().map(|start| ((start - first) / DAY, (start - first) % DAY / HOUR)).collect()
}

#[tokio::test]
async fn one_occurrence_is_moved_and_the_others_stay() {
    let house = House::new().await;
    let made = house.mailbox.event(ten_days()).await;
    let id = made.str("/event/eventId");
    let body = json!({"version": 1, "start": "2026-11-25T15:00", "end": "2026-11-25T16:30", "summary": "Later"});
    let changed = house.mailbox.patch(id, ONE, body).await.expect(200);
    let start = utc("2026-11-25T14:00");
    assert_eq!(
        changed.json["event"]["exceptions"],
        json!([{
            "recurrenceId": "2026-11-25T09:00:00", "start": start, "end": start + HOUR * 3 / 2,
            "startLocal": "2026-11-25T15:00:00", "endLocal": "2026-11-25T16:30:00", "summary": "Later", "location": "",
            "status": "confirmed", "myStatus": null
        }])
    );
    assert_eq!((changed.int("/event/version"), changed.int("/event/sequence")), (2, 1));
    let found = house.mailbox.between(utc("2026-11-25"), utc("2026-11-26")).await;
    assert_eq!(found.len(), 1);
    let one = &found[0];
    assert_eq!(
        (&one["summary"], &one["isException"], &one["recurrenceId"]),
        (&json!("Later"), &json!(true), &json!("2026-11-25T09:00:00"))
    );
    let mut expected: Vec<_> = (0..10).map(|day| (day, 8)).collect();
    expected[2] = (2, 14);
    assert_eq!(hours(&house).await, expected);
}

#[tokio::test]
async fn an_occurrence_that_was_moved_out_of_a_window_is_not_in_it() {
    let house = House::new().await;
    let made = house.mailbox.event(ten_days()).await;
    let body = json!({"version": 1, "start": "2027-06-01T09:00", "end": "2027-06-01T10:00"});
    house.mailbox.patch(made.str("/event/eventId"), ONE, body).await.expect(200);
    assert_eq!(house.mailbox.starts("2026-11-25", "2026-11-26").await.len(), 0);
    assert_eq!(house.mailbox.starts("2027-06-01", "2027-06-02").await.len(), 1);
    assert_eq!(house.mailbox.starts("2026-11-20", "2026-12-20").await.len(), 9);
}

#[tokio::test]
async fn what_follows_becomes_an_event_of_its_own() {
    let house = House::new().await;
    let made = house.mailbox.event(ten_days()).await;
    let id = made.str("/event/eventId");
    let body = json!({"version": 1, "start": "2026-11-28T11:00", "end": "2026-11-28T12:00"});
    let changed = house.mailbox.patch(id, FOLLOWING, body).await.expect(200);
    assert_ne!(changed.str("/following/eventId"), id);
    assert_ne!(changed.str("/following/uid"), changed.str("/event/uid"));
    assert_eq!(changed.int("/following/version"), 1);
    let expected: Vec<_> = (0..10).map(|day| (day, if day < 5 { 8 } else { 10 })).collect();
    assert_eq!(hours(&house).await, expected);
    let shown = house.mailbox.show(changed.str("/following/eventId")).await.expect(200);
    assert_eq!(shown.json["event"], changed.json["following"]);
}

#[tokio::test]
async fn all_of_a_series_moves_with_what_was_changed_alone() {
    let house = House::new().await;
    let made = house.mailbox.event(ten_days()).await;
    let id = made.str("/event/eventId");
    let one = json!({"version": 1, "start": "2026-11-25T15:00", "end": "2026-11-25T16:00"});
    house.mailbox.patch(id, ONE, one).await.expect(200);
    let all = json!({"version": 2, "start": "2026-11-24T10:00", "end": "2026-11-24T11:00"});
    house.mailbox.patch(id, "", all).await.expect(200);
    let mut expected: Vec<_> = (1..11).map(|day| (day, 9)).collect();
    expected[2] = (3, 15);
    assert_eq!(hours(&house).await, expected);
}

#[tokio::test]
async fn occurrences_are_deleted_one_or_those_that_follow_or_all() {
    let house = House::new().await;
    let made = house.mailbox.event(ten_days()).await;
    let id = made.str("/event/eventId");
    assert_eq!(house.mailbox.delete(id, ONE).await.expect(200).json, json!({"notified": {"sent": 0}}));
    house.mailbox.delete(id, ONE).await.expect_error(404, "not_found", "Event not found");
    assert_eq!(hours(&house).await.len(), 9);
    house.mailbox.delete(id, FOLLOWING).await.expect(200);
    assert_eq!(hours(&house).await, [(0, 8), (1, 8), (3, 8), (4, 8)]);
    house.mailbox.delete(id, "").await.expect(200);
    assert_eq!(hours(&house).await.len(), 0);
    house.mailbox.show(id).await.expect_error(404, "not_found", "Event not found");
}

#[tokio::test]
async fn a_change_of_another_version_is_refused() {
    let house = House::new().await;
    let made = house.mailbox.event(meeting()).await;
    let id = made.str("/event/eventId");
    let body = |version: i64| json!({"version": version, "summary": "A"});
    let stale = "This event was changed elsewhere.";
    house.mailbox.patch(id, "", body(0)).await.expect_error(409, "stale_revision", stale);
    house.mailbox.patch(id, "", body(2)).await.expect_error(409, "stale_revision", stale);
    house.mailbox.patch(id, "", body(1)).await.expect(200);
    house.mailbox.patch(id, "", body(1)).await.expect_error(409, "stale_revision", stale);
    house.mailbox.patch(id, "", json!({"summary": "A"})).await.expect_problems(&["version"]);
}

#[tokio::test]
async fn what_is_asked_of_occurrences_makes_sense() {
    let house = House::new().await;
    let made = house.mailbox.event(ten_days()).await;
    let id = made.str("/event/eventId");
    let patch = |query: &'static str, body: Value| house.mailbox.patch(id, query, body);
    let named = json!({"version": 1, "summary": "A"});
    patch("scope=some", named.clone()).await.expect_problems(&["scope"]);
    patch("notify=yes", named.clone()).await.expect_problems(&["notify"]);
    patch("scope=one", named.clone()).await.expect_problems(&["recurrenceId"]);
    for query in ["scope=one&recurrenceId=2026-11-25T09:01:00", "scope=following&recurrenceId=never"] {
        patch(query, named.clone()).await.expect_error(404, "not_found", "Event not found");
    }
    let zone = json!({"version": 1, "timeZone": "UTC", "attendees": []});
    patch(ONE, zone).await.expect_problems(&["timeZone", "attendees"]);
    patch("", json!({"version": 1, "end": "2026-11-23T08:00"})).await.expect_problems(&["end"]);
    patch("", json!({"version": 1, "url": null, "recurrence": null})).await.expect(200);
    assert_eq!(hours(&house).await, [(0, 8)]);
}

#[tokio::test]
async fn two_who_change_an_event_at_once_see_each_other() {
    let house = House::new().await;
    let made = house.mailbox.event(meeting()).await;
    let id = made.str("/event/eventId");
    let change = |name: &str| house.mailbox.patch(id, "", with(json!({"version": 1}), "summary", json!(name)));
    let (one, other) = futures::future::join(change("One"), change("Other")).await;
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    assert_eq!(house.mailbox.show(id).await.expect(200).int("/event/version"), 2);
}
