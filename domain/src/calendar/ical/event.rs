//! The events of a file: a component for all of each, and one for each of its occurrences that was changed alone.

use std::collections::BTreeMap;

use super::{
    super::{
        EXCEPTIONS_MAX,
        event::{AttendeeStatus, BusyStatus, EventStatus},
        record::{Attendee, Event, EventDetail, EventHead, Exception},
        recurrence::{DAY_SECONDS, Form, Moment, Series, Wall},
        timing::Timing,
    },
    component::Component,
    time::{Time, lasting},
};
use crate::{
    Timestamp,
    id::{CalendarId, EventId, MailboxId},
    notify::Zone,
};

/// An event of a file.
#[derive(Clone, Debug)]
pub struct ReadEvent {
    /// The line on which it begins, counted from 1.
    pub line: usize,
    /// What it is known by.
    pub uid: String,
    /// `SEQUENCE`.
    pub sequence: i64,
    /// When it was written.
    pub stamp: Option<Timestamp>,
    /// When it is.
    pub timing: Timing,
    /// What it is called.
    pub summary: String,
    /// Where it is.
    pub location: String,
    /// Whether it takes place.
    pub status: EventStatus,
    /// How it shows people's time.
    pub busy_status: BusyStatus,
    /// Minutes before the start.
    pub reminders: Vec<i64>,
    /// What only the event itself shows.
    pub detail: EventDetail,
    /// Its occurrences that were changed alone.
    pub exceptions: Vec<ReadException>,
    /// Whether the file has occurrences of it and no series, as for who is asked to some of them.
    pub is_alone: bool,
}

/// An occurrence of a file that was changed alone.
#[derive(Clone, Debug)]
pub struct ReadException {
    /// What it is.
    pub exception: Exception,
    /// Those who are asked to it.
    pub attendees: Vec<Attendee>,
}

/// Where an event of a file is put.
#[derive(Clone, Copy, Debug)]
pub struct EventPlace {
    /// The id that it gets.
    pub id: EventId,
    /// The calendar.
    pub calendar_id: CalendarId,
    /// Whose it is.
    pub mailbox_id: MailboxId,
    /// The mailbox's revision then.
    pub modseq: i64,
    /// When that is.
    pub now: Timestamp,
}

impl ReadEvent {
    /// The event as a mailbox with these addresses has it.
    pub fn into_event(self, place: EventPlace, addresses: &[String]) -> Event {
        let mine =
            |attendees: &[Attendee]| attendees.iter().find(|it| addresses.contains(&it.email)).map(|it| it.status);
        let my_status = self.detail.my_status(addresses);
        let exceptions = self.exceptions.into_iter().map(|it| {
            let my_status: Option<AttendeeStatus> = mine(&it.attendees).or(my_status);
            Exception { my_status, ..it.exception }
        });
        Event {
            exceptions: exceptions.collect(),
            head: EventHead {
                id: place.id,
                calendar_id: place.calendar_id,
                timing: self.timing,
                summary: self.summary,
                location: self.location,
                status: self.status,
                busy_status: self.busy_status,
                reminders: self.reminders,
                attendees: self.detail.attendees.len(),
                is_organizer: self.detail.is_organizer(addresses),
                my_status,
            },
            mailbox_id: place.mailbox_id,
            uid: self.uid,
            detail: self.detail,
            sequence: self.sequence,
            version: 1,
            modseq: place.modseq,
            created_at: place.now,
            updated_at: place.now,
        }
    }

