//! Checksums that clients send: in headers, or behind the bytes.

use std::sync::{Arc, Mutex};

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::storage::{Checksum, ChecksumAlgorithm, ChecksumHasher, ChecksumKind, FileChecksum, checksum_wrong};
use hyper::{HeaderMap, StatusCode};
use md5::{Digest, Md5};
use s3s::{S3Error, S3ErrorCode, S3Result, TrailingHeaders, dto, s3_error};
use store::blobs::contents::NewContent;

use crate::error::{custom, refusal};

const TRAILER: &str = "x-amz-trailer";
const ALGORITHM: &str = "x-amz-sdk-checksum-algorithm";
const MD5: &str = "content-md5";

/// The header of an algorithm's checksum.
pub(crate) const fn header(algorithm: ChecksumAlgorithm) -> &'static str {
    match algorithm {
        ChecksumAlgorithm::Crc32 => "x-amz-checksum-crc32",
        ChecksumAlgorithm::Crc32c => "x-amz-checksum-crc32c",
        ChecksumAlgorithm::Crc64Nvme => "x-amz-checksum-crc64nvme",
        ChecksumAlgorithm::Sha1 => "x-amz-checksum-sha1",
        ChecksumAlgorithm::Sha256 => "x-amz-checksum-sha256",
    }
}

/// What a client says that the bytes come to.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    md5: Option<Vec<u8>>,
    /// What is computed.
    algorithm: Option<ChecksumAlgorithm>,
    /// What it has to come to; none where that follows the bytes, or the server is to say it.
    expected: Option<Checksum>,
    trailers: Option<TrailingHeaders>,
}

/// What computes a checksum while the bytes come.
pub(crate) type Computing = Arc<Mutex<Option<ChecksumHasher>>>;

impl Announced {
    /// What a request's headers say. `planned` is what an upload's parts are to have.
    pub fn read(
        headers: &HeaderMap,
        trailers: Option<TrailingHeaders>,
        planned: Option<ChecksumAlgorithm>,
    ) -> S3Result<Self> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let md5 = headers.contains_key(MD5).then(|| md5(text(MD5).unwrap_or_default())).transpose()?;
        let sent: Vec<_> = ChecksumAlgorithm::ALL.iter().filter(|it| headers.contains_key(header(**it))).collect();
        let trailing = text(TRAILER).map(str::to_ascii_lowercase);
        let trailing = trailing.and_then(|name| {
            ChecksumAlgorithm::ALL.iter().find(|it| name.split(',').any(|name| name.trim() == header(**it))).copied()
        });
        let expected = match (sent.as_slice(), trailing) {
            ([], _) => None,
            ([algorithm], None) => Some(expected(**algorithm, text(header(**algorithm)).unwrap_or_default())?),
            _ => return Err(s3_error!(InvalidRequest, "Expecting a single x-amz-checksum- header.")),
        };
        let named = text(ALGORITHM).map(|name| named(name, expected.is_some() || trailing.is_some())).transpose()?;
        let sent = expected.as_ref().map(Checksum::algorithm).or(trailing);
        if let (Some(named), Some(sent)) = (named, sent)
            && named != sent
        {
            return Err(s3_error!(InvalidRequest, "Value for x-amz-sdk-checksum-algorithm header is invalid."));
        }
        let trailers = trailers.filter(|_| trailing.is_some());
        Ok(Self { md5, algorithm: sent.or(planned), expected, trailers })
    }

    /// What is computed.
    pub const fn algorithm(&self) -> Option<ChecksumAlgorithm> {
        self.algorithm
    }

    /// What computes the checksum; none where none is needed.
    pub fn computing(&self) -> Option<Computing> {
        self.algorithm.map(|algorithm| Arc::new(Mutex::new(Some(ChecksumHasher::new(algorithm)))))
    }

    /// The checksum of what has come, where that is what was announced.
    pub fn verify(&self, content: &NewContent, computing: Option<&Computing>) -> S3Result<Option<Checksum>> {
        if self.md5.as_ref().is_some_and(|md5| *md5 != content.md5()) {
            return Err(refusal(checksum_wrong()));
        }
        let hasher = computing.and_then(|computing| computing.lock().ok()?.take());
        let found = hasher.map(ChecksumHasher::finish);
        let followed = self.followed()?;
        for expected in [&self.expected, &followed].into_iter().flatten() {
            if found.as_ref() != Some(expected) {
                return Err(refusal(checksum_wrong()));
            }
        }
        Ok(found)
    }

    /// What came behind the bytes; 400 where it was announced and didn't.
    fn followed(&self) -> S3Result<Option<Checksum>> {
        let (Some(trailers), Some(algorithm)) = (&self.trailers, self.algorithm) else { return Ok(None) };
        let text = trailers
            .read(|headers| headers.get(header(algorithm)).and_then(|value| value.to_str().ok()).map(str::to_owned));
        let missing = || {
            let message = "The request contained trailing data that was not well-formed.";
            custom("MalformedTrailerError", StatusCode::BAD_REQUEST, message)
        };
        expected(algorithm, &text.flatten().ok_or_else(missing)?).map(Some)
    }
}

