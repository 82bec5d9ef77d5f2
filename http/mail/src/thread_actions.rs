//! What people do with conversations and mailboxes (contract B 4.8).

use actors::mail::{MailboxSettings, SenderCategorize, ThreadsAct};
use domain::{
    Email, Timestamp,
    id::{MailLabelId, MailThreadId, MailboxId},
    mail::{ACTION_THREADS, MailCategory, ThreadAction, no_label, no_mailbox, no_thread, sender_invalid},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    path::{Path, SenderAddress},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::mailboxes::MailboxBody;

/// Characters of a signature (contract B 4.8).
const SIGNATURE_LEN_MAX: usize = 20_000;

/// What to do with conversations.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"threadIds": ["thr_01jd7rt4m5e9fv2w8x3c6k0hqz"], "action": "archive"}))]
pub(crate) struct MailThreadActionsBody {
    /// The ids of 1 to 100 conversations; those that aren't there are passed over.
    thread_ids: Vec<String>,
    /// `archive`, `inbox`, `trash`, `spam`, `not_spam`, `delete`, `read`, `unread`, `star`, `unstar`, `label`, `unlabel`,
    /// `snooze` or `unsnooze`.
    action: String,
    /// The label, for `label` and `unlabel`.
    label_id: Option<String>,
    /// When the conversations come back, for `snooze`: a minute to 366 days from now.
    until: Option<i64>,
}

impl RequestBody for MailThreadActionsBody {
    fn check(&self, problems: &mut Problems) {
        let fits = ACTION_THREADS.contains(&self.thread_ids.len());
        problems.require(fits, "threadIds", "Name 1 to 100 conversations.");
        let is_action = ThreadAction::NAMES.contains(&self.action.as_str());
        problems.require(is_action, "action", "This is no action on conversations.");
    }
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailThreadActionsAnswer {
    /// How many conversations changed.
    changed: usize,
}

/// Do something with conversations
///
/// All of them or, where one refuses, none.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/actions", responses(
    (status = 400, description = "Choose a label.\n\nChoose when the conversation comes back.\n\n\
        Move the conversation to trash first."),
    (status = 404, description = "Label not found")))]
pub(crate) async fn mail_thread_actions(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    body: Body<MailThreadActionsBody>,
    state: State,
) -> Result<Json<MailThreadActionsAnswer>> {
    let body = body.into_inner();
    let label = body.label_id.filter(|id| !id.is_empty()).map(|id| id.parse::<MailLabelId>().map_err(|_| no_label()));
    let command = ThreadsAct {
        org_id: person.id(),
        ids: body.thread_ids.iter().filter_map(|id| id.parse::<MailThreadId>().ok()).collect(),
        action: body.action,
        label: label.transpose()?,
        until: body.until.map(Timestamp),
    };
    let changed = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Json(MailThreadActionsAnswer { changed }))
}

/// The category of what a sender sends.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"category": "updates"}))]
pub(crate) struct SenderCategoryBody {
    /// `primary`, `transactions`, `updates` or `promotions`.
    #[schema(value_type = String)]
    category: MailCategory,
    /// A conversation that is moved whoever wrote last.
    thread_id: Option<String>,
}

impl RequestBody for SenderCategoryBody {}

/// What was moved.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SenderCategoryAnswer {
    /// How many conversations were moved.
    moved: usize,
}

/// Choose the category of a sender
///
/// What the sender has in the inbox is moved.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/senders/{sender}/category", responses(
    (status = 400, description = "Enter a valid email address."),
    (status = 404, description = "Thread not found")))]
pub(crate) async fn mail_sender_category(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    sender: Path<SenderAddress>,
    body: Body<SenderCategoryBody>,
    state: State,
) -> Result<Json<SenderCategoryAnswer>> {
    let address: Email = sender.0.0.trim().to_lowercase().parse().map_err(|_| sender_invalid())?;
    let thread_id = body.thread_id.as_deref().map(|id| id.parse::<MailThreadId>().map_err(|_| no_thread()));
    let command = SenderCategorize {
        org_id: person.id(),
        address: address.to_string(),
        category: body.category,
        thread_id: thread_id.transpose()?,
    };
    let moved = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Json(SenderCategoryAnswer { moved }))
}

/// Settings of a mailbox; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"signature": "<p>Ada</p>"}))]
pub(crate) struct MailboxSettingsPatch {
    /// What new messages end with: HTML of up to 20,000 characters, which is cleaned.
    signature: Option<String>,
    /// Whether reminders are also filed as messages.
    reminder_mail: Option<bool>,
}

impl RequestBody for MailboxSettingsPatch {
    fn check(&self, problems: &mut Problems) {
        let fits = self.signature.as_deref().is_none_or(|it| it.chars().count() <= SIGNATURE_LEN_MAX);
        problems.require(fits, "signature", "Use at most 20,000 characters.");
    }
}

/// A mailbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailboxAnswer {
    /// The mailbox.
    mailbox: MailboxBody,
}

/// Change the settings of a mailbox
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/settings")]
pub(crate) async fn mailbox_settings_patch(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    body: Body<MailboxSettingsPatch>,
    state: State,
) -> Result<Json<MailboxAnswer>> {
    let MailboxSettingsPatch { signature, reminder_mail } = body.into_inner();
    let command = MailboxSettings { org_id: person.id(), signature, reminder_mail };
    let settings = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    let mailbox = state.store.mailbox_of(person.id(), *mailbox_id, person.user_id()).await?.ok_or_else(no_mailbox)?;
    Ok(Json(MailboxAnswer { mailbox: MailboxBody::new(mailbox, settings) }))
}
