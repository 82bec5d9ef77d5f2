//! Changing, deleting and answering events.

use actors::calendar::{EventChange, EventDelete, EventRespond, Occurrences};
use domain::{
    Error,
    calendar::{AttendeeStatus, EditScope, EventPatch, InvitedFields},
    id::{EventId, MailboxId},
    problems::{Problems, all},
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    path::Path,
    query::{Query, RequestQuery},
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::body::{
    AttendeeCreate, CalendarEventAnswer, CalendarEventBody, NotifiedBody, RecurrenceBody, busy_status_read,
    sensitivity_read, status_read,
};

/// Which occurrences.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct OccurrencesQuery {
    /// `one` occurrence, one and all `following`, or `all`, which holds where nothing is said.
    scope: Option<String>,
    /// Which one, where it isn't all: the `recurrenceId` of the occurrence.
    recurrence_id: Option<String>,
    /// `0` where nobody is to be told; others are where it isn't said.
    notify: Option<String>,
}

impl RequestQuery for OccurrencesQuery {
    fn check(&self, problems: &mut Problems) {
        let scope = self.scope.as_deref().is_none_or(|scope| EditScope::from_name(scope).is_some());
        problems.require(scope, "scope", "Choose one, following or all.");
        let notify = self.notify.as_deref().is_none_or(|notify| matches!(notify, "0" | "1"));
        problems.require(notify, "notify", "Use 0 or 1.");
    }
}

impl OccurrencesQuery {
    fn occurrences(&self) -> Occurrences {
        let scope = self.scope.as_deref().and_then(EditScope::from_name).unwrap_or(EditScope::All);
        Occurrences { scope, recurrence_id: self.recurrence_id.clone() }
    }

    fn notify(&self) -> bool {
        self.notify.as_deref() != Some("0")
    }
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"version": 1, "start": "2026-11-23T10:00", "end": "2026-11-23T10:15"}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct CalendarEventPatch {
    /// The version that the change was decided on.
    version: i64,
    /// What it is called: up to 1,000 characters.
    summary: Option<String>,
    /// What it is about: up to 64,000 characters.
    description: Option<String>,
    /// Where it is: up to 2,000 characters.
    location: Option<String>,
    /// Whether it is of whole days.
    all_day: Option<bool>,
    /// When it begins, on the wall of its zone.
    start: Option<String>,
    /// When it ends.
    end: Option<String>,
    /// The zone.
    time_zone: Option<String>,
    /// How it recurs; null for once.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<RecurrenceBody>)]
    recurrence: Option<Option<RecurrenceBody>>,
    /// The guests: up to 200.
    attendees: Option<Vec<AttendeeCreate>>,
    /// `busy`, `free`, `tentative`, `oof` or `workingElsewhere`.
    busy_status: Option<String>,
    /// `normal`, `personal`, `private` or `confidential`.
    sensitivity: Option<String>,
    /// Up to 5 times in minutes before the start: -10,080 to 40,320.
    reminders: Option<Vec<i64>>,
    /// Up to 30 words of 1 to 100 characters.
    categories: Option<Vec<String>>,
    /// Where more stands; null for nowhere.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    url: Option<Option<String>>,
    /// `confirmed`, `tentative` or `cancelled`.
    status: Option<String>,
}

impl RequestBody for CalendarEventPatch {}

impl CalendarEventPatch {
    fn read(self) -> domain::Result<EventPatch> {
        let (status, busy_status, sensitivity) = all((
            status_read(self.status.as_deref()),
            busy_status_read(self.busy_status.as_deref()),
            sensitivity_read(self.sensitivity.as_deref()),
        ))?;
        Ok(EventPatch {
            summary: self.summary,
            description: self.description,
            location: self.location,
            all_day: self.all_day,
            start: self.start,
            end: self.end,
            time_zone: self.time_zone,
            recurrence: self.recurrence.map(|recurrence| recurrence.map(Into::into)),
            attendees: self.attendees.map(|list| list.into_iter().map(InvitedFields::from).collect()),
            busy_status,
            sensitivity,
            reminders: self.reminders,
            categories: self.categories,
            url: self.url,
            status,
        })
    }
}

