//! Bodies of XML and JSON, which are compared with what their headers say while `s3s` reads them; it compares none.

use std::{
    future::ready,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use http_body_util::{BodyDataStream, StreamBody};
use hyper::{HeaderMap, StatusCode, body::Frame, header::CONTENT_LENGTH};
use s3s::{Body, S3Error, S3ErrorCode, S3Result, StdError};
use sha2::{Digest, Sha256};

use crate::{arriving::Arriving, checksums::TextSums, error::custom, guard::CONTENT_SHA256};

/// How far a body has been read, and what was wrong with it.
#[derive(Clone, Default)]
pub(crate) struct Reading(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_over: bool,
    fault: Option<S3Error>,
}

impl Reading {
    /// The body of a request, of which this tells.
    pub fn watch(&self, headers: &HeaderMap, body: Arriving) -> S3Result<Body> {
        let pieces = BodyDataStream::new(body).map_err(StdError::from);
        Ok(Body::http_body_unsync(StreamBody::new(self.compared(Sums::of(headers)?, pieces).map_ok(Frame::data))))
    }

    fn compared<S>(&self, mut sums: Sums, pieces: S) -> impl Stream<Item = Result<Bytes, StdError>> + use<S>
    where
        S: Stream<Item = Result<Bytes, StdError>>,
    {
        let reading = self.clone();
        let pieces = pieces.map(Some).chain(stream::once(ready(None)));
        pieces.filter_map(move |piece| {
            let fault = match &piece {
                Some(Ok(bytes)) => {
                    sums.update(bytes);
                    // `s3s` doesn't ask for what comes behind the last byte.
                    match sums.is_whole().then(|| sums.finish()) {
                        Some(Err(fault)) => Some(fault),
                        Some(Ok(())) => {
                            reading.end(None);
                            return ready(piece);
                        }
                        None => return ready(piece),
                    }
                }
                Some(Err(_)) => Some(S3Error::new(S3ErrorCode::IncompleteBody)),
                None => sums.finish().err(),
            };
            let is_broken = fault.is_some();
            reading.end(fault);
            ready(is_broken.then(|| Err("the body is not what its headers say".into())))
        })
    }

    fn end(&self, fault: Option<S3Error>) {
        if let Ok(mut state) = self.0.lock()
            && !state.is_over
        {
            *state = State { is_over: true, fault };
        }
    }

    /// What was wrong with the body.
    pub fn fault(&self) -> Option<S3Error> {
        self.0.lock().ok()?.fault.take()
    }

    /// Whether it has been read to its end.
    pub fn is_over(&self) -> bool {
        self.0.lock().is_ok_and(|state| state.is_over)
    }
}

/// What headers say that the bytes come to.
#[derive(Default)]
struct Sums {
    signed: Option<(String, Sha256)>,
    sent: TextSums,
    /// Bytes that are still to come, where their number was announced.
    left: Option<u64>,
}

impl Sums {
    fn of(headers: &HeaderMap) -> S3Result<Self> {
        let signed = headers.get(CONTENT_SHA256).and_then(|text| text.to_str().ok());
        // The rest are names of what isn't signed.
        let signed = signed.filter(|text| text.len() == 64).map(|text| (text.to_ascii_lowercase(), Sha256::new()));
        let left = headers.get(CONTENT_LENGTH).and_then(|text| text.to_str().ok()?.parse().ok());
        Ok(Self { signed, sent: TextSums::of(headers)?, left })
    }

    /// Whether as much has come as was announced.
    fn is_whole(&self) -> bool {
        self.left == Some(0)
    }

    fn update(&mut self, bytes: &[u8]) {
        self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
        if let Some((_, hasher)) = &mut self.signed {
            hasher.update(bytes);
        }
        self.sent.update(bytes);
    }

    fn finish(&mut self) -> S3Result<()> {
        if let Some((expected, hasher)) = self.signed.take() {
            let found = hasher.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
            if found != expected {
                let message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
                return Err(custom("XAmzContentSHA256Mismatch", StatusCode::BAD_REQUEST, message));
            }
        }
        std::mem::take(&mut self.sent).finish()
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    /// What is read of "hello" with this header, and what was wrong with it.
    fn read(name: &'static str, value: &str) -> (Result<Vec<u8>, ()>, Option<String>) {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        let reading = Reading::default();
        let pieces = stream::iter([Ok(Bytes::from_static(b"he")), Ok(Bytes::from_static(b"llo"))]);
        let read: Result<Vec<Bytes>, StdError> =
            futures::executor::block_on(reading.compared(Sums::of(&headers).unwrap(), pieces).try_collect());
        assert!(reading.is_over());
        let fault = reading.fault().map(|fault| fault.code().as_str().to_owned());
        (read.map(|pieces| pieces.concat()).map_err(drop), fault)
    }

    #[test]
    fn a_body_that_is_what_its_headers_say_is_read() {
        for (name, value) in [
            ("x-amz-content-sha256", HELLO),
            ("x-amz-content-sha256", "UNSIGNED-PAYLOAD"),
            ("content-md5", "XUFAKrxLKna5cZ2REBfFkg=="),
            ("x-amz-checksum-crc32", "NhCmhg=="),
            ("x-other", "1"),
        ] {
            assert_eq!(read(name, value), (Ok(b"hello".to_vec()), None), "{name}");
        }
    }

    #[test]
    fn another_one_breaks_off_at_its_end() {
        for (name, value, code) in [
            ("x-amz-content-sha256", "0".repeat(64).as_str(), "XAmzContentSHA256Mismatch"),
            ("content-md5", "AAAAAAAAAAAAAAAAAAAAAA==", "BadDigest"),
            ("x-amz-checksum-crc32", "AAAAAA==", "BadDigest"),
        ] {
            assert_eq!(read(name, value), (Err(()), Some(code.to_owned())), "{name}");
        }
    }

    #[test]
    fn a_body_whose_length_was_announced_ends_with_its_last_byte() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("5"));
        headers.insert("x-amz-content-sha256", HeaderValue::from_str(&"0".repeat(64)).unwrap());
        let reading = Reading::default();
        let pieces = stream::iter([Ok(Bytes::from_static(b"hello"))]).chain(stream::pending());
        let mut read = std::pin::pin!(reading.compared(Sums::of(&headers).unwrap(), pieces));
        assert!(futures::executor::block_on(read.next()).is_some_and(|piece| piece.is_err()));
        assert_eq!(
            reading.fault().map(|fault| fault.code().as_str().to_owned()).as_deref(),
            Some("XAmzContentSHA256Mismatch")
        );
    }

    #[test]
    fn a_body_that_breaks_off_is_incomplete() {
        let reading = Reading::default();
        let pieces = stream::iter([Ok(Bytes::from_static(b"he")), Err(StdError::from("gone"))]);
        let read: Result<Vec<Bytes>, StdError> =
            futures::executor::block_on(reading.compared(Sums::default(), pieces).try_collect());
        assert!(read.is_err());
        assert_eq!(reading.fault().map(|fault| fault.code().clone()), Some(S3ErrorCode::IncompleteBody));
    }
}
