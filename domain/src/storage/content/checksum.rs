//! Checksums of contents beside the tag, as S3 has them: what clients send, what is compared, what they read back.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use crc_fast::{CrcAlgorithm, checksum_combine};
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::{
    app::names,
    error::{Error, Result},
    storage::checksum_wrong,
};

names! {
    /// What a checksum is computed with.
    ChecksumAlgorithm {
        Crc32 = "CRC32", Crc32c = "CRC32C", Crc64Nvme = "CRC64NVME", Sha1 = "SHA1", Sha256 = "SHA256",
    }
}

names! {
    /// What the checksum of a file is of that was sent in parts.
    ChecksumKind { FullObject = "FULL_OBJECT", Composite = "COMPOSITE", }
}

impl ChecksumAlgorithm {
    /// Bytes of a checksum.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Crc32 | Self::Crc32c => 4,
            Self::Crc64Nvme => 8,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// What the checksum of a file in parts is of where the client doesn't say (S3).
    pub const fn usual_kind(self) -> ChecksumKind {
        match self {
            Self::Crc64Nvme => ChecksumKind::FullObject,
            Self::Crc32 | Self::Crc32c | Self::Sha1 | Self::Sha256 => ChecksumKind::Composite,
        }
    }

    /// Whether a file in parts can have a checksum of that kind (S3).
    pub const fn has_kind(self, kind: ChecksumKind) -> bool {
        match kind {
            ChecksumKind::FullObject => self.crc().is_some(),
            ChecksumKind::Composite => !matches!(self, Self::Crc64Nvme),
        }
    }

    const fn crc(self) -> Option<CrcAlgorithm> {
        match self {
            Self::Crc32 => Some(CrcAlgorithm::Crc32IsoHdlc),
            Self::Crc32c => Some(CrcAlgorithm::Crc32Iscsi),
            Self::Crc64Nvme => Some(CrcAlgorithm::Crc64Nvme),
            Self::Sha1 | Self::Sha256 => None,
        }
    }

    /// The checksum that a client sends as base64; 400 where it isn't one of this algorithm's.
    pub fn parse(self, text: &str) -> Result<Checksum> {
        let bytes = STANDARD.decode(text).ok().filter(|bytes| bytes.len() == self.bytes());
        let wrong = || Error::invalid("checksum", format!("Must be {} bytes as base64.", self.bytes()));
        Ok(Checksum { algorithm: self, bytes: bytes.ok_or_else(wrong)? })
    }
}

/// A checksum of some bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Checksum {
    algorithm: ChecksumAlgorithm,
    bytes: Vec<u8>,
}

impl Checksum {
    /// What it was computed with.
    pub const fn algorithm(&self) -> ChecksumAlgorithm {
        self.algorithm
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(&self.bytes))
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.algorithm)
    }
}

/// Computes a checksum of bytes that come one piece after another.
pub struct ChecksumHasher {
    algorithm: ChecksumAlgorithm,
    state: HasherState,
}

enum HasherState {
    Crc(crc_fast::Digest),
    Sha1(Sha1),
    Sha256(Sha256),
}

impl fmt::Debug for ChecksumHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChecksumHasher").field(&self.algorithm).finish()
    }
}

impl ChecksumHasher {
    /// Of no bytes yet.
    pub fn new(algorithm: ChecksumAlgorithm) -> Self {
        let state = match (algorithm.crc(), algorithm) {
            (Some(crc), _) => HasherState::Crc(crc_fast::Digest::new(crc)),
            (None, ChecksumAlgorithm::Sha1) => HasherState::Sha1(Sha1::new()),
            (None, _) => HasherState::Sha256(Sha256::new()),
        };
        Self { algorithm, state }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.state {
            HasherState::Crc(digest) => digest.update(bytes),
            HasherState::Sha1(digest) => digest.update(bytes),
            HasherState::Sha256(digest) => digest.update(bytes),
        }
    }

    /// The checksum of all of them.
    pub fn finish(self) -> Checksum {
        let bytes = match self.state {
            HasherState::Crc(digest) => crc_bytes(self.algorithm, digest.finalize()),
            HasherState::Sha1(digest) => digest.finalize().to_vec(),
            HasherState::Sha256(digest) => digest.finalize().to_vec(),
        };
        Checksum { algorithm: self.algorithm, bytes }
    }
}

fn crc_bytes(algorithm: ChecksumAlgorithm, value: u64) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    bytes[bytes.len() - algorithm.bytes()..].to_vec()
}

fn crc_value(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// How the checksum of a file in parts is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksumPlan {
    /// What it and those of the parts are computed with.
    pub algorithm: ChecksumAlgorithm,
    /// What it is of.
    pub kind: ChecksumKind,
}

impl ChecksumPlan {
    /// The plan that a client asks for; 400 for a kind that the algorithm doesn't have.
    pub fn check(algorithm: ChecksumAlgorithm, kind: Option<ChecksumKind>) -> Result<Self> {
        let kind = kind.unwrap_or(algorithm.usual_kind());
        if algorithm.has_kind(kind) {
            Ok(Self { algorithm, kind })
        } else {
            Err(Error::invalid("checksumType", format!("{algorithm} has no checksums of the type {kind}.")))
        }
    }

