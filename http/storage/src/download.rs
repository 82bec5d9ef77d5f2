//! Downloads: an address that the server signs, and the file behind it.

use std::{ops::Range, time::Duration};

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
};
use domain::storage::{
    BucketAddress, ByteRange, ETag, ETagList, FileKey, RangeAnswer, ReadConditions, ReadOutcome, StoredFile, VersionId,
    range_answer, version_not_found,
};
use futures::TryStreamExt;
use http_shell::{
    answer::Json,
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    owned::Owned,
    path::Path,
    permission::ResourcesRead,
    query::{Query, RequestQuery},
    state::State,
    upload::refused,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use store::{
    blobs::BlobRefusal,
    storage::{FileAddress, FileContent, FileQuery as AddressQuery, FileVersion, StoredBucket},
};
use utoipa::{IntoParams, ToSchema};

use super::file::file;

/// How long the address of a download works (contract C 4.4).
const LINK_LASTS: Duration = Duration::from_secs(5 * 60);
/// What browsers may do with a file that they show: nothing.
const POLICY: &str = "sandbox; default-src 'none'";
/// What stands as it is in the name of a file (RFC 8187).
const NAME_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Which version of which file.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct DownloadQuery {
    /// The file's key: up to 1,024 bytes.
    #[param(example = "reports/january.pdf", max_length = 1_024)]
    key: String,
    /// The version; the newest one where none is named.
    #[param(min_length = 1, max_length = 1_024)]
    version_id: Option<String>,
}

impl RequestQuery for DownloadQuery {}

/// Where a file is downloaded.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "url": "https://troupe.example/v1/storage/files/res_01jd7rt4m5e9fv2w8x3c6k0hqz?key=january.pdf&version=null\
            &expires=1767225900000&signature=Zm9v",
    "expiresIn": 300
}))]
pub(crate) struct DownloadAnswer {
    /// The address, which needs no credential.
    url: String,
    /// Seconds for which it works.
    expires_in: u64,
}

/// Get an address to download a file
///
/// The holder of the address may download that version of the file for five minutes.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/download", responses(
    (status = 400, description = "Folders can't be downloaded.\n\nKeys have at most 1,024 bytes."),
    (status = 404, description = "File not found.\n\nVersion not found."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_download(
    _org: Org<ResourcesRead>,
    asked: Query<DownloadQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<DownloadAnswer>> {
    bucket.check_usable()?;
    let key = FileKey::parse_for_download(asked.key.as_str())?;
    let version = asked.version_id.as_deref().map(|id| VersionId::parse("versionId", id)).transpose()?;
    let file = match version {
        None => file(&state, &bucket, &key).await?,
        Some(id) => content_of(state.store.file_version(bucket.seen.no, &key, id).await?)?.0,
    };
    let expires_at = state.store.now().after(LINK_LASTS);
    let address = FileAddress { bucket: bucket.id(), key, version: file.version().id(), expires_at };
    let url = format!("{}{}", state.options.public_url, state.store.file_address(&address));
    Ok(Json(DownloadAnswer { url, expires_in: LINK_LASTS.as_secs() }))
}

/// A version that has a content; 404 otherwise.
fn content_of(found: Option<FileVersion>) -> domain::Result<(FileVersion, FileContent)> {
    let file = found.ok_or_else(version_not_found)?;
    let content = file.content.clone().ok_or_else(version_not_found)?;
    Ok((file, content))
}

/// What the server wrote into the address.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedFile {
    /// The file's key.
    #[serde(default)]
    #[param(example = "january.pdf")]
    key: String,
    /// The file's version.
    #[serde(default)]
    #[param(example = "null")]
    version: String,
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedFile {}

/// The part of a file that is asked for, and on which conditions.
pub(crate) struct Conditions {
    range: Option<String>,
    if_range: Option<String>,
    holds: ReadConditions,
}

impl Argument for Conditions {
    fn describe(facts: &mut Facts) {
        facts.header("Range", "One range of bytes, as `bytes=0-1023`.", false);
        facts.header("If-Range", "The `ETag` that the file must have for the range to count.", false);
        facts.header("If-Match", "`ETag`s of which the file must have one; 412 otherwise.", false);
        facts.header("If-None-Match", "`ETag`s of which the file must have none; 304 otherwise.", false);
        facts.header("If-Modified-Since", "When the file must have changed since; 304 otherwise.", false);
        facts.header("If-Unmodified-Since", "Since when the file must not have changed; 412 otherwise.", false);
        facts.error(403, "This address was not signed here.");
        facts.error(403, "This address has expired.");
        facts.open();
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let date = |name: header::HeaderName| {
            let at = httpdate::parse_http_date(call.header(name)?).ok()?;
            let since = at.duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since.as_millis()).ok().map(domain::Timestamp)
        };
        Ok(Self {
            range: call.header(header::RANGE).map(str::to_owned),
            if_range: call.header(header::IF_RANGE).map(str::to_owned),
            holds: ReadConditions {
                matches: call.header(header::IF_MATCH).map(ETagList::parse),
                matches_none: call.header(header::IF_NONE_MATCH).map(ETagList::parse),
                modified_since: date(header::IF_MODIFIED_SINCE),
                unmodified_since: date(header::IF_UNMODIFIED_SINCE),
            },
        })
    }
}

impl Conditions {
    /// Which bytes of a file of this tag are answered. A range of another content is none (RFC 9110, 13.1.5); a date
    /// isn't exact enough to tell.
    fn range(&self, content: &FileContent) -> RangeAnswer {
        let counts = self.if_range.as_deref().is_none_or(|tag| ETag::parse(tag) == Some(content.etag));
        range_answer(self.range.as_deref().filter(|_| counts), content.size)
    }
}

/// Download a file
///
/// The address comes from `download` and needs no credential. The file is always saved and never shown.
#[utoipa::path(get, path = "/v1/storage/files/{resourceId}", responses(
    (status = 200, description = "The file.", content_type = "application/octet-stream"),
    (status = 206, description = "The range that was asked for.", content_type = "application/octet-stream"),
    (status = 304, description = "The file hasn't changed."),
    (status = 404, description = "Version not found."),
    (status = 409, description = "This bucket is being deleted."),
    (status = 412, description = "The file has changed."),
    (status = 416, description = "The file ends before.")))]
