//! A conversation with its messages (contract B 4.8).

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    Tenant,
    id::MailMessageId,
    mail::{Conversation, MailContent, MailMessage, Mailbox, Outcome, clean_html, no_thread},
};
use http_shell::{
    answer::Json,
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::{ConversationId, Path},
    query::{Query, RequestQuery},
    state::State,
};
use kernel::CpuKind;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    invitation::{MailInvitationBody, invitations},
    labels::MailLabelBody,
    thread_row::{CorrespondentBody, MailThreadBody},
};

/// Messages whose bodies one answer has.
const BODIES_MAX: usize = 100;
/// Bytes of messages that are read for one answer, beside those of the first.
const BODIES_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Which bodies.
#[derive(Deserialize, IntoParams)]
pub(crate) struct ThreadQuery {
    /// `all` (usual), `none`, or the ids of up to 100 messages between commas. Of long conversations, `all` has the newest.
    bodies: Option<String>,
}

impl RequestQuery for ThreadQuery {}

/// A file in a message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MailFileBody {
    /// The number of the file's part in the message.
    attachment_id: String,
    /// What it is called; may be empty.
    name: String,
    /// The file's type, such as `image/png`.
    content_type: String,
    /// Bytes, decoded.
    size: usize,
    /// Whether it is shown in the text.
    inline: bool,
    /// The name that the HTML has for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_id: Option<String>,
}

/// What a message was found to be when it came.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailAuthenticationBody {
    /// Whether the client might send for the sender of the envelope.
    spf: &'static str,
    /// Whether a signature holds.
    dkim: &'static str,
    /// Whether either is of the domain that people see.
    dmarc: &'static str,
    /// Whether those who passed the message on say so.
    arc: &'static str,
    /// Whether the message came encrypted.
    tls: bool,
}

/// A message of a conversation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MailMessageBody {
    /// The message's id.
    message_id: String,
    /// The conversation's id.
    thread_id: String,
    /// The sender, as the message says.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<CorrespondentBody>,
    /// The people whom the message is to.
    to: Vec<CorrespondentBody>,
    /// People who get a copy.
    cc: Vec<CorrespondentBody>,
    /// People who get one unseen.
    bcc: Vec<CorrespondentBody>,
    /// Where answers go.
    reply_to: Vec<CorrespondentBody>,
    /// What it is about.
    subject: String,
    /// When it was sent, by its own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_at: Option<i64>,
    /// When it came.
    received_at: i64,
    /// `inbox`, `archive`, `spam`, `trash`, `sent`, `drafts` or `scheduled`.
    #[serde(rename = "box")]
    place: &'static str,
    /// Whether nobody has read it.
    unread: bool,
    /// Whether it has a star.
    starred: bool,
    /// `in` or `out`.
    direction: &'static str,
    /// The beginning of what it says.
    snippet: String,
    /// The text, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The HTML, where it was asked for and there is any: without what runs, and without pictures from elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    /// Whether there is more than `text` or `html` shows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Bytes of the message as it came.
    size: u64,
    /// The files.
    attachments: Vec<MailFileBody>,
    /// What it was found to be when it came.
    authentication: MailAuthenticationBody,
    /// The rule that the category follows from.
    category_rule: String,
    /// What the message says of an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    invitation: Option<MailInvitationBody>,
}

/// What is shown of a message.
pub(crate) struct Shown {
    text: String,
    html: Option<String>,
    is_truncated: bool,
}

impl Shown {
    /// Reads it of a message's bytes.
    pub(crate) fn read(raw: &[u8], is_unparsed: bool) -> Self {
        let content = if is_unparsed { MailContent::unparsed(raw) } else { MailContent::read(raw) };
        let is_truncated = content.text.is_truncated || content.html.as_ref().is_some_and(|html| html.is_truncated);
        Self { text: content.text.text, html: content.html.map(|html| clean_html(&html.text)), is_truncated }
    }
}

