//! `/v1/blobs/…`: bytes that clients move themselves, over addresses that the server signed.
//!
//! The address is the credential: it says which blob, which way, how large, and until when.

use std::{ops::Range, time::Duration};

use actix_web::{
    HttpResponse,
    http::header::{self, HeaderValue},
};
use bytes::Bytes;
use domain::Error;
use futures::{Stream, StreamExt, TryStreamExt};
use http_shell::{
    answer::NoContent,
    argument::Argument,
    body::TOO_LARGE,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
    query::{Query, RequestQuery},
    state::State,
};
use serde::Deserialize;
use store::blobs::{BlobContent, BlobGrant, BlobMethod, BlobQuery, BlobRefusal, UploadError};
use tokio::time::timeout;
use utoipa::IntoParams;

/// How long the next bytes of an upload may take.
const SILENCE_MAX: Duration = Duration::from_mins(1);

/// A blob's key in the path, with its slashes.
pub(crate) struct Key(String);

impl Argument for Key {
    fn describe(facts: &mut Facts) {
        facts.open();
        facts.path_parameter("key", "The blob, as its address names it.", "drive/fil_01jd7rt4m5e9fv2w8x3c6k0hqz");
        facts.error(403, "This address was not signed here.");
        facts.error(403, "This address has expired.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(call.path_value("key")?.to_owned()))
    }
}

/// What the server wrote into the address.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct Signed {
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// The blob's size in bytes.
    size: u64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for Signed {}

fn grant(state: &State, method: BlobMethod, key: &Key, query: &Signed) -> Result<BlobGrant> {
    let query = BlobQuery { expires: query.expires, size: query.size, signature: query.signature.clone() };
    state.store.blobs().verify(method, &key.0, &query).map_err(|refusal| {
        let message = match refusal {
            BlobRefusal::Forged => "This address was not signed here.",
            BlobRefusal::Expired => "This address has expired.",
        };
        Error::forbidden("blob_address", message).into()
    })
}

/// The part of a blob that `Range` asks for.
pub(crate) struct Wanted(Option<String>);

impl Argument for Wanted {
    fn describe(facts: &mut Facts) {
        facts.header("Range", "One range of bytes, as `bytes=0-1023`.", false);
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(call.header(header::RANGE).map(str::to_owned)))
    }
}

impl Wanted {
    /// The range within a blob of `size` bytes; nothing for one that is not understood, which is answered whole.
    fn within(&self, size: u64) -> Option<Range<u64>> {
        range_within(self.0.as_deref()?, size)
    }
}

/// The range that a header `Range` asks for within `size` bytes.
pub(crate) fn range_within(asked: &str, size: u64) -> Option<Range<u64>> {
    let (first, last) = asked.strip_prefix("bytes=")?.split_once('-')?;
    let range = match (first.trim(), last.trim()) {
        ("", tail) => size.saturating_sub(tail.parse().ok()?)..size,
        (first, "") => first.parse().ok()?..size,
        (first, last) => first.parse().ok()?..last.parse::<u64>().ok()?.checked_add(1)?.min(size),
    };
    (!range.is_empty()).then_some(range)
}

/// Download a blob
///
/// The address comes from another endpoint and needs no credential.
#[utoipa::path(get, path = "/v1/blobs/{key}", responses(
    (status = 200, description = "The bytes.", content_type = "application/octet-stream"),
    (status = 206, description = "The range that was asked for.", content_type = "application/octet-stream"),
    (status = 404, description = "There is no such blob.")))]
pub(crate) async fn blob_get(key: Key, query: Query<Signed>, wanted: Wanted, state: State) -> Result<HttpResponse> {
    let grant = grant(&state, BlobMethod::Get, &key, &query)?;
    let range = wanted.within(grant.size);
    let found = state.store.blobs().get_stream(&grant.key, range.clone()).await?;
    let BlobContent { size, range: given, bytes } = found.ok_or_else(|| Error::not_found("There is no such blob."))?;
    let mut response = if range.is_some() { HttpResponse::PartialContent() } else { HttpResponse::Ok() };
    if range.is_some() {
        let last = given.end.saturating_sub(1);
        response.insert_header((header::CONTENT_RANGE, format!("bytes {}-{last}/{size}", given.start)));
    }
    Ok(response
        .insert_header((header::CONTENT_TYPE, "application/octet-stream"))
        .insert_header((header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")))
        .insert_header((header::ACCEPT_RANGES, "bytes"))
        .no_chunking(given.end - given.start)
        .streaming(bytes.map_err(|error| {
            tracing::warn!(%error, "a download broke off");
            std::io::Error::other("the download broke off")
        })))
}

/// The bytes of an upload, as they come.
pub(crate) struct Upload {
    payload: actix_web::dev::Payload,
    announced: Option<usize>,
}

impl Argument for Upload {
    fn describe(facts: &mut Facts) {
        facts.stream(&["application/octet-stream"]);
        facts.error(400, "Send exactly the number of bytes that the address is for.");
        facts.error(413, TOO_LARGE);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let announced = call.announced_length();
        Ok(Self { payload: call.take_payload(), announced })
    }
}

impl Upload {
    /// The bytes, as long as they keep coming.
    fn steadily(self) -> impl Stream<Item = std::result::Result<Bytes, String>> {
        futures::stream::unfold(self.payload, async |mut payload| {
            let next = timeout(SILENCE_MAX, payload.next()).await;
            let chunk = match next {
                Ok(None) => return None,
                Ok(Some(chunk)) => chunk.map_err(|error| error.to_string()),
                Err(_) => Err("nothing came for too long".to_owned()),
            };
            Some((chunk, payload))
        })
    }
}

/// Upload a blob
///
/// The address comes from another endpoint and needs no credential. It takes exactly as many bytes as it says.
#[utoipa::path(put, path = "/v1/blobs/{key}")]
pub(crate) async fn blob_put(key: Key, query: Query<Signed>, upload: Upload, state: State) -> Result<NoContent> {
    let grant = grant(&state, BlobMethod::Put, &key, &query)?;
    let wrong_size = || Error::bad_request("wrong_size", format!("Send exactly {} bytes.", grant.size));
    match upload.announced.map(|announced| (announced as u64).cmp(&grant.size)) {
        Some(std::cmp::Ordering::Greater) => return Err(Error::too_large(TOO_LARGE).into()),
        Some(std::cmp::Ordering::Less) => return Err(wrong_size().into()),
        Some(std::cmp::Ordering::Equal) | None => {}
    }
    state.store.blobs().put_stream(&grant.key, grant.size, upload.steadily()).await.map_err(|error| match error {
        UploadError::Size { .. } => ApiError::from(wrong_size()),
        UploadError::Source(_) => Error::bad_request("malformed", "The body broke off.").into(),
        UploadError::Store(error) => error.into(),
    })?;
    Ok(NoContent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Option<Range<u64>> {
        Wanted(Some(text.to_owned())).within(100)
    }

    #[test]
    fn a_range_is_read_within_the_blob() {
        assert_eq!(range("bytes=0-9"), Some(0..10));
        assert_eq!(range("bytes=90-"), Some(90..100));
        assert_eq!(range("bytes=-10"), Some(90..100));
        assert_eq!(range("bytes=90-999"), Some(90..100));
        assert_eq!(range("bytes=-999"), Some(0..100));
    }

    #[test]
    fn what_is_no_range_of_the_blob_is_answered_whole() {
        for text in ["", "bytes=", "bytes=-", "bytes=100-", "bytes=9-0", "items=0-9", "bytes=0-1,5-6", "bytes=-0"] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
