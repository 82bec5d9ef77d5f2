//! Events as a file has them.

use std::collections::BTreeMap;

use super::{
    super::{
        event::{AttendeeKind, AttendeeRole, AttendeeStatus, BusyStatus, EventStatus, Sensitivity},
        invitation::Method,
        record::{Attendee, Event, Exception},
        recurrence::{Form, Series, Wall},
    },
    lines::{Lines, basic, basic_wall, escaped, named, universal},
    vtimezone,
};
use crate::{Result, Timestamp, notify::Zone};

/// What a file is for.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'w> {
    /// What it asks for (RFC 5546); nothing for one that is only kept.
    pub method: Option<Method>,
    /// What the calendar is called.
    pub name: Option<&'w str>,
    /// When it is written.
    pub now: Timestamp,
}

/// What a file says of one event.
#[derive(Clone, Copy, Debug)]
pub(in crate::calendar) struct Part<'e> {
    pub event: &'e Event,
    /// Of this occurrence alone.
    pub at: Option<Wall>,
    /// Those who stand in it; all who are asked, where nothing is said.
    pub attendees: Option<&'e [Attendee]>,
    /// What somebody adds.
    pub comment: Option<&'e str>,
    /// Another time than the event has.
    pub moved: Option<(Wall, Wall)>,
}

impl<'e> Part<'e> {
    pub const fn of(event: &'e Event) -> Self {
        Self { event, at: None, attendees: None, comment: None, moved: None }
    }
}

/// The events with what was changed of them alone, as one file.
///
/// # Errors
/// Where a series can't be.
pub fn write_calendar(events: &[Event], writing: &Writing<'_>) -> Result<String> {
    let parts: Vec<Part<'_>> = events.iter().map(Part::of).collect();
    write(&parts, writing)
}

