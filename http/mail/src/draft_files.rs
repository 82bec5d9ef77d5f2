//! Files of messages that are being written.

use actors::mail::NewFile;
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    mail::{Mailbox, file_check},
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::{DraftFileId, DraftId, Path},
    state::State,
};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::drafts::DraftAnswer;

/// Bytes of a request: 25 MB as base64, and what stands beside them.
const BODY_LEN_MAX: usize = 36 * 1024 * 1024;

/// A file to be added.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "note.txt", "contentType": "text/plain", "content": "SGVsbG8="}))]
pub(crate) struct DraftFileCreateBody {
    /// What it is called: 1 to 255 characters.
    name: String,
    /// The file's type, such as `image/png`.
    content_type: Option<String>,
    /// Up to 25 MB, as base64.
    content: String,
}

impl RequestBody for DraftFileCreateBody {
    const LIMIT: usize = BODY_LEN_MAX;
    const TOO_LARGE: &'static str = "A message has at most 25 MB.";
    const TAKES_LONG: bool = true;

    fn check(&self, problems: &mut Problems) {
        let is_whole = self.content.len().is_multiple_of(4);
        problems.require(is_whole, "content", "This is no base64.");
    }
}

/// Add a file to a draft
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}/attachments", responses(
    (status = 400, description = "A message has at most 100 attachments."),
    (status = 409, description = "This draft was changed meanwhile."),
    (status = 413, description = "A message has at most 25 MB.")))]
pub(crate) async fn mail_draft_file_create(
    person: MailPerson,
    body: Body<DraftFileCreateBody>,
    mailbox: Owned<Mailbox>,
    id: Path<DraftId>,
    state: State,
) -> Result<Created<DraftAnswer>> {
    let DraftFileCreateBody { name, content_type, content } = body.into_inner();
    let (name, content_type) = file_check(&name, content_type.as_deref())?;
    let refused = |_| domain::Error::invalid("content", "This is no base64.");
    let bytes = STANDARD.decode(content).map_err(refused)?.into();
    let file = NewFile { name, content_type, bytes };
    let draft = state.actors.mail_writing.attach(&mailbox, id.0.0, file, person.context()).await?;
    Ok(Created(draft.into()))
}

/// Take a file from a draft
#[utoipa::path(delete,
    path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}/attachments/{attachmentId}",
    responses((status = 404, description = "Attachment not found"),
        (status = 409, description = "This draft was changed meanwhile.")))]
pub(crate) async fn mail_draft_file_delete(
    person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<DraftId>,
    file: Path<DraftFileId>,
    state: State,
) -> Result<Json<DraftAnswer>> {
    let draft = state.actors.mail_writing.detach(&mailbox, id.0.0, file.0.0, person.context()).await?;
    Ok(Json(draft.into()))
}
