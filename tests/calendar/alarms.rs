//! What rings before events begin: `calendar.meeting_soon`, and `calendar.invite_unanswered`.

use std::time::Duration;

use domain::{
    Timestamp,
    calendar::{Alarm, AlarmKind},
};
use serde_json::{Value, json};

use super::{DAY, HOUR, House, Mailbox, utc, with};
use crate::{
    accounts::join,
    harness::{Client, Person},
    mail::{lent_domain, make_mailbox},
};

const MINUTE: i64 = 60_000;

/// Ten o'clock in Vienna on the day after a server's clock starts.
const START: &str = "2027-01-16T10:00";

/// An event that begins then.
fn tomorrow() -> Value {
    json!({
        "summary": "Review", "start": START, "end": "2027-01-16T11:00", "timeZone": "Europe/Vienna",
        "location": "Room 1", "notify": false,
    })
}

fn with_guest(body: Value) -> Value {
    with(body, "attendees", json!([{ "email": "guest@example.net" }]))
}

/// When it begins.
fn start() -> i64 {
    utc("2027-01-16T09:00")
}

/// A mailbox of Ada's and Grace's; Grace wants to hear of meetings half an hour before.
async fn shared(house: &House) -> (Person, Mailbox) {
    let grace = house.server.person("grace").await;
    join(&house.ada, &house.org, &grace, "viewer").await;
    let made = make_mailbox(&house.ada, &house.org, "team", &[&house.ada.user_id, &grace.user_id]).await;
    let path = format!("{}/mail/mailboxes/{}", house.org, made.str("/mailbox/mailboxId"));
    let client = house.ada.client.clone();
    let calendars = client.get(&format!("{path}/calendars")).send().await.expect(200);
    let calendar = calendars.str("/calendars/0/calendarId").to_owned();
    let address = format!("team@{}", lent_domain(&house.ada, &house.org).await);
    prefs(&grace, json!({ "meetingLeadMinutes": 30 })).await;
    (grace, Mailbox { client, path, address, calendar })
}

async fn prefs(person: &Person, body: Value) {
    person.client.put("/v1/me/notifications/settings/prefs").json(&body).send().await.expect(200);
}

/// Titles and texts of somebody's notices of a type, the newest first.
async fn notices(client: &Client, event: &str) -> Vec<(String, String)> {
    let answer = client.get("/v1/me/notifications").send().await.expect(200);
    let meant = answer.list("/notices").iter().filter(|it| it["event"] == event);
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    meant.map(|it| (text(it, "title"), text(it, "body"))).collect()
}

async fn meetings(client: &Client) -> Vec<(String, String)> {
    notices(client, "calendar.meeting_soon").await
}

/// Waits until somebody has so many notices of meetings.
async fn told(house: &House, person: &Person, count: usize) -> Vec<(String, String)> {
    let found = async || Some(meetings(&person.client).await).filter(|found| found.len() == count);
    house.server.eventually("a notice", found).await
}

/// The alarms of an event, by when they ring.
async fn alarms(house: &House, event: &str) -> Vec<Alarm> {
    let mut alarms = house.server.store().await.calendar_alarms(&[event.parse().unwrap()]).await.unwrap();
    alarms.sort_by_key(|alarm| (alarm.at, alarm.key));
    alarms
}

/// Kinds, minutes before the start, and whether they have rung.
fn shape(alarms: &[Alarm]) -> Vec<(AlarmKind, i64, bool)> {
    alarms.iter().map(|it| (it.key.kind, (it.starts_at.0 - it.at.0) / MINUTE, it.has_rung)).collect()
}

/// The id of a guest's copy of what begins on a day, once it is there.
async fn copy_on(house: &House, guest: &Mailbox, day: &str, next: &str) -> String {
    let arrived = async || guest.between(utc(day), utc(next)).await.into_iter().next();
    let found = house.server.eventually("an invitation", arrived).await;
    found["eventId"].as_str().unwrap().to_owned()
}

