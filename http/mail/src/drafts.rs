//! Messages that are being written.

use std::{fmt, str::FromStr};

use actors::mail::{DraftDelete, NewDraft};
use domain::{
    Timestamp,
    id::{MailMessageId, MailboxId},
    mail::{Correspondent, DraftChange, DraftFile, DraftMode, MailDraft, Mailbox, no_draft, no_message},
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    cursor,
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::{DraftId, Path},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::thread_row::CorrespondentBody;

/// Drafts of a page.
const PAGE: usize = 50;
/// Bytes of a request: a text and HTML, with what escapes them.
const BODY_LEN_MAX: usize = 4 * 1024 * 1024;
/// The name of the list in its cursors.
const LIST: &str = "mail_drafts";

/// Where a page ends: when its last draft was changed, and its id.
struct Behind(Timestamp, MailMessageId);

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.0, self.1)
    }
}

impl FromStr for Behind {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (at, id) = text.split_once(' ').ok_or(())?;
        Ok(Self(Timestamp(at.parse().map_err(drop)?), id.parse().map_err(drop)?))
    }
}

/// A person whom a message is to.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "Bob", "email": "bob@example.org"}))]
pub(crate) struct MailRecipientBody {
    /// What they are called.
    name: Option<String>,
    /// The address.
    email: String,
}

impl From<MailRecipientBody> for Correspondent {
    fn from(it: MailRecipientBody) -> Self {
        Self { name: it.name, email: it.email }
    }
}

/// People as they were sent.
fn people(people: Option<Vec<MailRecipientBody>>) -> Option<Vec<Correspondent>> {
    people.map(|people| people.into_iter().map(Correspondent::from).collect())
}

/// What was sent, checked and as it is kept.
fn checked(mut says: DraftChange) -> domain::Result<DraftChange> {
    let mut problems = Problems::new();
    says.check(&mut problems);
    problems.into_result()?;
    Ok(says)
}

/// A message to be written.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"mode": "new", "to": [{"email": "bob@example.org"}], "subject": "Lunch", "text": "Today?"}))]
pub(crate) struct DraftCreateBody {
    /// `new` (usual), `reply`, `reply_all` or `forward`.
    mode: Option<String>,
    /// The message that it answers or passes on.
    message_id: Option<String>,
    /// The address that the message is from: the mailbox's own, which is usual, or one of its aliases.
    from: Option<String>,
    /// Up to 500 people whom the message is to.
    to: Option<Vec<MailRecipientBody>>,
    /// Up to 500 people who get a copy.
    cc: Option<Vec<MailRecipientBody>>,
    /// Up to 500 people who get one unseen.
    bcc: Option<Vec<MailRecipientBody>>,
    /// What it is about: up to 1,000 characters.
    subject: Option<String>,
    /// The text, of up to 512 KB. Alone, it takes the HTML away.
    text: Option<String>,
    /// The HTML, of up to 512 KB, which is cleaned. Alone, the text follows from it.
    html: Option<String>,
}

impl RequestBody for DraftCreateBody {
    const LIMIT: usize = BODY_LEN_MAX;

    fn check(&self, problems: &mut Problems) {
        let is_mode = self.mode.as_deref().is_none_or(|mode| DraftMode::from_name(mode).is_some());
        problems.require(is_mode, "mode", "Use new, reply, reply_all or forward.");
    }
}

impl DraftCreateBody {
    fn read(self) -> domain::Result<NewDraft> {
        let about = self.message_id.map(|id| id.parse::<MailMessageId>().map_err(|_| no_message())).transpose()?;
        let mode = self.mode.as_deref().and_then(DraftMode::from_name).unwrap_or_default();
        let says = DraftChange {
            from: self.from,
            to: people(self.to),
            cc: people(self.cc),
            bcc: people(self.bcc),
            subject: self.subject,
            text: self.text,
            html: self.html,
        };
        Ok(NewDraft { mode, about, says: checked(says)? })
    }
}

/// A draft to be changed; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"version": 1, "text": "Tomorrow?"}))]
pub(crate) struct DraftPatchBody {
    /// The version that was read.
    version: i64,
    /// The address that the message is from: the mailbox's own, which is usual, or one of its aliases.
    from: Option<String>,
    /// Up to 500 people whom the message is to.
    to: Option<Vec<MailRecipientBody>>,
    /// Up to 500 people who get a copy.
    cc: Option<Vec<MailRecipientBody>>,
    /// Up to 500 people who get one unseen.
    bcc: Option<Vec<MailRecipientBody>>,
    /// What it is about: up to 1,000 characters.
    subject: Option<String>,
    /// The text, of up to 512 KB. Alone, it takes the HTML away.
    text: Option<String>,
    /// The HTML, of up to 512 KB, which is cleaned. Alone, the text follows from it.
    html: Option<String>,
}

impl RequestBody for DraftPatchBody {
    const LIMIT: usize = BODY_LEN_MAX;
}

impl DraftPatchBody {
    fn read(self) -> domain::Result<DraftChange> {
        let says = DraftChange {
            from: self.from,
            to: people(self.to),
            cc: people(self.cc),
            bcc: people(self.bcc),
            subject: self.subject,
            text: self.text,
            html: self.html,
        };
        checked(says)
    }
}

/// A file of a draft.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "attachmentId": "att_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "dot.png", "contentType": "image/png", "size": 68
}))]
pub(crate) struct DraftFileBody {
    /// The file's id.
    attachment_id: String,
    /// What it is called.
    name: String,
    /// The file's type.
    content_type: String,
    /// Bytes.
    size: u64,
}

