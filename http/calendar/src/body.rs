//! Events, on the wire (contract B 2.8).

use domain::{
    Error,
    calendar::{
        Attendee, AttendeeStatus, BusyStatus, Event, EventStatus, Exception, InvitedFields, Organizer, Sensitivity,
        Timing,
        recurrence::{Recurrence, Series},
    },
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A weekday of a rule.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"day": "MO"}))]
pub(crate) struct RecurrenceDay {
    /// `SU`, `MO`, `TU`, `WE`, `TH`, `FR` or `SA`.
    day: String,
    /// Which one of the month or the year, from its end when negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    nth: Option<i64>,
}

/// How an event recurs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"freq": "weekly", "interval": 1, "byDay": [{"day": "MO"}]}))]
pub(crate) struct RecurrenceBody {
    /// `daily`, `weekly`, `monthly` or `yearly`.
    freq: String,
    /// Every how many of these: 1 to 999.
    interval: Option<i64>,
    /// How many occurrences there are: 1 to 5,000. Not beside `until`.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
    /// The last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// Up to 7 weekdays.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_day: Option<Vec<RecurrenceDay>>,
    /// Up to 31 days of the month, from its end when negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_month_day: Option<Vec<i64>>,
    /// Up to 12 months.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_month: Option<Vec<i64>>,
    /// Up to 10 places among a period's occurrences, from their end when negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_set_pos: Option<Vec<i64>>,
    /// The day on which weeks begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    week_start: Option<String>,
}

impl From<RecurrenceBody> for Recurrence {
    fn from(body: RecurrenceBody) -> Self {
        Self {
            freq: body.freq,
            interval: body.interval,
            count: body.count,
            until: body.until,
            by_day: body.by_day.unwrap_or_default().into_iter().map(|it| (it.day, it.nth)).collect(),
            by_month_day: body.by_month_day.unwrap_or_default(),
            by_month: body.by_month.unwrap_or_default(),
            by_set_pos: body.by_set_pos.unwrap_or_default(),
            week_start: body.week_start,
        }
    }
}

impl From<Recurrence> for RecurrenceBody {
    fn from(recurrence: Recurrence) -> Self {
        let some = |list: Vec<i64>| Some(list).filter(|list| !list.is_empty());
        let days = recurrence.by_day.into_iter().map(|(day, nth)| RecurrenceDay { day, nth }).collect::<Vec<_>>();
        Self {
            freq: recurrence.freq,
            interval: Some(recurrence.interval.unwrap_or(1)),
            count: recurrence.count,
            until: recurrence.until,
            by_day: Some(days).filter(|days| !days.is_empty()),
            by_month_day: some(recurrence.by_month_day),
            by_month: some(recurrence.by_month),
            by_set_pos: some(recurrence.by_set_pos),
            week_start: recurrence.week_start,
        }
    }
}

/// A guest to be: a person who is to be asked to an event.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[schema(example = json!({"email": "grace@example.org", "name": "Grace"}))]
pub(crate) struct AttendeeCreate {
    /// The address.
    email: String,
    /// The name: up to 200 characters.
    name: Option<String>,
    /// Whether the event takes place without them.
    optional: Option<bool>,
}

impl From<AttendeeCreate> for InvitedFields {
    fn from(body: AttendeeCreate) -> Self {
        Self { email: body.email, name: body.name, optional: body.optional.unwrap_or(false) }
    }
}

/// The organizer: the person who asks others to an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrganizerBody {
    /// The address.
    email: String,
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl From<Organizer> for OrganizerBody {
    fn from(organizer: Organizer) -> Self {
        Self { email: organizer.email, name: organizer.name }
    }
}

/// A guest: a person who is asked to an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AttendeeBody {
    /// The address.
    email: String,
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// `required`, `optional`, `chair` or `non-participant`.
    role: &'static str,
    /// `needs-action`, `accepted`, `tentative`, `declined` or `delegated`.
    status: &'static str,
    /// Whether an answer is wanted.
    rsvp: bool,
    /// `individual`, `group`, `resource`, `room` or `unknown`.
    kind: &'static str,
}

impl From<Attendee> for AttendeeBody {
    fn from(attendee: Attendee) -> Self {
        Self {
            email: attendee.email,
            name: attendee.name,
            role: attendee.role.as_str(),
            status: attendee.status.as_str(),
            rsvp: attendee.rsvp,
            kind: attendee.kind.as_str(),
        }
    }
}

/// An occurrence that was changed alone.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExceptionBody {
    /// The time that the series gives it.
    recurrence_id: String,
    /// When it begins.
    start: i64,
    /// When it ends.
    end: i64,
    /// When it begins, on the wall of the event's zone.
    start_local: String,
    /// When it ends.
    end_local: String,
    /// What it is called.
    summary: String,
    /// Where it is.
    location: String,
    /// `confirmed`, `tentative` or `cancelled`.
    status: &'static str,
    /// What the mailbox answered.
    my_status: Option<&'static str>,
}

impl ExceptionBody {
    fn of(exception: Exception, timing: &Timing, series: &Series) -> Self {
        Self {
            recurrence_id: timing.local(exception.recurrence),
            start: series.instant(exception.start).0,
            end: series.instant(exception.end).0,
            start_local: timing.local(exception.start),
            end_local: timing.local(exception.end),
            summary: exception.summary,
            location: exception.location,
            status: exception.status.as_str(),
            my_status: exception.my_status.map(AttendeeStatus::as_str),
        }
    }
}

