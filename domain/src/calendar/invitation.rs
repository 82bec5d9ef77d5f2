//! What guests are sent of an event: a text, and the same for programs (RFC 5545, RFC 5546).

use std::fmt::Write as _;

use super::{
    event::{AttendeeRole, AttendeeStatus, EventStatus, Sensitivity},
    record::{Attendee, Event, Exception},
    recurrence::{Form, Series, Wall},
};
use crate::{Result, Timestamp, app::names};

/// Octets of a line, without its end (RFC 5545, 3.1).
const LINE_LEN_MAX: usize = 75;

names! {
    /// What an invitation asks for (RFC 5546).
    Method { Request = "REQUEST", Cancel = "CANCEL", }
}

/// The event as a text for people, in its zone; of at most one of its occurrences where `at` names one.
pub fn invitation_text(event: &Event, at: Option<Wall>) -> Result<String> {
    let series = event.head.timing.series()?;
    let exception = at.and_then(|at| event.exceptions.iter().find(|it| it.recurrence == at));
    let timing = &event.head.timing;
    let start = exception.map_or_else(|| at.unwrap_or(timing.start.at), |it| it.start);
    let end = exception.map_or_else(|| timing.end_of(&series, start), |it| it.end);
    let location = exception.map_or(event.head.location.as_str(), |it| it.location.as_str());
    let summary = exception.map_or(event.head.summary.as_str(), |it| it.summary.as_str());
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(name);
            text.push_str(value);
            text.push('\n');
        }
    };
    line("", summary);
    line("When: ", &when(event, start, end));
    if at.is_none() && timing.rule.is_some() {
        line("Repeats: ", &series.rule_text().unwrap_or_default());
    }
    line("Where: ", location);
    line("More: ", event.detail.url.as_deref().unwrap_or_default());
    line("Organizer: ", event.detail.organizer.as_ref().map_or("", |it| it.email.as_str()));
    line("\n", &event.detail.description);
    Ok(text)
}

fn when(event: &Event, start: Wall, end: Wall) -> String {
    let timing = &event.head.timing;
    let clock = |wall: Wall| wall.to_string()[..16].replace('T', " ");
    match timing.start.form {
        Form::Days if end.plus(-1).day() == start.day() => start.day().to_string(),
        Form::Days => format!("{} to {}", start.day(), end.plus(-1).day()),
        Form::Zoned | Form::Floating if start.day() == end.day() => {
            format!("{} to {} ({})", clock(start), &clock(end)[11..], timing.start.zone.name())
        }
        Form::Zoned | Form::Floating => {
            format!("{} to {} ({})", clock(start), clock(end), timing.start.zone.name())
        }
    }
}

/// The event as a program reads it: with `at`, this occurrence alone.
///
/// What occurs once is in universal time. What recurs names the zone as the IANA does, since it has to follow its clocks.
pub fn invitation(event: &Event, method: Method, at: Option<Wall>, now: Timestamp) -> Result<String> {
    let series = event.head.timing.series()?;
    let mut text = Lines::default();
    text.add("BEGIN", "VCALENDAR");
    text.add("VERSION", "2.0");
    text.add("PRODID", "-//Troupe//Calendar//EN");
    text.add("CALSCALE", "GREGORIAN");
    text.add("METHOD", method.as_str());
    if let Some(at) = at {
        let exception = event.exceptions.iter().find(|it| it.recurrence == at);
        component(&mut text, event, &series, now, Some((at, exception)), method);
    } else {
        component(&mut text, event, &series, now, None, method);
        for exception in &event.exceptions {
            component(&mut text, event, &series, now, Some((exception.recurrence, Some(exception))), method);
        }
    }
    text.add("END", "VCALENDAR");
    Ok(text.0)
}

