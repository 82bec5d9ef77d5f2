//! What S3's clients read when something is refused.

use domain::{
    Error, Outcome,
    storage::{file_not_found, no_bucket, upload_not_found, version_not_found},
};
use hyper::{
    HeaderMap, StatusCode,
    header::{HeaderValue, RETRY_AFTER},
};
use s3s::{S3Error, S3ErrorCode, s3_error};
use store::StoreError;

/// What a refusal of the rules, of the store or of an owner is called in S3's words.
pub(crate) fn refusal(error: impl Into<Error>) -> S3Error {
    let error = error.into();
    let code = match &error {
        Error::Invalid { .. } | Error::Unprocessable { .. } => S3ErrorCode::InvalidArgument,
        Error::BadRequest { code, .. } => bad_request(code),
        Error::Unauthenticated | Error::SignedOut { .. } | Error::SignInFailed { .. } | Error::MissingScope(_) => {
            S3ErrorCode::AccessDenied
        }
        Error::Forbidden { code: "quota_exceeded", .. } => S3ErrorCode::Custom("QuotaExceeded".into()),
        Error::Forbidden { .. } => S3ErrorCode::AccessDenied,
        Error::NotFound { message, .. } => not_found(message),
        Error::Conflict { code, .. } => conflict(code),
        Error::TooLarge { .. } => S3ErrorCode::EntityTooLarge,
        Error::RateLimited { .. } | Error::Busy { outcome: Outcome::NotDone, .. } => S3ErrorCode::SlowDown,
        // Clients try again what may be done already (decisions, "Object storage").
        Error::Busy { outcome: Outcome::Unknown, .. } | Error::BadGateway { .. } => S3ErrorCode::InternalError,
        Error::Stale => S3ErrorCode::OperationAborted,
        Error::Internal { log } => {
            tracing::error!(error = %log, "a request over S3 failed");
            S3ErrorCode::InternalError
        }
    };
    let status = StatusCode::from_u16(error.status()).ok().filter(|_| matches!(code, S3ErrorCode::Custom(_)));
    let mut refused = S3Error::with_message(code, text(&error));
    if let Some(status) = status {
        refused.set_status_code(status);
    }
    if let Some(span) = error.retry_after() {
        let seconds = span.as_millis().div_ceil(1_000).max(1);
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_str(&seconds.to_string()) {
            headers.insert(RETRY_AFTER, value);
        }
        refused.set_headers(headers);
    }
    refused
}

fn text(error: &Error) -> String {
    match error {
        Error::Invalid { problems } => {
            let texts: Vec<String> = problems.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
            texts.join(" ")
        }
        other => other.to_string(),
    }
}

fn bad_request(code: &str) -> S3ErrorCode {
    match code {
        "checksum_wrong" => S3ErrorCode::BadDigest,
        "invalid_parts" => S3ErrorCode::InvalidPart,
        "part_too_small" => S3ErrorCode::EntityTooSmall,
        "invalid_storage_class" => S3ErrorCode::InvalidStorageClass,
        "invalid_copy" | "wrong_size" => S3ErrorCode::InvalidRequest,
        "malformed_policy" => S3ErrorCode::MalformedPolicy,
        "policy_unknown" => S3ErrorCode::NotImplemented,
        _ => S3ErrorCode::InvalidArgument,
    }
}

fn not_found(message: &str) -> S3ErrorCode {
    let known: [(fn() -> Error, S3ErrorCode); 4] = [
        (no_bucket, S3ErrorCode::NoSuchBucket),
        (file_not_found, S3ErrorCode::NoSuchKey),
        (version_not_found, S3ErrorCode::NoSuchVersion),
        (upload_not_found, S3ErrorCode::NoSuchUpload),
    ];
    let found = known.into_iter().find(|(refusal, _)| refusal().to_string() == message);
    // The rest is organizations that the maker of a key left.
    found.map_or(S3ErrorCode::AccessDenied, |(_, code)| code)
}

fn conflict(code: &str) -> S3ErrorCode {
    match code {
        "file_exists" | "stale_file" | "stale_source" => S3ErrorCode::PreconditionFailed,
        "bucket_exists" => S3ErrorCode::BucketAlreadyOwnedByYou,
        "too_many_buckets" => S3ErrorCode::TooManyBuckets,
        "bucket_not_empty" => S3ErrorCode::BucketNotEmpty,
        "versioning_stays" => S3ErrorCode::InvalidBucketState,
        "no_public_address" => S3ErrorCode::InvalidRequest,
        _ => S3ErrorCode::OperationAborted,
    }
}

/// What is answered where the place of the blobs is away or full.
pub(crate) fn blobs_refusal(error: StoreError) -> S3Error {
    match error {
        StoreError::Unavailable(_) => s3_error!(ServiceUnavailable, "Please try again."),
        failed @ StoreError::Failed(_) => refusal(failed),
    }
}

/// What an operation or a header that isn't served is answered with.
pub(crate) fn not_implemented(what: &str) -> S3Error {
    s3_error!(NotImplemented, "A header or a feature that you asked for is not implemented: {what}.")
}

/// What a bad argument is answered with.
pub(crate) fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidArgument, message)
}

/// What `s3s` says no sentence about, in Amazon's words.
pub(crate) fn usual_message(code: &str) -> &'static str {
    match code {
        "AccessDenied" => "Access Denied",
        "BadDigest" => "The Content-MD5 or checksum value that you specified did not match what the server received.",
        "IncompleteBody" => "You did not provide the number of bytes specified by the Content-Length HTTP header.",
        "InternalError" => "We encountered an internal error. Please try again.",
        "InvalidBucketName" => "The specified bucket is not valid.",
        "InvalidRange" => "The requested range is not satisfiable",
        "InvalidTag" => "The tag provided was not a valid tag.",
        "InvalidURI" => "Couldn't parse the specified URI.",
        "KeyTooLongError" => "Your key is too long",
        "MalformedXML" => "The XML you provided was not well-formed or did not validate against our published schema",
        "MaxMessageLengthExceeded" => "Your request was too big.",
        "MethodNotAllowed" => "The specified method is not allowed against this resource.",
        "MissingContentLength" => "You must provide the Content-Length HTTP header.",
        "NoSuchBucket" => "The specified bucket does not exist",
        "NoSuchKey" => "The specified key does not exist.",
        "NotImplemented" => "A header you provided implies functionality that is not implemented",
        "PreconditionFailed" => "At least one of the pre-conditions you specified did not hold",
        "RequestTimeTooSkewed" => "The difference between the request time and the current time is too large.",
        "SignatureDoesNotMatch" => {
            "The request signature we calculated does not match the signature you provided. Check your key and \
             signing method."
        }
        _ => "The request was not done.",
    }
}

/// An error whose name `s3s` doesn't know.
pub(crate) fn custom(
    code: &'static str,
    status: StatusCode,
    message: impl Into<std::borrow::Cow<'static, str>>,
) -> S3Error {
    let mut error = S3Error::with_message(S3ErrorCode::Custom(code.into()), message);
    error.set_status_code(status);
    error
}