/// A meeting with this guest, some days later.
fn later_with(guest: &Mailbox) -> Value {
    json!({
        "summary": "Review", "start": "2027-01-20T10:00", "end": "2027-01-20T11:00", "timeZone": "Europe/Vienna",
        "attendees": [{ "email": guest.address }],
    })
}

/// Whether one of the notices has this title.
fn has_title(notices: &[(String, String)], title: &str) -> bool {
    notices.iter().any(|it| it.0 == title)
}

impl House {
    fn until(&self, at: i64) {
        let ahead = at - self.server.clock.now().0;
        self.server.clock.advance(Duration::from_millis(ahead.try_into().expect("a time to come")));
    }
}

#[tokio::test]
async fn members_hear_of_a_meeting_as_long_before_it_as_they_want_and_once() {
    let house = House::new().await;
    let (grace, team) = shared(&house).await;
    let made = team.event(with_guest(tomorrow())).await;
    let event = made.str("/event/eventId");
    assert_eq!(shape(&alarms(&house, event).await), [(AlarmKind::Lead, 120, false)]);
    house.until(start() - 120 * MINUTE);
    let next = async || Some(alarms(&house, event).await).filter(|found| found.len() == 2);
    let looks = house.server.eventually("a next look", next).await;
    assert_eq!(shape(&looks), [(AlarmKind::Lead, 120, true), (AlarmKind::Lead, 30, false)]);
    house.until(start() - 30 * MINUTE);
    let hers = told(&house, &grace, 1).await;
    let text = "Begins 2027-01-16 10:00 (Europe/Vienna), Room 1.";
    assert_eq!(hers, [("Review".to_owned(), text.to_owned())]);
    assert_eq!(meetings(&house.ada.client).await.len(), 0, "Ada's ten minutes haven't come");
    house.until(start() - 10 * MINUTE);
    told(&house, &house.ada, 1).await;
    assert_eq!(meetings(&grace.client).await.len(), 1);
    let lead = |minutes| (AlarmKind::Lead, minutes, true);
    assert_eq!(shape(&alarms(&house, event).await), [lead(120), lead(30), lead(10)]);
}

#[tokio::test]
async fn reminders_come_to_those_who_want_them_and_also_of_what_somebody_does_alone() {
    let house = House::new().await;
    let (grace, team) = shared(&house).await;
    prefs(&grace, json!({ "calendarReminders": false })).await;
    team.event(with(tomorrow(), "reminders", json!([0, 60]))).await;
    house.until(start() - 60 * MINUTE);
    told(&house, &house.ada, 1).await;
    house.until(start());
    told(&house, &house.ada, 2).await;
    assert_eq!(meetings(&grace.client).await.len(), 0);
}

#[tokio::test]
async fn who_hears_of_the_meeting_at_that_moment_is_not_reminded_of_it_too() {
    let house = House::new().await;
    house.mailbox.event(with_guest(with(tomorrow(), "reminders", json!([10, 5])))).await;
    house.until(start() - 10 * MINUTE);
    told(&house, &house.ada, 1).await;
    house.until(start() - 5 * MINUTE);
    told(&house, &house.ada, 2).await;
}

#[tokio::test]
async fn alarms_move_with_their_meeting_and_end_with_it() {
    let house = House::new().await;
    let made = house.mailbox.event(with_guest(tomorrow())).await;
    let event = made.str("/event/eventId");
    house.until(start() - 10 * MINUTE);
    told(&house, &house.ada, 1).await;
    let later = json!({"version": 1, "start": "2027-01-16T15:00", "end": "2027-01-16T16:00"});
    house.mailbox.patch(event, "notify=0", later).await.expect(200);
    assert!(has_title(&told(&house, &house.ada, 2).await, "Resolved: Review"));
    let moved = alarms(&house, event).await;
    assert_eq!(shape(&moved), [(AlarmKind::Lead, 120, false)]);
    assert_eq!(moved[0].starts_at.0, start() + 5 * HOUR);
    house.until(start() + 5 * HOUR - 10 * MINUTE);
    let again = told(&house, &house.ada, 3).await;
    assert!(again.iter().any(|it| it.1 == "Begins 2027-01-16 15:00 (Europe/Vienna), Room 1."), "{again:?}");
    house.mailbox.patch(event, "notify=0", json!({"version": 2, "description": "More"})).await.expect(200);
    assert!(alarms(&house, event).await.iter().all(|it| it.has_rung), "what has rung doesn't ring again");
    house.mailbox.delete(event, "notify=0").await.expect(200);
    told(&house, &house.ada, 4).await;
    assert_eq!(alarms(&house, event).await.len(), 0);
}