    /// The file's checksum, of those of its parts with their sizes; none where a part has none of this algorithm's.
    pub fn of_parts<'p>(self, parts: impl IntoIterator<Item = (Option<&'p str>, u64)>) -> Option<FileChecksum> {
        let Self { algorithm, kind } = self;
        let (mut all, mut combined, mut count) = (ChecksumHasher::new(algorithm), None, 0_u32);
        for (part, size) in parts {
            let part = algorithm.parse(part?).ok()?;
            if let Some(crc) = algorithm.crc().filter(|_| kind == ChecksumKind::FullObject) {
                let next = crc_value(&part.bytes);
                combined = Some(combined.map_or(next, |before| checksum_combine(crc, before, next, size)));
            }
            all.update(&part.bytes);
            count += 1;
        }
        let value = match kind {
            ChecksumKind::FullObject => STANDARD.encode(crc_bytes(algorithm, combined?)),
            ChecksumKind::Composite => format!("{}-{count}", all.finish()),
        };
        Some(FileChecksum { algorithm, kind, value })
    }
}

/// The checksum of a file, as it is kept and answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChecksum {
    /// What it was computed with.
    pub algorithm: ChecksumAlgorithm,
    /// What it is of.
    #[serde(rename = "type")]
    pub kind: ChecksumKind,
    /// Base64; of parts with their number behind it.
    pub value: String,
}

impl From<&Checksum> for FileChecksum {
    fn from(checksum: &Checksum) -> Self {
        Self { algorithm: checksum.algorithm, kind: ChecksumKind::FullObject, value: checksum.to_string() }
    }
}

impl FileChecksum {
    /// Passes where a client expects this; 400 otherwise. The number of parts may be left out.
    pub fn check(&self, expected: &str) -> Result<()> {
        let bare = self.value.split_once('-').map_or(self.value.as_str(), |(bare, _)| bare);
        if expected == self.value || expected == bare { Ok(()) } else { Err(checksum_wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(algorithm: ChecksumAlgorithm, bytes: &[u8]) -> Checksum {
        let mut hasher = ChecksumHasher::new(algorithm);
        bytes.chunks(3).for_each(|piece| hasher.update(piece));
        hasher.finish()
    }

    #[test]
    fn checksums_are_those_of_the_standards() {
        for (algorithm, value) in [
            (ChecksumAlgorithm::Crc32, "y/Q5Jg=="),
            (ChecksumAlgorithm::Crc32c, "4waSgw=="),
            (ChecksumAlgorithm::Crc64Nvme, "rosUhgp5mIg="),
            (ChecksumAlgorithm::Sha1, "98O8HYCOBHMq32eZZczDTKeuNEE="),
            (ChecksumAlgorithm::Sha256, "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="),
        ] {
            let found = of(algorithm, b"123456789");
            assert_eq!(found.to_string(), value, "{algorithm}");
            assert_eq!(algorithm.parse(value).unwrap(), found);
        }
        for wrong in ["", "y/Q5", "y/Q5Jg", "y/Q5JgAA", "!"] {
            assert!(ChecksumAlgorithm::Crc32.parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_full_checksum_of_parts_is_that_of_all_bytes() {
        let parts: [&[u8]; 4] = [b"12345", b"", b"678", b"9"];
        for algorithm in [ChecksumAlgorithm::Crc32, ChecksumAlgorithm::Crc32c, ChecksumAlgorithm::Crc64Nvme] {
            let plan = ChecksumPlan::check(algorithm, Some(ChecksumKind::FullObject)).unwrap();
            let sums: Vec<_> = parts.iter().map(|part| (of(algorithm, part).to_string(), part.len() as u64)).collect();
            let whole = plan.of_parts(sums.iter().map(|(sum, size)| (Some(sum.as_str()), *size))).unwrap();
            assert_eq!(whole.value, of(algorithm, b"123456789").to_string(), "{algorithm}");
        }
    }

    #[test]
    fn a_composite_checksum_is_of_the_parts_checksums_and_says_how_many() {
        let plan = ChecksumPlan::check(ChecksumAlgorithm::Sha256, None).unwrap();
        let (one, two) = (of(plan.algorithm, b"1"), of(plan.algorithm, b"2"));
        let (first, second) = (one.to_string(), two.to_string());
        let whole = plan.of_parts([(Some(first.as_str()), 1), (Some(second.as_str()), 1)]).unwrap();
        let expected = of(plan.algorithm, &[one.bytes, two.bytes].concat()).to_string();
        assert_eq!(whole.value, format!("{expected}-2"));
        assert!(whole.check(&expected).is_ok() && whole.check(&whole.value).is_ok() && whole.check("AA==").is_err());
        assert_eq!(plan.of_parts([(Some(first.as_str()), 1), (None, 1)]), None);
    }

    #[test]
    fn each_algorithm_has_the_kinds_that_s3_gives_it() {
        assert!(ChecksumPlan::check(ChecksumAlgorithm::Crc64Nvme, Some(ChecksumKind::Composite)).is_err());
        assert!(ChecksumPlan::check(ChecksumAlgorithm::Sha1, Some(ChecksumKind::FullObject)).is_err());
        let usual = ChecksumPlan::check(ChecksumAlgorithm::Crc64Nvme, None).unwrap();
        assert_eq!(usual.kind, ChecksumKind::FullObject);
    }
}
