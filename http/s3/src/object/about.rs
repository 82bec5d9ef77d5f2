//! What a request says of a file beside its bytes.

use domain::storage::{
    ETag, ETagList, FILE_TAGS, FileHeaders, METADATA_BYTES_MAX, StorageClass, Tag, Tags, WriteConditions,
};
use hyper::StatusCode;
use s3s::{
    S3Result,
    dto::{ETag as SentTag, ETagCondition, Metadata},
    s3_error,
};

use crate::error::{custom, invalid, not_implemented, refusal};

/// What a file is to have beside its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub headers: FileHeaders,
    pub tags: Tags,
    pub class: StorageClass,
}

/// The fields of one of `s3s`'s inputs that say it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one of the protocol's headers")]
pub(crate) struct Fields {
    pub acl: Option<String>,
    pub has_grants: bool,
    pub is_encrypted: bool,
    pub is_redirected: bool,
    pub is_locked: bool,
    pub class: Option<String>,
    pub tagging: Option<String>,
    pub content_type: Option<String>,
    pub cache_control: Option<String>,
    pub content_disposition: Option<String>,
    pub content_encoding: Option<String>,
    pub content_language: Option<String>,
    pub expires: Option<String>,
    pub metadata: Option<Metadata>,
}

/// The fields of an input; `$expires` is the header as it was sent.
macro_rules! said_fields {
    ($input:expr, $expires:expr) => {{
        let input = &$input;
        let has_grants = input.grant_full_control.is_some()
            || input.grant_read.is_some()
            || input.grant_read_acp.is_some()
            || input.grant_write_acp.is_some();
        $crate::object::said($crate::object::Fields {
            acl: input.acl.as_ref().map(|acl| acl.as_str().to_owned()),
            has_grants,
            is_encrypted: input.server_side_encryption.is_some()
                || input.sse_customer_algorithm.is_some()
                || input.ssekms_key_id.is_some(),
            is_redirected: input.website_redirect_location.is_some(),
            is_locked: input.object_lock_mode.is_some()
                || input.object_lock_legal_hold_status.is_some()
                || input.object_lock_retain_until_date.is_some(),
            class: input.storage_class.as_ref().map(|class| class.as_str().to_owned()),
            tagging: input.tagging.clone(),
            content_type: input.content_type.as_ref().map(ToString::to_string),
            cache_control: input.cache_control.clone(),
            content_disposition: input.content_disposition.clone(),
            content_encoding: input.content_encoding.clone(),
            content_language: input.content_language.clone(),
            expires: $expires,
            metadata: input.metadata.clone(),
        })
    }};
}
pub(crate) use said_fields;

/// Checks what an input says.
pub(crate) fn said(fields: Fields) -> S3Result<Said> {
    let is_private = fields.acl.as_deref().is_none_or(|acl| matches!(acl, "private" | "bucket-owner-full-control"));
    if !is_private || fields.has_grants {
        return Err(s3_error!(AccessControlListNotSupported, "The bucket does not allow ACLs"));
    }
    if fields.is_encrypted {
        return Err(not_implemented("server-side encryption"));
    }
    if fields.is_redirected {
        return Err(not_implemented("website redirects"));
    }
    if fields.is_locked {
        return Err(s3_error!(InvalidRequest, "Bucket is missing Object Lock Configuration"));
    }
    let headers = FileHeaders {
        content_type: fields.content_type.filter(|text| !text.is_empty()),
        cache_control: fields.cache_control,
        content_disposition: fields.content_disposition,
        content_encoding: fields.content_encoding.as_deref().and_then(unwrapped),
        content_language: fields.content_language,
        expires: fields.expires,
        checksum: None,
        metadata: metadata(fields.metadata.unwrap_or_default())?,
    };
    Ok(Said {
        headers: headers.check().map_err(refusal)?,
        tags: fields.tagging.as_deref().map_or_else(|| Ok(Tags::default()), tags)?,
        class: StorageClass::parse(fields.class.as_deref()).map_err(refusal)?,
    })
}

/// How the content is encoded, without what it was wrapped in on its way.
fn unwrapped(encoding: &str) -> Option<String> {
    let kept: Vec<&str> =
        encoding.split(',').map(str::trim).filter(|it| !it.is_empty() && *it != "aws-chunked").collect();
    (!kept.is_empty()).then(|| kept.join(","))
}

fn metadata(metadata: Metadata) -> S3Result<std::collections::BTreeMap<String, String>> {
    let bytes: usize = metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > METADATA_BYTES_MAX {
        return Err(s3_error!(MetadataTooLarge, "Your metadata headers exceed the maximum allowed metadata size"));
    }
    Ok(metadata.into_iter().collect())
}

/// The tags of a header, which are written as a query.
pub(crate) fn tags(text: &str) -> S3Result<Tags> {
    let tags = form_urlencoded::parse(text.as_bytes());
    tags_check(tags.map(|(key, value)| Tag { key: key.into_owned(), value: value.into_owned() }).collect())
}

/// Checks the tags of a file.
pub(crate) fn tags_check(tags: Vec<Tag>) -> S3Result<Tags> {
    if tags.len() > FILE_TAGS.count {
        return Err(custom("BadRequest", StatusCode::BAD_REQUEST, "Object tags cannot be greater than 10"));
    }
    Tags::check("tags", tags, FILE_TAGS).map_err(|error| {
        let message = refusal(error).message().unwrap_or_default().to_owned();
        s3_error!(InvalidTag, "{message}")
    })
}

/// What has to hold of the file that is there.
pub(crate) fn conditions(matches: Option<&ETagCondition>, none: Option<&ETagCondition>) -> S3Result<WriteConditions> {
    if none.is_some_and(|none| !none.is_any()) {
        return Err(not_implemented("If-None-Match with another value than *"));
    }
    Ok(WriteConditions { matches: matches.map(list).transpose()?, matches_none: none.map(list).transpose()? })
}

/// A condition as a list of tags.
pub(crate) fn list(condition: &ETagCondition) -> S3Result<ETagList> {
    let header = condition.to_http_header().map_err(|_| invalid("The ETag is not valid."))?;
    Ok(ETagList::parse(header.to_str().unwrap_or_default()))
}

/// A tag as answers write it.
pub(crate) fn tag(etag: &ETag) -> SentTag {
    SentTag::Strong(etag.to_string())
}

/// What headers say of a file that is written is taken, or refused as the client's fault.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn fuzzing(headers: &hyper::HeaderMap) {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let fields = Fields {
        acl: text("x-amz-acl"),
        class: text("x-amz-storage-class"),
        tagging: text("x-amz-tagging"),
        content_type: text("content-type"),
        content_encoding: text("content-encoding"),
        expires: text("expires"),
        ..Fields::default()
    };
    if let Err(refused) = said(fields) {
        assert!(refused.status_code().is_some_and(|status| status.is_client_error()), "{refused:?}");
    }
}