#[tokio::test]
async fn a_meeting_that_is_made_shortly_before_it_begins_is_told_of_at_once() {
    let house = House::new().await;
    house.until(start() - 5 * MINUTE);
    house.mailbox.event(with_guest(with(tomorrow(), "reminders", json!([60])))).await;
    told(&house, &house.ada, 1).await;
}

#[tokio::test]
async fn an_occurrence_that_is_taken_out_rings_no_more() {
    let house = House::new().await;
    let daily = with(tomorrow(), "recurrence", json!({ "freq": "daily", "count": 3 }));
    let made = house.mailbox.event(with(daily, "reminders", json!([15]))).await;
    let event = made.str("/event/eventId");
    assert_eq!(alarms(&house, event).await.len(), 3);
    house.mailbox.delete(event, "scope=one&recurrenceId=2027-01-17T10:00:00").await.expect(200);
    let left: Vec<i64> = alarms(&house, event).await.iter().map(|it| it.starts_at.0).collect();
    assert_eq!(left, [start(), start() + 2 * DAY]);
    let moved = json!({"version": 2, "start": "2027-01-18T12:00", "end": "2027-01-18T13:00"});
    house.mailbox.patch(event, "scope=one&recurrenceId=2027-01-18T10:00:00", moved).await.expect(200);
    let left: Vec<i64> = alarms(&house, event).await.iter().map(|it| it.starts_at.0).collect();
    assert_eq!(left, [start(), start() + 2 * DAY + 2 * HOUR]);
}

#[tokio::test]
async fn a_series_has_alarms_for_the_days_ahead_which_each_day_extends_over_changes_of_clocks() {
    let house = House::new().await;
    let daily = with(tomorrow(), "recurrence", json!({ "freq": "daily" }));
    let made = house.mailbox.event(with(daily, "reminders", json!([10]))).await;
    let event = made.str("/event/eventId");
    let first = alarms(&house, event).await;
    let now = house.server.clock.now();
    assert!(first.len() == 9 && first.iter().all(|it| it.at.0 < now.0 + 9 * DAY), "{first:?}");
    // Clocks go forward on the 28th of March.
    house.until(utc("2027-03-27T12:00"));
    let sunday = Timestamp(utc("2027-03-28T08:00"));
    let has_sunday = async || alarms(&house, event).await.into_iter().find(|it| it.starts_at == sunday);
    let found = house.server.eventually("an alarm on Sunday", has_sunday).await;
    assert_eq!(found.at.0, sunday.0 - 10 * MINUTE);
    assert!(alarms(&house, event).await.len() < 20, "what is over was forgotten");
    house.until(found.at.0);
    let begins = "Begins 2027-03-28 10:00 (Europe/Vienna), Room 1.";
    let is_told = async || meetings(&house.ada.client).await.into_iter().find(|it| it.1 == begins);
    house.server.eventually("a reminder on Sunday", is_told).await;
}

