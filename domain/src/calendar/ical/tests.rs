use proptest::prelude::*;

use super::*;
use crate::{
    Timestamp,
    calendar::{
        AttendeeStatus, BusyStatus, Event, EventStatus, Sensitivity,
        recurrence::{Day, Form, Wall},
    },
    id::{CalendarId, EventId, MailboxId},
};

const NOW: Timestamp = Timestamp(1_767_225_600_000);

fn here() -> Zone {
    Zone::find("Europe/Vienna").unwrap()
}

fn file(lines: &str) -> String {
    format!("BEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:request\n{lines}\nEND:VCALENDAR\n")
}

fn event(lines: &str) -> String {
    file(&format!("BEGIN:VEVENT\nUID:a@x\n{lines}\nEND:VEVENT"))
}

fn read(text: &str) -> ReadCalendar {
    read_calendar(text, &here()).unwrap()
}

fn one(lines: &str) -> ReadEvent {
    let mut read = read(&event(lines));
    assert!(read.failed.is_empty(), "{:?}", read.failed);
    read.events.remove(0)
}

fn reason(lines: &str) -> String {
    let mut read = read(&event(lines));
    assert!(read.events.is_empty(), "{:?}", read.events);
    read.failed.remove(0).reason
}

fn at(year: i32, month: u32, day: u32, hour: i64) -> Wall {
    Day::of(year, month, day).midnight().plus(hour * 3600)
}

fn place() -> EventPlace {
    EventPlace {
        id: EventId::new(NOW),
        calendar_id: CalendarId::new(NOW),
        mailbox_id: MailboxId::new(NOW),
        modseq: 1,
        now: NOW,
    }
}

fn written(event: Event) -> String {
    write_calendar(&[event], &Writing { method: None, name: None, now: NOW }).unwrap()
}

#[test]
fn times_are_read_in_each_form() {
    let zoned = one("DTSTART;TZID=Europe/Vienna:20261123T090000\nDTEND;TZID=Europe/Vienna:20261123T100000");
    assert_eq!((zoned.timing.start.at, zoned.timing.end), (at(2026, 11, 23, 9), at(2026, 11, 23, 10)));
    assert_eq!(zoned.timing.start.zone, here());
    let universal = one("DTSTART:20261123T090000Z\nDURATION:PT90M");
    assert_eq!(universal.timing.start.zone, Zone::UTC);
    assert_eq!(universal.timing.end, at(2026, 11, 23, 10).plus(1800));
    let day = one("DTSTART;VALUE=DATE:20261123");
    assert_eq!((day.timing.start.form, day.timing.end), (Form::Days, at(2026, 11, 24, 0)));
    let floating = one("DTSTART:20261123T090000");
    assert_eq!((floating.timing.start.form, floating.timing.end), (Form::Floating, at(2026, 11, 23, 9)));
    let windows = one("DTSTART;TZID=\"W. Europe Standard Time\":20261123T090000\nDTEND:20261123T083000Z");
    assert_eq!(windows.timing.start.zone.name(), "Europe/Berlin");
    assert_eq!(windows.timing.end, at(2026, 11, 23, 9).plus(1800), "an end in another form is on the same wall");
    let prefixed = one("DTSTART;TZID=/freeassociation.sourceforge.net/America/New_York:20261123T090000");
    assert_eq!(prefixed.timing.start.zone.name(), "America/New_York");
}

#[test]
fn a_zone_that_nobody_knows_is_one_with_the_same_clocks() {
    let zone = "BEGIN:VTIMEZONE\nTZID:Ours\nBEGIN:STANDARD\nDTSTART:16010101T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\n\
                END:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:16010325T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:DAYLIGHT\n\
                END:VTIMEZONE";
    let text = file(&format!("{zone}\nBEGIN:VEVENT\nUID:a\nDTSTART;TZID=Ours:20260723T090000\nEND:VEVENT"));
    let event = read(&text).events.remove(0);
    let series = event.timing.series().unwrap();
    assert_eq!(series.instant(at(2026, 7, 23, 9)).0, at(2026, 7, 23, 7).0 * 1000);
    assert_eq!(series.instant(at(2026, 12, 23, 9)).0, at(2026, 12, 23, 8).0 * 1000);
}