fn component(
    text: &mut Lines,
    event: &Event,
    series: &Series,
    now: Timestamp,
    at: Option<(Wall, Option<&Exception>)>,
    method: Method,
) {
    let (head, timing) = (&event.head, &event.head.timing);
    let exception = at.and_then(|(_, exception)| exception);
    let start = exception.map_or_else(|| at.map_or(timing.start.at, |(at, _)| at), |it| it.start);
    let end = match (exception, at) {
        (Some(exception), _) => exception.end,
        (None, Some((at, _))) => timing.end_of(series, at),
        (None, None) => timing.end,
    };
    text.add("BEGIN", "VEVENT");
    text.add("UID", &escaped(&event.uid));
    text.add("DTSTAMP", &universal(now));
    text.add("SEQUENCE", &event.sequence.to_string());
    if let Some((at, _)) = at {
        text.time("RECURRENCE-ID", event, series, at);
    }
    text.time("DTSTART", event, series, start);
    text.time("DTEND", event, series, end);
    if at.is_none() {
        dates(text, event, series);
    }
    text.add("SUMMARY", &escaped(exception.map_or(&head.summary, |it| &it.summary)));
    text.some("LOCATION", &escaped(exception.map_or(&head.location, |it| &it.location)));
    text.some("DESCRIPTION", &escaped(&event.detail.description));
    text.some("URL", event.detail.url.as_deref().unwrap_or_default());
    let categories: Vec<String> = event.detail.categories.iter().map(|it| escaped(it)).collect();
    text.some("CATEGORIES", &categories.join(","));
    let status = match method {
        Method::Cancel => EventStatus::Cancelled,
        Method::Request => exception.map_or(head.status, |it| it.status),
    };
    text.add("STATUS", &status.as_str().to_uppercase());
    text.add("CLASS", class(event.detail.sensitivity));
    if let Some(organizer) = &event.detail.organizer {
        text.add(&format!("ORGANIZER{}", named(organizer.name.as_deref())), &format!("mailto:{}", organizer.email));
    }
    for attendee in &event.detail.attendees {
        text.attendee(attendee);
    }
    text.add("END", "VEVENT");
}

/// The rule, and the dates beside it and taken out.
fn dates(text: &mut Lines, event: &Event, series: &Series) {
    if let Some(rule) = series.rule_text() {
        text.add("RRULE", &rule);
    }
    let start = event.head.timing.start.at;
    for wall in event.head.timing.beside.iter().filter(|&&wall| wall != start) {
        text.time("RDATE", event, series, *wall);
    }
    for wall in &event.head.timing.removed {
        text.time("EXDATE", event, series, *wall);
    }
}

const fn class(sensitivity: Sensitivity) -> &'static str {
    match sensitivity {
        Sensitivity::Normal => "PUBLIC",
        Sensitivity::Private | Sensitivity::Personal => "PRIVATE",
        Sensitivity::Confidential => "CONFIDENTIAL",
    }
}

/// The lines of a file, each folded and ended as RFC 5545 wants it.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: &str) {
        let line = format!("{name}:{value}");
        let mut room = LINE_LEN_MAX;
        for letter in line.chars() {
            if letter.len_utf8() > room {
                self.0.push_str("\r\n ");
                room = LINE_LEN_MAX - 1;
            }
            self.0.push(letter);
            room -= letter.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    fn some(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.add(name, value);
        }
    }

    fn time(&mut self, name: &str, event: &Event, series: &Series, wall: Wall) {
        let timing = &event.head.timing;
        match timing.start.form {
            Form::Days => self.add(&format!("{name};VALUE=DATE"), &basic(&wall.day().to_string())),
            // A reader without the zone's rules would be at a loss.
            Form::Zoned if !timing.is_recurring() => self.add(name, &universal(series.instant(wall))),
            Form::Zoned => self.add(&format!("{name};TZID={}", timing.start.zone.name()), &basic(&wall.to_string())),
            Form::Floating => self.add(name, &basic(&wall.to_string())),
        }
    }

    fn attendee(&mut self, attendee: &Attendee) {
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
        name.push_str(&named(attendee.name.as_deref()));
        self.add(&name, &format!("mailto:{}", attendee.email));
    }
}

/// A name as a parameter; it can't hold quotes (RFC 5545, 3.2).
fn named(name: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(name) = name {
        let _ = write!(text, ";CN=\"{}\"", name.replace('"', "'"));
    }
    text
}

/// Without what stands between the parts of a date and of a time.
fn basic(text: &str) -> String {
    text.replace(['-', ':'], "")
}

/// An instant in universal time.
fn universal(at: Timestamp) -> String {
    format!("{}Z", basic(&Wall(at.0.div_euclid(1000)).to_string()))
}

/// A text with what has a meaning of its own escaped (RFC 5545, 3.3.11).
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\r' => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_letters() {
        let mut lines = Lines::default();
        lines.add("SUMMARY", &"é".repeat(100));
        for line in lines.0.split("\r\n") {
            assert!(line.len() <= LINE_LEN_MAX, "{line}");
        }
        assert_eq!(lines.0.replace("\r\n ", ""), format!("SUMMARY:{}\r\n", "é".repeat(100)));
    }

    #[test]
    fn texts_can_not_begin_a_line() {
        assert_eq!(escaped("a\r\nATTENDEE:b;c,d\\"), "a\\nATTENDEE:b\\;c\\,d\\\\");
        assert_eq!(named(Some("A \"B\"")), ";CN=\"A 'B'\"");
    }

    #[test]
    fn instants_are_written_in_universal_time() {
        assert_eq!(universal(Timestamp(1_767_225_600_000)), "20260101T000000Z");
    }
}