/// What a change came to.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventChanged {
    /// The event.
    event: CalendarEventBody,
    /// What follows as an event of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    following: Option<CalendarEventBody>,
    /// The people who were told.
    notified: NotifiedBody,
}

/// Change an event
///
/// All of it, one of its occurrences, or one and those that follow, which become an event of their own. What others are asked to
/// is theirs who ask; its guests change their own reminders and how it shows their time.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}", responses(
    (status = 400, description = "A mailbox has at most 200,000 events.\n\n\
        A series has at most 1,000 occurrences that were changed alone.\n\n\
        Change this occurrence alone: none follows it."),
    (status = 403, description = "Only the organizer can change this event."),
    (status = 409, description = "This event was changed elsewhere.\n\nThis mailbox's domain was removed."),
    (status = 429, description = "This mailbox has sent to 2,000 recipients in the last day.")))]
pub(crate) async fn calendar_event_patch(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<EventId>,
    query: Query<OccurrencesQuery>,
    body: Body<CalendarEventPatch>,
    state: State,
) -> Result<Json<EventChanged>> {
    let body = body.into_inner();
    let (version, occurrences, notify) = (body.version, query.occurrences(), query.notify());
    let command = EventChange { org_id: caller.id(), id: *id, version, occurrences, patch: body.read()?, notify };
    let changed = state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(Json(EventChanged {
        event: CalendarEventBody::of(changed.event)?,
        following: changed.following.map(CalendarEventBody::of).transpose()?,
        notified: changed.notified.into(),
    }))
}

/// The people who were told.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventNotified {
    /// The people who were told.
    notified: NotifiedBody,
}

impl EventNotified {
    pub(crate) fn of(notified: actors::calendar::Notified) -> Self {
        Self { notified: notified.into() }
    }
}

/// Delete an event
///
/// All of it, one of its occurrences, or one and those that follow. Guests hear that they aren't asked any more; where the
/// mailbox is a guest, the organizer hears that it won't come.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}", responses(
    (status = 400, description = "Change this occurrence alone: none follows it."),
    (status = 403, description = "Only the organizer can change this event."),
    (status = 409, description = "This mailbox's domain was removed."),
    (status = 429, description = "This mailbox has sent to 2,000 recipients in the last day.")))]
pub(crate) async fn calendar_event_delete(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<EventId>,
    query: Query<OccurrencesQuery>,
    state: State,
) -> Result<Json<EventNotified>> {
    let (occurrences, notify) = (query.occurrences(), query.notify());
    let command = EventDelete { org_id: caller.id(), id: *id, occurrences, notify };
    let notified = state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(Json(EventNotified::of(notified)))
}

/// An answer.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"status": "accepted"}))]
pub(crate) struct EventResponse {
    /// `accepted`, `tentative` or `declined`.
    status: String,
    /// Words for an organizer who hears of the answer by mail: up to 64,000 characters.
    comment: Option<String>,
}

impl RequestBody for EventResponse {}

/// Answer an invitation
///
/// The organizer hears of the answer.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}/respond", responses(
    (status = 400, description = "You weren't asked to this event."),
    (status = 409, description = "This event was cancelled.\n\nThis mailbox's domain was removed."),
    (status = 429, description = "This mailbox has sent to 2,000 recipients in the last day.")))]
pub(crate) async fn calendar_event_respond(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<EventId>,
    body: Body<EventResponse>,
    state: State,
) -> Result<Json<CalendarEventAnswer>> {
    let body = body.into_inner();
    let status = AttendeeStatus::from_name(&body.status)
        .ok_or_else(|| Error::invalid("status", "Choose accepted, tentative or declined."))?;
    let command = EventRespond { org_id: caller.id(), id: *id, status, comment: body.comment };
    let event = state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(Json(CalendarEventAnswer::of(event)?))
}
