//! Reading a file. Not by `s3s`'s own types, which refuse what S3 passes over: lists of tags, dates in older forms, ranges
//! that aren't understood.

use std::{
    ops::Range,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use bytes::Bytes;
use domain::{
    Timestamp,
    storage::{ETagList, FileKey, RangeAnswer, ReadConditions, ReadOutcome, VersionId, VersionKind, range_answer},
};
use futures::{StreamExt, TryStreamExt};
use http_body_util::StreamBody;
use hyper::{
    HeaderMap, Method, StatusCode, Uri,
    body::Frame,
    header::{self, HeaderName, HeaderValue},
    http::Extensions,
};
use s3s::{Body, S3Error, S3ErrorCode, S3Request, S3Response, S3Result, dto, route::S3Route, s3_error};
use store::storage::{FileContent, FileVersion, StoredBucket};

use crate::{
    access::{Need, denied, own_key},
    checksums,
    error::{invalid, refusal},
    service::Door,
    visit::{Visit, Visitor},
};

/// What is asked of a file otherwise than for itself.
const OTHERS: &[&str] = &["acl", "attributes", "legal-hold", "retention", "tagging", "torrent", "uploadId"];
/// Answers of up to so many bytes are one piece.
const PIECE_LEN: u64 = 256 * 1_024;
/// What a file is where nothing was said (S3).
const USUAL_TYPE: &str = "binary/octet-stream";
const VERSION: HeaderName = HeaderName::from_static("x-amz-version-id");
const MARKER: HeaderName = HeaderName::from_static("x-amz-delete-marker");

/// `GetObject` and `HeadObject`.
pub(crate) struct FileReads(pub Arc<Door>);

#[async_trait]
impl S3Route for FileReads {
    fn is_match(&self, method: &Method, uri: &Uri, _: &HeaderMap, extensions: &mut Extensions) -> bool {
        let is_read = method == Method::GET || method == Method::HEAD;
        let is_file =
            || Visit::of(extensions).is_ok_and(|visit| visit.place.bucket.is_some() && visit.place.key.is_some());
        let is_other = || Query::of(uri).is_other;
        is_read && is_file() && !is_other()
    }

    async fn check_access(&self, request: &mut S3Request<Body>) -> S3Result<()> {
        let visit = Visit::of(&request.extensions)?;
        visit.is_for(if request.method == Method::HEAD { "HeadObject" } else { "GetObject" });
        visit.is_by(self.0.visitor(request.credentials.as_ref()).await?);
        Ok(())
    }

    async fn call(&self, request: S3Request<Body>) -> S3Result<S3Response<Body>> {
        let visit = Visit::of(&request.extensions)?;
        let deadline = std::time::Instant::now() + self.0.options.request_timeout;
        store::deadline::within(deadline, self.0.file_read(&visit, &request)).await
    }
}

/// What the query of a read says.
#[derive(Debug, Default)]
struct Query {
    is_other: bool,
    version: Option<String>,
    part: Option<String>,
    /// Headers of the answer, as the client wants them.
    overrides: Vec<(HeaderName, String)>,
}

impl Query {
    fn of(uri: &Uri) -> Self {
        let mut query = Self::default();
        for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            let overridden = match &*name {
                "versionId" => {
                    query.version = Some(value.into_owned());
                    continue;
                }
                "partNumber" => {
                    query.part = Some(value.into_owned());
                    continue;
                }
                "response-content-type" => header::CONTENT_TYPE,
                "response-content-language" => header::CONTENT_LANGUAGE,
                "response-expires" => header::EXPIRES,
                "response-cache-control" => header::CACHE_CONTROL,
                "response-content-disposition" => header::CONTENT_DISPOSITION,
                "response-content-encoding" => header::CONTENT_ENCODING,
                other => {
                    query.is_other |= OTHERS.contains(&other);
                    continue;
                }
            };
            query.overrides.push((overridden, value.into_owned()));
        }
        query
    }
}

/// A version's id in a request.
pub(crate) fn version_id(text: &str) -> S3Result<VersionId> {
    if text.is_empty() {
        return Err(invalid("Version id cannot be the empty string"));
    }
    text.parse().map_err(|_| invalid("Invalid version id specified"))
}

pub(crate) fn no_such_key() -> S3Error {
    s3_error!(NoSuchKey, "The specified key does not exist.")
}

/// When a version was written.
pub(crate) fn moment(at: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(at.as_millis()).unwrap_or_default())
}

