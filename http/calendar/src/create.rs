//! Making events.

use actors::calendar::{EventCreate, NewEvent};
use domain::{
    calendar::{BusyStatus, EventFields, EventStatus, InvitedFields, Sensitivity},
    id::{CalendarId, MailboxId},
    problems::all,
};
use http_shell::{
    answer::Created,
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    path::Path,
    state::State,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::{
    AttendeeCreate, CalendarEventAnswer, RecurrenceBody, busy_status_read, sensitivity_read, status_read,
};

/// A new event.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "summary": "Stand-up", "start": "2026-11-23T09:00", "end": "2026-11-23T09:15", "timeZone": "Europe/Vienna",
    "recurrence": {"freq": "weekly", "byDay": [{"day": "MO"}]}, "attendees": [{"email": "grace@example.org"}]
}))]
pub(crate) struct CalendarEventCreate {
    /// What it is called: up to 1,000 characters.
    summary: Option<String>,
    /// What it is about: up to 64,000 characters.
    description: Option<String>,
    /// Where it is: up to 2,000 characters.
    location: Option<String>,
    /// Whether it is of whole days.
    all_day: Option<bool>,
    /// When it begins, on the wall of its zone: `YYYY-MM-DD`, with `THH:MM` or `THH:MM:SS` where it isn't of whole days.
    start: String,
    /// When it ends; of whole days, the day behind the last.
    end: String,
    /// The zone, such as `Europe/Vienna`.
    time_zone: String,
    /// How it recurs; null for once.
    recurrence: Option<RecurrenceBody>,
    /// The guests: up to 200.
    attendees: Option<Vec<AttendeeCreate>>,
    /// `busy`, which holds where it isn't said, `free`, `tentative`, `oof` or `workingElsewhere`.
    busy_status: Option<String>,
    /// `normal`, which holds where it isn't said, `personal`, `private` or `confidential`.
    sensitivity: Option<String>,
    /// Up to 5 times in minutes before the start: -10,080 to 40,320.
    reminders: Option<Vec<i64>>,
    /// Up to 30 words of 1 to 100 characters.
    categories: Option<Vec<String>>,
    /// Where more stands: up to 2,000 characters.
    url: Option<String>,
    /// `confirmed`, which holds where it isn't said, `tentative` or `cancelled`.
    status: Option<String>,
    /// Whether those who are asked are sent an invitation; they are where it isn't said.
    notify: Option<bool>,
}

impl RequestBody for CalendarEventCreate {}

impl CalendarEventCreate {
    fn read(self) -> domain::Result<(NewEvent, bool)> {
        let fields = EventFields {
            summary: self.summary.unwrap_or_default(),
            description: self.description.unwrap_or_default(),
            location: self.location.unwrap_or_default(),
            all_day: self.all_day.unwrap_or(false),
            start: self.start,
            end: self.end,
            time_zone: self.time_zone,
            recurrence: self.recurrence.map(Into::into),
            attendees: self.attendees.unwrap_or_default().into_iter().map(InvitedFields::from).collect(),
            reminders: self.reminders.unwrap_or_default(),
            categories: self.categories.unwrap_or_default(),
            url: self.url,
        };
        let (draft, status, busy_status, sensitivity) = all((
            fields.check(),
            status_read(self.status.as_deref()),
            busy_status_read(self.busy_status.as_deref()),
            sensitivity_read(self.sensitivity.as_deref()),
        ))?;
        let event = NewEvent {
            draft,
            status: status.unwrap_or(EventStatus::Confirmed),
            busy_status: busy_status.unwrap_or(BusyStatus::Busy),
            sensitivity: sensitivity.unwrap_or(Sensitivity::Normal),
        };
        Ok((event, self.notify.unwrap_or(true)))
    }
}

/// Make an event
///
/// With attendees the mailbox is the organizer, and they are sent an invitation by e-mail unless `notify` is false. Whoever has
/// a mailbox on this server finds the event in their calendar.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/events", responses(
    (status = 400, description = "A mailbox has at most 200,000 events."),
    (status = 409, description = "This mailbox's domain was removed."),
    (status = 429, description = "This mailbox has sent to 2,000 recipients in the last day.")))]
pub(crate) async fn calendar_event_create(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    calendar_id: Path<CalendarId>,
    body: Body<CalendarEventCreate>,
    state: State,
) -> Result<Created<CalendarEventAnswer>> {
    let (event, notify) = body.into_inner().read()?;
    let command = EventCreate { org_id: caller.id(), calendar_id: *calendar_id, event, notify };
    let made = state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(Created(CalendarEventAnswer::of(made)?))
}
