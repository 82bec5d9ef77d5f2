//! Files of a request.

use actors::issues::portal::{BeginAttachment, CompleteAttachment};
use domain::{
    Error,
    issues::portal::{ATTACHMENT_NOT_FOUND, AttachmentAsked, CONTENT_TYPE_LEN_MAX, DOWNLOAD_LASTS, UPLOAD_LASTS},
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    origin::base_url,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::{
    issues::{Attachment, AttachmentAct, AttachmentAddress},
    storage::AddressMaker,
};
use utoipa::ToSchema;

use super::argument::{HelpCenter, HelpFile, HelpFileAlone, HelpRequest};

/// A file of a request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HelpAttachmentBody {
    id: String,
    name: String,
    /// Bytes.
    size: u64,
    /// What its sender said that it is.
    content_type: String,
    created_at: i64,
}

impl From<Attachment> for HelpAttachmentBody {
    fn from(attachment: Attachment) -> Self {
        Self {
            id: attachment.id.to_string(),
            name: attachment.name,
            size: attachment.size,
            content_type: attachment.content_type,
            created_at: attachment.created_at.as_millis(),
        }
    }
}

/// A file that is to be sent.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "fire.jpg", "size": 48_213, "contentType": "image/jpeg"}))]
pub(crate) struct HelpAttachmentCreate {
    /// 1 to 255 characters. What looks like a folder is left out.
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    /// Bytes, up to 100 MB.
    #[schema(minimum = 1)]
    size: u64,
    /// What it is; at most 255 characters.
    #[schema(max_length = 255)]
    content_type: Option<String>,
}

impl RequestBody for HelpAttachmentCreate {
    fn check(&self, problems: &mut Problems) {
        let length = self.content_type.as_ref().map_or(0, |text| text.chars().count());
        problems.require(length <= CONTENT_TYPE_LEN_MAX, "contentType", "Use at most 255 characters.");
    }
}

/// What is sent along with the bytes.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpUploadHeaders {
    /// The file's type.
    #[serde(rename = "content-type")]
    content_type: String,
}

/// Where a file is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HelpAttachmentCreated {
    attachment_id: String,
    /// Takes the bytes with `PUT` for an hour, and needs no credential.
    upload_url: String,
    headers: HelpUploadHeaders,
}

/// The file that is complete.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HelpAttachmentCompleted {
    attachment_id: String,
}

/// Where a file is read.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HelpAttachmentAnswer {
    /// Gives the file for five minutes, and needs no credential.
    url: String,
    name: String,
    /// What its sender said that it is; it is always saved, never shown.
    content_type: String,
    /// Bytes.
    size: u64,
}

/// The address that permits it.
fn address(state: &State, center: &HelpCenter, address: &AttachmentAddress) -> String {
    format!("{}{}", base_url(state, center.host()), state.store.issue_attachment_address(address))
}

/// Begin to add a file to your request
///
/// Send its bytes to `uploadUrl` with the `headers`, then complete it. At most 100 an hour.
#[utoipa::path(post, path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments", responses(
    (status = 413, description = "Attachments can be up to 100 MB."),
    (status = 429, description = "That's as many attachments as an hour allows. Try again later."),
))]
pub(crate) async fn help_attachment_create(
    of: HelpRequest,
    body: Body<HelpAttachmentCreate>,
    state: State,
) -> Result<Created<HelpAttachmentCreated>> {
    let HelpAttachmentCreate { name, size, content_type } = body.into_inner();
    let context = of.center.context();
    let maker = AddressMaker::of(&context.caller).ok_or(Error::Unauthenticated)?;
    let asked = AttachmentAsked { name, size, content_type };
    let command = BeginAttachment { org_id: of.center.org_id(), asked };
    let begun = state.actors.issue.ask(&of.issue_id(), command, context).await?;
    let act = AttachmentAct::Upload { size, maker };
    let expires_at = state.store.now().after(UPLOAD_LASTS);
    Ok(Created(HelpAttachmentCreated {
        attachment_id: begun.id.to_string(),
        upload_url: address(&state, &of.center, &AttachmentAddress { attachment: begun.id, act, expires_at }),
        headers: HelpUploadHeaders { content_type: begun.content_type },
    }))
}

async fn completed(file: HelpFile, state: State) -> Result<Json<HelpAttachmentCompleted>> {
    let HelpFile { of, attachment } = file;
    let command = CompleteAttachment { org_id: of.center.org_id(), id: attachment.id };
    state.actors.issue.ask(&of.issue_id(), command, of.center.context()).await?;
    Ok(Json(HelpAttachmentCompleted { attachment_id: attachment.id.to_string() }))
}

fn link(file: HelpFile, state: &State) -> Result<Json<HelpAttachmentAnswer>> {
    let HelpFile { of, attachment } = file;
    if attachment.completed_at.is_none() {
        return Err(Error::not_found(ATTACHMENT_NOT_FOUND).into());
    }
    let expires_at = state.store.now().after(DOWNLOAD_LASTS);
    let permit = AttachmentAddress { attachment: attachment.id, act: AttachmentAct::Download, expires_at };
    Ok(Json(HelpAttachmentAnswer {
        url: address(state, &of.center, &permit),
        name: attachment.name,
        content_type: attachment.content_type,
        size: attachment.size,
    }))
}

/// Complete a file of your request
///
/// From then on it is there for everybody who reads the request. Twice is once.
#[utoipa::path(post,
    path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments/{attachmentId}/complete",
    responses((status = 409, description = "The upload isn't there yet.")))]
pub(crate) async fn help_attachment_complete(file: HelpFile, state: State) -> Result<Json<HelpAttachmentCompleted>> {
    completed(file, state).await
}

/// Get an address to download a file of your request
#[utoipa::path(get, path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments/{attachmentId}")]
pub(crate) async fn help_attachment_get(file: HelpFile, state: State) -> Result<Json<HelpAttachmentAnswer>> {
    link(file, &state)
}

/// Complete a file of one of your requests
///
/// The same, where the path doesn't name the request.
#[utoipa::path(post, path = "/v1/portal/issues/{org}/{spaceKey}/attachments/{attachmentId}/complete",
    responses((status = 409, description = "The upload isn't there yet.")))]
pub(crate) async fn help_file_complete(
    HelpFileAlone(file): HelpFileAlone,
    state: State,
) -> Result<Json<HelpAttachmentCompleted>> {
    completed(file, state).await
}

/// Get an address to download a file of one of your requests
///
/// The same, where the path doesn't name the request.
#[utoipa::path(get, path = "/v1/portal/issues/{org}/{spaceKey}/attachments/{attachmentId}")]
pub(crate) async fn help_file_get(
    HelpFileAlone(file): HelpFileAlone,
    state: State,
) -> Result<Json<HelpAttachmentAnswer>> {
    link(file, &state)
}