pub(crate) async fn storage_file_get(
    address: Path<BucketAddress>,
    signed: Query<SignedFile>,
    asked: Conditions,
    state: State,
) -> Result<HttpResponse> {
    let SignedFile { key, version, expires, signature } = signed.0;
    let BucketAddress::Resource(bucket) = *address else { return Err(refused(BlobRefusal::Forged).into()) };
    let query = AddressQuery { key, version, expires, signature };
    let grant = state.store.file_address_verify(bucket, &query).map_err(refused)?;
    let (bucket, file, content) = granted(&state, &grant).await?;
    match asked.holds.decide(StoredFile { etag: content.etag, modified: file.modified }) {
        ReadOutcome::Send => {}
        ReadOutcome::NotModified => return Ok(about(StatusCode::NOT_MODIFIED, &file, &content).finish()),
        ReadOutcome::Failed => return Ok(about(StatusCode::PRECONDITION_FAILED, &file, &content).finish()),
    }
    let (status, range) = match asked.range(&content) {
        RangeAnswer::Whole => (StatusCode::OK, None),
        RangeAnswer::Part(part) => (StatusCode::PARTIAL_CONTENT, Some(part)),
        RangeAnswer::Unsatisfiable => {
            let mut response = about(StatusCode::RANGE_NOT_SATISFIABLE, &file, &content);
            return Ok(response.insert_header((header::CONTENT_RANGE, format!("bytes */{}", content.size))).finish());
        }
    };
    send(&state, &bucket, (&file, &content), status, range).await
}

/// What an address permits to download; 404 where it is gone.
async fn granted(state: &State, grant: &FileAddress) -> Result<(StoredBucket, FileVersion, FileContent)> {
    let bucket = state.store.bucket_of(grant.bucket).await?.ok_or_else(version_not_found)?;
    bucket.check_usable()?;
    let found = state.store.file_version(bucket.seen.no, &grant.key, grant.version).await?;
    let (file, content) = content_of(found)?;
    Ok((bucket, file, content))
}

/// An answer with what is said of a file.
fn about(status: StatusCode, file: &FileVersion, content: &FileContent) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response
        .insert_header((header::ETAG, format!("\"{}\"", content.etag)))
        .insert_header((header::LAST_MODIFIED, httpdate::fmt_http_date(moment(file))))
        .insert_header((header::ACCEPT_RANGES, "bytes"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((
            header::CACHE_CONTROL,
            content.headers.cache_control.as_deref().unwrap_or("private, no-cache"),
        ));
    response
}

fn moment(file: &FileVersion) -> std::time::SystemTime {
    let millis = u64::try_from(file.modified.as_millis()).unwrap_or_default();
    std::time::UNIX_EPOCH + Duration::from_millis(millis)
}

/// The bytes, with what the file is answered with.
async fn send(
    state: &State,
    bucket: &StoredBucket,
    (file, content): (&FileVersion, &FileContent),
    status: StatusCode,
    part: Option<ByteRange>,
) -> Result<HttpResponse> {
    let wanted: Option<Range<u64>> = part.as_ref().map(|part| *part.bytes.start()..part.bytes.end() + 1);
    let read = state.store.content_read(bucket.seen.org_id, content.content_id, wanted).await?;
    let read = read.ok_or_else(version_not_found)?;
    let mut response = about(status, file, content);
    if let Some(part) = &part {
        let shown = format!("bytes {}-{}/{}", part.bytes.start(), part.bytes.end(), part.size);
        response.insert_header((header::CONTENT_RANGE, shown));
    }
    if let Some(encoding) = &content.headers.content_encoding {
        response.insert_header((header::CONTENT_ENCODING, encoding.as_str()));
    }
    let content_type = content.headers.content_type.as_deref().unwrap_or("application/octet-stream");
    Ok(response
        .insert_header((header::CONTENT_TYPE, content_type))
        .insert_header((header::CONTENT_DISPOSITION, disposition(&file.key)))
        .no_chunking(read.range.end - read.range.start)
        .streaming(read.bytes.map_err(|error| {
            tracing::warn!(%error, "a download broke off");
            std::io::Error::other("the download broke off")
        })))
}

/// Has the file saved under its own name (RFC 6266), whatever it says itself: it is a stranger's on the console's own
/// host.
fn disposition(key: &FileKey) -> String {
    let name = key.as_str().rsplit('/').next().unwrap_or_default();
    format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(name, NAME_CHARACTERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_saved_under_the_last_part_of_its_key() {
        let name = |key: &str| disposition(&FileKey::parse(key).unwrap());
        assert_eq!(name("a/b c.txt"), "attachment; filename*=UTF-8''b%20c.txt");
        assert_eq!(name("é\"\r\n;.html"), "attachment; filename*=UTF-8''%C3%A9%22%0D%0A%3B.html");
    }
}
