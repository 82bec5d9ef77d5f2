//! Sending, and what becomes of what was sent.

use std::time::Duration;

use actors::mail::{MailSent, MailUnsend};
use domain::{
    Timestamp,
    id::{MailMessageId, MailboxId},
    mail::{DeliveryState, Mailbox, Outgoing, UNDO_SECONDS, UNDO_SECONDS_USUAL, no_message},
    problems::Problems,
};
use http_shell::{
    answer::{Accepted, Json},
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::{DraftId, Path},
    permission::MailSend,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::drafts::DraftAnswer;

/// How a draft is sent.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"version": 2}))]
pub(crate) struct DraftSendBody {
    /// The version that was read.
    version: i64,
    /// When the message leaves: within the next 366 days.
    send_at: Option<i64>,
    /// Seconds in which the message can be taken back where it isn't scheduled: 0 to 120, usually 10.
    undo_seconds: Option<u64>,
}

impl RequestBody for DraftSendBody {
    fn check(&self, problems: &mut Problems) {
        let fits = self.undo_seconds.is_none_or(|seconds| UNDO_SECONDS.contains(&seconds));
        problems.require(fits, "undoSeconds", "Use 0 to 120 seconds.");
    }
}

/// A message that was sent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MailSentAnswer {
    /// The message's id, which was the draft's.
    message_id: String,
    /// The conversation.
    thread_id: String,
    /// Until when the message can be taken back.
    undo_until: i64,
    /// When the message leaves, where it is scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    send_at: Option<i64>,
}

impl MailSentAnswer {
    fn new(sent: MailSent, is_scheduled: bool) -> Self {
        let leaves_at = sent.leaves_at.0;
        Self {
            message_id: sent.message_id.to_string(),
            thread_id: sent.thread_id.to_string(),
            undo_until: leaves_at,
            send_at: is_scheduled.then_some(leaves_at),
        }
    }
}

/// Send a draft
///
/// The message can be taken back for a moment, or until the time for which it is scheduled; then it leaves.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}/send", responses(
    (status = 400, description = "Add a recipient.\n\nA message has at most 500 recipients."),
    (status = 409, description = "This draft was changed meanwhile.\n\n\
        This mailbox's domain isn't verified for sending yet.\n\nThis mailbox's domain was removed."),
    (status = 413, description = "A message has at most 25 MB."),
    (status = 429, description = "This mailbox has sent to 2,000 recipients in the last day.")))]
pub(crate) async fn mail_draft_send(
    person: MailPerson<MailSend>,
    body: Body<DraftSendBody>,
    mailbox: Owned<Mailbox>,
    id: Path<DraftId>,
    state: State,
) -> Result<Accepted<MailSentAnswer>> {
    let DraftSendBody { version, send_at, undo_seconds } = body.into_inner();
    let undo = Duration::from_secs(undo_seconds.unwrap_or(UNDO_SECONDS_USUAL));
    let (draft, send_at) = ((id.0.0, version), send_at.map(Timestamp));
    let sent = state.actors.mail_writing.send(&mailbox, draft, send_at, undo, person.context()).await?;
    Ok(Accepted(MailSentAnswer::new(sent, send_at.is_some())))
}

/// Take a message back
///
/// The message is a draft again. One that left can't be taken back.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/unsend", responses(
    (status = 409, description = "It's already on its way.")))]
pub(crate) async fn mail_message_unsend(
    person: MailPerson<MailSend>,
    mailbox_id: Path<MailboxId>,
    id: Path<MailMessageId>,
    state: State,
) -> Result<Json<DraftAnswer>> {
    let command = MailUnsend { org_id: person.id(), id: *id };
    let draft = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Json(draft.into()))
}

/// Another moment for a message that is scheduled.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"sendAt": 1_800_000_000_000_i64}))]
pub(crate) struct MailScheduleBody {
    /// When the message leaves: within the next 366 days.
    send_at: i64,
}

impl RequestBody for MailScheduleBody {}

/// Schedule a message anew
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/schedule", responses(
    (status = 409, description = "It's already on its way.")))]
pub(crate) async fn mail_message_schedule(
    person: MailPerson<MailSend>,
    body: Body<MailScheduleBody>,
    mailbox: Owned<Mailbox>,
    id: Path<MailMessageId>,
    state: State,
) -> Result<Json<MailSentAnswer>> {
    let send_at = Timestamp(body.into_inner().send_at);
    let sent = state.actors.mail_writing.put_off(&mailbox, *id, send_at, person.context()).await?;
    Ok(Json(MailSentAnswer::new(sent, true)))
}

/// What became of a message for a recipient.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "address": "bob@example.org", "state": "sent", "tries": 1, "reply": "250 2.0.0 Ok", "host": "mx.example.org", "tls": true
}))]
pub(crate) struct MailDeliveryBody {
    /// The recipient.
    address: String,
    /// `held`, `queued`, `deferred`, `sent`, `delayed` (the recipient's server has it, and says that it is late), `failed` or
    /// `cancelled`.
    state: &'static str,
    /// How often it was tried.
    tries: u32,
    /// When it is tried next, or leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_try: Option<i64>,
    /// What was said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<String>,
    /// The server that said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// Whether the last connection was encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<bool>,
}

impl From<Outgoing> for MailDeliveryBody {
    fn from(row: Outgoing) -> Self {
        let waits = matches!(row.state, DeliveryState::Held | DeliveryState::Queued | DeliveryState::Deferred);
        Self {
            address: row.recipient.to_string(),
            state: row.state.as_str(),
            tries: row.tries,
            next_try: waits.then_some(row.due.0),
            tls: row.host.is_some().then_some(row.tls),
            reply: row.reply,
            host: row.host,
        }
    }
}

/// What became of a message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailDeliveryAnswer {
    /// One entry for each recipient, in the order of their addresses.
    recipients: Vec<MailDeliveryBody>,
}

/// What became of a message
///
/// Of what the mailbox sent in the last 90 days.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/delivery")]
pub(crate) async fn mail_message_delivery(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<MailMessageId>,
    state: State,
) -> Result<Json<MailDeliveryAnswer>> {
    let rows = state.store.mail_outgoing(mailbox.id, *id).await?;
    if rows.is_empty() && state.store.mail_thread_of(mailbox.id, *id).await?.is_none() {
        return Err(no_message().into());
    }
    Ok(Json(MailDeliveryAnswer { recipients: rows.into_iter().map(Into::into).collect() }))
}
