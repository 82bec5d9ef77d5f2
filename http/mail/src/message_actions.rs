//! What people do with single messages.

use actors::mail::MessagesAct;
use domain::{
    id::{MailLabelId, MailMessageId, MailboxId},
    mail::{ACTION_THREADS, MESSAGE_ACTIONS, no_label},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    path::Path,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What to do with messages.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"messageIds": ["msg_01jd7rt4m5e9fv2w8x3c6k0hqz"], "action": "archive"}))]
pub(crate) struct MailMessageActionsBody {
    /// The ids of 1 to 100 messages; those that aren't there are passed over.
    message_ids: Vec<String>,
    /// `archive`, `inbox`, `trash`, `spam`, `not_spam`, `delete`, `read`, `unread`, `star`, `unstar`, `label` or `unlabel`. Labels
    /// are those of the messages' conversations.
    action: String,
    /// The label, for `label` and `unlabel`.
    label_id: Option<String>,
}

impl RequestBody for MailMessageActionsBody {
    fn check(&self, problems: &mut Problems) {
        let fits = ACTION_THREADS.contains(&self.message_ids.len());
        problems.require(fits, "messageIds", "Name 1 to 100 messages.");
        let is_action = MESSAGE_ACTIONS.contains(&self.action.as_str());
        problems.require(is_action, "action", "This is no action on messages.");
    }
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailMessageActionsAnswer {
    /// How many messages changed.
    changed: usize,
}

/// Do something with messages
///
/// With all of them or, where one refuses, with none. The other messages of their conversations stay as they are.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/actions", responses(
    (status = 400, description = "Choose a label.\n\nMove the message to trash first."),
    (status = 404, description = "Label not found")))]
pub(crate) async fn mail_message_actions(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    body: Body<MailMessageActionsBody>,
    state: State,
) -> Result<Json<MailMessageActionsAnswer>> {
    let body = body.into_inner();
    let label = body.label_id.filter(|id| !id.is_empty()).map(|id| id.parse::<MailLabelId>().map_err(|_| no_label()));
    let command = MessagesAct {
        org_id: person.id(),
        ids: body.message_ids.iter().filter_map(|id| id.parse::<MailMessageId>().ok()).collect(),
        action: body.action,
        label: label.transpose()?,
    };
    let changed = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Json(MailMessageActionsAnswer { changed }))
}