/// Milliseconds since the Unix epoch.
pub(crate) fn millis(at: &dto::Timestamp) -> i64 {
    let mut text = Vec::new();
    let is_written = at.format(dto::TimestampFormat::EpochSeconds, &mut text).is_ok();
    let text = std::str::from_utf8(&text).ok().filter(|_| is_written).unwrap_or_default();
    let (seconds, rest) = text.split_once('.').unwrap_or((text, ""));
    let millis = format!("{rest:0<3}").get(..3).and_then(|rest| rest.parse::<i64>().ok()).unwrap_or(0);
    seconds.parse::<i64>().unwrap_or_default().saturating_mul(1_000).saturating_add(millis)
}

/// The same, as XML has it.
pub(crate) fn timestamp(at: Timestamp) -> dto::Timestamp {
    dto::Timestamp::from(moment(at))
}

impl Door {
    /// The file of a key, or its version of that id, with its content.
    pub(crate) async fn file(
        &self,
        bucket: &StoredBucket,
        key: &FileKey,
        version: Option<VersionId>,
    ) -> S3Result<(FileVersion, FileContent)> {
        let no = bucket.seen.no;
        let found = match version {
            None => match self.store.file(no, key).await.map_err(refusal)? {
                Some(file) => Some(file),
                None => self.store.file_head(no, key).await.map_err(refusal)?,
            },
            Some(id) => self.store.file_version(no, key, id).await.map_err(refusal)?,
        };
        match (found, version) {
            (Some(file), version) => match file.content.clone() {
                Some(content) => Ok((file, content)),
                None => Err(is_marker(&file, version)),
            },
            (None, None) => Err(no_such_key()),
            (None, Some(_)) => Err(s3_error!(NoSuchVersion, "The specified version does not exist.")),
        }
    }

    async fn file_read(&self, visit: &Visit, request: &S3Request<Body>) -> S3Result<S3Response<Body>> {
        let (name, key) = (visit.place.bucket.as_deref(), visit.place.key.as_deref());
        let (name, key) = name.zip(key).ok_or_else(no_such_key)?;
        let bucket = self.bucket(visit, name, Need::ReadFile).await?;
        let key = Self::file_key(visit, &bucket, key)?;
        let query = Query::of(&request.uri);
        if !query.overrides.is_empty() && matches!(visit.visitor(), Visitor::Stranger) {
            return Err(s3_error!(
                InvalidRequest,
                "Request specific response headers cannot be used for anonymous GET requests."
            ));
        }
        let version = query.version.as_deref().map(version_id).transpose()?;
        if version.is_some() && own_key(visit, &bucket).is_none() {
            // What is public is what the bucket has now.
            return Err(denied());
        }
        let (file, content) = self.file(&bucket, &key, version).await?;
        let mut headers = about(&bucket, &file, &content)?;
        let Some(stored) = file.stored() else { return Err(no_such_key()) };
        match conditions(&request.headers).decide(stored) {
            ReadOutcome::Send => {}
            ReadOutcome::NotModified => {
                let mut response = S3Response::with_status(Body::empty(), StatusCode::NOT_MODIFIED);
                response.headers = headers;
                return Ok(response);
            }
            ReadOutcome::Failed => return Err(S3Error::new(S3ErrorCode::PreconditionFailed)),
        }
        let wanted = self.wanted(&query, &request.headers, &content).await?;
        let status = if wanted.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
        let range = wanted.as_ref().map_or(0..content.size, |wanted| wanted.range.clone());
        if let Some(wanted) = &wanted {
            wanted.tell(&mut headers, content.size);
        }
        shown(&mut headers, &content, wanted.is_none(), &request.headers)?;
        for (name, value) in query.overrides {
            let value = HeaderValue::from_str(&value).map_err(|_| invalid("A response header is not valid."))?;
            headers.insert(name, value);
        }
        if !self.serves_strangers(visit) {
            // On the console's own host a file must not be a page that runs.
            let sandbox = HeaderValue::from_static("sandbox; default-src 'none'");
            headers.insert(header::CONTENT_SECURITY_POLICY, sandbox);
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        }
        if version.is_none()
            && own_key(visit, &bucket).is_some()
            && let Some(expiration) = self.expiration(&bucket, &file).await
        {
            put(&mut headers, HeaderName::from_static("x-amz-expiration"), &expiration)?;
        }
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(range.end - range.start));
        let body = if request.method == Method::HEAD || range.is_empty() {
            Body::empty()
        } else {
            self.bytes(&bucket, &content, range).await?
        };
        let mut response = S3Response::with_status(body, status);
        response.headers = headers;
        Ok(response)
    }

    /// The bytes of a range, which isn't empty.
    async fn bytes(&self, bucket: &StoredBucket, content: &FileContent, range: Range<u64>) -> S3Result<Body> {
        let len = range.end - range.start;
        let read =
            self.store.content_read(bucket.seen.org_id, content.content_id, Some(range)).await.map_err(refusal)?;
        let mut bytes = read.ok_or_else(no_such_key)?.bytes;
        if len <= PIECE_LEN {
            let first = bytes.try_next().await.map_err(refusal)?.unwrap_or_default();
            if first.len() as u64 == len {
                return Ok(Body::from(first));
            }
            let rest = futures::stream::once(std::future::ready(Ok(first))).chain(bytes);
            return Ok(streamed(rest));
        }
        Ok(streamed(bytes))
    }

    /// The part of a file that a request asks for; none for all of it.
    async fn wanted(&self, query: &Query, headers: &HeaderMap, content: &FileContent) -> S3Result<Option<Wanted>> {
        let range = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
        if let Some(part) = &query.part {
            if range.is_some() {
                return Err(s3_error!(
                    InvalidRequest,
                    "Cannot specify both Range header and partNumber query parameter"
                ));
            }
            return self.part(part, content).await.map(Some);
        }
        // A range of another content is none (RFC 9110, 13.1.5).
        let if_range = headers.get(header::IF_RANGE).map(|value| value.to_str().unwrap_or_default());
        let counts = if_range.is_none_or(|tag| domain::storage::ETag::parse(tag) == Some(content.etag));
        match range_answer(range.filter(|_| counts), content.size) {
            RangeAnswer::Whole => Ok(None),
            RangeAnswer::Part(part) => {
                Ok(Some(Wanted { range: *part.bytes.start()..*part.bytes.end() + 1, parts: None }))
            }
            RangeAnswer::Unsatisfiable => Err(unsatisfiable(content.size)),
        }
    }

    async fn part(&self, text: &str, content: &FileContent) -> S3Result<Wanted> {
        let number = text.parse::<u64>().ok().filter(|number| (1..=10_000).contains(number));
        let number = number.ok_or_else(|| invalid("Part number must be an integer between 1 and 10000, inclusive"))?;
        let parts = content.etag.parts();
        let no_such = || s3_error!(InvalidPart, "The requested partnumber is not satisfiable");
        let Some(count) = parts else {
            let whole = Wanted { range: 0..content.size, parts: None };
            return if number == 1 { Ok(whole) } else { Err(unsatisfiable_part()) };
        };
        if number > u64::from(count) {
            return Err(unsatisfiable_part());
        }
        let starts = self.store.content_parts(content.content_id).await.map_err(refusal)?;
        let index = usize::try_from(number - 1).map_err(|_| no_such())?;
        // Only the last part can be without bytes.
        let (start, size) = starts.get(index).copied().unwrap_or((content.size, 0));
        Ok(Wanted { range: start..start + size, parts: Some(count) })
    }
}

