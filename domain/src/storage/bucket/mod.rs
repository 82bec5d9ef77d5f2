//! Buckets: their names, how they behave, and making one.

mod address;
mod cors;
mod name;
mod policy;
mod public;
mod quota;
mod settings;
mod status;
mod tag;

pub use self::{
    address::BucketAddress,
    cors::{CORS_RULES_MAX, CorsMethod, CorsRequest, CorsRule, CorsRules},
    name::{BUCKET_NAME_LEN, BucketName},
    policy::{policy_check, policy_of_public},
    public::{PublicHost, url_host},
    quota::{Quota, QuotaLevel},
    settings::{BucketChange, BucketSettings, Versioning},
    status::{BucketStatus, CREATING_TRIES},
    tag::{FILE_TAGS, RESOURCE_TAGS, Tag, TagLimits, Tags},
};

use crate::{error::Result, problems::all};

/// Buckets of an organization where the configuration doesn't say (`storage.max_buckets`).
pub const BUCKETS_MAX_DEFAULT: usize = 100;
/// Buckets in one answer, ordered by their names (decisions, "Object storage").
pub const BUCKETS_LISTED_MAX: usize = 500;

/// A bucket that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketDraft {
    /// Its name.
    pub name: String,
    /// Whether old versions are kept.
    pub versioning: Option<Versioning>,
    /// Bytes that it may keep.
    pub quota_bytes: Option<u64>,
}

impl BucketDraft {
    /// The bucket's name and how it behaves; 400 naming every field at fault.
    pub fn check(&self) -> Result<(BucketName, BucketSettings)> {
        let quota = self.quota_bytes.map(|bytes| Quota::parse("quotaBytes", bytes)).transpose();
        let (name, quota_bytes) = all((BucketName::parse("name", &self.name), quota))?;
        Ok((name, BucketSettings { versioning: self.versioning, quota_bytes, ..BucketSettings::default() }))
    }
}

#[cfg(test)]
mod tests;
