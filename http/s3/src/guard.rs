//! What is looked at before a request reaches `s3s`, which doesn't look at it itself.

use std::ops::RangeInclusive;

use form_urlencoded::parse;
use hyper::{
    HeaderMap, Method,
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName},
    http::request,
};
use percent_encoding::percent_decode;
use s3s::{S3Result, s3_error};

use crate::place::Place;

/// Seconds for which an address may be signed in advance (S3).
const EXPIRES_SECONDS: RangeInclusive<u64> = 1..=7 * 24 * 60 * 60;
/// Bytes of XML that a request brings.
pub(crate) const XML_BYTES_MAX: usize = 8 * 1_024 * 1_024;
/// Bytes of a file that a form brings, which is kept in memory.
pub(crate) const FORM_FILE_BYTES_MAX: u64 = 16 * 1_024 * 1_024;
/// Bytes of a form beside its file.
pub(crate) const FORM_FIELDS_BYTES_MAX: u64 = 256 * 1_024;
pub(crate) const CONTENT_SHA256: &str = "x-amz-content-sha256";

/// What of a bucket or a file a query names rather than itself (S3), whether it is served or not.
const PARTS_OF_IT: &[&str] = &[
    "abac",
    "accelerate",
    "acl",
    "analytics",
    "attributes",
    "cors",
    "delete",
    "encryption",
    "intelligent-tiering",
    "inventory",
    "legal-hold",
    "lifecycle",
    "location",
    "logging",
    "metadataConfiguration",
    "metadataTable",
    "metrics",
    "notification",
    "object-lock",
    "ownershipControls",
    "policy",
    "policyStatus",
    "publicAccessBlock",
    "renameObject",
    "replication",
    "requestPayment",
    "restore",
    "retention",
    "select",
    "tagging",
    "torrent",
    "uploads",
    "versioning",
    "versions",
    "website",
];
/// Those that are written of a file.
const WRITTEN_OF_FILES: &[&str] = &["acl", "legal-hold", "retention", "tagging"];
/// Those that are deleted of a file.
const DELETED_OF_FILES: &[&str] = &["tagging"];
/// Those that aren't written of a bucket.
const NOT_WRITTEN_OF_BUCKETS: &[&str] = &[
    "attributes",
    "delete",
    "legal-hold",
    "location",
    "policyStatus",
    "restore",
    "retention",
    "select",
    "torrent",
    "uploads",
    "versions",
];
/// Those that are deleted of a bucket.
const DELETED_OF_BUCKETS: &[&str] = &[
    "analytics",
    "cors",
    "encryption",
    "intelligent-tiering",
    "inventory",
    "lifecycle",
    "metadataConfiguration",
    "metadataTable",
    "metrics",
    "ownershipControls",
    "policy",
    "publicAccessBlock",
    "replication",
    "tagging",
    "website",
];
/// What names the file that is copied.
const COPY_SOURCE: &str = "x-amz-copy-source";

/// What a request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brings {
    /// A file, or a part of one, which is streamed.
    File,
    /// A form, which is kept in memory.
    Form,
    /// XML, or nothing.
    Text,
}

impl Brings {
    /// What a request brings.
    pub fn of(head: &request::Parts, place: &Place) -> Self {
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
        if head.method == Method::POST && content_type.to_ascii_lowercase().starts_with("multipart/form-data") {
            return Self::Form;
        }
        let is_about = |name: &str| matches!(name, "acl" | "tagging" | "retention" | "legal-hold" | "torrent");
        let is_file = head.method == Method::PUT && place.key.is_some() && !names(head).any(|name| is_about(&name));
        if is_file { Self::File } else { Self::Text }
    }
}

fn names(head: &request::Parts) -> impl Iterator<Item = String> {
    parse(head.uri.query().unwrap_or_default().as_bytes()).map(|(name, _)| name.into_owned())
}

