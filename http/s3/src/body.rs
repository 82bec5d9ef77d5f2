//! Bytes of files on their way in.

use domain::{
    id::OrgId,
    storage::{Checksum, SINGLE_BYTES_MAX},
};
use futures::stream;
use hyper::{HeaderMap, StatusCode};
use s3s::{S3Error, S3ErrorCode, S3Result, StdError, dto::StreamingBlob, s3_error};
use store::blobs::contents::{ContentError, ContentSource, NewContent};

use crate::{
    checksums::Announced,
    error::{blobs_refusal, custom},
    guard::CONTENT_SHA256,
    service::Door,
};

/// Bytes of a body without what it is wrapped in.
const DECODED_LENGTH: &str = "x-amz-decoded-content-length";

/// A body, with what is known of it before it comes.
pub(crate) struct Coming {
    pub body: Option<StreamingBlob>,
    /// Bytes, as they were announced without what they are wrapped in.
    pub size: Option<i64>,
    pub announced: Announced,
}

/// Bytes that are kept, and wait for the commit that names them.
pub(crate) struct Kept {
    pub content: NewContent,
    pub checksum: Option<Checksum>,
}

impl Door {
    /// Keeps a body as a content of the organization, where it is what was announced; nothing of it is left otherwise.
    pub(crate) async fn keep(&self, org_id: OrgId, coming: Coming) -> S3Result<Kept> {
        let Coming { body, size, announced } = coming;
        let size = size.and_then(|size| u64::try_from(size).ok());
        let size =
            size.ok_or_else(|| s3_error!(MissingContentLength, "You must provide the Content-Length HTTP header."))?;
        if size > SINGLE_BYTES_MAX {
            return Err(s3_error!(EntityTooLarge, "Your proposed upload exceeds the maximum allowed size"));
        }
        let source = ContentSource { size: Some(size), limit: SINGLE_BYTES_MAX };
        let computing = announced.computing();
        let body = body.unwrap_or_else(|| StreamingBlob::wrap(stream::empty::<Result<_, std::io::Error>>()));
        let kept = match &computing {
            None => self.store.content_write(org_id, source, body).await,
            Some(computing) => {
                let computing = std::sync::Arc::clone(computing);
                let seen = move |bytes: &[u8]| {
                    if let Ok(mut hasher) = computing.lock()
                        && let Some(hasher) = hasher.as_mut()
                    {
                        hasher.update(bytes);
                    }
                };
                self.store.content_write_seen(org_id, source, body, Box::new(seen)).await
            }
        };
        let content = kept.map_err(broken)?;
        match announced.verify(&content, computing.as_ref()) {
            Ok(checksum) => Ok(Kept { content, checksum }),
            Err(refused) => {
                self.abandon(&content).await;
                Err(refused)
            }
        }
    }

    /// Lets go of a content that nothing names; what can't be deleted now is swept later.
    pub(crate) async fn abandon(&self, content: &NewContent) {
        if let Err(error) = self.store.content_abandon(content).await {
            tracing::warn!(%error, id = %content.id(), "a content that was refused could not be deleted yet");
        }
    }
}

/// Bytes that a body has without what it is wrapped in, as its headers announce them; also where it comes in chunks of HTTP.
pub(crate) fn sent_size(headers: &HeaderMap, content_length: Option<i64>) -> Option<i64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_wrapped = text(CONTENT_SHA256).is_some_and(|text| text.starts_with("STREAMING-"));
    if is_wrapped { text(DECODED_LENGTH).and_then(|text| text.parse().ok()) } else { content_length }
}

fn broken(error: ContentError<StdError>) -> S3Error {
    match error {
        ContentError::Source(error) => broken_source(&error.to_string()),
        ContentError::Stalled => s3_error!(
            RequestTimeout,
            "Your socket connection to the server was not read from or written to within the timeout period."
        ),
        ContentError::Size { .. } => S3Error::new(S3ErrorCode::IncompleteBody),
        ContentError::TooLong { .. } => S3Error::new(S3ErrorCode::EntityTooLarge),
        ContentError::Store(error) => blobs_refusal(error),
    }
}

/// What was wrong with a body, of which `s3s` shows the text alone.
fn broken_source(text: &str) -> S3Error {
    let has = |part: &str| text.contains(part);
    if has("SignatureMismatch") {
        S3Error::new(S3ErrorCode::SignatureDoesNotMatch)
    } else if has("Sha256Mismatch") {
        let message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
        custom("XAmzContentSHA256Mismatch", StatusCode::BAD_REQUEST, message)
    } else if has("FormatError") || has("TooLarge") || has("TooMany") {
        s3_error!(InvalidRequest, "The body is not encoded as its headers say.")
    } else {
        S3Error::new(S3ErrorCode::IncompleteBody)
    }
}
