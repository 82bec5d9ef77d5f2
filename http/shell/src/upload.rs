//! Bytes as they come, which become a content: of a file, of a part of one, or of whatever has a signed address.

use std::pin::pin;

use actix_web::http::header;
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use domain::{
    Context, Error,
    id::OrgId,
    storage::{checksum_unknown, checksum_wrong, upload_too_large},
};
use futures::{
    SinkExt, StreamExt,
    channel::mpsc,
    future::{Either, select},
};
use store::blobs::{
    BlobRefusal,
    contents::{ContentError, ContentSource, NewContent},
};

use crate::{argument::Argument, body::TOO_LARGE, call::Call, error::Result, facts::Facts, state::State};

/// Pieces of a body that wait for being written.
const PIECES_WAITING_MAX: usize = 2;
/// What checksums of S3's are sent as.
const CHECKSUM_PREFIX: &str = "x-amz-checksum-";
const SHA256: &str = "x-amz-checksum-sha256";

/// The bytes of a body as they come, with the checksums that their sender says.
pub struct SentBytes {
    payload: actix_web::dev::Payload,
    /// How many there are, where their sender says so.
    pub announced: Option<u64>,
    md5: Option<Vec<u8>>,
    sha256: Option<Vec<u8>>,
}

impl SentBytes {
    /// Says of an endpoint that it takes them.
    pub fn describe(facts: &mut Facts) {
        facts.stream(&["application/octet-stream"]);
        facts.header("Content-MD5", "The MD5 of the bytes, as base64.", false);
        facts.header(SHA256, "The SHA-256 of the bytes, as base64.", false);
        facts.error(400, "The body broke off.");
        facts.error(400, "The bytes that came have another checksum.");
        facts.error(400, "Use Content-MD5 or x-amz-checksum-sha256.");
    }

    /// Takes the body, unread.
    pub fn take(call: &mut Call) -> Result<Self> {
        let is_unknown =
            |name: &header::HeaderName| name.as_str().starts_with(CHECKSUM_PREFIX) && name.as_str() != SHA256;
        if call.request.headers().keys().any(is_unknown) {
            return Err(checksum_unknown().into());
        }
        let announced = call.announced_length().map(|length| length as u64);
        let (md5, sha256) = (checksum(call, "content-md5", 16)?, checksum(call, SHA256, 32)?);
        Ok(Self { payload: call.take_payload(), announced, md5, sha256 })
    }

    /// Keeps them as a content of the organization, which waits for the commit that names it.
    pub async fn keep(
        self,
        state: &State,
        org_id: OrgId,
        source: ContentSource,
        refusal: impl FnOnce(ContentError<()>) -> Error,
    ) -> Result<NewContent> {
        let Self { payload, md5, sha256, .. } = self;
        let content = receive(state, org_id, payload, source).await.map_err(refusal)?;
        let differs = |sent: Option<Vec<u8>>, found: &[u8]| sent.is_some_and(|sent| sent != found);
        if differs(md5, &content.md5()) || differs(sha256, &content.sha256()) {
            abandon(state, &content).await;
            return Err(checksum_wrong().into());
        }
        Ok(content)
    }
}

/// A checksum in a header; 400 where it isn't one of so many bytes.
fn checksum(call: &Call, name: &str, len: usize) -> Result<Option<Vec<u8>>> {
    if !call.request.headers().contains_key(name) {
        return Ok(None);
    }
    let bytes = STANDARD.decode(call.header(name).unwrap_or_default()).ok().filter(|bytes| bytes.len() == len);
    Ok(Some(bytes.ok_or_else(|| Error::invalid(name, "Must be the checksum's bytes as base64."))?))
}

/// Keeps what comes as a content of the organization.
async fn receive(
    state: &State,
    org_id: OrgId,
    mut payload: actix_web::dev::Payload,
    source: ContentSource,
) -> std::result::Result<NewContent, ContentError<()>> {
    // What comes from the network stays on its thread; the content is written on others.
    let (mut sender, pieces) = mpsc::channel::<std::result::Result<Bytes, ()>>(PIECES_WAITING_MAX);
    let receiving = async move {
        while let Some(piece) = payload.next().await {
            if sender.send(piece.map_err(|_| ())).await.is_err() {
                return;
            }
        }
    };
    until_kept(state.store.content_write(org_id, source, pieces), receiving).await
}

/// What keeping comes to, beside which it is received. Who is silent is waited for no longer than it is kept.
async fn until_kept<T>(keeping: impl Future<Output = T>, receiving: impl Future<Output = ()>) -> T {
    match select(pin!(keeping), pin!(receiving)).await {
        Either::Left((kept, _)) => kept,
        Either::Right(((), keeping)) => keeping.await,
    }
}

/// A part or a file that is sent to an address of a known size.
pub struct AddressUpload {
    body: SentBytes,
    context: Context,
}

impl Argument for AddressUpload {
    fn describe(facts: &mut Facts) {
        facts.open();
        SentBytes::describe(facts);
        facts.error(400, "Send exactly the number of bytes that the address is for.");
        facts.error(403, "This address was not signed here.");
        facts.error(403, "This address has expired.");
        facts.error(413, TOO_LARGE);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self { body: SentBytes::take(call)?, context: call.context.clone() })
    }
}

impl AddressUpload {
    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.context.clone()
    }

    /// Keeps the bytes, which have to be so many, as a content of the organization.
    pub async fn keep(self, state: &State, org_id: OrgId, size: u64) -> Result<NewContent> {
        let wrong_size = || Error::bad_request("wrong_size", format!("Send exactly {size} bytes."));
        match self.body.announced.map(|announced| announced.cmp(&size)) {
            Some(std::cmp::Ordering::Greater) => return Err(Error::too_large(TOO_LARGE).into()),
            Some(std::cmp::Ordering::Less) => return Err(wrong_size().into()),
            Some(std::cmp::Ordering::Equal) | None => {}
        }
        let refusal = |error| match error {
            ContentError::Size { .. } => wrong_size(),
            ContentError::TooLong { .. } => Error::too_large(TOO_LARGE),
            other => refusal(other),
        };
        self.body.keep(state, org_id, ContentSource { size: Some(size), limit: size }, refusal).await
    }
}

/// Lets go of a content that nothing names; what can't be deleted now is swept later.
pub async fn abandon(state: &State, content: &NewContent) {
    if let Err(error) = state.store.content_abandon(content).await {
        tracing::warn!(%error, id = %content.id(), "a content that was refused could not be deleted yet");
    }
}

/// 403 for an address that permits nothing.
pub fn refused(refusal: BlobRefusal) -> Error {
    let message = match refusal {
        BlobRefusal::Forged => "This address was not signed here.",
        BlobRefusal::Expired => "This address has expired.",
    };
    Error::forbidden("file_address", message)
}

/// What is said of bytes that could not be kept.
pub fn refusal(error: ContentError<()>) -> Error {
    match error {
        ContentError::Source(()) | ContentError::Stalled | ContentError::Size { .. } => {
            Error::bad_request("malformed", "The body broke off.")
        }
        ContentError::TooLong { .. } => upload_too_large(),
        ContentError::Store(error) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn who_falls_silent_is_answered_and_what_has_come_is_kept() {
        assert_eq!(until_kept(ready("given up"), pending()).await, "given up");
        let (came, waiting) = futures::channel::oneshot::channel();
        let receiving = async move { assert_eq!(came.send("all"), Ok(())) };
        assert_eq!(until_kept(waiting, receiving).await, Ok("all"));
    }
}