/// Passes where a request can be served at all.
pub(crate) fn check(head: &request::Parts, place: &Place, brings: Brings) -> S3Result<()> {
    signature_check(head)?;
    part_of_it_check(head, place)?;
    copy_source_check(&head.headers)?;
    metadata_check(&head.headers)?;
    if brings == Brings::Text {
        text_check(head)?;
    }
    let announced = head.headers.get(CONTENT_LENGTH).and_then(|text| text.to_str().ok()?.parse::<u64>().ok());
    match (brings, announced) {
        (Brings::Form, Some(announced)) if announced > FORM_FILE_BYTES_MAX + FORM_FIELDS_BYTES_MAX => {
            Err(s3_error!(EntityTooLarge, "Your proposed upload exceeds the maximum allowed size."))
        }
        (Brings::Text, Some(announced)) if announced > XML_BYTES_MAX as u64 => {
            Err(s3_error!(MaxMessageLengthExceeded, "Your request was too big."))
        }
        _ => Ok(()),
    }
}

/// Passes where metadata has no `=?=`, which begins and ends like an encoded word (RFC 2047) and is too short for one: `s3s`
/// panics at it.
fn metadata_check(headers: &HeaderMap) -> S3Result<()> {
    let is_broken = |value: &[u8]| value.split(u8::is_ascii_whitespace).any(|word| word == b"=?=");
    let metadata = headers.iter().filter(|(name, _)| name.as_str().starts_with("x-amz-meta-"));
    match metadata.into_iter().find(|(_, value)| is_broken(value.as_bytes())) {
        Some((name, _)) => Err(s3_error!(InvalidArgument, "{name} has an encoded word that is none.")),
        None => Ok(()),
    }
}

/// Passes where nothing is written or deleted but what the query names: `s3s` passes over names that it doesn't know with a
/// method, and would write or delete all of the file or the bucket.
fn part_of_it_check(head: &request::Parts, place: &Place) -> S3Result<()> {
    let is_served = |name: &str| match (&head.method, &place.key) {
        (&Method::PUT, Some(_)) => WRITTEN_OF_FILES.contains(&name),
        (&Method::PUT, None) => !NOT_WRITTEN_OF_BUCKETS.contains(&name),
        (&Method::DELETE, Some(_)) => DELETED_OF_FILES.contains(&name),
        (&Method::DELETE, None) => DELETED_OF_BUCKETS.contains(&name),
        _ => true,
    };
    if names(head).any(|name| PARTS_OF_IT.contains(&name.as_str()) && !is_served(&name)) {
        return Err(s3_error!(MethodNotAllowed, "The specified method is not allowed against this resource."));
    }
    Ok(())
}

/// Passes where a copy names the bucket and the file of its source, as far as it names them at all.
fn copy_source_check(headers: &HeaderMap) -> S3Result<()> {
    let Some(source) = headers.get(COPY_SOURCE) else { return Ok(()) };
    let source = percent_decode(source.as_bytes()).decode_utf8_lossy();
    let (bucket, key) = source.trim_start_matches('/').split_once('/').unwrap_or_default();
    if bucket.is_empty() || key.is_empty() {
        return Err(s3_error!(
            InvalidArgument,
            "Copy Source must mention the source bucket and key: sourcebucket/sourcekey"
        ));
    }
    Ok(())
}

/// Passes where a text has the sums that it needs, and isn't wrapped in chunks as files may be.
fn text_check(head: &request::Parts) -> S3Result<()> {
    let sent_as = head.headers.get(CONTENT_SHA256).and_then(|text| text.to_str().ok()).unwrap_or_default();
    if sent_as.starts_with("STREAMING-") {
        return Err(s3_error!(InvalidRequest, "Only files and parts of them are sent in chunks."));
    }
    let has_sum = || {
        let has = |name: &HeaderName| *name == "content-md5" || name.as_str().starts_with("x-amz-checksum-");
        head.headers.keys().any(has)
    };
    if head.method == Method::POST && names(head).any(|name| name == "delete") && !has_sum() {
        return Err(s3_error!(InvalidRequest, "Missing required header for this request: Content-MD5"));
    }
    Ok(())
}