    /// The event that these components of one `UID` are, or the reason for which it can't be.
    pub(super) fn of(mut components: Vec<Component>, here: &Zone) -> Result<Self, String> {
        let whole = components.iter().position(|it| it.recurrence.is_none());
        let is_alone = whole.is_none();
        let main = match whole {
            Some(at) => components.remove(at),
            None => main_of_alone(&mut components)?,
        };
        let start = main.start.as_ref().ok_or("An event needs DTSTART.")?.start(here);
        let series = Series::new(start, main.rule.clone()).map_err(|fault| fault.to_string())?;
        let end = end(&main, &series, series.start().at);
        let moments = |times: &[Time]| times.iter().map(Time::moment).collect::<Vec<_>>();
        let mut beside = moments(&main.beside);
        let series = series.with_dates(&beside, &moments(&main.removed)).map_err(|fault| fault.to_string())?;
        let timing = Timing::of(&series, end);
        let exceptions = exceptions(&main, components, &series, &timing)?;
        // What was changed and isn't of the series stands beside it, so that it isn't lost.
        let others = exceptions.values().map(|it| it.exception.recurrence).filter(|wall| !series.occurs(*wall));
        beside.extend(others.map(Moment::Wall));
        let series = series.with_dates(&beside, &moments(&main.removed)).map_err(|fault| fault.to_string())?;
        let occurring = exceptions.into_values().filter(|it| series.occurs(it.exception.recurrence));
        Ok(Self {
            line: main.line,
            sequence: main.sequence,
            stamp: main.stamp,
            timing: Timing::of(&series, end),
            exceptions: occurring.collect(),
            is_alone,
            detail: EventDetail {
                description: main.description,
                organizer: main.organizer,
                attendees: main.attendees,
                sensitivity: main.sensitivity,
                categories: main.categories,
                url: main.url,
            },
            uid: main.uid,
            summary: main.summary.unwrap_or_default(),
            location: main.location.unwrap_or_default(),
            status: main.status,
            busy_status: main.busy_status,
            reminders: main.reminders,
        })
    }
}

/// Of occurrences without a series, the event that begins with the first of them.
fn main_of_alone(components: &mut [Component]) -> Result<Component, String> {
    components.sort_by_key(|it| it.recurrence.as_ref().map(|it| it.wall));
    let mut main = components.first().cloned().ok_or("An event needs DTSTART.")?;
    main.beside = components.iter().filter_map(|it| it.recurrence.clone()).collect();
    // Its own time is an exception's; the series has the time that it is named by.
    let (start, length) = (main.recurrence.take(), main.start.clone().zip(main.end.clone()));
    if let (Some(at), Some((begins, ends))) = (&start, length) {
        main.end = Some(Time { wall: at.wall.plus(ends.wall.0 - begins.wall.0), place: at.place.clone() });
    }
    main.start = start;
    Ok(main)
}

/// When what begins at `start` ends, on the wall of the series.
pub(in crate::calendar) fn end(component: &Component, series: &Series, start: Wall) -> Wall {
    let is_days = series.start().form == Form::Days;
    let end = match (&component.end, component.lasts) {
        (Some(end), _) => end.on(series),
        (None, Some((days, seconds))) => lasting(start, series, days, seconds),
        (None, None) => start,
    };
    let end = end.min(Wall::MAX);
    if is_days { end.day().midnight().max(start.day().midnight().plus(DAY_SECONDS)) } else { end.max(start) }
}

fn exceptions(
    main: &Component,
    components: Vec<Component>,
    series: &Series,
    timing: &Timing,
) -> Result<BTreeMap<Wall, ReadException>, String> {
    if components.len() > EXCEPTIONS_MAX {
        return Err(format!("A series has at most {EXCEPTIONS_MAX} occurrences that were changed alone."));
    }
    let mut read: BTreeMap<Wall, (i64, ReadException)> = BTreeMap::new();
    for component in components {
        let Some(at) = &component.recurrence else {
            return Err("Another event of this file has the same UID.".to_owned());
        };
        let recurrence = series.wall_of(at.moment());
        let sequence = component.sequence;
        let (summary, location) = (main.summary.as_deref(), main.location.as_deref());
        let named = (summary.unwrap_or_default(), location.unwrap_or_default());
        let exception = exception(component, series, timing, recurrence, named);
        // Of two for one occurrence the later one holds.
        if read.get(&recurrence).is_none_or(|(before, _)| *before <= sequence) {
            read.insert(recurrence, (sequence, exception));
        }
    }
    Ok(read.into_iter().map(|(wall, (_, exception))| (wall, exception)).collect())
}

/// An occurrence that was changed alone; its series has this name and place.
pub(in crate::calendar) fn exception(
    component: Component,
    series: &Series,
    timing: &Timing,
    recurrence: Wall,
    (summary, location): (&str, &str),
) -> ReadException {
    let start = component.start.as_ref().map_or(recurrence, |it| it.on(series));
    let has_end = component.end.is_some() || component.lasts.is_some();
    let end = if has_end { end(&component, series, start) } else { timing.end_of(series, start) };
    ReadException {
        exception: Exception {
            recurrence,
            start,
            end,
            summary: component.summary.unwrap_or_else(|| summary.to_owned()),
            location: component.location.unwrap_or_else(|| location.to_owned()),
            status: component.status,
            busy_status: component.busy_status,
            my_status: None,
        },
        attendees: component.attendees,
    }
}