#[tokio::test]
async fn an_invitation_that_waits_is_told_of_once_and_a_declined_meeting_does_not_ring() {
    let house = House::new().await;
    let (bob, his) = house.colleague("bob").await;
    house.mailbox.event(later_with(&his)).await;
    let copy = copy_on(&house, &his, "2027-01-20", "2027-01-21").await;
    let arrived = house.server.clock.now().0;
    let has = async |kind: AlarmKind| alarms(&house, &copy).await.into_iter().find(|it| it.key.kind == kind);
    assert_eq!(has(AlarmKind::Invite).await.expect("an alarm").at.0, arrived + DAY);
    house.until(arrived + DAY);
    let waiting = async || notices(&bob.client, "calendar.invite_unanswered").await.into_iter().next();
    let (title, text) = house.server.eventually("a notice", waiting).await;
    let organizer = &house.mailbox.address;
    assert_eq!(title, "Review");
    assert_eq!(text, format!("{organizer} asks you to it: 2027-01-20 10:00 (Europe/Vienna)."));
    assert!(has(AlarmKind::Lead).await.is_some());
    his.post(&format!("events/{copy}/respond"), json!({ "status": "declined" })).await.expect(200);
    assert_eq!(alarms(&house, &copy).await.len(), 0);
    assert_eq!(notices(&bob.client, "calendar.invite_unanswered").await.len(), 1);
}

#[tokio::test]
async fn an_invitation_that_is_answered_in_time_is_not_told_of() {
    let house = House::new().await;
    let (_, his) = house.colleague("bob").await;
    house.mailbox.event(later_with(&his)).await;
    let copy = copy_on(&house, &his, "2027-01-20", "2027-01-21").await;
    his.post(&format!("events/{copy}/respond"), json!({ "status": "accepted" })).await.expect(200);
    assert_eq!(shape(&alarms(&house, &copy).await), [(AlarmKind::Lead, 120, false)]);
}

#[tokio::test]
async fn protocols_that_count_back_hear_of_a_meeting_as_early_as_they_need() {
    let house = House::new().await;
    let (grace, _) = shared(&house).await;
    let rule = json!({
        "events": ["calendar.meeting_soon"], "beforeEvent": true, "userIds": [grace.user_id],
        "steps": [{ "afterMinutes": 90, "channels": { "inapp": true } }],
    });
    let body = json!({ "name": "Meetings", "rules": [rule] });
    let made = house.ada.client.post(&format!("{}/notify/protocols", house.org)).json(&body).send().await.expect(201);
    let protocol = format!("{}/notify/protocols/{}", house.org, made.str("/protocol/protocolId"));
    let mailbox = house.mailbox.path.rsplit('/').next().unwrap();
    let attach = format!("{protocol}/attachments/mailbox/{mailbox}");
    house.ada.client.put(&attach).json(&json!({})).send().await.expect(200);
    let made = house.mailbox.event(with_guest(tomorrow())).await;
    let event = made.str("/event/eventId");
    let expected = [(AlarmKind::Lead, 120, false), (AlarmKind::CountingBack, 91, false)];
    assert_eq!(shape(&alarms(&house, event).await), expected);
    house.until(start() - 90 * MINUTE);
    told(&house, &grace, 1).await;
    assert_eq!(meetings(&house.ada.client).await.len(), 0, "only whom the protocol names");
    house.until(start() - 10 * MINUTE);
    told(&house, &house.ada, 1).await;
    assert_eq!(meetings(&grace.client).await.len(), 1);
}

#[tokio::test]
async fn the_alarms_of_a_deleted_calendar_go_with_it() {
    let house = House::new().await;
    let made = house.mailbox.post("calendars", json!({"name": "Doomed"})).await.expect(201);
    let calendar = made.str("/calendar/calendarId");
    let made = house.mailbox.post(&format!("calendars/{calendar}/events"), with_guest(tomorrow())).await.expect(201);
    let event = made.str("/event/eventId");
    house.until(start() - 10 * MINUTE);
    told(&house, &house.ada, 1).await;
    house.mailbox.client.delete(&format!("{}/calendars/{calendar}", house.mailbox.path)).send().await.expect(204);
    assert!(has_title(&told(&house, &house.ada, 2).await, "Resolved: Review"));
    house.server.eventually("no alarm", async || alarms(&house, event).await.is_empty().then_some(())).await;
}
