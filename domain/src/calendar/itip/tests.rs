use super::*;
use crate::{
    calendar::{
        EventPatch, Itip,
        recurrence::{Day, Wall},
    },
    id::{CalendarId, EventId, MailboxId},
};

const NOW: Timestamp = Timestamp(1_795_000_000_000);
const ADA: &str = "ada@a.example";
const BOB: &str = "bob@b.example";

fn zone() -> Zone {
    Zone::find("Europe/Vienna").unwrap()
}

fn place() -> EventPlace {
    let (calendar_id, mailbox_id) = (CalendarId::new(NOW), MailboxId::new(NOW));
    EventPlace { id: EventId::new(NOW), calendar_id, mailbox_id, modseq: 1, now: NOW }
}

/// Ada's daily meeting, to which she asks Bob.
fn meeting() -> Event {
    let file = format!(
        "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:m\nDTSTAMP:20261101T000000Z\nSUMMARY:Meeting\n\
         DTSTART;TZID=Europe/Vienna:20261123T090000\nDTEND;TZID=Europe/Vienna:20261123T100000\nRRULE:FREQ=DAILY;COUNT=5\n\
         ORGANIZER:mailto:{ADA}\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:{BOB}\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    read(&file).event(place(), &[ADA.to_owned()]).unwrap()
}

fn read(file: &str) -> ItipRead {
    ItipRead::read(file, NOW, &zone()).unwrap()
}

fn sent(event: &Event, method: Method, at: Option<Wall>, seconds: i64) -> ItipRead {
    read(&Itip::of(event, method, at).file(Timestamp(NOW.0 - 1_000_000 + seconds * 1000)).unwrap())
}

fn answer(event: &Event, status: AttendeeStatus, seconds: i64) -> ItipRead {
    let mut event = event.clone();
    event.detail.attendees[0].status = status;
    sent(&event, Method::Reply, None, seconds)
}

fn bobs(event: &Event) -> Event {
    sent(event, Method::Request, None, 0).event(place(), &[BOB.to_owned()]).unwrap()
}

fn moved(event: &Event, start: &str) -> Event {
    let patch = EventPatch { start: Some(start.to_owned()), ..EventPatch::default() };
    let me = event.detail.organizer.clone().unwrap();
    event.clone().changed(&patch, &me).unwrap()
}

fn walls(event: &Event) -> Vec<Wall> {
    event.head.timing.series().unwrap().walls(Wall::MIN, Wall::MAX).collect()
}

fn at(day: u32, hour: i64) -> Wall {
    Day::of(2026, 11, day).midnight().plus(hour * 3600)
}

#[test]
fn the_latest_answer_holds_in_whatever_order_they_come() {
    let mut event = meeting();
    let (first, last) = (answer(&event, AttendeeStatus::Accepted, 1), answer(&event, AttendeeStatus::Declined, 2));
    assert_eq!(last.reply(&mut event, BOB), Taken::Changed);
    assert_eq!(first.reply(&mut event, BOB), Taken::Stale);
    assert_eq!(event.detail.attendees[0].status, AttendeeStatus::Declined);
}

#[test]
fn an_answer_to_what_was_moved_since_is_none() {
    let before = meeting();
    let mut after = moved(&before, "2026-11-23T11:00");
    assert_eq!(answer(&before, AttendeeStatus::Accepted, 1).reply(&mut after, BOB), Taken::Stale);
    let mine = bobs(&before);
    let mine = sent(&after, Method::Request, None, 2).renewed(mine, &[BOB.to_owned()]).unwrap();
    assert_eq!(walls(&mine), walls(&after));
    assert_eq!(answer(&mine, AttendeeStatus::Accepted, 3).reply(&mut after, BOB), Taken::Changed);
}

#[test]
fn nobody_answers_for_others() {
    let mut event = meeting();
    let forged = answer(&event, AttendeeStatus::Declined, 1);
    assert_eq!(forged.reply(&mut event, "eve@e.example"), Taken::Refused(NOT_THE_ATTENDEE));
    assert!(!sent(&event, Method::Cancel, None, 1).is_from_organizer("eve@e.example"));
    assert!(sent(&event, Method::Cancel, None, 1).is_from_organizer(ADA));
    let file = format!(
        "BEGIN:VCALENDAR\nMETHOD:REPLY\nBEGIN:VEVENT\nUID:m\nDTSTAMP:20261101T000000Z\n\
         ATTENDEE;PARTSTAT=ACCEPTED;SENT-BY=\"mailto:desk@b.example\":mailto:{BOB}\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    assert_eq!(
        read(&file).reply(&mut event, "desk@b.example"),
        Taken::Changed,
        "who writes for Bob, without ORGANIZER"
    );
}

#[test]
fn what_a_guest_answered_stays_until_they_are_asked_again() {
    let event = meeting();
    let own = [BOB.to_owned()];
    let mut mine = bobs(&event);
    mine.head.my_status = Some(AttendeeStatus::Accepted);
    let renamed = Event { head: EventHead { summary: "Other".to_owned(), ..event.head.clone() }, ..event.clone() };
    let same = sent(&renamed, Method::Request, None, 2).renewed(mine.clone(), &own).unwrap();
    assert_eq!(same.detail.my_status(&own), Some(AttendeeStatus::Accepted));
    assert_eq!(same.head.summary, "Other");
    let again = sent(&moved(&event, "2026-11-23T11:00"), Method::Request, None, 3).renewed(mine, &own).unwrap();
    assert_eq!(again.detail.my_status(&own), Some(AttendeeStatus::NeedsAction));
}

#[test]
fn one_occurrence_is_moved_and_called_off_alone() {
    let event = meeting();
    let patch = EventPatch { start: Some("2026-11-24T15:00".to_owned()), ..EventPatch::default() };
    let changed = event.clone().changed_at(at(24, 9), &patch).unwrap();
    let one = sent(&changed, Method::Request, Some(at(24, 9)), 1).renewed(bobs(&event), &[BOB.to_owned()]).unwrap();
    assert_eq!(one.exceptions.iter().map(|it| it.start).collect::<Vec<_>>(), [at(24, 15)]);
    let called_off = sent(&event, Method::Cancel, Some(at(25, 9)), 2).cancelled(one).unwrap();
    assert_eq!(walls(&called_off).len(), 4);
    assert_eq!(called_off.head.status, EventStatus::Confirmed);
    let all = sent(&event, Method::Cancel, None, 3).cancelled(called_off).unwrap();
    assert_eq!(all.head.status, EventStatus::Cancelled);
}

#[test]
fn what_comes_late_is_known_to_be_late() {
    let event = meeting();
    let mine = sent(&event, Method::Request, None, 5).event(place(), &[BOB.to_owned()]).unwrap();
    assert!(sent(&event, Method::Request, None, 4).is_stale(&mine));
    assert!(!sent(&event, Method::Request, None, 5).is_stale(&mine));
    assert!(!sent(&event, Method::Cancel, Some(at(25, 9)), 6).is_stale(&mine));
}

#[test]
fn an_occurrence_that_nobody_has_stands_beside() {
    let event = meeting();
    let patch = EventPatch { start: Some("2026-11-24T15:00".to_owned()), ..EventPatch::default() };
    let changed = event.changed_at(at(24, 9), &patch).unwrap();
    let alone = sent(&changed, Method::Request, Some(at(24, 9)), 1).event(place(), &[BOB.to_owned()]).unwrap();
    assert_eq!(walls(&alone), [at(24, 9)]);
    let patch = EventPatch { start: Some("2026-11-25T15:00".to_owned()), ..EventPatch::default() };
    let other = changed.changed_at(at(25, 9), &patch).unwrap();
    let both = sent(&other, Method::Request, Some(at(25, 9)), 2).renewed(alone, &[BOB.to_owned()]).unwrap();
    assert_eq!(walls(&both), [at(24, 9), at(25, 9)]);
}

#[test]
fn a_proposal_names_a_time() {
    let event = meeting();
    let itip = Itip { moved: Some((at(24, 12), at(24, 13))), ..Itip::of(&event, Method::Counter, Some(at(24, 9))) };
    let proposed = read(&itip.file(NOW).unwrap()).proposal(&event).unwrap();
    assert_eq!(proposed, (Some(at(24, 9)), at(24, 12), at(24, 13)));
}

#[test]
fn a_file_without_events_is_no_invitation() {
    assert_eq!(MailInvitation::read(b"nonsense"), None);
    assert_eq!(MailInvitation::read(b"BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:a\nEND:VTODO\nEND:VCALENDAR\n"), None);
    let bad = MailInvitation::read(
        b"BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:a\nDTSTART:x\nEND:VEVENT\nEND:VCALENDAR\n",
    );
    let bad = bad.unwrap();
    assert_eq!((bad.method.as_str(), bad.uid.as_str(), bad.fault.is_some()), ("REQUEST", "a", true));
    assert!(MailInvitation::read(&vec![b' '; ITIP_BYTES_MAX + 1]).is_none());
}
