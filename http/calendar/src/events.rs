//! Events: one, those of a mailbox in a window, and those of a person.

use std::collections::BTreeSet;

use domain::{
    calendar::{
        AttendeeStatus, BusyStatus, EventHead, EventOccurrence, EventStatus, Exception, InvitationState, Window,
        itip::MailedFile, no_calendar, recurrence::Wall,
    },
    id::CalendarId,
    mail::Mailbox,
    problems::Problems,
};
use http_shell::{
    answer::{Json, Object},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::calendar::{InboxMessage, WindowEvent};
use utoipa::{IntoParams, ToSchema};

use super::{argument::MailboxEvent, body::CalendarEventBody, windows::look};

/// Characters of `calendarId` (contract B 4.9).
const CALENDAR_IDS_LEN_MAX: usize = 2_000;
/// Mailboxes whose events a person reads at once.
const MAILBOXES_AT_ONCE: u64 = 200;
/// Messages about an event that are shown.
const MESSAGES_SHOWN: u64 = 20;

/// An occurrence of an event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "eventId": "evt_01jd7rt4m5e9fv2w8x3c6k0hqz", "calendarId": "cal_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "recurrenceId": "2026-11-23T09:00:00", "start": 1_795_420_800_000_i64, "end": 1_795_421_700_000_i64, "allDay": false,
    "summary": "Stand-up", "location": "", "status": "confirmed", "busyStatus": "busy", "recurring": true,
    "isException": false, "isOrganizer": true, "attendees": 0, "myStatus": null, "reminders": [10]
}))]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the contract")]
pub(crate) struct OccurrenceBody {
    /// The event's id.
    event_id: String,
    /// The calendar that it is in.
    calendar_id: String,
    /// The time that the series gives it, on the wall of its zone; null for an event that occurs once.
    recurrence_id: Option<String>,
    /// When it begins.
    start: i64,
    /// When it ends.
    end: i64,
    /// Whether it is of whole days.
    all_day: bool,
    /// The first day, of whole days.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_date: Option<String>,
    /// The day behind its last, of whole days.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_date: Option<String>,
    /// What it is called.
    summary: String,
    /// Where it is.
    location: String,
    /// `confirmed`, `tentative` or `cancelled`.
    status: &'static str,
    /// `busy`, `free`, `tentative`, `oof` or `workingElsewhere`.
    busy_status: &'static str,
    /// Whether the event recurs.
    recurring: bool,
    /// Whether it was changed alone.
    is_exception: bool,
    /// Whether the mailbox asks others to it, or nobody does.
    is_organizer: bool,
    /// How many are asked to it.
    attendees: usize,
    /// What the mailbox answered, where it is asked.
    my_status: Option<&'static str>,
    /// Minutes before the start.
    reminders: Vec<i64>,
}

impl OccurrenceBody {
    fn of(event: &WindowEvent, it: &EventOccurrence) -> Self {
        let (head, exception) = (&event.head, exception(event, it));
        Self {
            event_id: head.id.to_string(),
            calendar_id: head.calendar_id.to_string(),
            recurrence_id: it.recurrence.map(|wall| head.timing.local(wall)),
            start: it.start.0,
            end: it.end.0,
            all_day: head.timing.is_all_day(),
            start_date: it.days.map(|(start, _)| head.timing.local(start)),
            end_date: it.days.map(|(_, end)| head.timing.local(end)),
            summary: exception.map_or(&head.summary, |it| &it.summary).clone(),
            location: exception.map_or(&head.location, |it| &it.location).clone(),
            status: status(head, exception).as_str(),
            busy_status: busy_status(head, exception).as_str(),
            recurring: head.timing.is_recurring(),
            is_exception: exception.is_some(),
            is_organizer: head.is_organizer,
            attendees: head.attendees,
            my_status: exception.and_then(|it| it.my_status).or(head.my_status).map(AttendeeStatus::as_str),
            reminders: head.reminders.clone(),
        }
    }
}

fn exception<'e>(event: &'e WindowEvent, it: &EventOccurrence) -> Option<&'e Exception> {
    it.exception.and_then(|at| event.exceptions.get(at))
}

fn status(head: &EventHead, exception: Option<&Exception>) -> EventStatus {
    exception.map_or(head.status, |it| it.status)
}