/// An event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "eventId": "evt_01jd7rt4m5e9fv2w8x3c6k0hqz", "calendarId": "cal_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "uid": "evt_01jd7rt4m5e9fv2w8x3c6k0hqz@acme.example.org", "version": 1, "summary": "Stand-up", "description": "",
    "location": "", "allDay": false, "start": 1_767_258_000_000_i64, "end": 1_767_259_800_000_i64,
    "startLocal": "2026-01-01T10:00:00", "endLocal": "2026-01-01T10:30:00", "timeZone": "Europe/Vienna",
    "organizer": null, "attendees": [], "isOrganizer": true, "myStatus": null, "status": "confirmed",
    "busyStatus": "busy", "sensitivity": "normal", "reminders": [10], "categories": [], "url": null,
    "recurrence": null, "rrule": null, "exceptions": [], "sequence": 0
}))]
pub struct CalendarEventBody {
    /// The event's id.
    event_id: String,
    /// The calendar that it is in.
    calendar_id: String,
    /// What it is known by in all calendars that have it.
    uid: String,
    /// Counts its changes.
    version: i64,
    /// What it is called.
    summary: String,
    /// What it is about.
    description: String,
    /// Where it is.
    location: String,
    /// Whether it is of whole days.
    all_day: bool,
    /// When its first occurrence begins.
    start: i64,
    /// When that ends.
    end: i64,
    /// The same on the wall of its zone; a day of whole days.
    start_local: String,
    /// When that ends; the day doesn't belong to it.
    end_local: String,
    /// The zone.
    time_zone: String,
    /// The organizer: the person who asks others to the event; null where nobody is asked.
    organizer: Option<OrganizerBody>,
    /// The guests.
    attendees: Vec<AttendeeBody>,
    /// Whether the mailbox asks others to it, or nobody does.
    is_organizer: bool,
    /// What the mailbox answered, where it is asked.
    my_status: Option<&'static str>,
    /// `confirmed`, `tentative` or `cancelled`.
    status: &'static str,
    /// `busy`, `free`, `tentative`, `oof` or `workingElsewhere`.
    busy_status: &'static str,
    /// `normal`, `personal`, `private` or `confidential`.
    sensitivity: &'static str,
    /// Minutes before the start; negative ones come behind it.
    reminders: Vec<i64>,
    /// Words that people sort by.
    categories: Vec<String>,
    /// Where more stands.
    url: Option<String>,
    /// How it recurs; null where it occurs once, or where this can't say it.
    recurrence: Option<RecurrenceBody>,
    /// How it recurs, as RFC 5545 writes it.
    rrule: Option<String>,
    /// The occurrences that were changed alone.
    exceptions: Vec<ExceptionBody>,
    /// Counts what guests have to know of.
    sequence: i64,
}

impl CalendarEventBody {
    /// The event as it is shown.
    ///
    /// # Errors
    /// When its rule can't be read any more.
    pub fn of(event: Event) -> domain::Result<Self> {
        let (head, detail) = (event.head, event.detail);
        let timing = &head.timing;
        let series = timing.series()?;
        let exceptions = event.exceptions.into_iter().map(|it| ExceptionBody::of(it, timing, &series)).collect();
        Ok(Self {
            event_id: head.id.to_string(),
            calendar_id: head.calendar_id.to_string(),
            uid: event.uid,
            version: event.version,
            description: detail.description,
            all_day: timing.is_all_day(),
            start: series.instant(timing.start.at).0,
            end: series.instant(timing.end).0,
            start_local: timing.local(timing.start.at),
            end_local: timing.local(timing.end),
            time_zone: timing.start.zone.name().to_owned(),
            organizer: detail.organizer.map(OrganizerBody::from),
            attendees: detail.attendees.into_iter().map(AttendeeBody::from).collect(),
            is_organizer: head.is_organizer,
            my_status: head.my_status.map(AttendeeStatus::as_str),
            status: head.status.as_str(),
            busy_status: head.busy_status.as_str(),
            sensitivity: detail.sensitivity.as_str(),
            categories: detail.categories,
            url: detail.url,
            recurrence: timing.recurrence().map(RecurrenceBody::from),
            rrule: series.rule_text(),
            exceptions,
            sequence: event.sequence,
            summary: head.summary,
            location: head.location,
            reminders: head.reminders,
        })
    }
}

/// An event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CalendarEventAnswer {
    /// The event.
    pub(super) event: CalendarEventBody,
}

impl CalendarEventAnswer {
    /// The event as it is shown.
    pub(super) fn of(event: Event) -> domain::Result<Self> {
        Ok(Self { event: CalendarEventBody::of(event)? })
    }
}

/// The people who were told.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"sent": 1}))]
pub(crate) struct NotifiedBody {
    /// How many were.
    sent: usize,
}

impl From<actors::calendar::Notified> for NotifiedBody {
    fn from(notified: actors::calendar::Notified) -> Self {
        Self { sent: notified.sent }
    }
}

fn read<T>(path: &str, text: Option<&str>, of: fn(&str) -> Option<T>, names: &str) -> domain::Result<Option<T>> {
    text.map(|text| of(text).ok_or_else(|| Error::invalid(path, format!("Choose {names}.")))).transpose()
}

/// Whether an event takes place, where it is said.
pub(super) fn status_read(text: Option<&str>) -> domain::Result<Option<EventStatus>> {
    read("status", text, EventStatus::from_name, "confirmed, tentative or cancelled")
}

/// How an event shows people's time, where it is said.
pub(super) fn busy_status_read(text: Option<&str>) -> domain::Result<Option<BusyStatus>> {
    read("busyStatus", text, BusyStatus::from_name, "busy, free, tentative, oof or workingElsewhere")
}

/// Who may read more than an event's time, where it is said.
pub(super) fn sensitivity_read(text: Option<&str>) -> domain::Result<Option<Sensitivity>> {
    read("sensitivity", text, Sensitivity::from_name, "normal, personal, private or confidential")
}
