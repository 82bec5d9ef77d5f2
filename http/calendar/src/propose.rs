//! Another time that a guest proposes to who asks to an event.

use actors::calendar::EventPropose;
use domain::id::{EventId, MailboxId};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    path::Path,
    state::State,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::changes::EventNotified;

/// Another time for an event.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"start": "2026-11-23T10:00", "end": "2026-11-23T10:15", "timeZone": "Europe/Vienna"}))]
pub(crate) struct EventProposal {
    /// When it would begin, on the wall of the zone; a day of whole days.
    start: String,
    /// When it would end.
    end: String,
    /// The zone.
    time_zone: String,
    /// Words for the organizer: up to 64,000 characters.
    comment: Option<String>,
    /// The occurrence that the proposal is for; all of the event where nothing is said.
    recurrence_id: Option<String>,
}

impl RequestBody for EventProposal {}

/// Propose another time
///
/// The organizer is sent the proposal by mail, and takes it or not.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}/propose", responses(
    (status = 400, description = "You weren't asked to this event."),
    (status = 409, description = "This event was cancelled.\n\nThis mailbox's domain was removed."),
    (status = 429, description = "This mailbox has sent to 2,000 recipients in the last day.")))]
pub(crate) async fn calendar_event_propose(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<EventId>,
    body: Body<EventProposal>,
    state: State,
) -> Result<Json<EventNotified>> {
    let EventProposal { start, end, time_zone, comment, recurrence_id } = body.into_inner();
    let command = EventPropose { org_id: caller.id(), id: *id, recurrence_id, start, end, time_zone, comment };
    let notified = state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(Json(EventNotified::of(notified)))
}