fn busy_status(head: &EventHead, exception: Option<&Exception>) -> BusyStatus {
    exception.map_or(head.busy_status, |it| it.busy_status)
}

/// Occurrences.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OccurrencesAnswer {
    /// By their beginnings.
    occurrences: Vec<OccurrenceBody>,
}

/// Which events.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct EventsQuery {
    /// The beginning of the window, in milliseconds.
    from: i64,
    /// The window's end: at most 400 days behind.
    to: i64,
    /// Only those of these calendars: ids between commas, up to 2,000 characters.
    calendar_id: Option<String>,
}

impl RequestQuery for EventsQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.calendar_id.as_deref().is_none_or(|ids| ids.chars().count() <= CALENDAR_IDS_LEN_MAX);
        problems.require(fits, "calendarId", "Use at most 2,000 characters.");
    }
}

impl EventsQuery {
    /// Those of `all` that are asked for; 404 for one that isn't there.
    fn calendars(&self, all: &[CalendarId]) -> domain::Result<Vec<CalendarId>> {
        let Some(ids) = self.calendar_id.as_deref().filter(|ids| !ids.is_empty()) else { return Ok(all.to_vec()) };
        let wanted = ids.split(',').map(|id| id.trim().parse().ok().filter(|id| all.contains(id)));
        let wanted: Option<BTreeSet<CalendarId>> = wanted.collect();
        Ok(wanted.ok_or_else(no_calendar)?.into_iter().collect())
    }
}

/// The events of a mailbox in a window
///
/// Each occurrence of those that recur. At most 20,000.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events", responses(
    (status = 400, description = "Choose a window of at most 400 days.\n\nChoose a shorter window."),
    (status = 404, description = "Calendar not found")))]
pub(crate) async fn calendar_events_list(
    caller: MailPerson,
    query: Query<EventsQuery>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<OccurrencesAnswer>> {
    let window = Window::events(query.from, query.to)?;
    let calendars: Vec<CalendarId> = state.store.calendars(mailbox.id).await?.iter().map(|it| it.id).collect();
    let calendars = query.calendars(&calendars)?;
    let found = look(&state, caller.id(), mailbox.id, &calendars, window).await?;
    let shown = found.occurrences.iter().map(|(at, it)| OccurrenceBody::of(&found.events[*at], it));
    Ok(Json(OccurrencesAnswer { occurrences: shown.collect() }))
}

/// A message about an event, on which something can be done with its invitation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventMessageBody {
    /// The conversation.
    thread_id: String,
    /// The message.
    message_id: String,
    /// What it asks for (RFC 5546).
    method: String,
    /// The sender.
    sender: String,
    /// When it came.
    received_at: i64,
    /// What became of it, where it came by mail: `waiting`, `applied`, `stale`, `refused`, `proposed`, `accepted` or `declined`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// The reason for that, where it isn't plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The beginning that the message names, where it came by mail: of a proposal the proposed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<i64>,
    /// The end that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<i64>,
}

impl EventMessageBody {
    fn of(message: InboxMessage) -> Self {
        let (start, end) = MailedFile::read(&message.event).and_then(|file| file.times).unzip();
        Self {
            thread_id: message.thread_id.to_string(),
            message_id: message.id.to_string(),
            method: message.method,
            sender: message.sender,
            received_at: message.received_at.0,
            state: message.state.map(InvitationState::as_str),
            why: message.why,
            start,
            end,
        }
    }
}

/// An event with what came about it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventWithMessages {
    /// The event.
    event: CalendarEventBody,
    /// Messages about it, the newest first; at most 20.
    messages: Vec<EventMessageBody>,
}

/// An event
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}")]
pub(crate) async fn calendar_event_get(
    _caller: MailPerson,
    MailboxEvent { mailbox, event }: MailboxEvent,
    state: State,
) -> Result<Object<EventWithMessages>> {
    let messages = state.store.calendar_messages(mailbox.id, &event.uid, MESSAGES_SHOWN).await?;
    let messages = messages.into_iter().map(EventMessageBody::of).collect();
    Ok(Object(EventWithMessages { event: CalendarEventBody::of(event)?, messages }))
}