#[test]
fn what_was_changed_alone_matches_in_any_form() {
    let text = file(
        "BEGIN:VEVENT\nUID:a\nDTSTART;TZID=Europe/Vienna:20261123T090000\nDTEND;TZID=Europe/Vienna:20261123T100000\n\
         RRULE:FREQ=DAILY;COUNT=5\nEXDATE:20261125T080000Z\nSUMMARY:Daily\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:a\nRECURRENCE-ID:20261124T080000Z\nDTSTART;TZID=Europe/Vienna:20261124T150000\n\
         SUMMARY:Later\nEND:VEVENT",
    );
    let event = read(&text).events.remove(0);
    let exception = &event.exceptions[0].exception;
    assert_eq!((exception.recurrence, exception.start), (at(2026, 11, 24, 9), at(2026, 11, 24, 15)));
    assert_eq!((exception.end, exception.summary.as_str()), (at(2026, 11, 24, 16), "Later"));
    let series = event.timing.series().unwrap();
    let days: Vec<_> = series.walls(Wall::MIN, Wall::MAX).map(|wall| wall.day().civil().day).collect();
    assert_eq!(days, [23, 24, 26, 27]);
}

#[test]
fn who_is_asked_to_one_occurrence_has_that_one() {
    let event = one("RECURRENCE-ID:20261124T080000Z\nDTSTART:20261124T140000Z\nDTEND:20261124T150000Z\nSUMMARY:Once");
    assert!(event.is_alone);
    let series = event.timing.series().unwrap();
    assert_eq!(series.walls(Wall::MIN, Wall::MAX).count(), 1);
    assert_eq!(event.exceptions[0].exception.start, at(2026, 11, 24, 14));
}

#[test]
fn people_and_the_rest_are_read() {
    let event = one(
        "DTSTART:20261123T090000Z\nSEQUENCE:3\nDTSTAMP:20260101T000000Z\nSTATUS:TENTATIVE\nCLASS:PRIVATE\nTRANSP:TRANSPARENT\n\
         ORGANIZER;CN=Ada;SENT-BY=\"mailto:desk@x.example\":MAILTO:Ada@x.example\n\
         ATTENDEE;PARTSTAT=ACCEPTED;ROLE=OPT-PARTICIPANT;RSVP=TRUE;CN=\"Bob; B\":mailto:bob@y.example\n\
         ATTENDEE:mailto:nobody\nSUMMARY:One\\, two\nDESCRIPTION:a\\nb\nCATEGORIES:x,y\n\
         BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT15M\nEND:VALARM",
    );
    assert_eq!((event.sequence, event.stamp, event.status), (3, Some(NOW), EventStatus::Tentative));
    assert_eq!((event.detail.sensitivity, event.busy_status), (Sensitivity::Private, BusyStatus::Free));
    assert_eq!((event.summary.as_str(), event.detail.description.as_str()), ("One, two", "a\nb"));
    assert_eq!(event.detail.organizer.as_ref().unwrap().email, "ada@x.example");
    assert_eq!(event.detail.attendees.len(), 1, "an address that is none is left out");
    let bob = &event.detail.attendees[0];
    assert_eq!((bob.status, bob.rsvp, bob.name.as_deref()), (AttendeeStatus::Accepted, true, Some("Bob; B")));
    assert_eq!((event.detail.categories, event.reminders), (vec!["x".to_owned(), "y".to_owned()], vec![15]));
}

#[test]
fn a_bad_event_is_named_with_its_line_and_the_others_are_taken() {
    let text = file(
        "BEGIN:VEVENT\nUID:a\nDTSTART:never\nEND:VEVENT\nBEGIN:VEVENT\nUID:b\nDTSTART:20261123T090000Z\nEND:VEVENT",
    );
    let read = read(&text);
    let fault =
        ReadFault { uid: Some("a".to_owned()), line: 4, reason: "DTSTART has no time that there is.".to_owned() };
    assert_eq!((read.events.len(), read.failed), (1, vec![fault]));
    assert_eq!(read.method.as_deref(), Some("REQUEST"));
}

#[test]
fn bounds_hold() {
    let start = "DTSTART:20261123T090000Z";
    let guests = |count: usize| {
        let guests: Vec<_> = (0..count).map(|at| format!("ATTENDEE:mailto:g{at}@x.example")).collect();
        format!("{start}\n{}", guests.join("\n"))
    };
    assert_eq!(one(&guests(READ_ATTENDEES_MAX)).detail.attendees.len(), READ_ATTENDEES_MAX);
    assert!(reason(&guests(READ_ATTENDEES_MAX + 1)).contains("500"));
    assert!(reason(&guests(10_000)).contains("500"));
    let removed = |count: i64| {
        let dates: Vec<_> =
            (0..count).map(|at| format!("{}T090000Z", Day(20_000 + at).to_string().replace('-', ""))).collect();
        format!("{start}\nRRULE:FREQ=DAILY\nEXDATE:{}", dates.join(","))
    };
    assert_eq!(one(&removed(1_000)).timing.removed.len(), 1_000);
    assert!(reason(&removed(1_001)).contains("1,000"));
    let named = |length: usize| file(&format!("BEGIN:VEVENT\nUID:{}\n{start}\nEND:VEVENT", "u".repeat(length)));
    assert_eq!(read(&named(UID_LEN_MAX)).events.len(), 1);
    assert_eq!(read(&named(UID_LEN_MAX + 1)).failed.len(), 1);
    for rule in ["FREQ=DAILY;BYHOUR=300", "FREQ=NEVER", "FREQ=DAILY;BYEASTER=1"] {
        reason(&format!("{start}\nRRULE:{rule}"));
    }
    reason("SUMMARY:No start");
    reason("DTSTART:00000101T000000Z");
}

