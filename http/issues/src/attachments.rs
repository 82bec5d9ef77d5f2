//! Files of an issue, for members.

use actix_web::http::header;
use domain::{
    Error,
    id::{AttachmentId, UserId},
    issues::portal::{ATTACHMENT_NOT_FOUND, DOWNLOAD_LASTS},
};
use http_shell::{
    answer::Json, argument::Argument, call::Call, error::Result, facts::Facts, origin::base_url, path::concat_example,
    permission::IssuesRead, state::State,
};
use serde::Serialize;
use store::issues::{Attachment, AttachmentAct, AttachmentAddress};
use utoipa::ToSchema;

use super::argument::IssueOf;

/// A file of an issue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueAttachmentBody {
    attachment_id: String,
    name: String,
    /// Bytes.
    size: u64,
    /// What its sender said that it is.
    content_type: String,
    /// Whether those who raised the request read it too.
    public: bool,
    /// The sender; left out where the file came by mail from somebody without an account.
    #[serde(skip_serializing_if = "Option::is_none")]
    added_by: Option<String>,
    created_at: i64,
}

impl From<Attachment> for IssueAttachmentBody {
    fn from(attachment: Attachment) -> Self {
        Self {
            attachment_id: attachment.id.to_string(),
            name: attachment.name,
            size: attachment.size,
            content_type: attachment.content_type,
            public: attachment.public,
            added_by: Some(attachment.added_by).filter(|by| *by != UserId::NIL).map(|by| by.to_string()),
            created_at: attachment.created_at.as_millis(),
        }
    }
}

/// The files of an issue.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueAttachmentsAnswer {
    /// The first one first.
    attachments: Vec<IssueAttachmentBody>,
}

/// Where a file is read.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueAttachmentAnswer {
    /// Gives the file for five minutes, and needs no credential.
    url: String,
    name: String,
    /// What its sender said that it is; it is always saved, never shown.
    content_type: String,
    /// Bytes.
    size: u64,
}

/// The file that the path names, of an issue that the caller may browse.
pub(crate) struct IssueFile {
    attachment: Attachment,
    /// Where the client reaches the server.
    base: String,
}

impl Argument for IssueFile {
    fn describe(facts: &mut Facts) {
        IssueOf::<IssuesRead>::describe(facts);
        facts.path_parameter("attachmentId", "A file of the issue.", concat_example(AttachmentId::PREFIX));
        facts.error(404, ATTACHMENT_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let of = IssueOf::<IssuesRead>::take(call).await?;
        let gone = || Error::not_found(ATTACHMENT_NOT_FOUND);
        let id: AttachmentId = call.path_value("attachmentId")?.parse().map_err(|_| gone())?;
        let found = call.state.store.issue_attachment(id).await?;
        let is_there = |it: &Attachment| it.issue_id == of.stored.issue.issue_id && it.completed_at.is_some();
        let attachment = found.filter(is_there).ok_or_else(gone)?;
        Ok(Self { attachment, base: base_url(&call.state, call.header(header::HOST)) })
    }
}

/// The files of an issue
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/{issueKey}/attachments")]
pub(crate) async fn issue_attachments_list(
    of: IssueOf<IssuesRead>,
    state: State,
) -> Result<Json<IssueAttachmentsAnswer>> {
    let all = state.store.issue_attachments(of.stored.issue.issue_id).await?;
    Ok(Json(IssueAttachmentsAnswer { attachments: all.into_iter().map(IssueAttachmentBody::from).collect() }))
}

/// Get an address to download a file of an issue
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/{issueKey}/attachments/{attachmentId}")]
pub(crate) async fn issue_attachment_get(file: IssueFile, state: State) -> Result<Json<IssueAttachmentAnswer>> {
    let IssueFile { attachment, base } = file;
    let expires_at = state.store.now().after(DOWNLOAD_LASTS);
    let permit = AttachmentAddress { attachment: attachment.id, act: AttachmentAct::Download, expires_at };
    Ok(Json(IssueAttachmentAnswer {
        url: format!("{base}{}", state.store.issue_attachment_address(&permit)),
        name: attachment.name,
        content_type: attachment.content_type,
        size: attachment.size,
    }))
}