/// Which window.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct MineQuery {
    /// The beginning of the window, in milliseconds.
    from: i64,
    /// The window's end: at most 62 days behind.
    to: i64,
}

impl RequestQuery for MineQuery {}

/// An event of the caller's.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "mailboxId": "mbx_01jd7rt4m5e9fv2w8x3c6k0hqz", "calendarId": "cal_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "calendarName": "Calendar", "eventId": "evt_01jd7rt4m5e9fv2w8x3c6k0hqz", "summary": "Stand-up",
    "start": 1_795_420_800_000_i64, "end": 1_795_421_700_000_i64, "allDay": false, "location": ""
}))]
pub(crate) struct MyEventBody {
    /// The mailbox whose event it is.
    mailbox_id: String,
    /// The calendar that it is in.
    calendar_id: String,
    /// What that is called.
    calendar_name: String,
    /// The event's id.
    event_id: String,
    /// What it is called.
    summary: String,
    /// When it begins.
    start: i64,
    /// When it ends.
    end: i64,
    /// Whether it is of whole days.
    all_day: bool,
    /// The first day, of whole days.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_date: Option<String>,
    /// The day behind its last, of whole days.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_date: Option<String>,
    /// Where it is.
    location: String,
}

/// The caller's events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MyEventsAnswer {
    /// By their beginnings.
    events: Vec<MyEventBody>,
}

/// My events in a window
///
/// Of all mailboxes that the caller is a member of, without what was cancelled or shows the time as free.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/calendar/mine", responses(
    (status = 400, description = "Choose a window of at most 62 days.\n\nChoose a shorter window.")))]
pub(crate) async fn calendar_mine(
    caller: MailPerson,
    query: Query<MineQuery>,
    state: State,
) -> Result<Json<MyEventsAnswer>> {
    let window = Window::mine(query.from, query.to)?;
    let mailboxes = state.store.mailboxes_of_person(caller.id(), caller.user_id(), MAILBOXES_AT_ONCE).await?;
    let (mut events, mut seen) = (Vec::new(), BTreeSet::new());
    for mailbox in mailboxes {
        mine(&state, &mailbox, window, &mut events, &mut seen).await?;
    }
    events.sort_by(|one: &MyEventBody, other| (one.start, &one.event_id).cmp(&(other.start, &other.event_id)));
    Ok(Json(MyEventsAnswer { events }))
}

/// Adds a mailbox's events. What another mailbox has too, known by the same uid and time of its series, is `seen` once.
async fn mine(
    state: &State,
    mailbox: &Mailbox,
    window: Window,
    events: &mut Vec<MyEventBody>,
    seen: &mut BTreeSet<(String, Option<Wall>)>,
) -> domain::Result<()> {
    let calendars = state.store.calendars(mailbox.id).await?;
    let ids: Vec<CalendarId> = calendars.iter().map(|calendar| calendar.id).collect();
    let found = look(state, mailbox.org_id, mailbox.id, &ids, window).await?;
    for (at, it) in &found.occurrences {
        let event = &found.events[*at];
        let (head, exception) = (&event.head, exception(event, it));
        let is_free = busy_status(head, exception) == BusyStatus::Free;
        let is_off = is_free || status(head, exception) == EventStatus::Cancelled;
        if is_off || !seen.insert((event.uid.clone(), it.recurrence)) {
            continue;
        }
        let calendar = calendars.iter().find(|calendar| calendar.id == head.calendar_id);
        events.push(MyEventBody {
            mailbox_id: mailbox.id.to_string(),
            calendar_id: head.calendar_id.to_string(),
            calendar_name: calendar.map(|calendar| calendar.name.clone()).unwrap_or_default(),
            event_id: head.id.to_string(),
            summary: exception.map_or(&head.summary, |it| &it.summary).clone(),
            start: it.start.0,
            end: it.end.0,
            all_day: head.timing.is_all_day(),
            start_date: it.days.map(|(start, _)| head.timing.local(start)),
            end_date: it.days.map(|(_, end)| head.timing.local(end)),
            location: exception.map_or(&head.location, |it| &it.location).clone(),
        });
    }
    if events.len() > domain::calendar::OCCURRENCES_MAX {
        return Err(domain::calendar::too_many_occurrences());
    }
    Ok(())
}
