//! Files of calendars (RFC 5545), read and written.
//!
//! The grammar is calcard's; recurrence and zones are the house's own. What a file says badly is a fault of the one event that
//! says it; the others are taken.

mod component;
mod event;
mod lines;
mod marks;
#[cfg(test)]
mod tests;
mod time;
mod vtimezone;
mod write;

use std::collections::BTreeMap;

use calcard::{
    Entry, Parser,
    icalendar::{ICalendarComponentType, ICalendarProperty},
};

pub use self::{
    component::{Component, READ_ATTENDEES_MAX, UID_LEN_MAX},
    event::{EventPlace, ReadEvent, ReadException},
    time::{Place, Time},
    write::{Writing, write_calendar},
};
pub(in crate::calendar) use self::{
    event::{end, exception},
    write::{Part, write},
};
use self::{marks::marks, time::Zones};
use crate::{Error, Result, notify::Zone};

/// What isn't a calendar.
pub const NOT_A_CALENDAR: &str = "This file isn't a calendar.";
/// Calendars in one file that are read.
const CALENDARS_MAX: usize = 1_000;

/// What a file says.
#[derive(Clone, Debug, Default)]
pub struct ReadCalendar {
    /// What it asks for (RFC 5546), in big letters.
    pub method: Option<String>,
    /// What the calendar is called.
    pub name: Option<String>,
    /// Its events, in the order of the file.
    pub events: Vec<ReadEvent>,
    /// What can't be read.
    pub failed: Vec<ReadFault>,
}

/// Why an event of a file can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFault {
    /// What it is known by.
    pub uid: Option<String>,
    /// The line on which it begins, counted from 1.
    pub line: usize,
    /// The reason, as a sentence.
    pub reason: String,
}

/// The components of a file.
#[derive(Clone, Debug, Default)]
pub struct ReadComponents {
    /// What it asks for, in big letters.
    pub method: Option<String>,
    /// What the calendar is called.
    pub name: Option<String>,
    /// Each `VEVENT`.
    pub components: Vec<Component>,
    /// What can't be read.
    pub failed: Vec<ReadFault>,
}

/// The events of a file. `here` is the zone of times that are everywhere, and of zones that nobody knows.
///
/// # Errors
/// 400 for what is no calendar.
pub fn read_calendar(text: &str, here: &Zone) -> Result<ReadCalendar> {
    let read = read_components(text, here)?;
    let mut calendar = ReadCalendar { method: read.method, name: read.name, events: Vec::new(), failed: read.failed };
    for (line, components) in by_uid(read.components) {
        let uid = components.first().map(|it| it.uid.clone());
        match ReadEvent::of(components, here) {
            Ok(event) => calendar.events.push(event),
            Err(reason) => calendar.failed.push(ReadFault { uid, line, reason }),
        }
    }
    calendar.failed.sort_by_key(|it| it.line);
    Ok(calendar)
}

/// The event that these components of one `UID` are.
///
/// # Errors
/// 400 with the reason for which they are none.
pub fn event_of(components: Vec<Component>, here: &Zone) -> Result<ReadEvent> {
    ReadEvent::of(components, here).map_err(|reason| Error::bad_request("not_a_calendar", reason))
}

/// Components with the same `UID`, in the order of the file, each with its first line.
fn by_uid(components: Vec<Component>) -> Vec<(usize, Vec<Component>)> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut found: Vec<(usize, Vec<Component>)> = Vec::new();
    for component in components {
        let place = *places.entry(component.uid.clone()).or_insert(found.len());
        if place == found.len() {
            found.push((component.line, Vec::new()));
        }
        found[place].1.push(component);
    }
    found
}

/// The components of a file.
///
/// # Errors
/// 400 for what is no calendar.
pub fn read_components(text: &str, here: &Zone) -> Result<ReadComponents> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut marks = marks(text).into_iter();
    let mut parser = Parser::new(text);
    let mut read = ReadComponents::default();
    let mut is_calendar = false;
    for _ in 0..CALENDARS_MAX {
        let calendar = match parser.entry() {
            Entry::ICalendar(calendar) => calendar,
            Entry::Eof => break,
            _ => continue,
        };
        is_calendar = true;
        let zones = Zones::of(&calendar, here);
        if let Some(root) = calendar.components.first() {
            let method = time::text(root, &ICalendarProperty::Method).map(str::to_ascii_uppercase);
            read.method = read.method.or(method);
            let name = time::text(root, &ICalendarProperty::Other("X-WR-CALNAME".to_owned()));
            let name = name.or_else(|| time::text(root, &ICalendarProperty::Name)).map(str::to_owned);
            read.name = read.name.or(name);
        }
        for component in calendar.components.iter().filter(|it| it.component_type == ICalendarComponentType::VEvent) {
            let mark = marks.next().unwrap_or_default();
            match Component::read(&calendar, component, &mark, &zones) {
                Ok(component) => read.components.push(component),
                Err(reason) => {
                    let uid = component.uid().map(|it| it.chars().take(UID_LEN_MAX).collect());
                    read.failed.push(ReadFault { uid, line: mark.line, reason });
                }
            }
        }
    }
    if is_calendar { Ok(read) } else { Err(Error::bad_request("not_a_calendar", NOT_A_CALENDAR)) }
}
