use super::*;
use crate::{
    calendar::{
        Attendee, AttendeeKind, AttendeeRole, BusyStatus, EventDetail, EventHead, Organizer, Sensitivity, Timing,
        recurrence::{Day, Frequency, Limit, Rule, Start},
    },
    id::{CalendarId, MailboxId},
    notify::Zone,
};

const ME: &str = "me@x.example";

fn own() -> Vec<String> {
    vec![ME.to_owned()]
}

fn wall(day: Day, hour: i64) -> Wall {
    day.midnight().plus(hour * 3600)
}

/// An hour of the mailbox's own in Vienna that begins at `start`.
fn hour(start: Wall, rule: Option<Rule>) -> Event {
    let timing =
        Timing::new(Start::zoned(start, Zone::find("Europe/Vienna").unwrap()), start.plus(3600), rule).unwrap();
    Event {
        head: EventHead {
            id: EventId::new(Timestamp(1)),
            calendar_id: CalendarId::new(Timestamp(1)),
            timing,
            summary: "Meeting".to_owned(),
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

/// The same with somebody else.
fn meeting(start: Wall, rule: Option<Rule>) -> Event {
    let mut event = hour(start, rule);
    event.detail.organizer = Some(Organizer { email: ME.to_owned(), name: None, told: None });
    event.detail.attendees = vec![attendee("you@x.example", AttendeeStatus::NeedsAction)];
    event
}

fn attendee(email: &str, status: AttendeeStatus) -> Attendee {
    Attendee {
        email: email.to_owned(),
        name: None,
        role: AttendeeRole::Required,
        status,
        rsvp: true,
        kind: AttendeeKind::Individual,
        told: None,
    }
}

/// The same, asked for by somebody else, and not answered.
fn invitation(start: Wall, rule: Option<Rule>) -> Event {
    let mut event = meeting(start, rule);
    event.detail.organizer = Some(Organizer { email: "you@x.example".to_owned(), name: None, told: None });
    event.detail.attendees = vec![attendee(ME, AttendeeStatus::NeedsAction)];
    event.head.is_organizer = false;
    event.head.my_status = Some(AttendeeStatus::NeedsAction);
    event
}

fn change(event: &Event, kept: &[Alarm], counting_back: Option<i64>, now: Timestamp) -> AlarmsChange {
    event.alarms_change(&AlarmFacts { addresses: &own(), counting_back, kept, now }).unwrap()
}

fn start_of(event: &Event) -> Timestamp {
    event.head.timing.series().unwrap().instant(event.head.timing.start.at)
}

/// Kinds and minutes of alarms, with how many minutes before the start they ring.
fn told(alarms: &[Alarm]) -> Vec<(AlarmKind, i64, i64)> {
    alarms.iter().map(|it| (it.key.kind, it.key.minutes, (it.starts_at.0 - it.at.0) / MINUTE_MS)).collect()
}

fn rung(alarms: &[Alarm]) -> Vec<Alarm> {
    alarms.iter().map(|it| Alarm { has_rung: true, ..it.clone() }).collect()
}

fn day() -> Day {
    Day::of(2027, 1, 20)
}

#[test]
fn a_meeting_rings_for_members_protocols_and_its_reminders() {
    let mut event = meeting(wall(day(), 9), None);
    event.head.reminders = vec![1_440, 15, -5];
    let now = Timestamp(start_of(&event).0 - 3 * HOUR_MS);
    let alarms = change(&event, &[], Some(60), now).added;
    let expected = [
        (AlarmKind::Lead, 120, 120),
        (AlarmKind::CountingBack, 0, 60),
        (AlarmKind::Reminder, 15, 15),
        (AlarmKind::Reminder, -5, -5),
    ];
    assert_eq!(told(&alarms), expected, "the reminder of the day before would have rung already");
    assert_eq!(told(&change(&event, &[], None, now).added).len(), 3);
}

#[test]
fn what_somebody_does_alone_and_whole_days_ring_by_reminders_only() {
    let mut alone = hour(wall(day(), 9), None);
    let now = Timestamp(start_of(&alone).0 - 3 * HOUR_MS);
    assert_eq!(change(&alone, &[], Some(60), now), AlarmsChange::default());
    alone.head.reminders = vec![10];
    assert_eq!(told(&change(&alone, &[], Some(60), now).added), [(AlarmKind::Reminder, 10, 10)]);
    let mut whole = meeting(wall(day(), 9), None);
    let start = Start::day(day(), Zone::find("Europe/Vienna").unwrap());
    whole.head.timing = Timing::new(start, Day(day().0 + 1).midnight(), None).unwrap();
    assert_eq!(change(&whole, &[], Some(60), now), AlarmsChange::default());
}

#[test]
fn alarms_are_there_for_nine_days_and_not_a_millisecond_longer() {
    let mut event = hour(wall(day(), 9), None);
    event.head.reminders = vec![0];
    let start = start_of(&event).0;
    for (ahead, rings) in [(AHEAD_MS - 1, true), (AHEAD_MS, false), (AHEAD_MS + 1, false)] {
        let added = change(&event, &[], None, Timestamp(start - ahead)).added;
        assert_eq!(!added.is_empty(), rings, "{ahead}");
    }
    // However long before, since it is when the alarm rings that counts.
    event.head.reminders = vec![40_320];
    let added = change(&event, &[], None, Timestamp(start - 40_320 * MINUTE_MS - AHEAD_MS + 1)).added;
    assert_eq!(told(&added), [(AlarmKind::Reminder, 40_320, 40_320)]);
}

#[test]
fn a_series_rings_at_the_time_on_the_wall_also_behind_a_change_of_clocks() {
    // Clocks go forward in Vienna on the 28th of March 2027.
    let mut event = hour(wall(Day::of(2027, 3, 26), 9), Some(Rule::every(Frequency::Daily)));
    event.head.reminders = vec![10];
    let now = Timestamp(start_of(&event).0 - HOUR_MS);
    let alarms = change(&event, &[], None, now).added;
    assert_eq!(alarms.len(), 10);
    let series = event.head.timing.series().unwrap();
    for alarm in &alarms {
        let shown = series.wall_of(Moment::Instant(alarm.at)).second_of_day();
        assert_eq!(shown, 8 * 3600 + 50 * 60, "{alarm:?}");
    }
    assert_eq!(alarms[2].at.0 - alarms[1].at.0, 23 * HOUR_MS);
    assert_eq!(event.begins(alarms[2].starts_at).unwrap(), "2027-03-28 09:00 (Europe/Vienna)");
}

#[test]
fn what_occurs_too_often_does_not_ring() {
    for (count, rings) in [(499, 499), (500, 500), (501, 0)] {
        let rule = Rule { limit: Limit::Count(count), ..Rule::every(Frequency::Minutely) };
        let mut event = hour(wall(day(), 9), Some(rule));
        event.head.reminders = vec![0];
        let now = Timestamp(start_of(&event).0 - MINUTE_MS);
        assert_eq!(change(&event, &[], None, now).added.len(), rings, "{count}");
    }
}

#[test]
fn what_has_rung_rings_once_and_again_only_when_the_event_moves() {
    let event = meeting(wall(day(), 9), None);
    let now = Timestamp(start_of(&event).0 - HOUR_MS);
    let mut kept = rung(&change(&event, &[], Some(60), now).added);
    // The look at those whose lead is ten minutes follows from the first one.
    let key = AlarmKey { minutes: 10, ..kept[0].key };
    kept.push(Alarm { key, at: Timestamp(start_of(&event).0 - 10 * MINUTE_MS), has_rung: false, ..kept[0].clone() });
    assert_eq!(change(&event, &kept, Some(60), now), AlarmsChange::default());
    assert_eq!(change(&event, &kept, Some(90), now), AlarmsChange::default(), "it was told already");

    let moved = meeting(wall(day(), 11), None);
    let moved = Event { head: EventHead { id: event.head.id, ..moved.head }, ..moved };
    let AlarmsChange { removed, added, over } = change(&moved, &kept, Some(60), now);
    assert_eq!(removed, [kept[2].clone()]);
    assert_eq!(told(&added), [(AlarmKind::Lead, 120, 120), (AlarmKind::CountingBack, 0, 60)]);
    assert!(added.iter().all(|it| !it.has_rung));
    let keys: Vec<_> = over.iter().filter_map(Alarm::dedup_key).collect();
    let id = event.head.id;
    let at = "1970-01-01T00:00:00";
    assert_eq!(keys, [format!("meeting_soon/{id}/{at}"), format!("meeting/{id}/{at}")]);
}

#[test]
fn what_is_called_off_or_declined_rings_no_more_and_that_is_told() {
    let event = meeting(wall(day(), 9), None);
    let now = Timestamp(start_of(&event).0 - HOUR_MS);
    let kept = change(&event, &[], None, now).added;
    let mut off = event.clone();
    off.head.status = EventStatus::Cancelled;
    let mut declined = event.clone();
    declined.head.my_status = Some(AttendeeStatus::Declined);
    for gone in [off, declined] {
        let unrung = change(&gone, &kept, None, now);
        assert_eq!((unrung.removed.len(), unrung.added.len(), unrung.over.len()), (1, 0, 0));
        let told = change(&gone, &rung(&kept), None, now);
        assert_eq!((told.removed.len(), told.added.len(), told.over.len()), (1, 0, 1));
    }
    assert_eq!(alarms_of_gone(&rung(&kept), now).over.len(), 1);
    assert_eq!(alarms_of_gone(&rung(&kept), start_of(&event)).over.len(), 0, "it has begun");
}

#[test]
fn an_occurrence_that_was_called_off_alone_rings_alone_no_more() {
    let rule = Rule { limit: Limit::Count(3), ..Rule::every(Frequency::Daily) };
    let event = meeting(wall(day(), 9), Some(rule));
    let now = Timestamp(start_of(&event).0 - HOUR_MS);
    let kept = rung(&change(&event, &[], None, now).added);
    assert_eq!(kept.len(), 3);
    let second = wall(Day(day().0 + 1), 9);
    let without = event.without(second).unwrap();
    let AlarmsChange { removed, over, .. } = change(&without, &kept, None, now);
    assert_eq!((removed.len(), over.len()), (1, 1));
    assert_eq!(removed[0].key.recurrence, second);
}

#[test]
fn an_invitation_waits_a_day_or_until_a_day_before_the_start_and_an_hour_at_least() {
    for (until_start, waits) in [(72, 24), (48, 24), (47, 23), (25, 1), (24, 1), (2, 1)] {
        let event = invitation(wall(day(), 9), None);
        let now = Timestamp(start_of(&event).0 - until_start * HOUR_MS);
        let added = change(&event, &[], None, now).added;
        let invite = added.iter().find(|it| it.key.kind == AlarmKind::Invite).expect("an alarm");
        assert_eq!((invite.at.0 - now.0) / HOUR_MS, waits, "{until_start}");
        let later = Timestamp(now.0 + HOUR_MS / 2);
        assert!(change(&event, &added, None, later).added.is_empty(), "it waits since it came");
        let mut answered = event.clone();
        answered.head.my_status = Some(AttendeeStatus::Accepted);
        let over = change(&answered, &rung(&added), None, later).over;
        let keys: Vec<_> = over.iter().filter_map(Alarm::dedup_key).collect();
        assert_eq!(keys, [format!("invite/{}", event.head.id)]);
    }
    let event = invitation(wall(day(), 9), None);
    let soon = change(&event, &[], None, Timestamp(start_of(&event).0 - HOUR_MS)).added;
    assert!(soon.iter().all(|it| it.key.kind != AlarmKind::Invite), "the meeting itself rings by then");
}

#[test]
fn what_rings_late_is_of_use_for_a_while() {
    let mut event = meeting(wall(day(), 9), None);
    event.head.reminders = vec![10];
    let start = start_of(&event).0;
    let alarms = change(&event, &[], Some(60), Timestamp(start - 3 * HOUR_MS)).added;
    for alarm in alarms {
        let (in_time, late) = match alarm.key.kind {
            AlarmKind::Reminder => (start + HOUR_MS, start + HOUR_MS + 1),
            AlarmKind::Lead => (start + BEGUN_MS, start + BEGUN_MS + 1),
            _ => (start - 1, start),
        };
        assert!(!alarm.is_too_late(Timestamp(in_time)) && alarm.is_too_late(Timestamp(late)), "{alarm:?}");
    }
}