fn signature_check(head: &request::Parts) -> S3Result<()> {
    let authorization = head.headers.get(AUTHORIZATION).map(hyper::header::HeaderValue::as_bytes);
    let mut query = SignedQuery::default();
    for (name, value) in parse(head.uri.query().unwrap_or_default().as_bytes()) {
        query.take(&name, &value);
    }
    if query.is_version_2 || authorization.is_some_and(|text| text.starts_with(b"AWS ")) {
        return Err(s3_error!(
            InvalidRequest,
            "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256."
        ));
    }
    if query.is_signed && authorization.is_some() {
        return Err(s3_error!(InvalidArgument, "Only one auth mechanism allowed."));
    }
    if query.is_signed {
        let seconds = query.expires.as_deref().and_then(|text| text.parse::<u64>().ok());
        if !seconds.is_some_and(|seconds| EXPIRES_SECONDS.contains(&seconds)) {
            return Err(s3_error!(
                AuthorizationQueryParametersError,
                "X-Amz-Expires must be a number of seconds from 1 to 604800."
            ));
        }
        return signed_headers_check(&head.headers, &query.signed_headers.unwrap_or_default(), Some(CONTENT_SHA256));
    }
    let signed = authorization.and_then(|text| std::str::from_utf8(text).ok()).and_then(signed_headers);
    signed.map_or(Ok(()), |signed| signed_headers_check(&head.headers, signed, None))
}

/// What a query says of its signature.
#[derive(Default)]
struct SignedQuery {
    is_version_2: bool,
    is_signed: bool,
    expires: Option<String>,
    signed_headers: Option<String>,
}

impl SignedQuery {
    fn take(&mut self, name: &str, value: &str) {
        match name {
            "Signature" | "AWSAccessKeyId" => self.is_version_2 = true,
            "X-Amz-Signature" => self.is_signed = true,
            "X-Amz-Expires" => self.expires = Some(value.to_owned()),
            "X-Amz-SignedHeaders" => self.signed_headers = Some(value.to_owned()),
            _ => {}
        }
    }
}

/// The list of a header's signature.
fn signed_headers(authorization: &str) -> Option<&str> {
    let (_, rest) = authorization.split_once("SignedHeaders=")?;
    Some(rest.split_once(',').map_or(rest, |(list, _)| list).trim())
}