/// What a client says that a text comes to, and what it has come to so far.
#[derive(Default)]
pub(crate) struct TextSums {
    md5: Option<(Vec<u8>, Md5)>,
    checksum: Option<(Checksum, ChecksumHasher)>,
}

impl TextSums {
    /// What a request's headers say.
    pub fn of(headers: &HeaderMap) -> S3Result<Self> {
        let Announced { md5, expected, .. } = Announced::read(headers, None, None)?;
        let checksum = expected.map(|expected| {
            let hasher = ChecksumHasher::new(expected.algorithm());
            (expected, hasher)
        });
        Ok(Self { md5: md5.map(|expected| (expected, Md5::new())), checksum })
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        if let Some((_, hasher)) = &mut self.md5 {
            hasher.update(bytes);
        }
        if let Some((_, hasher)) = &mut self.checksum {
            hasher.update(bytes);
        }
    }

    /// Passes where all of it is what was said.
    pub fn finish(self) -> S3Result<()> {
        let is_md5 = self.md5.is_none_or(|(expected, hasher)| hasher.finalize().as_slice() == expected);
        let is_sum = self.checksum.is_none_or(|(expected, hasher)| hasher.finish() == expected);
        if is_md5 && is_sum { Ok(()) } else { Err(refusal(checksum_wrong())) }
    }
}

fn md5(text: &str) -> S3Result<Vec<u8>> {
    let bytes = STANDARD.decode(text).ok().filter(|bytes| bytes.len() == 16);
    bytes.ok_or_else(|| s3_error!(InvalidDigest, "The Content-MD5 you specified was invalid."))
}

fn expected(algorithm: ChecksumAlgorithm, text: &str) -> S3Result<Checksum> {
    let name = header(algorithm);
    algorithm.parse(text).map_err(|_| s3_error!(InvalidRequest, "Value for {name} header is invalid."))
}

fn named(name: &str, is_sent: bool) -> S3Result<ChecksumAlgorithm> {
    let algorithm = ChecksumAlgorithm::from_name(&name.to_ascii_uppercase());
    let algorithm = algorithm.ok_or_else(|| {
        s3_error!(InvalidRequest, "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]")
    })?;
    if is_sent {
        return Ok(algorithm);
    }
    Err(s3_error!(
        InvalidRequest,
        "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found."
    ))
}

/// A checksum in the five fields that answers of S3 have for it.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub crc32: Option<String>,
    pub crc32c: Option<String>,
    pub crc64nvme: Option<String>,
    pub sha1: Option<String>,
    pub sha256: Option<String>,
    pub kind: Option<dto::ChecksumType>,
}

impl Fields {
    /// The fields of this value.
    pub fn of(algorithm: ChecksumAlgorithm, value: String) -> Self {
        let mut fields = Self::default();
        let field = match algorithm {
            ChecksumAlgorithm::Crc32 => &mut fields.crc32,
            ChecksumAlgorithm::Crc32c => &mut fields.crc32c,
            ChecksumAlgorithm::Crc64Nvme => &mut fields.crc64nvme,
            ChecksumAlgorithm::Sha1 => &mut fields.sha1,
            ChecksumAlgorithm::Sha256 => &mut fields.sha256,
        };
        *field = Some(value);
        fields
    }
}

impl From<Option<&FileChecksum>> for Fields {
    fn from(checksum: Option<&FileChecksum>) -> Self {
        let Some(checksum) = checksum else { return Self::default() };
        let kind = Some(dto::ChecksumType::from_static(kind_name(checksum.kind)));
        Self { kind, ..Self::of(checksum.algorithm, checksum.value.clone()) }
    }
}

pub(crate) const fn kind_name(kind: ChecksumKind) -> &'static str {
    kind.as_str()
}

/// What a checksum of a known algorithm is called that a field of a request names.
pub(crate) fn algorithm(name: &dto::ChecksumAlgorithm) -> S3Result<ChecksumAlgorithm> {
    let found = ChecksumAlgorithm::from_name(name.as_str());
    found.ok_or_else(|| {
        S3Error::with_message(S3ErrorCode::InvalidRequest, "Checksum algorithm provided is unsupported.")
    })
}