fn streamed<S>(bytes: S) -> Body
where
    S: futures::Stream<Item = Result<Bytes, store::StoreError>> + Send + 'static,
{
    let frames = bytes.map_ok(Frame::data).map_err(|error| {
        tracing::warn!(%error, "a download over S3 broke off");
        std::io::Error::other("the download broke off")
    });
    Body::http_body_unsync(StreamBody::new(frames))
}

/// Some bytes of a file.
struct Wanted {
    range: Range<u64>,
    /// How many parts it has, where one was asked for.
    parts: Option<u32>,
}

impl Wanted {
    fn tell(&self, headers: &mut HeaderMap, size: u64) {
        let Range { start, end } = self.range;
        if let Some(last) = end.checked_sub(1).filter(|last| *last >= start)
            && let Ok(value) = HeaderValue::from_str(&format!("bytes {start}-{last}/{size}"))
        {
            headers.insert(header::CONTENT_RANGE, value);
        }
        if let Some(parts) = self.parts {
            headers.insert("x-amz-mp-parts-count", HeaderValue::from(parts));
        }
    }
}

fn unsatisfiable(size: u64) -> S3Error {
    let mut error = S3Error::new(S3ErrorCode::InvalidRange);
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size}")) {
        headers.insert(header::CONTENT_RANGE, value);
    }
    error.set_headers(headers);
    error
}

fn unsatisfiable_part() -> S3Error {
    let message = "The requested partnumber is not satisfiable";
    crate::error::custom("InvalidPartNumber", StatusCode::RANGE_NOT_SATISFIABLE, message)
}

/// What a delete marker is answered with: it isn't there; asked for by its id, it can't be read.
fn is_marker(file: &FileVersion, asked: Option<VersionId>) -> S3Error {
    let mut error = match asked {
        None => no_such_key(),
        Some(_) => S3Error::new(S3ErrorCode::MethodNotAllowed),
    };
    let mut headers = HeaderMap::new();
    headers.insert(MARKER, HeaderValue::from_static("true"));
    if let Ok(id) = HeaderValue::from_str(&file.version().id().to_string()) {
        headers.insert(VERSION, id);
    }
    if asked.is_some() {
        headers.insert(header::ALLOW, HeaderValue::from_static("DELETE"));
        if let Ok(date) = HeaderValue::from_str(&httpdate::fmt_http_date(moment(file.modified))) {
            headers.insert(header::LAST_MODIFIED, date);
        }
    }
    error.set_headers(headers);
    error
}

