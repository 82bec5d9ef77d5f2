//! Calendars and events as they are decided on (contract B 2.8).

use serde::{Deserialize, Serialize};

use super::{
    event::{AttendeeKind, AttendeeRole, AttendeeStatus, BusyStatus, EventStatus, Sensitivity},
    recurrence::{DAY_SECONDS, Length, Override, Wall},
    settings::CalendarColor,
    timing::Timing,
    window::Window,
};
use crate::{
    Result, Timestamp,
    id::{CalendarId, EventId, MailboxId},
};

/// A calendar of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// Its id.
    pub id: CalendarId,
    /// Whose it is.
    pub mailbox_id: MailboxId,
    /// What it is called.
    pub name: String,
    /// Its color.
    pub color: CalendarColor,
    /// What it is about.
    pub description: String,
    /// Whether events come here where nothing is said.
    pub is_default: bool,
    /// The mailbox's revision when anything in it last changed.
    pub modseq: i64,
    /// Counts its changes.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Which of two messages about an event is the later one (RFC 5546, 2.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Told {
    /// `SEQUENCE`.
    pub sequence: i64,
    /// `DTSTAMP`.
    pub stamp: i64,
}

/// Who asks others to an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organizer {
    /// The address, in small letters.
    pub email: String,
    /// The name.
    pub name: Option<String>,
    /// What they said last by mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
}

/// Somebody who is asked to an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attendee {
    /// The address, in small letters.
    pub email: String,
    /// The name.
    pub name: Option<String>,
    /// What they are to the event.
    pub role: AttendeeRole,
    /// What they answered.
    pub status: AttendeeStatus,
    /// Whether an answer is wanted.
    pub rsvp: bool,
    /// Who or what it is.
    pub kind: AttendeeKind,
    /// What they said last by mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
}

/// What lists show of an event.
#[derive(Clone, Debug)]
pub struct EventHead {
    /// Its id.
    pub id: EventId,
    /// The calendar that it is in.
    pub calendar_id: CalendarId,
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
    /// How many are asked to it.
    pub attendees: usize,
    /// Whether the mailbox asks others to it, or nobody does.
    pub is_organizer: bool,
    /// What the mailbox answered, where it is asked.
    pub my_status: Option<AttendeeStatus>,
}

/// An occurrence that was changed alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The time that the series gives it.
    pub recurrence: Wall,
    /// When it begins, on the wall of the series.
    pub start: Wall,
    /// When it ends.
    pub end: Wall,
    /// What it is called.
    pub summary: String,
    /// Where it is.
    pub location: String,
    /// Whether it takes place.
    pub status: EventStatus,
    /// How it shows people's time.
    pub busy_status: BusyStatus,
    /// What the mailbox answered.
    pub my_status: Option<AttendeeStatus>,
}

/// What only the event itself shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventDetail {
    /// What it is about.
    pub description: String,
    /// Who asks others to it.
    pub organizer: Option<Organizer>,
    /// Those who are asked.
    pub attendees: Vec<Attendee>,
    /// Who may read more than its time.
    pub sensitivity: Sensitivity,
    /// Words that people sort by.
    pub categories: Vec<String>,
    /// Where more stands.
    pub url: Option<String>,
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// What lists show.
    pub head: EventHead,
    /// Whose it is.
    pub mailbox_id: MailboxId,
    /// What it is known by in all calendars that have it (RFC 5545, `UID`).
    pub uid: String,
    /// What only the event itself shows.
    pub detail: EventDetail,
    /// Its occurrences that were changed alone, in the order of their times.
    pub exceptions: Vec<Exception>,
    /// Counts what guests have to know of (RFC 5545, `SEQUENCE`).
    pub sequence: i64,
    /// Counts its changes.
    pub version: i64,
    /// The mailbox's revision when it last changed.
    pub modseq: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// An occurrence of an event in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventOccurrence {
    /// The time that the series gives it; none for an event that occurs once.
    pub recurrence: Option<Wall>,
    /// When it begins.
    pub start: Timestamp,
    /// When it ends.
    pub end: Timestamp,
    /// The days of an event of whole days; the last one doesn't belong to it.
    pub days: Option<(Wall, Wall)>,
    /// Its place among the exceptions, where it was changed alone.
    pub exception: Option<usize>,
}

impl EventHead {
    /// The occurrences in `window`, by their beginnings. `exceptions` are those of its exceptions that lie in the window,
    /// or stand for an occurrence that would. More than `most` are refused.
    pub fn occurrences(&self, exceptions: &[Exception], window: Window, most: usize) -> Result<Vec<EventOccurrence>> {
        let series = self.timing.series()?;
        let length = series.length(self.timing.end);
        let overrides: Vec<Override> = exceptions
            .iter()
            .map(|it| Override {
                recurrence: it.recurrence,
                start: series.instant(it.start),
                end: series.instant(it.end),
            })
            .collect();
        let days = |exception: Option<usize>, recurrence: Wall| {
            let changed = exception.and_then(|at| exceptions.get(at)).map(|it| (it.start, it.end));
            changed.or(match length {
                Length::Days(days) => Some((recurrence, recurrence.plus(days * DAY_SECONDS))),
                Length::Seconds(_) => None,
            })
        };
        let found = series.occurrences(length, &overrides, window, most)?;
        let shown = found.into_iter().map(|it| EventOccurrence {
            recurrence: self.timing.is_recurring().then_some(it.recurrence),
            start: it.start,
            end: it.end,
            days: days(it.changed, it.recurrence).filter(|_| self.timing.is_all_day()),
            exception: it.changed,
        });
        Ok(shown.collect())
    }
}

impl EventDetail {
    /// Whether the mailbox with these addresses asks others to the event, or nobody does.
    pub fn is_organizer(&self, addresses: &[String]) -> bool {
        self.organizer.as_ref().is_none_or(|organizer| addresses.contains(&organizer.email))
    }

    /// What the mailbox with these addresses answered, where it is asked.
    pub fn my_status(&self, addresses: &[String]) -> Option<AttendeeStatus> {
        self.attendees.iter().find(|it| addresses.contains(&it.email)).map(|it| it.status)
    }
}

impl Event {
    /// The beginnings and ends of what was changed alone.
    pub fn changed_walls(&self) -> Vec<(Wall, Wall)> {
        self.exceptions.iter().map(|it| (it.start, it.end)).collect()
    }

    /// Those who are to hear of the event from whoever asks them to it.
    pub fn guests(&self) -> impl Iterator<Item = &Attendee> {
        let organizer = self.detail.organizer.as_ref().map(|it| it.email.as_str());
        self.detail.attendees.iter().filter(move |it| Some(it.email.as_str()) != organizer)
    }
}