impl From<DraftFile> for DraftFileBody {
    fn from(file: DraftFile) -> Self {
        let DraftFile { id, name, content_type, size, raw_id: _ } = file;
        Self { attachment_id: id.to_string(), name, content_type, size }
    }
}

/// A message that is being written.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DraftBody {
    /// The draft's id, which the message keeps when it is sent.
    draft_id: String,
    /// The conversation that it stands in.
    thread_id: String,
    /// Counts the draft's changes.
    version: i64,
    /// `new`, `reply`, `reply_all` or `forward`.
    mode: &'static str,
    /// The message that it answers or passes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    /// The writer.
    from: CorrespondentBody,
    /// People whom it is to.
    to: Vec<CorrespondentBody>,
    /// People who get a copy.
    cc: Vec<CorrespondentBody>,
    /// People who get one unseen.
    bcc: Vec<CorrespondentBody>,
    /// What it is about.
    subject: String,
    /// The text; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The HTML, where there is any; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    /// The files.
    attachments: Vec<DraftFileBody>,
    /// When it was changed last.
    updated_at: i64,
}

impl DraftBody {
    /// A draft whole.
    pub(crate) fn new(draft: MailDraft) -> Self {
        let all = |people: Vec<_>| people.into_iter().map(CorrespondentBody::from).collect();
        let content = draft.content;
        Self {
            draft_id: draft.id.to_string(),
            thread_id: draft.thread_id.to_string(),
            version: draft.version,
            mode: content.mode.as_str(),
            message_id: content.about.map(|id| id.to_string()),
            from: content.from.into(),
            to: all(content.to),
            cc: all(content.cc),
            bcc: all(content.bcc),
            subject: content.subject,
            text: Some(content.text),
            html: content.html,
            attachments: content.files.into_iter().map(DraftFileBody::from).collect(),
            updated_at: draft.updated_at.0,
        }
    }

    /// As lists show it.
    fn listed(draft: MailDraft) -> Self {
        Self { text: None, html: None, ..Self::new(draft) }
    }
}

/// A draft.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DraftAnswer {
    /// The draft.
    pub(crate) draft: DraftBody,
}

impl From<MailDraft> for DraftAnswer {
    fn from(draft: MailDraft) -> Self {
        Self { draft: DraftBody::new(draft) }
    }
}

/// Drafts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DraftsAnswer {
    /// What was changed last comes first.
    drafts: Vec<DraftBody>,
    /// Where the next page starts; null where there is none.
    cursor: Option<String>,
}

/// Which page.
#[derive(Deserialize, IntoParams)]
pub(crate) struct DraftsQuery {
    /// Where the page starts.
    cursor: Option<String>,
}

impl RequestQuery for DraftsQuery {}

/// What is being written
///
/// Without the texts, 50 a page.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts",
    responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn mail_drafts_list(
    _person: MailPerson,
    query: Query<DraftsQuery>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<DraftsAnswer>> {
    let behind: Option<Behind> = query.cursor.as_deref().map(|it| cursor::read(LIST, it)).transpose()?;
    let behind = behind.map(|Behind(at, id)| (at, id));
    let mut found = state.store.mail_drafts(mailbox.id, behind, u32::try_from(PAGE + 1).unwrap_or(u32::MAX)).await?;
    let has_more = found.len() > PAGE;
    found.truncate(PAGE);
    let last = found.last().filter(|_| has_more).map(|last| cursor::write(LIST, Behind(last.updated_at, last.id)));
    Ok(Json(DraftsAnswer { drafts: found.into_iter().map(DraftBody::listed).collect(), cursor: last }))
}

/// Write a message
///
/// The mailbox's signature stands below what is written, and below that the message that it answers or passes on. Whom an answer is
/// to, and what it is about, follows from that message where nothing else is said.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts", responses(
    (status = 400, description = "A mailbox has at most 1,000 drafts."),
    (status = 404, description = "Message not found"),
    (status = 413, description = "A message has at most 25 MB.")))]
pub(crate) async fn mail_draft_create(
    person: MailPerson,
    body: Body<DraftCreateBody>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Created<DraftAnswer>> {
    let new = body.into_inner().read()?;
    let draft = state.actors.mail_writing.create(&mailbox, new, person.context()).await?;
    Ok(Created(draft.into()))
}

/// A draft
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}")]
pub(crate) async fn mail_draft_get(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<DraftId>,
    state: State,
) -> Result<Json<DraftAnswer>> {
    let found = state.store.mail_draft(mailbox.id, id.0.0).await?.filter(|draft| !draft.is_sent);
    Ok(Json(found.ok_or_else(no_draft)?.into()))
}

/// Change a draft
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}", responses(
    (status = 409, description = "This draft was changed meanwhile."),
    (status = 413, description = "A message has at most 25 MB.")))]
pub(crate) async fn mail_draft_patch(
    person: MailPerson,
    body: Body<DraftPatchBody>,
    mailbox: Owned<Mailbox>,
    id: Path<DraftId>,
    state: State,
) -> Result<Json<DraftAnswer>> {
    let body = body.into_inner();
    let (version, says) = (body.version, body.read()?);
    let draft = state.actors.mail_writing.change(&mailbox, (id.0.0, version), says, person.context()).await?;
    Ok(Json(draft.into()))
}

/// Delete a draft
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}")]
pub(crate) async fn mail_draft_delete(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<DraftId>,
    state: State,
) -> Result<NoContent> {
    let command = DraftDelete { org_id: person.id(), id: id.0.0 };
    state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(NoContent)
}