fn conditions(headers: &HeaderMap) -> ReadConditions {
    let tags = |name: HeaderName| headers.get(name).map(|value| ETagList::parse(value.to_str().unwrap_or_default()));
    let date = |name: HeaderName| {
        let at = httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()?;
        i64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok().map(Timestamp)
    };
    ReadConditions {
        matches: tags(header::IF_MATCH),
        matches_none: tags(header::IF_NONE_MATCH),
        modified_since: date(header::IF_MODIFIED_SINCE),
        unmodified_since: date(header::IF_UNMODIFIED_SINCE),
    }
}

/// What is said of a version in each answer, also where it hasn't changed.
fn about(bucket: &StoredBucket, file: &FileVersion, content: &FileContent) -> S3Result<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(16);
    put(&mut headers, header::ETAG, &format!("\"{}\"", content.etag))?;
    put(&mut headers, header::LAST_MODIFIED, &httpdate::fmt_http_date(moment(file.modified)))?;
    if bucket.names_versions() && file.version().kind == VersionKind::Content {
        put(&mut headers, VERSION, &file.version().id().to_string())?;
    }
    for (name, value) in
        [(header::CACHE_CONTROL, &content.headers.cache_control), (header::EXPIRES, &content.headers.expires)]
    {
        if let Some(value) = value {
            put(&mut headers, name, value)?;
        }
    }
    Ok(headers)
}

/// What is said of a version where its bytes are answered; its checksum where that is asked for.
fn shown(headers: &mut HeaderMap, content: &FileContent, is_whole: bool, asked: &HeaderMap) -> S3Result<()> {
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    put(headers, header::CONTENT_TYPE, content.headers.content_type.as_deref().unwrap_or(USUAL_TYPE))?;
    for (name, value) in [
        (header::CONTENT_DISPOSITION, &content.headers.content_disposition),
        (header::CONTENT_ENCODING, &content.headers.content_encoding),
        (header::CONTENT_LANGUAGE, &content.headers.content_language),
    ] {
        if let Some(value) = value {
            put(headers, name, value)?;
        }
    }
    if content.class != domain::storage::StorageClass::Standard {
        put(headers, HeaderName::from_static("x-amz-storage-class"), content.class.as_str())?;
    }
    let tags = content.tags.iter().count();
    if tags > 0 {
        headers.insert("x-amz-tagging-count", HeaderValue::from(tags));
    }
    for (name, value) in &content.headers.metadata {
        let name = HeaderName::try_from(format!("x-amz-meta-{name}")).map_err(S3Error::internal_error)?;
        match HeaderValue::from_str(value).ok().filter(|_| value.is_ascii()) {
            Some(value) => headers.insert(name, value),
            // What no header can have is written as mail does (RFC 2047).
            None => headers.insert(name, HeaderValue::from_str(&encoded_word(value)).map_err(S3Error::internal_error)?),
        };
    }
    let is_asked =
        asked.get("x-amz-checksum-mode").is_some_and(|mode| mode.as_bytes().eq_ignore_ascii_case(b"enabled"));
    if let Some(checksum) = content.headers.checksum.as_ref().filter(|_| is_asked && is_whole) {
        put(headers, HeaderName::from_static(checksums::header(checksum.algorithm)), &checksum.value)?;
        put(headers, HeaderName::from_static("x-amz-checksum-type"), checksum.kind.as_str())?;
    }
    Ok(())
}

fn encoded_word(text: &str) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    format!("=?UTF-8?B?{}?=", STANDARD.encode(text))
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) -> S3Result<()> {
    headers.insert(name, HeaderValue::from_str(value).map_err(S3Error::internal_error)?);
    Ok(())
}

/// Conditions and ranges of a read are taken or passed over.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn fuzzing(headers: &HeaderMap) {
    drop(conditions(headers));
    let range = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    if let RangeAnswer::Part(part) = range_answer(range, 1_000) {
        assert!(part.bytes.start() <= part.bytes.end() && *part.bytes.end() < 1_000, "{:?}", part.bytes);
    }
    for value in headers.values().filter_map(|value| value.to_str().ok()) {
        assert!(HeaderValue::from_str(&encoded_word(value)).is_ok(), "{value}");
        drop(version_id(value));
    }
}
