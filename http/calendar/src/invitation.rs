//! What is done with invitations that came as messages (contract B 4.9).

use actors::calendar::{InvitationAct, InvitationAction, Invited};
use domain::{
    calendar::MESSAGE_NOT_FOUND,
    id::{CalendarId, MailMessageId, MailThreadId, MailboxId},
};
use http_shell::{
    answer::{Created, Either, Json},
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    path::{Path, PathParameter},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body::NotifiedBody;

/// What is done, as the path names it.
pub(crate) struct ActionName(InvitationAction);

impl PathParameter for ActionName {
    const NAME: &'static str = "action";
    const DESCRIPTION: &'static str = "What is done: `add`, `refresh` or `counter`.";
    const EXAMPLE: &'static str = "add";
    const NOT_FOUND: &'static str = MESSAGE_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        Some(Self(match text {
            "add" => InvitationAction::Add,
            "refresh" => InvitationAction::Refresh,
            "counter" => InvitationAction::Counter,
            _ => return None,
        }))
    }
}

/// What the action needs to know.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"calendarId": "cal_01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
pub(crate) struct InvitationBody {
    /// The calendar that the event is put into; the default one where nothing is said.
    calendar_id: Option<String>,
    /// Whether a proposal is accepted.
    accept: Option<bool>,
}

impl RequestBody for InvitationBody {}

/// What came of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"notified": {"sent": 0}, "eventId": "evt_01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
pub(crate) struct InvitationAnswer {
    /// The people who were told.
    notified: NotifiedBody,
    /// The event, where it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
}

/// Events that were added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "calendarId": "cal_01jd7rt4m5e9fv2w8x3c6k0hqz", "eventIds": ["evt_01jd7rt4m5e9fv2w8x3c6k0hqz"]
}))]
pub(crate) struct EventsAdded {
    /// The calendar.
    calendar_id: String,
    /// The events; those, too, that were there.
    event_ids: Vec<String>,
}

/// Do something with an invitation
///
/// `add` puts the event into a calendar, or all events of a file that asks nobody to them; `refresh` asks its organizer for it once
/// more, `counter` answers a proposal of another time.
#[utoipa::path(post,
    path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/{mailThreadId}/messages/{messageId}/invitation/{action}",
    responses(
        (status = 400, description = "Say whether to accept the proposal.\n\nA mailbox has at most 200,000 events."),
        (status = 404, description = "Calendar not found"),
        (status = 409, description = "This mailbox's domain was removed."),
        (status = 429, description = "This mailbox has sent to 2,000 recipients in the last day.")))]
pub(crate) async fn calendar_invitation(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    thread_id: Path<MailThreadId>,
    message_id: Path<MailMessageId>,
    action: Path<ActionName>,
    body: Body<InvitationBody>,
    state: State,
) -> Result<Either<Json<InvitationAnswer>, Created<EventsAdded>>> {
    let calendar_id: Option<CalendarId> = match &body.calendar_id {
        Some(id) => Some(id.parse().map_err(|_| domain::calendar::no_calendar())?),
        None => None,
    };
    let command = InvitationAct {
        org_id: caller.id(),
        thread_id: *thread_id,
        message_id: *message_id,
        action: action.0.0,
        calendar_id,
        accept: body.accept,
    };
    let done = state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(match done {
        Invited::Done { notified, event_id } => Either::Left(Json(InvitationAnswer {
            notified: notified.into(),
            event_id: event_id.map(|id| id.to_string()),
        })),
        Invited::Added { calendar_id, event_ids } => Either::Right(Created(EventsAdded {
            calendar_id: calendar_id.to_string(),
            event_ids: event_ids.iter().map(ToString::to_string).collect(),
        })),
    })
}
