//! What messages say of events, and what became of that.

use std::collections::BTreeMap;

use domain::{
    calendar::{InvitationState, itip::MailedFile},
    id::{MailMessageId, MailboxId},
};
use http_shell::state::State;
use serde::Serialize;
use utoipa::ToSchema;

/// What a message says of an event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "method": "REQUEST", "uid": "evt_01jd7rt4m5e9fv2w8x3c6k0hqz@example.org", "summary": "Review",
    "start": 1_795_420_800_000_i64, "end": 1_795_421_700_000_i64, "state": "applied",
    "eventId": "evt_01jd7rt4m5e9fv2w8x3c6k0hqz"
}))]
pub(crate) struct MailInvitationBody {
    /// What it asks for (RFC 5546), such as `REQUEST`, `REPLY`, `CANCEL` or `COUNTER`.
    method: String,
    /// The name that the event has in all calendars (RFC 5545, `UID`).
    uid: String,
    /// What the event is called.
    summary: String,
    /// When it begins, in milliseconds; of a proposal, when it would.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<i64>,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<i64>,
    /// `waiting` to be added, `applied`, `stale` where a later message came before, `refused`; `proposed`, `accepted` or `declined`
    /// for a proposal.
    state: &'static str,
    /// The reason for that, where it isn't plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The event of the mailbox, where it has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
}

/// What these messages say of events.
pub(crate) async fn invitations(
    state: &State,
    mailbox_id: MailboxId,
    ids: &[MailMessageId],
) -> domain::Result<BTreeMap<MailMessageId, MailInvitationBody>> {
    let mut found = BTreeMap::new();
    for message in state.store.calendar_messages_of(mailbox_id, ids).await? {
        let Some(file) = MailedFile::read(&message.event) else { continue };
        let events = state.store.calendar_events_by_uid(mailbox_id, &message.uid).await?;
        let (start, end) = file.times.unzip();
        let body = MailInvitationBody {
            method: message.method,
            uid: message.uid,
            summary: file.summary,
            start,
            end,
            state: message.state.unwrap_or(InvitationState::Waiting).as_str(),
            why: message.why,
            event_id: events.first().map(|event| event.head.id.to_string()),
        };
        found.insert(message.id, body);
    }
    Ok(found)
}
