//! Names of buckets: the one that people give, and the physical one, which no other bucket anywhere has.

use std::{fmt, net::Ipv4Addr, ops::RangeInclusive};

use serde::Serialize;

use crate::{
    error::{Error, Result},
    id::ResourceId,
};

/// Characters of a bucket's name (S3).
pub const BUCKET_NAME_LEN: RangeInclusive<usize> = 3..=63;
/// What names can't begin with, because S3 gives such names a meaning.
const STARTS: &[&str] = &["xn--", "sthree-", "amzn-s3-demo-"];
/// What names can't end with, likewise.
const ENDS: &[&str] = &["-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"];
/// Characters of the id that a physical name ends with.
const SUFFIX_LEN: usize = 8;

/// The name of a bucket by S3's rules, unique in its organization.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct BucketName(String);

impl BucketName {
    /// Reads a name; `path` names the field in the 400.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        match name_fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(fault) => Err(Error::invalid(path, fault)),
        }
    }

    /// The name that the bucket with this id has over S3 (`physicalName`): its own and eight characters of the id. Nobody
    /// finds out by it which names others have.
    #[must_use]
    pub fn physical(&self, id: ResourceId) -> Self {
        let id = id.to_string();
        let suffix = &id[id.len() - SUFFIX_LEN..];
        let start: String = self.0.chars().take(BUCKET_NAME_LEN.end() - SUFFIX_LEN - 1).collect();
        Self(format!("{}-{suffix}", start.trim_end_matches(['.', '-'])))
    }

    /// The bucket's name in Amazon's form (`arn`).
    pub fn arn(&self) -> String {
        format!("arn:aws:s3:::{}", self.0)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BucketName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is wrong with a name.
fn name_fault(text: &str) -> Option<&'static str> {
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    if !BUCKET_NAME_LEN.contains(&text.len()) || !text.bytes().all(is_known) {
        return Some("Bucket names have 3 to 63 small letters, digits, - and .");
    }
    if text.starts_with(['.', '-']) || text.ends_with(['.', '-']) {
        return Some("Bucket names begin and end with a small letter or a digit.");
    }
    if text.contains("..") {
        return Some("Bucket names have no two points in a row.");
    }
    if text.parse::<Ipv4Addr>().is_ok() {
        return Some("Bucket names can't be an address.");
    }
    let is_reserved = STARTS.iter().any(|start| text.starts_with(start)) || ENDS.iter().any(|end| text.ends_with(end));
    is_reserved.then_some("This name is reserved by S3.")
}
