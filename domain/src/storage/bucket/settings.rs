//! How a bucket behaves, and changing that.

use serde::{Deserialize, Serialize};

use crate::{
    app::names,
    error::Result,
    storage::{PublicHost, Quota, no_public_address, versioning_stays},
};

names! {
    /// Whether old versions of files are kept (contract C 2.3). A bucket that was never asked has none of these.
    Versioning { Enabled = "Enabled", Suspended = "Suspended", Disabled = "Disabled", }
}

/// How a bucket behaves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BucketSettings {
    /// Whether old versions are kept; nothing until it is first switched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versioning: Option<Versioning>,
    /// Bytes that the bucket may keep, old versions among them. Parts of uploads count when they become a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_bytes: Option<Quota>,
    /// Whether everybody may read its files.
    pub public_read: bool,
    /// Whether every write of a file over S3 is audited.
    pub audit_data: bool,
}

/// What is to be changed of a bucket's settings; what isn't named stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketChange {
    /// Whether old versions are kept.
    pub versioning: Option<Versioning>,
    /// Bytes that the bucket may keep; without a limit with `Some(None)`.
    pub quota_bytes: Option<Option<u64>>,
    /// Whether everybody may read its files.
    pub public_read: Option<bool>,
    /// Whether every write of a file over S3 is audited.
    pub audit_data: Option<bool>,
}

impl BucketChange {
    /// The settings after the change; 400 and 409 where they can't become that.
    pub fn apply(self, to: &BucketSettings, host: PublicHost) -> Result<BucketSettings> {
        let quota_bytes = match self.quota_bytes {
            None => to.quota_bytes,
            Some(bytes) => bytes.map(|bytes| Quota::parse("quotaBytes", bytes)).transpose()?,
        };
        if self.public_read == Some(true) && host == PublicHost::Shared {
            return Err(no_public_address());
        }
        Ok(BucketSettings {
            versioning: self.versioning_after(to.versioning)?,
            quota_bytes,
            public_read: self.public_read.unwrap_or(to.public_read),
            audit_data: self.audit_data.unwrap_or(to.audit_data),
        })
    }

    /// Versions that are there can't become none again.
    fn versioning_after(self, now: Option<Versioning>) -> Result<Option<Versioning>> {
        match (now, self.versioning) {
            (Some(Versioning::Enabled | Versioning::Suspended), Some(Versioning::Disabled)) => Err(versioning_stays()),
            (now, asked) => Ok(asked.or(now)),
        }
    }
}
