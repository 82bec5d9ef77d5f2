use super::*;
use crate::{
    Timestamp,
    calendar::{
        EventDetail, Window,
        recurrence::{Day, Frequency, Limit, Rule, Start},
    },
    id::{CalendarId, MailboxId},
    notify::Zone,
};

/// Ten days at nine in Vienna, from the 23rd of November 2026 on.
fn ten_days() -> Event {
    let start = Start::zoned(Day::of(2026, 11, 23).midnight().plus(9 * 3600), Zone::find("Europe/Vienna").unwrap());
    let end = start.at.plus(3600);
    let rule = Rule { limit: Limit::Count(10), ..Rule::every(Frequency::Daily) };
    Event {
        head: EventHead {
            id: EventId::new(Timestamp(1)),
            calendar_id: CalendarId::new(Timestamp(1)),
            timing: Timing::new(start, end, Some(rule)).unwrap(),
            summary: "Stand-up".to_owned(),
            location: String::new(),
            status: EventStatus::Confirmed,
            busy_status: BusyStatus::Busy,
            reminders: Vec::new(),
            attendees: 0,
            is_organizer: true,
            my_status: None,
        },
        mailbox_id: MailboxId::new(Timestamp(1)),
        uid: "one".to_owned(),
        detail: EventDetail {
            description: String::new(),
            organizer: None,
            attendees: Vec::new(),
            sensitivity: Sensitivity::Normal,
            categories: Vec::new(),
            url: None,
        },
        exceptions: Vec::new(),
        sequence: 0,
        version: 1,
        modseq: 1,
        created_at: Timestamp(1),
        updated_at: Timestamp(1),
    }
}

fn me() -> Organizer {
    Organizer { email: "me@x.example".to_owned(), name: None, told: None }
}

/// The beginnings of what occurs, on the wall.
fn starts(event: &Event) -> Vec<String> {
    let window = Window { from: Timestamp(0), to: Timestamp(4_000_000_000_000) };
    let series = event.head.timing.series().unwrap();
    let found = event.head.occurrences(&event.exceptions, window, 100).unwrap();
    found.iter().map(|it| series.wall_of(Moment::Instant(it.start)).to_string()).collect()
}

fn at(event: &Event, day: &str) -> Wall {
    event.occurrence(&format!("{day}T09:00:00")).unwrap()
}

fn to(start: &str, end: &str) -> EventPatch {
    EventPatch { start: Some(start.to_owned()), end: Some(end.to_owned()), ..EventPatch::default() }
}

#[test]
fn one_occurrence_moves_alone() {
    let event = ten_days();
    let wall = at(&event, "2026-11-25");
    let moved = event.changed_at(wall, &to("2026-11-25T15:00", "2026-11-25T16:00")).unwrap();
    let starts = starts(&moved);
    assert_eq!(starts.len(), 10);
    assert_eq!(starts[2], "2026-11-25T15:00:00");
    assert_eq!((moved.exceptions.len(), moved.sequence), (1, 1));
    let again = at(&moved, "2026-11-25");
    let summary = EventPatch { summary: Some("Later".to_owned()), ..EventPatch::default() };
    let renamed = moved.changed_at(again, &summary).unwrap();
    assert_eq!((renamed.exceptions.len(), renamed.exceptions[0].summary.as_str()), (1, "Later"));
    assert_eq!(renamed.exceptions[0].start.to_string(), "2026-11-25T15:00:00");
}

#[test]
fn an_occurrence_that_is_moved_lasts_as_long() {
    let event = ten_days();
    let wall = at(&event, "2026-11-25");
    let patch = EventPatch { start: Some("2026-11-25T15:00".to_owned()), ..EventPatch::default() };
    let moved = event.changed_at(wall, &patch).unwrap();
    assert_eq!(moved.exceptions[0].end.to_string(), "2026-11-25T16:00:00");
}

#[test]
fn a_series_that_is_moved_lasts_as_long() {
    let patch = EventPatch { start: Some("2026-11-24T15:00".to_owned()), ..EventPatch::default() };
    let moved = ten_days().changed(&patch, &me()).unwrap();
    assert_eq!(moved.head.timing.end.to_string(), "2026-11-24T16:00:00");
}

