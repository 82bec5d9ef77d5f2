//! Making one file of the parts of an upload.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{FILE_BYTES_MAX, PART_BYTES_MIN, PARTS_MAX, PartNumber};
use crate::{
    Timestamp,
    error::{Error, Result},
    storage::{ETag, file_too_large, part_missing, part_too_small, parts_out_of_order, upload_not_found},
};

/// How long completing the same upload again answers the same (decisions, "Object storage").
pub const COMPLETED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// A part, as the client names it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletedPart {
    /// Its number.
    pub part_number: PartNumber,
    /// What sending it was answered with, in quotes or without.
    pub etag: String,
}

/// A part, as it lies here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPart {
    /// Its tag.
    pub etag: ETag,
    /// Its bytes.
    pub size: u64,
}

/// What stays of an upload that was completed, for 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartsDigest([u8; 32]);

/// Parts that are to become a file, in their order.
#[derive(Clone, Debug)]
pub struct Completion(Vec<(PartNumber, Option<ETag>)>);

/// The file that parts become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Its tag.
    pub etag: ETag,
    /// Its bytes.
    pub size: u64,
    /// The parts that it is made of, one behind the other; what else was sent goes.
    pub parts: Vec<PartNumber>,
}

impl Completion {
    /// Checks the list of parts; 400 where it is empty, too long or out of order.
    pub fn check(parts: &[CompletedPart]) -> Result<Self> {
        if parts.is_empty() || parts.len() > PARTS_MAX as usize {
            return Err(Error::invalid("parts", "Send 1 to 10,000 parts."));
        }
        if !parts.is_sorted_by(|one, two| one.part_number < two.part_number) {
            return Err(parts_out_of_order());
        }
        Ok(Self(parts.iter().map(|part| (part.part_number, ETag::parse(&part.etag))).collect()))
    }

    /// The file that they become, where `sent` are those that lie here.
    pub fn decide(&self, sent: &BTreeMap<PartNumber, SentPart>) -> Result<Completed> {
        let mut found = Vec::with_capacity(self.0.len());
        for (number, etag) in &self.0 {
            let part = sent.get(number).filter(|part| Some(part.etag) == *etag);
            found.push((*number, *part.ok_or_else(|| part_missing(number.get()))?));
        }
        let before_last = &found[..found.len().saturating_sub(1)];
        if let Some((number, _)) = before_last.iter().find(|(_, part)| part.size < PART_BYTES_MIN) {
            return Err(part_too_small(number.get()));
        }
        let size = found.iter().fold(0_u64, |size, (_, part)| size.saturating_add(part.size));
        if size > FILE_BYTES_MAX {
            return Err(file_too_large());
        }
        let etag = ETag::of_parts(found.iter().map(|(_, part)| &part.etag));
        Ok(Completed { etag, size, parts: found.into_iter().map(|(number, _)| number).collect() })
    }

    /// What the same list of parts is recognized by.
    pub fn digest(&self) -> PartsDigest {
        let mut digest = Sha256::new();
        for (number, etag) in &self.0 {
            digest.update(number.get().to_be_bytes());
            digest.update(etag.map(|etag| etag.to_string()).unwrap_or_default());
            digest.update([0]);
        }
        PartsDigest(digest.finalize().into())
    }
}

impl PartsDigest {
    /// Passes where an upload that was completed with these parts at `completed_at` answers the same file to `again`; 404
    /// for other parts, and when 24 hours have passed.
    pub fn check_again(self, completed_at: Timestamp, again: &Completion, now: Timestamp) -> Result<()> {
        let is_kept = now < completed_at.after(COMPLETED_KEPT);
        if is_kept && again.digest() == self { Ok(()) } else { Err(upload_not_found()) }
    }

    /// The bytes, as they are kept.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest that was kept.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}