pub(in crate::calendar) fn write(parts: &[Part<'_>], writing: &Writing<'_>) -> Result<String> {
    let mut text = Lines::default();
    text.add("BEGIN", "VCALENDAR");
    text.add("VERSION", "2.0");
    text.add("PRODID", "-//Troupe//Calendar//EN");
    text.add("CALSCALE", "GREGORIAN");
    if let Some(method) = writing.method {
        text.add("METHOD", method.as_str());
    }
    text.some("X-WR-CALNAME", &escaped(writing.name.unwrap_or_default()));
    zones(&mut text, parts)?;
    for part in parts {
        let writer = Writer { part, series: part.event.head.timing.series()?, writing };
        if let Some(at) = part.at {
            let exception = part.event.exceptions.iter().find(|it| it.recurrence == at);
            writer.component(&mut text, Some((at, exception)));
        } else {
            writer.component(&mut text, None);
            for exception in &part.event.exceptions {
                writer.component(&mut text, Some((exception.recurrence, Some(exception))));
            }
        }
    }
    text.add("END", "VCALENDAR");
    Ok(text.into_text())
}

/// The clocks of each zone that is named, from its earliest event on.
fn zones(text: &mut Lines, parts: &[Part<'_>]) -> Result<()> {
    let mut zones: BTreeMap<String, (Zone, Timestamp)> = BTreeMap::new();
    for part in parts {
        let start = &part.event.head.timing.start;
        if start.form != Form::Zoned || start.zone == Zone::UTC {
            continue;
        }
        let at = part.event.head.timing.series()?.instant(start.at);
        let entry = zones.entry(start.zone.name().to_owned()).or_insert_with(|| (start.zone.clone(), at));
        entry.1 = Timestamp(entry.1.0.min(at.0));
    }
    for (zone, from) in zones.into_values() {
        vtimezone::zone(text, &zone, from);
    }
    Ok(())
}

struct Writer<'w, 'e> {
    part: &'w Part<'e>,
    series: Series,
    writing: &'w Writing<'w>,
}

impl Writer<'_, '_> {
    fn component(&self, text: &mut Lines, at: Option<(Wall, Option<&Exception>)>) {
        let event = self.part.event;
        let head = &event.head;
        let exception = at.and_then(|(_, exception)| exception);
        text.add("BEGIN", "VEVENT");
        text.add("UID", &escaped(&event.uid));
        text.add("DTSTAMP", &universal(self.writing.now));
        text.add("SEQUENCE", &event.sequence.to_string());
        self.times(text, at);
        text.add("SUMMARY", &escaped(exception.map_or(&head.summary, |it| &it.summary)));
        text.some("LOCATION", &escaped(exception.map_or(&head.location, |it| &it.location)));
        text.some("DESCRIPTION", &escaped(&event.detail.description));
        text.some("URL", &event.detail.url.as_deref().unwrap_or_default().replace(['\r', '\n'], ""));
        let categories: Vec<String> = event.detail.categories.iter().map(|it| escaped(it)).collect();
        text.some("CATEGORIES", &categories.join(","));
        text.some("COMMENT", &escaped(self.part.comment.unwrap_or_default()));
        let status = match self.writing.method {
            Some(Method::Cancel) => EventStatus::Cancelled,
            _ => exception.map_or(head.status, |it| it.status),
        };
        text.add("STATUS", &status.as_str().to_uppercase());
        text.add("CLASS", class(event.detail.sensitivity));
        if event.detail.sensitivity == Sensitivity::Personal {
            text.add("X-TROUPE-CLASS", "PERSONAL");
        }
        if let Some(organizer) = &event.detail.organizer {
            text.add(&format!("ORGANIZER{}", named(organizer.name.as_deref())), &format!("mailto:{}", organizer.email));
        }
        for attendee in self.part.attendees.unwrap_or(&event.detail.attendees) {
            add_attendee(text, attendee);
        }
        if self.writing.method.is_none() {
            let busy = exception.map_or(head.busy_status, |it| it.busy_status);
            self.own(text, busy);
        }
        text.add("END", "VEVENT");
    }

    /// What is a mailbox's own, and goes to nobody else.
    fn own(&self, text: &mut Lines, busy: BusyStatus) {
        text.add("TRANSP", if busy == BusyStatus::Free { "TRANSPARENT" } else { "OPAQUE" });
        text.add("X-MICROSOFT-CDO-BUSYSTATUS", busy_name(busy));
        for minutes in &self.part.event.head.reminders {
            let (sign, size) = if *minutes > 0 { ("-", *minutes) } else { ("", -minutes) };
            text.add("BEGIN", "VALARM");
            text.add("ACTION", "DISPLAY");
            text.add("DESCRIPTION", &escaped(&self.part.event.head.summary));
            text.add("TRIGGER", &format!("{sign}PT{size}M"));
            text.add("END", "VALARM");
        }
    }

    fn times(&self, text: &mut Lines, at: Option<(Wall, Option<&Exception>)>) {
        let timing = &self.part.event.head.timing;
        let exception = at.and_then(|(_, exception)| exception);
        let start = exception.map_or_else(|| at.map_or(timing.start.at, |(at, _)| at), |it| it.start);
        let end = match (exception, at) {
            (Some(exception), _) => exception.end,
            (None, Some((at, _))) => timing.end_of(&self.series, at),
            (None, None) => timing.end,
        };
        let (start, end) = self.part.moved.unwrap_or((start, end));
        if let Some((at, _)) = at {
            self.time(text, "RECURRENCE-ID", at);
        }
        self.time(text, "DTSTART", start);
        self.time(text, "DTEND", end);
        if at.is_some() {
            return;
        }
        if let Some(rule) = self.series.rule_text() {
            text.add("RRULE", &rule);
        }
        for wall in timing.beside.iter().filter(|&&wall| wall != timing.start.at) {
            self.time(text, "RDATE", *wall);
        }
        for wall in &timing.removed {
            self.time(text, "EXDATE", *wall);
        }
    }

    fn time(&self, text: &mut Lines, name: &str, wall: Wall) {
        let start = &self.part.event.head.timing.start;
        match start.form {
            Form::Days => text.add(&format!("{name};VALUE=DATE"), &basic(&wall.day().to_string())),
            Form::Zoned if start.zone == Zone::UTC => text.add(name, &universal(self.series.instant(wall))),
            Form::Zoned => text.add(&format!("{name};TZID={}", start.zone.name()), &basic_wall(wall)),
            Form::Floating => text.add(name, &basic_wall(wall)),
        }
    }
}

const fn class(sensitivity: Sensitivity) -> &'static str {
    match sensitivity {
        Sensitivity::Normal => "PUBLIC",
        Sensitivity::Private | Sensitivity::Personal => "PRIVATE",
        Sensitivity::Confidential => "CONFIDENTIAL",
    }
}

const fn busy_name(busy: BusyStatus) -> &'static str {
    match busy {
        BusyStatus::Busy => "BUSY",
        BusyStatus::Free => "FREE",
        BusyStatus::Tentative => "TENTATIVE",
        BusyStatus::OutOfOffice => "OOF",
        BusyStatus::WorkingElsewhere => "WORKINGELSEWHERE",
    }
}

fn add_attendee(text: &mut Lines, attendee: &Attendee) {
    let role = match attendee.role {
        AttendeeRole::Optional => "OPT-PARTICIPANT",
        AttendeeRole::Required => "REQ-PARTICIPANT",
        AttendeeRole::Chair => "CHAIR",
        AttendeeRole::NonParticipant => "NON-PARTICIPANT",
    };
    let status = match attendee.status {
        AttendeeStatus::NeedsAction => "NEEDS-ACTION",
        AttendeeStatus::Accepted => "ACCEPTED",
        AttendeeStatus::Declined => "DECLINED",
        AttendeeStatus::Tentative => "TENTATIVE",
        AttendeeStatus::Delegated => "DELEGATED",
    };
    let mut name = format!("ATTENDEE;ROLE={role};PARTSTAT={status}");
    if attendee.rsvp {
        name.push_str(";RSVP=TRUE");
    }
    if attendee.kind != AttendeeKind::Individual {
        name.push_str(";CUTYPE=");
        name.push_str(&attendee.kind.as_str().to_uppercase());
    }
    name.push_str(&named(attendee.name.as_deref()));
    text.add(&name, &format!("mailto:{}", attendee.email));
}
