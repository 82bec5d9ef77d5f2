//! The bytes of a file, as they come.

use actix_web::http::header;
use domain::{
    id::OrgId,
    storage::{ETagList, FileHeaders, FileKey, SINGLE_BYTES_MAX, WriteConditions, file_name_is_folder, single_check},
};
use http_shell::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    state::State,
    upload::{SentBytes, refusal},
};
use store::blobs::contents::{ContentError, ContentSource, NewContent};

/// A file that is sent, with what its headers say.
pub(crate) struct FileUpload {
    body: SentBytes,
    /// What the file is answered with.
    pub(super) headers: FileHeaders,
    /// What has to hold of the file that is there.
    pub(super) conditions: WriteConditions,
}

impl Argument for FileUpload {
    fn describe(facts: &mut Facts) {
        SentBytes::describe(facts);
        facts.header("If-Match", "The `etag` of the file that is overwritten.", false);
        facts.header("If-None-Match", "`*` where there must be no file.", false);
        facts.header("Cache-Control", "How the file is cached.", false);
        facts.header("Content-Disposition", "Whether the file is shown or saved, and as what.", false);
        facts.error(413, "Send files over 5 GB in parts.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        call.announced_length().map_or(Ok(()), |length| single_check(length as u64))?;
        let text = |name: header::HeaderName| call.header(name).map(str::to_owned);
        let headers = FileHeaders {
            content_type: text(header::CONTENT_TYPE),
            cache_control: text(header::CACHE_CONTROL),
            content_disposition: text(header::CONTENT_DISPOSITION),
            content_encoding: text(header::CONTENT_ENCODING),
            ..FileHeaders::default()
        };
        let conditions = WriteConditions {
            matches: call.header(header::IF_MATCH).map(ETagList::parse),
            matches_none: call.header(header::IF_NONE_MATCH).map(ETagList::parse),
        };
        let headers = headers.check()?;
        Ok(Self { body: SentBytes::take(call)?, headers, conditions })
    }
}

impl FileUpload {
    /// How many bytes it has, where its sender says so.
    pub(super) const fn announced(&self) -> Option<u64> {
        self.body.announced
    }

    /// Keeps the bytes as a content of the organization, which waits for the commit that names it. What is named as a
    /// folder has none.
    pub(super) async fn keep(self, state: &State, org_id: OrgId, key: &FileKey) -> Result<NewContent> {
        let Self { body, .. } = self;
        key.check_size(body.announced.unwrap_or(0))?;
        let limit = if key.is_folder() { 0 } else { SINGLE_BYTES_MAX };
        let source = ContentSource { size: body.announced, limit };
        let refusal = |error| match error {
            ContentError::TooLong { .. } if key.is_folder() => file_name_is_folder(),
            other => refusal(other),
        };
        body.keep(state, org_id, source, refusal).await
    }
}