impl MailMessageBody {
    pub(crate) fn new(thread_id: &str, message: MailMessage, shown: Option<Shown>) -> Self {
        let all = |people: Vec<_>| people.into_iter().map(CorrespondentBody::from).collect();
        let (placing, verdict, people) = (message.placing, message.verdict, message.people);
        let is_truncated = shown.as_ref().is_some_and(|it| it.is_truncated);
        let (text, html) = shown.map_or((None, None), |it| (Some(it.text), it.html));
        let files = message.files.into_iter().map(|file| MailFileBody {
            attachment_id: file.part.to_string(),
            name: file.name,
            content_type: file.content_type,
            size: file.size,
            inline: file.inline,
            content_id: file.content_id,
        });
        let named = Outcome::as_str;
        Self {
            message_id: placing.id.to_string(),
            thread_id: thread_id.to_owned(),
            from: people.from.map(Into::into),
            to: all(people.to),
            cc: all(people.cc),
            bcc: all(people.bcc),
            reply_to: all(people.reply_to),
            subject: message.subject,
            sent_at: message.sent_at.map(|at| at.0),
            received_at: placing.at.0,
            place: placing.place.as_str(),
            unread: placing.is_unread,
            starred: placing.is_starred,
            direction: if placing.is_incoming { "in" } else { "out" },
            snippet: message.snippet,
            text,
            html,
            truncated: is_truncated,
            size: message.size,
            attachments: files.collect(),
            authentication: MailAuthenticationBody {
                spf: named(verdict.spf),
                dkim: named(verdict.dkim),
                dmarc: named(verdict.dmarc),
                arc: named(verdict.arc),
                tls: verdict.tls,
            },
            category_rule: message.rule,
            invitation: None,
        }
    }

    /// The same with what it says of an event.
    pub(crate) fn inviting(self, invitation: Option<MailInvitationBody>) -> Self {
        Self { invitation, ..self }
    }
}

/// A conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailThreadAnswer {
    /// The conversation, as lists show it.
    thread: MailThreadBody,
    /// The messages, the oldest first.
    messages: Vec<MailMessageBody>,
    /// The labels that the conversation has, in the order of their names.
    labels: Vec<MailLabelBody>,
}

/// A conversation
///
/// An id of a conversation that became a part of another one is answered with that one.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/{mailThreadId}")]
pub(crate) async fn mail_thread_get(
    _person: MailPerson,
    query: Query<ThreadQuery>,
    mailbox: Owned<Mailbox>,
    id: Path<ConversationId>,
    state: State,
) -> Result<Json<MailThreadAnswer>> {
    let found = state.store.mail_conversations(mailbox.id, &[id.0.0]).await?.into_values().next();
    let conversation = found.ok_or_else(no_thread)?;
    let wanted = bodies_wanted(query.bodies.as_deref(), &conversation);
    let mut shown = shown(&state, &mailbox, &conversation, &wanted).await?;
    let labels = if conversation.labels.is_empty() { Vec::new() } else { state.store.mail_labels(mailbox.id).await? };
    let labels = labels.into_iter().filter(|label| conversation.labels.contains(&label.id));
    let labels = labels.map(MailLabelBody::from).collect();
    let thread = MailThreadBody::new(&mailbox, conversation.row());
    let thread_id = conversation.id.to_string();
    let ids: Vec<MailMessageId> = conversation.messages.iter().map(|message| message.placing.id).collect();
    let mut invitations = invitations(&state, mailbox.id, &ids).await?;
    let messages = conversation.messages.into_iter().map(|message| {
        let shown = shown.remove(&message.placing.id);
        let invitation = invitations.remove(&message.placing.id);
        MailMessageBody::new(&thread_id, message, shown).inviting(invitation)
    });
    let messages = messages.collect();
    Ok(Json(MailThreadAnswer { thread, messages, labels }))
}

/// Whose bodies are asked for.
fn bodies_wanted(bodies: Option<&str>, conversation: &Conversation) -> BTreeSet<MailMessageId> {
    match bodies.unwrap_or("all") {
        "none" => BTreeSet::new(),
        "all" => conversation.messages.iter().rev().take(BODIES_MAX).map(|message| message.placing.id).collect(),
        ids => ids.split(',').take(BODIES_MAX).filter_map(|id| id.trim().parse().ok()).collect(),
    }
}

/// The bodies of these messages, the newest first, as far as they are few enough bytes for one answer.
async fn shown(
    state: &State,
    mailbox: &Mailbox,
    conversation: &Conversation,
    wanted: &BTreeSet<MailMessageId>,
) -> domain::Result<BTreeMap<MailMessageId, Shown>> {
    let (mut shown, mut bytes) = (BTreeMap::new(), 0);
    for message in conversation.messages.iter().rev().filter(|message| wanted.contains(&message.placing.id)) {
        bytes += message.size;
        if !shown.is_empty() && bytes > BODIES_BYTES_MAX {
            break;
        }
        let Some(raw) = state.store.mail_raw_bytes(message.raw_id).await? else { continue };
        let is_unparsed = message.is_unparsed;
        let reading = move || Shown::read(&raw, is_unparsed);
        let read = state.actors.kernel.cpu().run(Tenant::Org(mailbox.org_id), CpuKind::Document, reading).await?;
        shown.insert(message.placing.id, read);
    }
    Ok(shown)
}