#[test]
fn what_is_no_calendar_is_refused() {
    for text in ["", "nonsense", "\0\0\0", "BEGIN:VCARD\nFN:A\nEND:VCARD"] {
        assert_eq!(read_calendar(text, &here()).unwrap_err().code(), "not_a_calendar", "{text:?}");
    }
    assert!(read("BEGIN:VCALENDAR\n").events.is_empty());
}

#[test]
fn what_is_written_reads_as_the_same() {
    let lines = "DTSTART;TZID=Europe/Vienna:20261123T090000\nDTEND;TZID=Europe/Vienna:20261123T100000\nSEQUENCE:2\n\
                 RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=9\nEXDATE;TZID=Europe/Vienna:20261125T090000\n\
                 SUMMARY:A\\, b\nLOCATION:Here\nDESCRIPTION:x\\ny\nCATEGORIES:c\nCLASS:PRIVATE\nX-TROUPE-CLASS:PERSONAL\n\
                 X-MICROSOFT-CDO-BUSYSTATUS:OOF\nORGANIZER;CN=\"A\":mailto:a@x.example\n\
                 ATTENDEE;PARTSTAT=DECLINED;ROLE=CHAIR;RSVP=TRUE;CUTYPE=ROOM:mailto:b@x.example\n\
                 BEGIN:VALARM\nTRIGGER:-P1D\nEND:VALARM\nBEGIN:VALARM\nTRIGGER:PT5M\nEND:VALARM";
    let other = "BEGIN:VEVENT\nUID:a@x\nRECURRENCE-ID;TZID=Europe/Vienna:20261130T090000\n\
                 DTSTART;TZID=Europe/Vienna:20261130T100000\nDTEND;TZID=Europe/Vienna:20261130T113000\nSUMMARY:Other\nEND:VEVENT";
    let before = read(&file(&format!("BEGIN:VEVENT\nUID:a@x\n{lines}\nEND:VEVENT\n{other}"))).events.remove(0);
    let text = written(before.into_event(place(), &[]));
    assert!(text.contains("BEGIN:VTIMEZONE\r\nTZID:Europe/Vienna"), "{text}");
    let again = written(read(&text).events.remove(0).into_event(place(), &[]));
    assert_eq!(text, again);
    for part in ["X-MICROSOFT-CDO-BUSYSTATUS:OOF", "CUTYPE=ROOM", "TRIGGER:-PT1440M", "TRIGGER:PT5M", "SUMMARY:Other"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Lines that calendars have, whole and broken.
const PIECES: [&str; 28] = [
    "BEGIN:VCALENDAR",
    "END:VCALENDAR",
    "BEGIN:VEVENT",
    "END:VEVENT",
    "BEGIN:VTIMEZONE",
    "END:VTIMEZONE",
    "BEGIN:STANDARD",
    "END:STANDARD",
    "BEGIN:VALARM",
    "END:VALARM",
    "UID:a",
    "UID:b",
    "DTSTART:20261123T090000Z",
    "DTSTART;VALUE=DATE:20261123",
    "DTSTART;TZID=Europe/Vienna:20260329T023000",
    "DTEND:00010101T000000",
    "DURATION:-P99999999D",
    "DURATION:P4294967295W",
    "RRULE:FREQ=SECONDLY",
    "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "RRULE:FREQ=DAILY;COUNT=99999",
    "EXDATE:99991231T235959Z",
    "RDATE;VALUE=PERIOD:20261123T090000Z/PT1H",
    "RECURRENCE-ID:20261124T090000Z",
    "RECURRENCE-ID;VALUE=DATE:20261124",
    "TZID:Ours",
    "TZOFFSETTO:+9999",
    "TRIGGER:-PT5M",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn nothing_that_is_read_panics(lines in prop::collection::vec((0..PIECES.len() + 4, "\\PC{0,30}"), 0..40)) {
        let line = |(at, text): &(usize, String)| PIECES.get(*at).map_or_else(|| text.clone(), |piece| (*piece).to_owned());
        let body: Vec<String> = lines.iter().map(line).collect();
        let text = file(&body.join("\r\n"));
        if let Ok(read) = read_calendar(&text, &here()) {
            for event in read.events {
                let event = event.into_event(place(), &[]);
                prop_assert!(!written(event).is_empty());
            }
        }
    }
}
