//! Bodies of requests, as git sends them.

use std::{io::Read, time::Duration};

use actix_web::{dev::Payload, http::header};
use bytes::{Bytes, BytesMut};
use domain::Error;
use flate2::read::GzDecoder;
use futures::StreamExt;
use http_shell::{
    argument::Argument,
    body::TOO_LARGE,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
};
use tokio::time::timeout;

/// Bytes of a body that is read whole, as they come and as they are once they are unpacked.
const WHOLE_LEN_MAX: usize = 32 * 1024 * 1024;
/// How long the next bytes may take.
const SILENCE_MAX: Duration = Duration::from_mins(1);

/// All of a request to fetch.
pub(crate) struct FetchBody(pub Bytes);

impl Argument for FetchBody {
    fn describe(facts: &mut Facts) {
        facts.stream(&["application/x-git-upload-pack-request"]);
        facts.error(400, "The body broke off.");
        facts.error(413, TOO_LARGE);
        facts.error(415, "Send the body as plain bytes, or packed with gzip.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let is_packed = is_packed(call)?;
        let body = whole(&mut call.take_payload()).await?;
        Ok(Self(if is_packed { unpacked(&body)?.into() } else { body }))
    }
}

/// All of a body that has so many bytes at most.
async fn whole(payload: &mut Payload) -> Result<Bytes> {
    let mut body = BytesMut::new();
    while let Some(piece) = next(payload).await? {
        if body.len() + piece.len() > WHOLE_LEN_MAX {
            return Err(Error::too_large(TOO_LARGE).into());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

/// What is pushed, as it comes.
pub(crate) struct PushBody {
    /// What has come already: all of a body that some clients pack, where it is small.
    pub beginning: Bytes,
    /// What is still to come.
    pub payload: Payload,
}

impl Argument for PushBody {
    fn describe(facts: &mut Facts) {
        facts.stream(&["application/x-git-receive-pack-request"]);
        facts.error(400, "The body broke off.");
        facts.error(413, TOO_LARGE);
        facts.error(413, "A push names at most 5000 refs.");
        facts.error(415, "Send the body as plain bytes, or packed with gzip.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let (is_packed, mut payload) = (is_packed(call)?, call.take_payload());
        if !is_packed {
            return Ok(Self { beginning: Bytes::new(), payload });
        }
        let beginning = unpacked(&whole(&mut payload).await?)?.into();
        Ok(Self { beginning, payload: Payload::None })
    }
}

fn is_packed(call: &Call) -> Result<bool> {
    match call.header(header::CONTENT_ENCODING) {
        None | Some("identity") => Ok(false),
        Some("gzip" | "x-gzip") => Ok(true),
        Some(_) => Err(ApiError::UnsupportedMediaType("plain bytes, or packed with gzip")),
    }
}

fn broke_off() -> Error {
    Error::bad_request("malformed", "The body broke off.")
}

/// The next bytes of a body, as long as they keep coming.
pub(super) async fn next(payload: &mut Payload) -> domain::Result<Option<Bytes>> {
    match timeout(SILENCE_MAX, payload.next()).await {
        Ok(piece) => piece.transpose().map_err(|_| broke_off()),
        Err(_) => Err(broke_off()),
    }
}

fn unpacked(packed: &[u8]) -> domain::Result<Vec<u8>> {
    let mut body = Vec::new();
    let limit = WHOLE_LEN_MAX as u64 + 1;
    GzDecoder::new(packed).take(limit).read_to_end(&mut body).map_err(|_| broke_off())?;
    if body.len() > WHOLE_LEN_MAX { Err(Error::too_large(TOO_LARGE)) } else { Ok(body) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn packed(len: usize) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&vec![0; len]).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_packed_body_is_unpacked_up_to_a_limit() {
        assert_eq!(unpacked(&packed(WHOLE_LEN_MAX)).unwrap().len(), WHOLE_LEN_MAX);
        assert!(matches!(unpacked(&packed(WHOLE_LEN_MAX + 1)), Err(Error::TooLarge { .. })));
        assert!(unpacked(b"not packed").is_err());
    }
}
