//! The bytes of issues' files, at addresses that the server signs.

use std::time::Instant;

use actix_web::{HttpResponse, HttpResponseBuilder, http::header};
use actors::issues::portal::KeepAttachment;
use domain::{Context, Error, id::AttachmentId, issues::portal::ATTACHMENT_NOT_FOUND};
use http_shell::{
    argument::Argument,
    call::Call,
    download::Download,
    error::Result,
    facts::Facts,
    path::concat_example,
    query::{Query, RequestQuery},
    state::State,
    upload::{AddressUpload, abandon, refused},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use store::{
    blobs::BlobRefusal,
    issues::{Attachment, AttachmentAct, AttachmentAddress, AttachmentQuery},
    storage::AddressMaker,
};
use utoipa::IntoParams;

/// What browsers may do with a file that they show: nothing.
const POLICY: &str = "sandbox; default-src 'none'";
/// What stands as it is in the name of a file (RFC 8187).
const NAME_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What the server wrote into the address.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedIssueFile {
    /// How many bytes are sent.
    size: Option<u64>,
    /// The sign-in with which the address was asked for.
    maker: Option<String>,
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedIssueFile {}

/// The file of a signed address, and what that permits.
struct Signed {
    attachment: Attachment,
    address: AttachmentAddress,
}

impl Signed {
    fn describe(facts: &mut Facts) {
        facts.path_parameter("attachmentId", "A file of an issue.", concat_example(AttachmentId::PREFIX));
        Query::<SignedIssueFile>::describe(facts);
        facts.error(403, "This address was not signed here.");
        facts.error(403, "This address has expired.");
        facts.error(404, ATTACHMENT_NOT_FOUND);
        facts.open();
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let SignedIssueFile { size, maker, expires, signature } = Query::<SignedIssueFile>::take(call).await?.0;
        let id: AttachmentId = call.path_value("attachmentId")?.parse().map_err(|_| refused(BlobRefusal::Forged))?;
        let store = &call.state.store;
        let query = AttachmentQuery { size, maker, expires, signature };
        let address = store.issue_attachment_address_verify(id, &query).map_err(refused)?;
        let found = store.issue_attachment(id).await?;
        let attachment = found.ok_or_else(|| Error::not_found(ATTACHMENT_NOT_FOUND))?;
        Ok(Self { attachment, address })
    }
}

/// A file that somebody may read, and the part of it that is asked for.
pub(crate) struct IssueFileDownload {
    attachment: Attachment,
    download: Download,
}

impl Argument for IssueFileDownload {
    fn describe(facts: &mut Facts) {
        Signed::describe(facts);
        Download::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Signed { attachment, address } = Signed::take(call).await?;
        if address.act != AttachmentAct::Download {
            return Err(refused(BlobRefusal::Forged).into());
        }
        let content = attachment.content.filter(|_| attachment.completed_at.is_some());
        let content = content.ok_or_else(|| Error::not_found(ATTACHMENT_NOT_FOUND))?;
        let download = Download::of(call, attachment.org_id, content, attachment.size);
        Ok(Self { attachment, download })
    }
}

/// Has the file saved under its own name (RFC 6266), whatever it says itself: it is a stranger's on the console's own host.
fn disposition(name: &str) -> String {
    format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(name, NAME_CHARACTERS))
}

/// Download a file of an issue
///
/// The address comes from the file's endpoint and needs no credential. The file is always saved and never shown.
#[utoipa::path(get, path = "/v1/issues/files/{attachmentId}", responses(
    (status = 200, description = "The file.", content_type = "application/octet-stream"),
    (status = 206, description = "The range that was asked for.", content_type = "application/octet-stream"),
    (status = 416, description = "The file ends before.")))]
pub(crate) async fn issue_file_get(found: IssueFileDownload, state: State) -> Result<HttpResponse> {
    let IssueFileDownload { attachment, download } = found;
    let about = |response: &mut HttpResponseBuilder| {
        response
            .insert_header((header::CONTENT_TYPE, attachment.content_type.as_str()))
            .insert_header((header::CONTENT_DISPOSITION, disposition(&attachment.name)))
            .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
            .insert_header((header::CACHE_CONTROL, "private, no-cache"));
    };
    download.answer(&state, about).await
}

/// A file whose bytes are sent.
pub(crate) struct IssueFileUpload {
    attachment: Attachment,
    size: u64,
    maker: AddressMaker,
    body: AddressUpload,
}

impl Argument for IssueFileUpload {
    fn describe(facts: &mut Facts) {
        Signed::describe(facts);
        AddressUpload::describe(facts);
        facts.error(403, "Whoever made this address may not write here any more.");
        facts.error(409, "This upload is complete.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Signed { attachment, address } = Signed::take(call).await?;
        let AttachmentAct::Upload { size, maker } = address.act else {
            return Err(refused(BlobRefusal::Forged).into());
        };
        Ok(Self { attachment, size, maker, body: AddressUpload::take(call).await? })
    }
}

/// Send a file of an issue
///
/// The address comes from beginning the file and needs no credential. Until the file is complete, it can be sent again.
#[utoipa::path(put, path = "/v1/issues/files/{attachmentId}", responses(
    (status = 200, description = "The bytes are kept.")))]
pub(crate) async fn issue_file_put(upload: IssueFileUpload, state: State) -> Result<HttpResponse> {
    let IssueFileUpload { attachment, size, maker, body } = upload;
    let org_id = attachment.org_id;
    let context = body.context();
    let kept = body.keep(&state, org_id, size).await?;
    let landed = async {
        // Only now, since the bytes may have taken hours.
        let found = state.store.address_maker(org_id, maker).await?;
        let over = || Error::forbidden("file_address", "Whoever made this address may not write here any more.");
        let deadline = Instant::now() + state.options.request_timeout;
        let context = Context { caller: found.ok_or_else(over)?, deadline, ..context };
        let command = KeepAttachment { org_id, id: attachment.id, content: kept.clone() };
        state.actors.issue.ask(&attachment.issue_id, command, context).await
    };
    let landed = landed.await;
    if landed.is_err() {
        abandon(&state, &kept).await;
    }
    landed?;
    Ok(HttpResponse::Ok().finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_no_header() {
        assert_eq!(disposition("é\"\r\n;.html"), "attachment; filename*=UTF-8''%C3%A9%22%0D%0A%3B.html");
    }
}