#[test]
fn what_was_changed_alone_follows_the_series_in_the_rest() {
    let event = ten_days();
    let wall = at(&event, "2026-11-25");
    let patch = EventPatch { summary: Some("Other".to_owned()), ..EventPatch::default() };
    let event = event.changed_at(wall, &patch).unwrap();
    let all = EventPatch {
        summary: Some("All".to_owned()),
        location: Some("Here".to_owned()),
        busy_status: Some(BusyStatus::Free),
        ..EventPatch::default()
    };
    let changed = event.changed(&all, &me()).unwrap();
    let one = &changed.exceptions[0];
    assert_eq!((one.summary.as_str(), one.location.as_str(), one.busy_status), ("Other", "Here", BusyStatus::Free));
}

#[test]
fn what_is_the_whole_seriess_is_not_changed_for_one() {
    let event = ten_days();
    let wall = at(&event, "2026-11-25");
    let patch = EventPatch { time_zone: Some("UTC".to_owned()), all_day: Some(true), ..EventPatch::default() };
    let Err(Error::Invalid { problems }) = event.changed_at(wall, &patch) else { panic!("it was changed") };
    assert_eq!(problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["allDay", "timeZone"]);
}

#[test]
fn what_follows_becomes_an_event_of_its_own() {
    let event = ten_days();
    let changed = at(&event, "2026-11-30");
    let event = event.changed_at(changed, &to("2026-11-30T11:00", "2026-11-30T12:00")).unwrap();
    let wall = at(&event, "2026-11-28");
    let split = event.cut(wall, EventId::new(Timestamp(2)), "two".to_owned()).unwrap().unwrap();
    assert_eq!(starts(&split.before).last().unwrap(), "2026-11-27T09:00:00");
    assert_eq!(starts(&split.before).len(), 5);
    assert_eq!(starts(&split.following).len(), 5);
    assert_eq!(split.following.exceptions.len(), 1);
    assert_eq!(split.following.uid, "two");
    let moved = split.following.changed(&to("2026-11-28T10:00", "2026-11-28T11:00"), &me()).unwrap();
    let times = ["28T10", "29T10", "30T12", "01T10", "02T10"].map(|it| format!("{it}:00:00"));
    let found: Vec<_> = starts(&moved).iter().map(|it| it[8..].to_owned()).collect();
    assert_eq!(found, times);
}

#[test]
fn the_first_occurrence_and_all_that_follow_are_all() {
    let event = ten_days();
    let wall = at(&event, "2026-11-23");
    assert!(event.cut(wall, EventId::new(Timestamp(2)), "two".to_owned()).unwrap().is_none());
}

#[test]
fn one_occurrence_is_taken_out() {
    let event = ten_days();
    let wall = at(&event, "2026-11-25");
    let without = event.without(wall).unwrap();
    assert_eq!(starts(&without).len(), 9);
    assert!(without.occurrence("2026-11-25T09:00:00").is_err());
}

#[test]
fn an_occurrence_that_is_none_is_not_found() {
    for id in ["2026-11-22T09:00:00", "2026-11-25T10:00:00", "2026-11-25", "nonsense", ""] {
        assert_eq!(ten_days().occurrence(id).unwrap_err().to_string(), "Event not found", "{id}");
    }
}

#[test]
fn whoever_was_asked_for_another_time_is_asked_again() {
    let mut event = ten_days();
    let invited = |email: &str| InvitedFields { email: email.to_owned(), name: None, optional: false };
    let patch = EventPatch { attendees: Some(vec![invited("b@x.example")]), ..EventPatch::default() };
    event = event.changed(&patch, &me()).unwrap();
    assert_eq!((event.sequence, event.detail.organizer.clone()), (0, Some(me())));
    event.detail.attendees[0].status = AttendeeStatus::Accepted;
    event = event.changed(&EventPatch { summary: Some("A".to_owned()), ..EventPatch::default() }, &me()).unwrap();
    assert_eq!(event.detail.attendees[0].status, AttendeeStatus::Accepted);
    event = event.changed(&to("2026-11-23T10:00", "2026-11-23T11:00"), &me()).unwrap();
    assert_eq!((event.sequence, event.detail.attendees[0].status), (1, AttendeeStatus::NeedsAction));
}

#[test]
fn an_event_that_recurs_no_more_occurs_once() {
    let patch = EventPatch { recurrence: Some(None), ..EventPatch::default() };
    let once = ten_days().changed(&patch, &me()).unwrap();
    assert_eq!(starts(&once), ["2026-11-23T09:00:00"]);
    assert!(!once.head.timing.is_recurring());
}