/// Passes where what has to be signed is.
fn signed_headers_check(headers: &HeaderMap, signed: &str, besides: Option<&str>) -> S3Result<()> {
    let is_signed = |wanted: &str| signed.split(';').any(|name| name.eq_ignore_ascii_case(wanted));
    let has_to_be = |name: &&HeaderName| name.as_str().starts_with("x-amz-") && besides != Some(name.as_str());
    let left = headers.keys().filter(has_to_be).find(|name| !is_signed(name.as_str()));
    if let Some(name) = left.map(HeaderName::as_str).or_else(|| (!is_signed("host")).then_some("host")) {
        return Err(s3_error!(AccessDenied, "There were headers present in the request which were not signed: {name}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn refusal(uri: &str, headers: &[(&str, &str)]) -> Option<String> {
        let request = headers.iter().fold(Request::get(uri), |request, (name, value)| request.header(*name, *value));
        let (head, ()) = request.body(()).unwrap().into_parts();
        let place = Place::of(&head.uri, &head.headers, None);
        check(&head, &place, Brings::of(&head, &place)).err().map(|error| error.code().as_str().to_owned())
    }

    #[test]
    fn only_the_fourth_version_signs() {
        let refused = Some("InvalidRequest".to_owned());
        assert_eq!(refusal("/b/k", &[("authorization", "AWS AKIA:c2ln")]), refused);
        assert_eq!(refusal("/b/k?AWSAccessKeyId=AKIA&Signature=c2ln&Expires=1", &[]), refused);
        assert_eq!(refusal("/b/k", &[]), None);
    }

    #[test]
    fn an_address_is_signed_for_a_week_at_most() {
        let signed = |expires: &str| {
            refusal(&format!("/b/k?X-Amz-Signature=0&X-Amz-SignedHeaders=host&X-Amz-Expires={expires}"), &[])
        };
        for expires in ["1", "604800"] {
            assert_eq!(signed(expires), None, "{expires}");
        }
        for expires in ["0", "604801", "-1", "", "x", "99999999999999999999"] {
            assert_eq!(signed(expires).as_deref(), Some("AuthorizationQueryParametersError"), "{expires}");
        }
    }

    #[test]
    fn the_host_and_all_headers_of_amazons_are_signed() {
        let with = |signed: &str, more: &[(&str, &str)]| {
            let text =
                format!("AWS4-HMAC-SHA256 Credential=a/b/c/s3/aws4_request, SignedHeaders={signed}, Signature=0");
            let mut headers = vec![("authorization", text.as_str())];
            headers.extend(more);
            refusal("/b/k", &headers)
        };
        let denied = Some("AccessDenied".to_owned());
        assert_eq!(with("host;x-amz-date", &[("x-amz-date", "1")]), None);
        assert_eq!(with("x-amz-date", &[("x-amz-date", "1")]), denied);
        assert_eq!(with("host", &[("x-amz-date", "1")]), denied);
        assert_eq!(with("host", &[("x-amz-meta-a", "1")]), denied);
    }

    fn refused(method: Method, uri: &str) -> Option<String> {
        let request = Request::builder().method(method).uri(uri).header("content-md5", "");
        let (head, ()) = request.body(()).unwrap().into_parts();
        let place = Place::of(&head.uri, &head.headers, None);
        check(&head, &place, Brings::of(&head, &place)).err().map(|error| error.code().as_str().to_owned())
    }

    #[test]
    fn what_a_query_names_is_written_and_deleted_or_nothing() {
        let not_allowed = Some("MethodNotAllowed".to_owned());
        for (method, uri) in [
            (Method::DELETE, "/b/k?uploads"),
            (Method::DELETE, "/b/k?acl"),
            (Method::DELETE, "/b?versions"),
            (Method::DELETE, "/b?acl"),
            (Method::PUT, "/b/k?policy"),
            (Method::PUT, "/b/k?uploads"),
            (Method::PUT, "/b?uploads"),
        ] {
            assert_eq!(refused(method, uri), not_allowed, "{uri}");
        }
        for (method, uri) in [
            (Method::DELETE, "/b/k"),
            (Method::DELETE, "/b/k?tagging&versionId=x"),
            (Method::DELETE, "/b/k?uploadId=x&x-id=AbortMultipartUpload"),
            (Method::DELETE, "/b?policy"),
            (Method::PUT, "/b/k?acl"),
            (Method::PUT, "/b/k?partNumber=1&uploadId=x"),
            (Method::PUT, "/b?versioning"),
            (Method::PUT, "/b?website"),
            (Method::POST, "/b/k?uploads"),
            (Method::GET, "/b?uploads"),
        ] {
            assert_eq!(refused(method, uri), None, "{uri}");
        }
    }

    #[test]
    fn a_copy_names_a_bucket_and_a_file() {
        for source in ["b/k", "/b/k", "%2Fb%2Fk", "b/a/c?versionId=x"] {
            assert_eq!(refusal("/b/k", &[("x-amz-copy-source", source)]), None, "{source}");
        }
        for source in ["", "/", "b", "b/", "/b/", "%2F"] {
            let refused = refusal("/b/k", &[("x-amz-copy-source", source)]);
            assert_eq!(refused.as_deref(), Some("InvalidArgument"), "{source}");
        }
    }

    #[test]
    fn a_text_comes_as_it_is() {
        let refused = Some("InvalidRequest".to_owned());
        assert_eq!(refusal("/b", &[("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")]), refused);
        assert_eq!(refusal("/b", &[("x-amz-content-sha256", "UNSIGNED-PAYLOAD")]), None);
        let request = Request::post("/b?delete").body(()).unwrap();
        let (head, ()) = request.into_parts();
        let place = Place::of(&head.uri, &head.headers, None);
        assert_eq!(check(&head, &place, Brings::Text).unwrap_err().code().as_str(), "InvalidRequest");
    }

    #[test]
    fn metadata_has_no_encoded_word_that_is_too_short_for_one() {
        for value in ["=?", "?=", "=??=", "=?UTF-8?B?eA==?=", "a=?="] {
            assert_eq!(refusal("/b/k", &[("x-amz-meta-n", value)]), None, "{value}");
        }
        for value in ["=?=", " =?= ", "=?UTF-8?B?eA==?= =?="] {
            assert_eq!(refusal("/b/k", &[("x-amz-meta-n", value)]).as_deref(), Some("InvalidArgument"), "{value}");
        }
    }

    #[test]
    fn what_is_no_file_is_short() {
        let announced = |bytes: usize| refusal("/b?delete", &[("content-length", &bytes.to_string())]);
        assert_eq!(announced(XML_BYTES_MAX), None);
        assert_eq!(announced(XML_BYTES_MAX + 1).as_deref(), Some("MaxMessageLengthExceeded"));
    }
}
